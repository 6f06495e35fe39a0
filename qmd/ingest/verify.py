"""Check of hashes, titles, outlines and postings against the stored texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from qmd.storage.arrow import Relation, numbers
from qmd.storage.cursor import Cursor
from qmd.storage.database import Database
from qmd.storage.stemmer import Stemmer
from qmd.text import markdown
from qmd.text.hashes import content_hash
from qmd.types import EXPERIENCES

if TYPE_CHECKING:
    from qmd.ingest.inversion import Postings
    from qmd.ingest.vocabulary import Vocabulary

PART = 500
"""Documents that are read at once: writers wait for no longer than that takes."""

HASHES = "a text has the hash that it is kept under"
TITLES = "titles and frontmatter are those of the texts"
OUTLINES = "headings, links and tags are those of the texts"
LENGTHS = "lengths are those of the texts"
MISSING = "every word of a text has its posting"
UNEXPECTED = "every posting is that of a word"
FACTS = (HASHES, TITLES, OUTLINES, LENGTHS, MISSING, UNEXPECTED)


class Stored(NamedTuple):
    """A document as indexed: the columns of maintenance/texts_after."""

    document_id: int
    collection: str
    path: str
    title: str
    hash: str
    metadata: str | None
    title_length: int
    path_length: int
    body_length: int
    path_start: int
    body_start: int
    body: str
    outline: dict[str, str] | None


def prove(database: Database, *, progress: Callable[[int], None] | None = None) -> Counter[str]:
    """Read and cut every text again, and compare.

    Other processes may write at the same time: each part is compared within one state of the index.

    Args:
        progress: callback with the number of compared documents.

    Returns:
        For each of `FACTS` how often it does not hold.
    """
    from qmd.ingest.vocabulary import Vocabulary

    vocabulary = Vocabulary(Stemmer().terms)  # not what the index knows of words
    problems = Counter(dict.fromkeys(FACTS, 0))
    done, after = 0, 0
    while True:
        found, last, compared = database.read(partial(_compare, vocabulary=vocabulary, after=after))
        if not compared:
            return problems
        problems.update(found)
        after = last
        done += compared
        if progress:
            progress(done)


def _compare(
    cursor: Cursor, *, vocabulary: Vocabulary, after: int
) -> tuple[Counter[str], int, int]:
    """Count the violations in a part of the documents.

    Returns them, the last document, and the number of documents read.
    """
    from qmd.ingest.inversion import tokenise

    stored = cursor.rows(Stored, "maintenance/texts_after", after=after, limit=PART)
    found = Counter[str]()
    if not stored:
        return found, after, 0
    for document in stored:
        found[HASHES] += content_hash(document.body) != document.hash
        found[TITLES] += not _is_described(document)
    found[OUTLINES] += _other_outlines(stored)
    postings = tokenise([_fields(document) for document in stored], vocabulary)
    for number, document in enumerate(stored):
        lengths = (document.title_length, document.path_length, document.body_length)
        starts = (document.path_start, document.body_start)
        found[LENGTHS] += (
            tuple(postings.lengths[3 * number :][:3]) != lengths
            or tuple(postings.starts[3 * number :][1:3]) != starts
        )
    last = stored[-1].document_id
    with cursor.staged(expected=_relation(stored, postings)):
        [(missing, unexpected)] = cursor.run(
            "maintenance/other_postings", first=stored[0].document_id, last=last
        )
    found[MISSING] += missing
    found[UNEXPECTED] += unexpected
    return found, last, len(stored)


def _fields(document: Stored) -> tuple[str, str, str]:
    """Return title, path and body as indexed: the path of a record is a mere number."""
    path = "" if document.collection == EXPERIENCES else document.path
    return document.title, path, document.body


def _is_described(document: Stored) -> bool:
    """Check title and metadata against the text. Those of records come from elsewhere."""
    if document.collection == EXPERIENCES:
        return True
    matter = markdown.frontmatter(document.body)
    title = markdown.title(document.body, document.path, matter)
    return (title, markdown.metadata_json(matter.metadata)) == (document.title, document.metadata)


def _other_outlines(stored: list[Stored]) -> int:
    """Count the texts whose stored outline differs from a new one."""
    from qmd.ingest.outlines import outlined

    other = 0
    for document in stored:
        start = markdown.frontmatter(document.body).end
        own = outlined(document.body.encode(), len(document.body[:start].encode()))
        other += document.outline != own._asdict()
    return other


def _relation(stored: list[Stored], postings: Postings) -> Relation:
    from qmd.ingest.batch_tables import of_postings

    ids = [stored[number].document_id for number in postings.number]
    return Relation(document_id=numbers("uint32", ids), **of_postings(postings))
