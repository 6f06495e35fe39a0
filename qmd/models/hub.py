"""Files of models from the Hugging Face hub, kept in the cache that its own tools share.

    <cache>/models--org--repo/blobs/<SHA-256>                 a file
    <cache>/models--org--repo/snapshots/<commit>/file.gguf    its name: a link to the blob
    <cache>/models--org--repo/refs/main                       the commit a branch is at

huggingface_hub says what a file is and where; the bytes are received here. Its own download
forgets what has arrived when it is interrupted or the connection is reset, does not compare the
digest, waits for half a minute without a network, and draws on the terminal.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from qmd import __version__
from qmd.errors import HubFailure, ModelUnusable, QmdError, UsageError
from qmd.models.registry import HUB, MAGIC

if TYPE_CHECKING:
    import httpx2

SECONDS = 5.0
"""Without an answer, after which there is no network. The hub has several addresses, and each is
tried for so long."""

STALL_SECONDS = 30.0
"""Without a byte, after which a download is begun anew where it stands."""

TRIES = 5
"""Times that a connection may break; counted anew from one that has brought something."""

_PART = r"[A-Za-z0-9_](?:[\w.-]*\w)?"
_URI = re.compile(
    rf"{HUB}(?P<repo>{_PART}/{_PART})/(?P<file>[^@\\]+\.gguf)(?:@(?P<revision>[\w./-]+))?",
    re.ASCII | re.IGNORECASE,
)
_DIGEST = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[\w-]+", re.ASCII)
_FULL = (errno.ENOSPC, errno.EDQUOT)

Progress = Callable[[int, int | None], None]
"""Told the bytes that are here, and those of the whole file; what it raises ends the download."""


class HubFile(NamedTuple):
    """A file on the hub.

    Attributes:
        repo: 'org/name'.
        file: its path there.
        revision: a branch, tag or commit; None is 'main'.
    """

    repo: str
    file: str
    revision: str | None


class _Published(NamedTuple):
    """What the hub says of a file.

    Attributes:
        blob: its name in the cache: the SHA-256 of a large file, else git's SHA-1.
        size: bytes.
    """

    url: str
    commit: str
    blob: str
    size: int


def parse(uri: str) -> HubFile:
    """What a URI such as 'hf:org/repo/folder/file.gguf@revision' means.

    Raises:
        UsageError: it cannot be read.
    """
    found = _URI.fullmatch(uri)
    parts = uri.removeprefix(HUB).replace("@", "/").split("/")
    if found is None or not all(parts) or any(".." in part or "--" in part for part in parts[:2]):
        problem = "it does not name a GGUF file on the hub"
    elif {".", ".."} & set(parts):
        problem = "a path cannot go up"
    else:
        return HubFile(found["repo"], found["file"], found["revision"])
    raise UsageError(
        f"'{uri}' cannot be read: {problem}.\n\n"
        "An example: hf:ggml-org/embeddinggemma-300M-GGUF/embeddinggemma-300M-Q8_0.gguf "
        "(and @REVISION after it, if you like)"
    )


def cached(uri: str, cache: Path) -> Path | None:
    """Where a file is on this machine, or None if it is not. Asks nobody.

    Args:
        cache: folder of the hub's tools, as ~/.cache/huggingface/hub.

    Raises:
        UsageError: the URI cannot be read.
    """
    wanted = parse(uri)
    folder = _folder(wanted, cache)
    try:
        commit = _ref(wanted, folder).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        commit = wanted.revision or ""
    path = folder / "snapshots" / commit / wanted.file
    return path if path.is_file() else None


def fetch(
    uri: str,
    cache: Path,
    *,
    offline: bool,
    token: str | None,
    progress: Progress | None,
    endpoint: str | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Path:
    """Where a file is, after it has been fetched if it was not here, or damaged.

    A file that is here and whole stays as it is, whatever 'main' has become: vectors of two
    versions of a model do not compare. What has arrived of a file is kept when the download
    breaks off, and the next one goes on from there. Two that want the same file take turns.

    Args:
        cache: folder of the hub's tools.
        offline: do not ask the hub.
        token: of an account; None: the one that `hf auth login` has stored, if any.
        progress: told after each piece that arrives.
        endpoint: of the hub, if it is not the public one.
        sleep: waits some seconds between two tries.

    Raises:
        UsageError: the URI cannot be read.
        HubFailure: no network, no such file, no right to it, no space, or another digest.
        ModelUnusable: it is not a GGUF file; or it is damaged, and this is offline.
    """
    wanted = parse(uri)
    with _in_our_words(uri, wanted, cache):
        path = cached(uri, cache)
        problem = _problem_of_cached(path) if path is not None else None
        if path is not None and problem is None:
            return path
        if offline and problem is not None:
            raise ModelUnusable(uri, problem)
        if offline:
            raise HubFailure(
                uri,
                "it is not on this machine, and qmd is to stay offline.",
                "Unset HF_HUB_OFFLINE and run 'qmd models pull'.",
            )
        published = _ask(wanted, token, endpoint)
        if path is not None:
            _remove(path)
        folder = _folder(wanted, cache)
        blob = folder / "blobs" / published.blob
        link = folder / "snapshots" / published.commit / wanted.file
        with _alone(folder, published.blob):
            if not blob.is_file() or _problem(blob, published.blob, published.size):
                _receive(uri, published, blob, token, progress or _ignore, sleep)
            _link(blob, link)
            if published.commit != wanted.revision:
                _note(_ref(wanted, folder), published.commit)
        return link


def _folder(wanted: HubFile, cache: Path) -> Path:
    return cache / f"models--{wanted.repo.replace('/', '--')}"


def _ref(wanted: HubFile, folder: Path) -> Path:
    return folder / "refs" / (wanted.revision or "main")


def _ask(wanted: HubFile, token: str | None, endpoint: str | None) -> _Published:
    """What the hub says of a file; asked once, so that no network is told of at once."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url
    from huggingface_hub.errors import FileMetadataError

    def url(revision: str | None) -> str:
        return hf_hub_url(wanted.repo, wanted.file, revision=revision, endpoint=endpoint)

    said = get_hf_file_metadata(
        url(wanted.revision), token=token, timeout=SECONDS, endpoint=endpoint
    )
    names = said.commit_hash or "", said.etag or ""
    if not said.size or not all(map(_NAME.fullmatch, names)):
        raise FileMetadataError("no commit, digest or size")
    commit, blob = names
    return _Published(url(commit), commit, blob, said.size)


