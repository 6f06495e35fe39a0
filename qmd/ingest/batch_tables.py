"""Column batches of a commit: documents, contents, postings, words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from qmd.ingest.columns import documents
from qmd.ingest.commit import Batch, Made
from qmd.ingest.inversion import FIELDS, Document, Postings, tokenise
from qmd.ingest.outlines import MARK, Outline, outlined
from qmd.storage.arrow import Column, Relation, lists, numbers, struct, texts

if TYPE_CHECKING:
    from qmd.ingest.reader import File, Parsed
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
    return Batch(
        incoming=Relation(**columns, **of_lengths(found)),
        texts=Relation(
            hash=texts([*contents]),
            body=texts([item.file.data for item in contents.values()]),
            outline=of_outlines([_outline(item) for item in contents.values()]),
        ),
        postings=Relation(number=numbers("uint32", found.number), **of_postings(found)),
        learnt=vocabulary.take_new(),
        documents=len(parsed),
        replaces=any(item.file.change.document_id for item in parsed),
        places=_places([item.file for item in parsed]),
    )


def _outline(item: Parsed) -> Outline:
    """Outline a text, with the links that its reader found."""
    found = outlined(item.file.data, item.body)
    reading = item.file.reading
    if reading is None or not reading.links:
        return found
    known = set(found.targets.split(MARK))
    links = [link for link in dict.fromkeys(map(_one_line, reading.links)) if link not in known]
    return found.followed_by(links)


def _one_line(link: str) -> str:
    return " ".join(link.replace(MARK, " ").split())


def _places(files: Sequence[File]) -> Relation | None:
    if not any(file.reading for file in files):
        return None
    from qmd.ingest.extracted import of_places

    return of_places(files)


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


def of_lengths(found: Postings) -> dict[str, Column]:
    """Make the columns of the fields of documents: their lengths and starts."""
    return {
        f"{field}_{kind}": numbers("uint32", list(of_all[at::3]))
        for kind, of_all in (("length", found.lengths), ("start", found.starts))
        for at, field in enumerate(FIELDS)
    }


def of_outlines(outlines: Sequence[Outline]) -> Column:
    """Make a column of outlines."""
    columns = zip(*outlines, strict=True) if outlines else [()] * len(Outline._fields)
    return struct(**dict(zip(Outline._fields, map(texts, map(list, columns)), strict=True)))


def of_readings(made: Sequence[Made]) -> Relation:
    """Convert results of readers to the rows that are stored, without duplicates."""
    each = {(one.digest, one.reader): one for one in made}.values()
    return Relation(
        digest=texts([one.digest for one in each]),
        reader=texts([one.reader for one in each]),
        hash=texts([one.hash for one in each]),
        said=texts([one.said for one in each]),
    )
