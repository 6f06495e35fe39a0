"""Places of documents that may be written: in the index, or in the folder of a collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qmd.errors import UsageError
from qmd.named_tuple import NamedTuple
from qmd.types import Collection

if TYPE_CHECKING:
    from qmd.operations.index import Index

INBOX = "inbox"
"""Collection of documents for which no other is named."""


class DocumentPlace(NamedTuple):
    """DocumentPlace of a document: its collection, which need not be there yet, and its path."""

    collection: Collection
    path: str

    @property
    def file(self) -> str:
        """`collection/path`."""
        return f"{self.collection.name}/{self.path}"


def dated(name: str) -> str:
    """Put the day of today, in local time, in the place of `@today` in a name."""
    from datetime import datetime

    if "@today" not in name:
        return name
    return name.replace("@today", datetime.now().astimezone().date().isoformat())


def place_of(index: Index, name: str, collection: str | None) -> DocumentPlace:
    """Find the place of a document.

    Raises:
        UsageError: the name is none, or nothing may be put into the collection.
    """
    from qmd.settings.config_reader import check_name
    from qmd.text.composing import document_path
    from qmd.text.paths import SCHEME

    known = {each.name: each for each in index.collections()}
    first, _, rest = name.removeprefix(SCHEME).partition("/")
    is_named = name.startswith(SCHEME) or (collection is None and rest and first in (INBOX, *known))
    chosen, path = (first, rest) if is_named else (collection or INBOX, name)
    path = document_path(path)
    check_name(chosen)  # of the records of agents, too
    found = known.get(chosen, Collection(chosen, ""))
    if found.root:
        _check_writable(index, found, path)
    return DocumentPlace(found, path)


def _check_writable(index: Index, collection: Collection, path: str) -> None:
    """Refuse to write into a folder without `writable: true`, or a file that it does not have.

    Raises:
        UsageError: it is not writable, or its mask does not take the file.
    """
    from qmd.operations.update import check_approved
    from qmd.text.globs import taking

    settings = index.settings().collections
    if not any(each.name == collection.name and each.writable for each in settings):
        raise UsageError(
            f"'{collection.name}' is the folder {collection.root}, into which nothing may be put."
            f"\n\nName another collection, or allow it in {index.place.config}: `writable: true`."
        )
    check_approved(index, collection)
    if not taking(collection.mask, collection.ignored, collection.converted)(path):
        raise UsageError(
            f"'{path}' does not belong to '{collection.name}': its mask is {collection.mask}."
        )
