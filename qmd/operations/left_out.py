"""Files in the folders of collections that are not indexed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from qmd.operations.update import may_read
from qmd.text import kinds
from qmd.types import LeftOut

if TYPE_CHECKING:
    from qmd.operations.index import Index

MOST_SUFFIXES = 12
"""That are told in one line."""


def in_words(found: Sequence[LeftOut]) -> str:
    """`12 .png, 3 .zip, 5 .py (code), 2 over 64 MB`; nothing, if nothing is left out."""
    parts = []
    for each in found:
        if each.suffix is None:
            parts.append(f"{each.files} {each.why}")
            continue
        why = f" ({each.why})" if each.why != kinds.NO_READER else ""
        parts.append(f"{each.files} {each.suffix or 'without suffix'}{why}")
    if len(parts) > MOST_SUFFIXES:
        rest = sum(each.files for each in found[MOST_SUFFIXES - 1 :])
        parts[MOST_SUFFIXES - 1 :] = [f"{rest} others"]
    return ", ".join(parts)


def as_records(found: Sequence[LeftOut]) -> list[dict[str, object]]:
    """Convert files that are left out to records."""
    return [each._asdict() for each in found]


def counted(engine: Index) -> dict[str, list[LeftOut]]:
    """Count the files that each collection left out at its last update."""
    from qmd.storage import catalog

    return engine.read(catalog.left_out)


def files(engine: Index, name: str | None = None) -> Iterator[tuple[str, str]]:
    """List the files that are left out now, as `collection/path`, with the reason.

    Args:
        name: of a collection; None: all.

    Raises:
        CollectionNotFound: there is none of this name.
        RootMissing, RootUnreadable: its folder is not there, or cannot be read.
    """
    from qmd.ingest.walk import walk

    for collection in engine.folders([name] if name else ()):
        if not may_read(engine, collection):
            continue
        found = walk(collection)
        told = [(path, kinds.why_left_out(path, collection.mask)) for path in found.passed_over]
        for path, why in sorted([*told, *found.skipped]):
            yield f"{collection.name}/{path}", why
