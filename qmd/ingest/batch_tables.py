"""Column batches of a commit: documents, contents, postings, words."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from qmd.ingest.columns import documents
from qmd.ingest.commit import Batch, Made
from qmd.ingest.inversion import FIELDS, Document, tokenise
from qmd.ingest.link_shares import link_percents
from qmd.ingest.merging import PostingColumns
from qmd.ingest.outlines import Outline, document_outline
from qmd.ingest.searched_text import data_blanked, searched
from qmd.ingest.sketches import sketches
from qmd.named_tuple import NamedTuple
from qmd.storage.arrow import Column, Relation, lists, numbers, struct, texts
from qmd.storage.long_texts import is_long_text
from qmd.text import markdown
from qmd.text.languages import language, stemmed_in
from qmd.types import EXPERIENCES

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
    "ctime_ns": "int64",
    "inode": "uint64",
    "matter": "uint32",
}
"""Types of the columns of numbers."""


class Texts(NamedTuple):
    """Documents of a batch, parsed, with what is made of each without the words of the index.

    Attributes:
        languages: codes; None where nothing tells the language.
        shares: column of the percentages of lists of links.
        fields: title, path and body, and the bytes of data that are left out.
        outlines: by hash, with the document that has the text.
    """

    parsed: Sequence[Parsed]
    languages: list[str | None]
    shares: Column
    fields: list[tuple[Document, int]]
    outlines: dict[str, tuple[Parsed, Outline]]


def texts_of(parsed: Sequence[Parsed], *, named: bool = True) -> Texts:
    """Take apart the texts of a batch.

    Args:
        named: whether the words of a path say something, so that a search is to find them.
    """
    contents = {item.file.hash: item for item in parsed}
    return Texts(
        parsed,
        [language(item.file.whole, item.metadata, start=item.matter) for item in parsed],
        link_percents((item.file.whole, item.matter) for item in parsed),
        [_fields(item, named) for item in parsed],
        {hash_: (item, _outline(item)) for hash_, item in contents.items()},
    )


def batch(collection: str, made: Texts, vocabulary: Vocabulary) -> Batch:
    """Make the tables of a batch: documents, contents, postings and new words."""
    parsed, codes, shares, fields, outlines = made
    found = tokenise([each for each, _ in fields], vocabulary, list(map(stemmed_in, codes)))
    bodies = {hash_: item.file.data for hash_, (item, _) in outlines.items()}
    long = {hash_: body for hash_, body in bodies.items() if is_long_text(body)}
    columns = {
        name: numbers(_KINDS[name], values) if name in _KINDS else texts(values)
        for name, values in documents(collection, parsed).items()
    }
    return Batch(
        incoming=Relation(
            **columns,
            **of_lengths(found),
            tags=_lists([tags_of(item, outlines[item.file.hash][1]) for item in parsed]),
            aliases=_lists([item.aliases for item in parsed]),
            links=_lists([item.links for item in parsed]),
            lang=texts(codes),
            link_percent=shares,
            data_bytes=numbers("uint64", [size for _, size in fields]),
        ),
        texts=Relation(
            hash=texts([*bodies]),
            body=texts([b"" if key in long else body for key, body in bodies.items()]),
            outline=of_outlines([outline for _, outline in outlines.values()]),
        ),
        postings=Relation(number=numbers("uint32", found.number), **of_postings(found)),
        documents=len(parsed),
        replaces=any(item.file.change.document_id for item in parsed),
        places=_places([item.file for item in parsed]),
        sketched=sketches(found, [item.file.hash for item in parsed]),
        data={item.file.path: size for item, (_, size) in zip(parsed, fields, strict=True) if size},
        long=[*long.items()],
        learnt=vocabulary.take_new(),  # last: a batch that fails takes none
    )


def _outline(item: Parsed) -> Outline:
    """Outline a text, with the links that its reader found."""
    return document_outline(item.file.data, item.block).with_links(item.links)


def tags_of(item: Parsed, outline: Outline) -> Sequence[str]:
    """List the tags of the metadata and of the text, none twice."""
    inline = outline.tags if markdown.has_tags(item.file.path, item.file.reader) else []
    return list(dict.fromkeys([*item.tags, *inline])) if inline else item.tags


def _lists(values: Sequence[Sequence[str]]) -> Column:
    """Make a column of lists of texts."""
    offsets = array("i", [0])
    for each in values:
        offsets.append(offsets[-1] + len(each))
    return lists(memoryview(offsets), texts(list(chain.from_iterable(values))))


def _places(files: Sequence[File]) -> Relation | None:
    if not any(file.reading for file in files):
        return None
    from qmd.ingest.extracted import of_places

    return of_places(files)


def _fields(item: Parsed, named: bool) -> tuple[Document, int]:
    """Return title, path and body, of which front matter is not a part, and the bytes of data."""
    text = item.file.whole
    path = item.file.path if named else ""
    body, left_out = searched(text, item.file.data, item.body, item.described)
    return (item.title, path, body), left_out


def stored_fields(
    collection: str, title: str, path: str, body: str, *, matter: int, described: str
) -> tuple[Document, int]:
    """Return title, path and body as indexed: the path of a record is a mere number.

    Args:
        collection: of the document, whose stored columns the others are.
        matter: characters of its front matter.
        described: values of the metadata that are searched, too.

    Returns:
        And how many bytes of data are left out.
    """
    if collection == EXPERIENCES:
        words, left_out = data_blanked(body.encode())
        return (title, "", words.decode()), left_out
    size = len(body[:matter].encode())
    indexed, left_out = searched(body, body.encode(), size, described)
    return (title, path, indexed), left_out


def of_postings(found: PostingColumns) -> dict[str, Column]:
    """Make the columns of postings, except for the document."""
    return {
        "term_id": numbers("int64", found.term_id),
        "title_frequency": numbers("uint32", found.title_frequency),
        "path_frequency": numbers("uint32", found.path_frequency),
        "body_frequency": numbers("uint32", found.body_frequency),
        "positions": lists(found.offsets, numbers("uint32", found.positions)),
    }


def of_lengths(found: PostingColumns) -> dict[str, Column]:
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