def _receive(
    uri: str,
    published: _Published,
    blob: Path,
    token: str | None,
    progress: Progress,
    sleep: Callable[[float], None],
) -> None:
    """Put a file in its place once it is whole and what was published."""
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
    problem = _problem(part, published.blob, published.size)
    if problem is not None:
        part.unlink()
        raise HubFailure(
            uri,
            f"what arrived is not what was published, {problem}. It was removed.",
            "Run 'qmd models pull' again. If this repeats, something between here and the hub "
            "changes what passes, as a proxy may.",
        )
    if _is_foreign(part):
        part.unlink()
        raise ModelUnusable(uri, "it is not a GGUF file. It was removed.")
    part.replace(blob)


def _append(published: _Published, part: Path, token: str | None, progress: Progress) -> None:
    """Receive what is missing of a file, as far as the connection holds."""
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


def _check_space(uri: str, published: _Published, part: Path) -> None:
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


def _problem(file: Path, blob: str, size: int | None) -> str | None:
    """What is wrong with a file that should have a size and, if it tells, a digest."""
    if size is not None and file.stat().st_size != size:
        return f"{file.stat().st_size} bytes instead of {size}"
    if _DIGEST.fullmatch(blob):
        with file.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        if digest != blob:
            return f"SHA-256 {digest} instead of {blob}"
    return None


def _problem_of_cached(path: Path) -> str | None:
    """What is wrong with a file of the cache: the link to it bears its digest."""
    problem = _problem(path, path.readlink().name if path.is_symlink() else "", None)
    if problem is None and _is_foreign(path):
        return "it is not a GGUF file."
    return problem and f"it is damaged, {problem}."


