"""Column batches of a commit: documents, contents, postings, words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from qmd.ingest.columns import documents
from qmd.ingest.commit import Batch
from qmd.ingest.inversion import FIELDS, Document, Postings, tokenise
from qmd.ingest.outlines import Outline, outlined
from qmd.storage.arrow import Column, Relation, lists, numbers, struct, texts

if TYPE_CHECKING:
    from qmd.ingest.reader import Parsed
    from qmd.ingest.vocabulary import Vocabulary

_KINDS = {
    "number": "uint32",
    "seen_id": "uint32",
    "dated": "int64",
    "modified": "int64",
    "lossy": "uint8",
    "size": "uint64",
    "mtime_ns": "int64",
    "inode": "uint64",
}
"""Types of the columns of numbers."""


def batch(
    collection: str, parsed: Sequence[Parsed], vocabulary: Vocabulary, *, named: bool = True
) -> Batch:
    """Make the tables of a batch: documents, contents, postings and new words.

    Args:
        named: whether the words of a path say something, so that a search is to find them.
    """
    found = tokenise([_fields(item, named) for item in parsed], vocabulary)
    contents = {item.file.hash: item for item in parsed}
    columns = {
        name: numbers(_KINDS[name], values) if name in _KINDS else texts(values)
        for name, values in documents(collection, parsed).items()
    }
    lengths, starts = (
        {
            f"{field}_{kind}": numbers("uint32", list(of_all[at::3]))
            for at, field in enumerate(FIELDS)
        }
        for kind, of_all in (("length", found.lengths), ("start", found.starts))
    )
    return Batch(
        incoming=Relation(**columns, **lengths, **starts),
        texts=Relation(
            hash=texts([*contents]),
            body=texts([item.file.data for item in contents.values()]),
            outline=of_outlines([outlined(i.file.data, i.body) for i in contents.values()]),
        ),
        postings=Relation(number=numbers("uint32", found.number), **of_postings(found)),
        learnt=vocabulary.take_new(),
        documents=len(parsed),
        replaces=any(item.file.change.document_id for item in parsed),
    )


def _fields(item: Parsed, named: bool) -> Document:
    """Return title, path and body."""
    text = item.file.text or ""
    path = item.file.path if named else ""
    return item.title, path, item.file.data if text.isascii() else text


def of_postings(found: Postings) -> dict[str, Column]:
    """Make the columns of postings, except for the document."""
    return {
        "term_id": numbers("int64", found.term_id),
        "title_frequency": numbers("uint32", found.title_frequency),
        "path_frequency": numbers("uint32", found.path_frequency),
        "body_frequency": numbers("uint32", found.body_frequency),
        "length": numbers("uint32", found.length),
        "positions": lists(found.offsets, numbers("uint32", found.positions)),
    }


def of_outlines(outlines: Sequence[Outline]) -> Column:
    """Make a column of outlines."""
    columns = zip(*outlines, strict=True) if outlines else [()] * len(Outline._fields)
    return struct(**dict(zip(Outline._fields, map(texts, map(list, columns)), strict=True)))
