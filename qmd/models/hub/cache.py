"""Cache that the hub's own tools share: blobs, links and integrity checks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qmd import safe_open
from qmd.models.hub.uri import HubFile
from qmd.models.registry import MAGIC

_DIGEST = re.compile(r"[0-9a-f]{64}")

NAME = re.compile(r"[\w-]+", re.ASCII)
"""Pattern of a commit or digest that is safe as a part of a path."""


def repository_folder(wanted: HubFile, cache: Path) -> Path:
    """Return the cache folder of a repository."""
    return cache / f"models--{wanted.repo.replace('/', '--')}"


def ref_of(wanted: HubFile, folder: Path) -> Path:
    """Return the file that holds the commit of a branch or tag."""
    return folder / "refs" / (wanted.revision or "main")


def file_problem(file: Path, blob: str, size: int | None) -> str | None:
    """Compare a file with its expected size and digest; return the difference or None."""
    if size is not None and file.stat().st_size != size:
        return f"{file.stat().st_size} bytes instead of {size}"
    if _DIGEST.fullmatch(blob):
        import hashlib

        with file.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        if digest != blob:
            return f"SHA-256 {digest} instead of {blob}"
    return None


def problem_of_cached(path: Path) -> str | None:
    """Check a cached file against the digest in the name of its blob."""
    problem = file_problem(path, path.readlink().name if path.is_symlink() else "", None)
    if problem is None and is_foreign(path):
        return "it is not a GGUF file."
    return problem and f"it is damaged, {problem}."


def is_foreign(file: Path) -> bool:
    """Check that a file is no GGUF file."""
    with file.open("rb") as content:
        return content.read(len(MAGIC)) != MAGIC


def remove(path: Path) -> None:
    """Remove a file of the cache and its blob."""
    blob = path.parent / path.readlink() if path.is_symlink() else path
    path.unlink()
    blob.unlink(missing_ok=True)


@contextmanager
def alone(folder: Path, blob: str) -> Iterator[None]:
    """Hold the download lock of a file. The hub's own tools write elsewhere."""
    lock = folder.parent / ".locks" / folder.name / f"{blob}.qmd.lock"
    for place in (lock.parent, folder / "blobs"):
        place.mkdir(parents=True, exist_ok=True)
    with lock.open("a") as file:
        safe_open.lock(file.fileno(), wait=True)
        yield


def link_to(blob: Path, link: Path) -> None:
    """Link a blob under its file name."""
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    try:
        link.symlink_to(os.path.relpath(blob, link.parent))
    except OSError:  # a file system without links
        blob.replace(link)


def record_commit(ref: Path, commit: str) -> None:
    """Record the commit of a branch or tag, atomically."""
    ref.parent.mkdir(parents=True, exist_ok=True)
    draft = ref.with_name(f"{ref.name}.{os.getpid()}")
    draft.write_text(commit, encoding="utf-8")
    draft.replace(ref)
