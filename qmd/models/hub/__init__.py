"""Model files from the Hugging Face hub, in the shared cache.

    <cache>/models--org--repo/blobs/<SHA-256>                 a file
    <cache>/models--org--repo/snapshots/<commit>/file.gguf    a link to the blob, named as the file
    <cache>/models--org--repo/refs/main                       the commit of a branch

huggingface_hub resolves the name and address of a file; this package downloads it. The library's
own download loses the received part when it is interrupted or the connection is reset, does not
verify the digest, waits for half a minute without a network, and draws on the terminal.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from qmd.errors import HubFailure, ModelUnusable
from qmd.models.hub.cache import (
    NAME,
    alone,
    file_problem,
    link_to,
    problem_of_cached,
    record_commit,
    ref_of,
    remove,
    repository_folder,
)
from qmd.models.hub.uri import parse_uri

if TYPE_CHECKING:
    from qmd.models.hub.download import Progress


def cached(uri: str, cache: Path) -> Path | None:
    """Return the path of a cached file, or None. Needs no network.

    Args:
        cache: folder of the hub's tools, as ~/.cache/huggingface/hub.

    Raises:
        UsageError: the URI cannot be read.
    """
    wanted = parse_uri(uri)
    folder = repository_folder(wanted, cache)
    try:
        commit = ref_of(wanted, folder).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        commit = ""
    if not NAME.fullmatch(commit):
        commit = wanted.revision or ""
    path = folder / "snapshots" / commit / wanted.file
    return path if os.path.isfile(path) else None  # noqa: PTH113  # nor an error: a long name


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
    """Download a file if it is missing or damaged, and return its path.

    A file that is here and whole stays as it is, whatever 'main' has become: vectors of two
    versions of a model do not compare. What has arrived of a file is kept when the download
    breaks off, and the next one goes on from there. Two that want the same file take turns.

    Args:
        cache: folder of the hub's tools.
        offline: do not ask the hub.
        token: of an account; None: the one that `hf auth login` has stored, if any.
        progress: callback after each received piece.
        endpoint: of the hub, if it is not the public one.
        sleep: waits some seconds between two tries.

    Raises:
        UsageError: the URI cannot be read.
        HubFailure: no network, no such file, no right to it, no space, or another digest.
        ModelUnusable: it is not a GGUF file; or it is damaged, and this is offline.
    """
    from qmd.models.hub import download
    from qmd.models.hub.errors import in_our_words

    wanted = parse_uri(uri)
    with in_our_words(uri, wanted, cache):
        path = cached(uri, cache)
        problem = problem_of_cached(path) if path is not None else None
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
        published = download.ask(wanted, token, endpoint)
        if path is not None:
            remove(path)
        folder = repository_folder(wanted, cache)
        blob = folder / "blobs" / published.blob
        link = folder / "snapshots" / published.commit / wanted.file
        with alone(folder, published.blob):
            if not blob.is_file() or file_problem(blob, published.blob, published.size):
                download.receive(
                    uri, published, blob, token, progress or download.no_progress, sleep
                )
            link_to(blob, link)
            if published.commit != wanted.revision:
                record_commit(ref_of(wanted, folder), published.commit)
        return link
