"""Check of hashes, titles, outlines and postings against the stored texts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from qmd.ingest import batch_tables, reader
from qmd.ingest.batch_tables import stored_fields
from qmd.ingest.folder_changes import Change
from qmd.ingest.outlines import Outline, outline_of_text
from qmd.ingest.reader import File, Parsed
from qmd.ingest.readers import tasks
from qmd.ingest.readers.reading import restored
from qmd.named_tuple import NamedTuple
from qmd.storage.arrow import Relation, numbers
from qmd.storage.cursor import Cursor
from qmd.storage.database import Database
from qmd.storage.long_texts import with_bodies
from qmd.text import labels, markdown
from qmd.text.hashes import content_hash
from qmd.text.languages import stemmed_in
from qmd.text.stems import terms
from qmd.types import EXPERIENCES

if TYPE_CHECKING:
    from qmd.ingest.inversion import Document
    from qmd.ingest.merging import PostingColumns
    from qmd.ingest.vocabulary import Vocabulary

PART = 500
"""Documents that are read at once: writers wait for no longer than that takes."""

HASHES = "a text has the hash that it is kept under"
TITLES = "titles, frontmatter and tags are those of the texts"
OUTLINES = "headings, links and tags are those of the texts"
LENGTHS = "lengths are those of the texts"
MISSING = "every word of a text has its posting"
UNEXPECTED = "every posting is that of a word"
FACTS = (HASHES, TITLES, OUTLINES, LENGTHS, MISSING, UNEXPECTED)


class Stored(NamedTuple):
    """A document as indexed: the columns of maintenance/texts_after.

    Attributes:
        said: what its reader said of files with this text; nothing if it is plain text, or if the
            result was not kept.
    """

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
    reader: str | None
    container: str | None
    matter: int
    tags: list[str]
    aliases: list[str]
    links: list[str]
    said: list[str]
    lang: str | None


def prove(database: Database, *, progress: Callable[[int], None] | None = None) -> Counter[str]:
    """Read and cut every text again, and compare.

    Other processes may write at the same time: each part is compared within one state of the index.

    Args:
        progress: callback with the number of compared documents.

    Returns:
        For each of `FACTS` how often it does not hold.
    """
    from qmd.ingest.vocabulary import Vocabulary

    vocabulary = Vocabulary(terms)  # not what the index knows of words
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

    rows = cursor.rows(Stored, "maintenance/texts_after", after=after, limit=PART)
    stored = with_bodies(cursor, rows)
    found = Counter[str]()
    if not stored:
        return found, after, 0
    fields = []
    for document in stored:
        outline = _outline(document)
        parsed, is_same = _parsed(document, outline)
        found[HASHES] += content_hash(document.body) != document.hash
        found[TITLES] += not is_same
        found[OUTLINES] += document.outline != outline._asdict()
        fields.append(_fields(document, parsed))
    codes = [stemmed_in(document.lang) for document in stored]
    postings = tokenise(fields, vocabulary, codes)
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


def _fields(document: Stored, parsed: Parsed | None) -> Document:
    metadata = json.loads(document.metadata or "{}")
    described = labels.described(labels.folded(metadata)) if parsed is None else parsed.described
    own = document.collection, document.title, document.path, document.body
    return stored_fields(*own, matter=document.matter, described=described)[0]


def _parsed(document: Stored, outline: Outline) -> tuple[Parsed | None, bool]:
    """Parse a document again, and check its title, metadata and tags.

    Those of records come from elsewhere. Those of a file with a reader are compared with what the
    reader said, if that was kept.
    """
    if document.collection == EXPERIENCES:
        return None, True
    file = File(
        Change(None, None, document.path, None, None),
        document.path,
        0,
        0,
        0,
        text=document.body,
        data=document.body.encode(),
        reader=document.reader,
        container=document.container,
    )
    if document.reader is None or tasks.says_itself(document.reader):
        again = [reader.parsed(file)]
    else:
        readings = [restored(json.loads(said), document.body) for said in document.said]
        again = [reader.parsed(file._replace(reading=each)) for each in readings]
    if not again:  # of a file that has documents inside, nothing is kept
        return None, True
    same = next((each for each in again if _is_same(document, each, outline)), None)
    return same or again[0], same is not None


def _is_same(document: Stored, parsed: Parsed, outline: Outline) -> bool:
    stored = (document.title, document.metadata, document.matter, document.tags, document.aliases)
    tags, aliases = list(batch_tables.tags_of(parsed, outline)), list(parsed.aliases)
    return stored == (parsed.title, parsed.metadata, parsed.matter, tags, aliases)


def _outline(document: Stored) -> Outline:
    block = markdown.frontmatter(document.body).block
    return outline_of_text(document.body, block).with_links(document.links)


def _relation(stored: list[Stored], postings: PostingColumns) -> Relation:
    ids = [stored[number].document_id for number in postings.number]
    return Relation(document_id=numbers("uint32", ids), **batch_tables.of_postings(postings))
