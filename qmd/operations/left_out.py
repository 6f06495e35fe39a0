"""Files in the folders of collections that are not indexed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from qmd.quoting import command
from qmd.text import kinds, paths
from qmd.types import Kept, LeftOut
from qmd.wording import amount, size

if TYPE_CHECKING:
    from qmd.operations.index import Index

UNREADABLE = "unreadable"
"""Why files are left out that are damaged, encrypted, pictures of text, or no text at all."""

MOST_SUFFIXES = 12
"""That are told in one line."""


def reasons_in_words(found: Sequence[LeftOut]) -> str:
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


def data_in_words(documents: int, size_of_data: int, done: str = "searched or embedded") -> str:
    """Say how much of some documents is data, for which nothing is done.

    Args:
        done: participles of what is done with words.
    """
    there = f"{size(size_of_data)} in {amount(documents, 'document')}"
    return f"data not {done}, such as base64, minified code or tables of digits: {there}"


def kept_in_words(collection: str, kept: Sequence[Kept]) -> list[str]:
    """Say which folders have lost their files, and how their documents are removed."""
    return [f"{loss(each)}; {removal(collection, each)}" for each in kept]


def loss(kept: Kept) -> str:
    """Say that a folder has lost its files."""
    lost = f"has lost {amount(kept.documents, 'file')} at once"
    if not kept.files:
        lost = "has no files any more"
    return f"folder {kept.folder} {lost}; {amount(kept.documents, 'document')} kept"


def removal(collection: str, kept: Kept) -> str:
    """Say how the documents of a folder that has lost its files are removed."""
    them = "it" if kept.documents == 1 else "them"
    return f"run {command('qmd', 'update', collection, '--yes')} to remove {them}"


def as_records(found: Sequence[LeftOut]) -> list[dict[str, object]]:
    """Convert files that are left out to records."""
    return [each._asdict() for each in found]


def counted(engine: Index) -> dict[str, list[LeftOut]]:
    """Count the files that each collection left out, or could not read, at its last update."""
    from qmd.storage import catalog

    found = engine.read(catalog.left_out)
    for collection, files in engine.read(catalog.unread_files).items():
        whys = Counter(why if why == kinds.EMPTY else UNREADABLE for _, why in files)
        found.setdefault(collection, []).extend(
            LeftOut(None, whys[why], why) for why in (UNREADABLE, kinds.EMPTY) if why in whys
        )
    return found


def files(engine: Index, name: str | None = None) -> Iterator[tuple[str, str]]:
    """List the files that are left out now, as `collection/path`, with the reason.

    Args:
        name: of a collection; None: all.

    Raises:
        CollectionNotFound: no collection has this name.
        RootMissing, RootUnreadable: its folder is not there, or cannot be read.
    """
    from qmd.ingest.walk import walk
    from qmd.operations.update import may_read
    from qmd.storage import catalog

    unread = engine.read(catalog.unread_files)
    for collection in engine.folders([name] if name else ()):
        if not may_read(engine, collection):
            continue
        found = walk(collection)
        told = [(path, kinds.why_left_out(path, collection.mask)) for path in found.passed_over]
        there = set(found.paths)
        told += [
            (path, why)
            for path, why in unread.get(collection.name, ())
            if path in there or not there.isdisjoint(paths.folders_above(path))
        ]
        for path, why in sorted({*told, *found.skipped}):
            yield f"{collection.name}/{path}", why
