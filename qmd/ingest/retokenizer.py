"""New postings for documents that were indexed by earlier rules of what a word is.

They are made of the stored texts, so that no file is read. Each batch is a transaction: an
interrupted run is resumed by the next one, and searches find the words of all documents meanwhile.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from qmd.ingest import commit
from qmd.ingest.indexed_terms import indexed_vocabulary
from qmd.named_tuple import NamedTuple
from qmd.storage.cursor import Cursor
from qmd.storage.database import Database
from qmd.storage.long_texts import with_bodies
from qmd.text import labels
from qmd.text.languages import language, stemmed_in
from qmd.text.link_lists import link_percent

if TYPE_CHECKING:
    from qmd.ingest.inversion import Document
    from qmd.ingest.vocabulary import Vocabulary

DOCUMENTS, BYTES = 4_000, 12_000_000
"""Documents and bytes of their texts in one commit, at most."""


class Stale(NamedTuple):
    """A document with postings by earlier rules."""

    document_id: int
    collection: str
    path: str
    title: str
    hash: str
    body: str
    matter: int
    metadata: str | None

    @property
    def fields(self) -> tuple[Document, int]:
        """Title, path and body as indexed, and the bytes of data that are not."""
        from qmd.ingest.batch_tables import stored_fields

        described = labels.described(json.loads(self.metadata or "{}"))
        own = self.collection, self.title, self.path, self.body
        return stored_fields(*own, matter=self.matter, described=described)

    @property
    def language(self) -> str | None:
        """Code of the language of the text."""
        return language(self.body, self.metadata, start=self.matter)


def needs_new_postings(cursor: Cursor) -> bool:
    """Check for documents with postings by earlier rules."""
    return bool(cursor.one("documents/has_stale"))


def retokenize(database: Database) -> int:
    """Give all documents postings by the rules of now.

    Returns:
        Number of texts that got them.

    Raises:
        IndexFailure: the index is busy or cannot be written.
    """
    if not database.read(needs_new_postings):
        return 0
    done = 0
    with ExitStack() as held:
        vocabulary = indexed_vocabulary(database, held)
        while stale := database.read(_stale):
            work = _prepared(stale, vocabulary)
            database.write(work)
            done += len(stale)
    return done


def _stale(cursor: Cursor) -> list[Stale]:
    rows = cursor.rows(Stale, "documents/stale", limit=DOCUMENTS, bytes=BYTES)
    return with_bodies(cursor, rows)


def _prepared(stale: list[Stale], vocabulary: Vocabulary) -> partial[None]:
    """Return the commit of a batch, the numbers of which descend."""
    from qmd.ingest.batch_tables import of_lengths, of_postings
    from qmd.ingest.inversion import tokenise
    from qmd.storage.arrow import Relation, numbers, texts

    stale = stale[::-1]  # postings of a term go by the numbers of their documents
    codes = [each.language for each in stale]
    stemmed = list(map(stemmed_in, codes))
    fields = [each.fields for each in stale]
    found = tokenise([each for each, _ in fields], vocabulary, stemmed)
    ids = [each.document_id for each in stale]
    return partial(
        commit.put_again,
        again=Relation(
            document_id=numbers("uint32", ids),
            lang=texts(codes),
            link_percent=numbers(
                "uint8", [link_percent(each.body, start=each.matter) for each in stale]
            ),
            data_bytes=numbers("uint64", [size for _, size in fields]),
            **of_lengths(found),
        ),
        postings=Relation(
            document_id=numbers("uint32", [ids[number] for number in found.number]),
            **of_postings(found),
        ),
        learnt=vocabulary.take_new(),
        first=ids[0],
    )