def _is_foreign(file: Path) -> bool:
    with file.open("rb") as content:
        return content.read(len(MAGIC)) != MAGIC


def _remove(path: Path) -> None:
    """Remove a file of the cache, and its blob."""
    blob = path.parent / path.readlink() if path.is_symlink() else path
    path.unlink()
    blob.unlink(missing_ok=True)


@contextmanager
def _alone(folder: Path, blob: str) -> Iterator[None]:
    """Wait for others who fetch the same file. The hub's own tools write elsewhere."""
    lock = folder.parent / ".locks" / folder.name / f"{blob}.qmd.lock"
    for place in (lock.parent, folder / "blobs"):
        place.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _link(blob: Path, link: Path) -> None:
    """Give a blob its name."""
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    try:
        link.symlink_to(os.path.relpath(blob, link.parent))
    except OSError:  # a file system without links
        blob.replace(link)


def _note(ref: Path, commit: str) -> None:
    """Keep which commit a branch or tag is at; another process sees the old one or the new."""
    ref.parent.mkdir(parents=True, exist_ok=True)
    draft = ref.with_name(f"{ref.name}.{os.getpid()}")
    draft.write_text(commit, encoding="utf-8")
    draft.replace(ref)


def _ignore(done: int, total: int | None) -> None: ...


@contextmanager
def _in_our_words(uri: str, wanted: HubFile, cache: Path) -> Iterator[None]:
    """Turns what goes wrong into what happened and what to do."""
    try:
        yield
    except QmdError:
        raise
    except Exception as error:
        words = _words(error, wanted, cache)
        if words is None:
            raise
        raise HubFailure(uri, *words) from error


def _words(error: Exception, wanted: HubFile, cache: Path) -> tuple[str, str] | None:
    """What happened and what to do; None if it is nothing that a hub or a disk does."""
    import httpx2
    from huggingface_hub import errors

    repo, file, revision = wanted.repo, wanted.file, wanted.revision or "main"
    page = f"https://huggingface.co/{repo}"
    again = "run 'qmd models pull' again"
    mend = "mend the name under 'models' in index.yml"
    if isinstance(error, errors.GatedRepoError):
        return (
            "who made it asks for your consent.",
            f"Accept the licence at {page}, set HF_TOKEN to a token of yours, and {again}.",
        )
    if isinstance(error, errors.RepositoryNotFoundError | errors.HFValidationError):
        return (
            f"the hub has no repository {repo}, or it is private.",
            f"Look at {page}, and {mend}; or, if it is private, set HF_TOKEN to a token that "
            f"may read it, and {again}.",
        )
    if isinstance(error, errors.RevisionNotFoundError):
        return (
            f"{repo} has no branch, tag or commit {revision}.",
            f"See which there are at {page}/tree/main, and {mend}.",
        )
    if isinstance(error, errors.RemoteEntryNotFoundError):
        return (
            f"{repo} has no file {file}.",
            f"See which there are at {page}/tree/{revision}, and {mend}.",
        )
    if isinstance(error, errors.HfHubHTTPError | httpx2.HTTPStatusError):
        status = error.response.status_code
        problem = f"the hub answered {status} ({error.response.reason_phrase})."
        return problem, f"Check HF_TOKEN, and {again}." if status in (401, 403) else (
            f"Later, {again}. What has arrived is kept."
        )
    if isinstance(error, errors.FileMetadataError):
        return (
            "what answers in its place is not the hub.",
            f"Check HF_ENDPOINT, and whether this network wants a login; then {again}.",
        )
    if isinstance(error, httpx2.RequestError | errors.OfflineModeIsEnabled):
        return (
            f"the hub cannot be reached ({str(error) or type(error).__name__}).",
            f"Check the network, and {again}. What has arrived is kept.",
        )
    if isinstance(error, OSError):
        room = "Make room there" if error.errno in _FULL else "Check the permissions"
        return (
            f"{error.strerror or error} ({error.filename or cache}).",
            f"{room}, or set HF_HUB_CACHE to another folder, and {again}.",
        )
    return None
