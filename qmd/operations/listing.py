"""Operation `documents`, which is `qmd ls`: collections, folders and files."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from qmd.analytics.rows import Rows
from qmd.declaration.operation import Parameter, operation
from qmd.declaration.parameters import Day, selected
from qmd.named_tuple import NamedTuple
from qmd.operations.documents import below
from qmd.text import paths
from qmd.types import DocumentRow

if TYPE_CHECKING:
    from qmd.operations.index import Index

ListedPath = Annotated[
    str | None,
    Parameter(
        help="What to list; also a folder: ./drafts.",
        helps={"tool": "notes/journal"},
        metavar="[COLLECTION[/PREFIX]]",
        complete="collections",
        aliases=("folder", "directory", "dir", "file", "collection", "uri"),
    ),
]

ChangedSince = Annotated[
    Day,
    Parameter(
        help="Files changed on this day or later, newest first: 2025-03-14, 7d.",
        helps={"tool": "2025-03-14, 7d."},
        metavar="DATE",
        kind="day",
    ),
]


class Document(NamedTuple):
    """File in the index.

    Attributes:
        file: `collection/path`.
        path: below the folder of the collection, with `/`.
        date: UTC; from frontmatter, else the file name, else `modified`.
        modified: UTC.
        size: bytes.
        hash: SHA-256 of the text; its first six digits are the docid.
    """

    docid: str
    file: str
    title: str
    collection: str
    path: str
    date: datetime
    modified: datetime
    size: int
    hash: str
    uri: str

    @classmethod
    def of(cls, found: DocumentRow) -> Document:
        """Make the record of a row."""
        return cls(
            found.docid,
            found.name,
            found.title,
            found.collection,
            found.path,
            found.dated,
            found.modified,
            found.size,
            found.hash,
            paths.uri(found.collection, found.path),
        )


@operation(
    name="ls",
    title="Documents",
    forwardable=True,
    sharded=True,
    aliases=("ls",),
    description="List collections, folders, documents; `since`: what changed; `by`: counts.",
    examples=(
        ("List the collections", "qmd ls"),
        ("List the files of a folder in one", "qmd ls notes/journal"),
        ("What has changed in the last week, newest first", "qmd ls notes --since 7d"),
        ("As JSON, with their dates and docids", "qmd ls notes --json"),
    ),
)
def documents(
    index: Index, path: ListedPath = None, *, since: ChangedSince = None
) -> Rows[Document]:
    """List collections, or the files of one.

    Args:
        path: a collection, or one of its folders: `notes/work`; None: all documents.
        since: only files that have changed on this day or later, the newest first.

    Raises:
        CollectionNotFound: no collection has this name.
        InvalidArgument: the day cannot be read.
    """
    collection, _, prefix = (path or "").removeprefix(paths.SCHEME).strip("/").partition("/")
    found = below(index, collection or None, prefix)
    return Rows(Document, map(Document.of, changed(found, since)))


def changed(found: Sequence[DocumentRow], since: Day) -> list[DocumentRow]:
    """Choose the documents whose files have changed since a day, the newest first; None: all.

    Raises:
        InvalidArgument: the day cannot be read.
    """
    start = selected(since=since).since
    if start is None:
        return list(found)
    kept = [each for each in found if each.modified >= start]
    return sorted(kept, key=lambda each: (-each.modified.timestamp(), each.name))


class Listing(NamedTuple):
    """Folders and documents that are directly in a folder.

    Attributes:
        folders: `collection/folder/`, with the number of documents below it.
    """

    folders: tuple[tuple[str, int], ...]
    documents: tuple[Document, ...]


def listing(found: Sequence[Document], collection: str, prefix: str) -> Listing:
    """Group documents below a folder by the folders in it.

    Args:
        prefix: of their paths; '' for all of the collection.
    """
    begin = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
    composed = paths.to_nfc(begin) or begin
    folders: dict[str, int] = {}
    documents = []
    for each in found:
        path = paths.to_nfc(each.path) or each.path
        inside, more, _ = path.removeprefix(composed).partition("/")
        if path.startswith(composed) and more:
            name = f"{collection}/{composed}{inside}/"
            folders[name] = folders.get(name, 0) + 1
        else:
            documents.append(each)
    return Listing(tuple(folders.items()), tuple(documents))
