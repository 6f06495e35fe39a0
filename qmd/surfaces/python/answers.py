"""What the verbs give that nothing else does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from qmd.text import paths

if TYPE_CHECKING:
    from qmd.types import Document as Indexed


@dataclass(frozen=True, slots=True)
class Document:
    """A file in the index.

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


def document(found: Indexed) -> Document:
    """A file in the index, as a caller gets it."""
    return Document(
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
