"""Columns of the documents table for a batch, independent of their format."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from qmd.ingest.reader import EPOCH

if TYPE_CHECKING:
    from qmd.ingest.reader import File, Parsed
    from qmd.ingest.readers.reading import Reading

NO_TIME = -1
"""Nanoseconds that no file has as its time, so that the file is compared again."""


def documents(collection: str, parsed: Sequence[Parsed]) -> dict[str, list[Any]]:
    """Make the columns of the documents of a batch, without those from postings."""
    files = [item.file for item in parsed]
    return {
        "number": list(range(len(files))),
        "seen_id": [file.change.document_id or 0 for file in files],
        "collection": [collection] * len(files),
        "path": [file.path for file in files],
        "title": [item.title for item in parsed],
        "hash": [file.hash for file in files],
        "metadata": [item.metadata for item in parsed],
        "dated": [_microseconds(item.dated) for item in parsed],
        "modified": [_microseconds(item.modified) for item in parsed],
        "lossy": [file.lossy for file in files],
        "reader": [file.reader for file in files],
        "container": [file.container for file in files],
        "places": [None if file.reading is None else _places_id(file.reading) for file in files],
        "matter": [item.matter for item in parsed],
        "remark": [item.remark for item in parsed],
        **stats(files),
    }


def touched(files: Sequence[File]) -> dict[str, list[Any]]:
    """Make the columns of files with new times and the same content."""
    return {
        "document_id": [file.change.document_id for file in files],
        "modified": [file.mtime_ns // 1000 for file in files],
        **stats(files),
    }


def stats(files: Sequence[File]) -> dict[str, list[Any]]:
    """Make the columns of file times and sizes."""
    return {
        "size": [file.size for file in files],
        "mtime_ns": [NO_TIME if file.fresh else file.mtime_ns for file in files],
        "ctime_ns": [file.ctime_ns for file in files],
        "inode": [file.inode for file in files],
        "checksum": [file.checksum for file in files],
    }


def _microseconds(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


def _places_id(reading: Reading) -> str | None:
    if not reading.places:
        return None
    from qmd.text.places import Places

    return Places.of([(each.kind, each.label, each.line) for each in reading.places]).id
