"""The cache that the hub's own tools share: blobs, their names, and whether they are whole."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qmd.models.hub.uri import HubFile
from qmd.models.registry import MAGIC

_DIGEST = re.compile(r"[0-9a-f]{64}")

NAME = re.compile(r"[\w-]+", re.ASCII)
"""Commit or digest that may be part of a path: never one that leads elsewhere."""


def folder_of(wanted: HubFile, cache: Path) -> Path:
    """Where the files of a repository are."""
    return cache / f"models--{wanted.repo.replace('/', '--')}"


def ref_of(wanted: HubFile, folder: Path) -> Path:
    """Where the commit stands that a branch or tag is at."""
    return folder / "refs" / (wanted.revision or "main")


def problem_of(file: Path, blob: str, size: int | None) -> str | None:
    """What is wrong with a file that should have a size and, if it tells, a digest."""
    if size is not None and file.stat().st_size != size:
        return f"{file.stat().st_size} bytes instead of {size}"
    if _DIGEST.fullmatch(blob):
        with file.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        if digest != blob:
            return f"SHA-256 {digest} instead of {blob}"
    return None


def problem_of_cached(path: Path) -> str | None:
    """What is wrong with a file of the cache: the link to it bears its digest."""
    problem = problem_of(path, path.readlink().name if path.is_symlink() else "", None)
    if problem is None and is_foreign(path):
        return "it is not a GGUF file."
    return problem and f"it is damaged, {problem}."


def is_foreign(file: Path) -> bool:
    """Whether it is no GGUF file."""
    with file.open("rb") as content:
        return content.read(len(MAGIC)) != MAGIC


def remove(path: Path) -> None:
    """Remove a file of the cache, and its blob."""
    blob = path.parent / path.readlink() if path.is_symlink() else path
    path.unlink()
    blob.unlink(missing_ok=True)


@contextmanager
def alone(folder: Path, blob: str) -> Iterator[None]:
    """Wait for others who fetch the same file. The hub's own tools write elsewhere."""
    lock = folder.parent / ".locks" / folder.name / f"{blob}.qmd.lock"
    for place in (lock.parent, folder / "blobs"):
        place.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def link_to(blob: Path, link: Path) -> None:
    """Give a blob its name."""
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    try:
        link.symlink_to(os.path.relpath(blob, link.parent))
    except OSError:  # a file system without links
        blob.replace(link)


def note(ref: Path, commit: str) -> None:
    """Keep which commit a branch or tag is at; another process sees the old one or the new."""
    ref.parent.mkdir(parents=True, exist_ok=True)
    draft = ref.with_name(f"{ref.name}.{os.getpid()}")
    draft.write_text(commit, encoding="utf-8")
    draft.replace(ref)
