"""Download of a hub file: metadata, resumable transfer, verification."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from qmd.errors import HubFailure, ModelUnusable
from qmd.models.hub.cache import NAME, file_problem, is_foreign
from qmd.models.hub.uri import HubFile
from qmd.named_tuple import NamedTuple
from qmd.version import __version__

if TYPE_CHECKING:
    import httpx2

SECONDS = 5.0
"""Seconds without a response after which there is no network.

The hub has several addresses, and each is tried for so long.
"""

STALL_SECONDS = 30.0
"""Seconds without a byte after which a download is resumed on a new connection."""

TRIES = 5
"""Interruptions of a download in a row, without any received bytes between them."""

Progress = Callable[[int, int | None], None]
"""Callback with the bytes received and those of the whole file; an exception ends the download."""


class Published(NamedTuple):
    """Metadata of a file on the hub.

    Attributes:
        blob: its name in the cache: the SHA-256 of a large file, else git's SHA-1.
        size: bytes.
    """

    url: str
    commit: str
    blob: str
    size: int


def ask(wanted: HubFile, token: str | None, endpoint: str | None) -> Published:
    """Request the metadata of a file once, so that a missing network is reported at once."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url
    from huggingface_hub.errors import FileMetadataError

    def url(revision: str | None) -> str:
        return hf_hub_url(wanted.repo, wanted.file, revision=revision, endpoint=endpoint)

    said = get_hf_file_metadata(
        url(wanted.revision), token=token, timeout=SECONDS, endpoint=endpoint
    )
    names = said.commit_hash or "", said.etag or ""
    if not said.size or not all(map(NAME.fullmatch, names)):
        raise FileMetadataError("no commit, digest or size")
    commit, blob = names
    return Published(url(commit), commit, blob, said.size)


def receive(
    uri: str,
    published: Published,
    blob: Path,
    token: str | None,
    progress: Progress,
    sleep: Callable[[float], None],
) -> None:
    """Download a file, verify it, and move it to its place."""
    import httpx2

    part = blob.with_name(f"{published.blob}.incomplete")
    if part.exists() and part.stat().st_size > published.size:
        part.unlink()
    _check_space(uri, published, part)
    tries = 0
    while _size(part) < published.size:
        before = _size(part)
        try:
            _append(published, part, token, progress)
            break
        except (httpx2.TransportError, httpx2.HTTPStatusError) as error:
            if isinstance(error, httpx2.HTTPStatusError) and not _may_pass(error.response):
                raise
            tries = 1 if _size(part) > before else tries + 1
            if tries == TRIES:
                raise
        sleep(2 ** (tries - 1))
    problem = file_problem(part, published.blob, published.size)
    if problem is not None:
        part.unlink()
        raise HubFailure(
            uri,
            f"what arrived is not what was published, {problem}. It was removed.",
            "Run 'qmd models pull' again. If this repeats, something between here and the hub "
            "changes what passes, as a proxy may.",
        )
    if is_foreign(part):
        part.unlink()
        raise ModelUnusable(uri, "it is not a GGUF file. It was removed.")
    part.replace(blob)


def _append(published: Published, part: Path, token: str | None, progress: Progress) -> None:
    """Append the missing bytes of a file, while the connection holds."""
    from huggingface_hub import get_session
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

    headers = build_hf_headers(token=token, library_name="qmd", library_version=__version__)
    headers |= {"Accept-Encoding": "identity", "Range": f"bytes={_size(part)}-"}
    with get_session().stream(
        "GET", published.url, headers=headers, timeout=STALL_SECONDS, follow_redirects=True
    ) as response:
        response.raise_for_status()
        is_rest = response.status_code == 206
        with part.open("ab" if is_rest else "wb") as file:
            for piece in response.iter_bytes():
                file.write(piece)
                progress(file.tell(), published.size)


def _check_space(uri: str, published: Published, part: Path) -> None:
    missing = published.size - _size(part)
    free = shutil.disk_usage(part.parent).free
    if free < missing:
        raise HubFailure(
            uri,
            f"{_megabytes(missing)} are still to come, and {part.parent} has {_megabytes(free)}.",
            "Make room there, or set HF_HUB_CACHE to another folder, and run 'qmd models pull'.",
        )


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"


def _may_pass(answer: httpx2.Response) -> bool:
    return answer.is_server_error or answer.status_code in (408, 429)


def no_progress(done: int, total: int | None) -> None:
    """Ignore the progress."""
