"""Documents that are stored in the index, without a file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

from qmd.errors import IndexBusy
from qmd.ingest import batch_tables, commit, reader
from qmd.ingest.batches import ROUNDS
from qmd.ingest.commit import Batch
from qmd.ingest.folder_changes import Change
from qmd.ingest.reader import File
from qmd.ingest.vocabulary import Vocabulary
from qmd.storage.catalog import collections
from qmd.storage.cursor import Cursor
from qmd.storage.database import Database
from qmd.text import paths
from qmd.text.hashes import checksum, content_hash
from qmd.text.stems import terms
from qmd.types import DocumentRow


def find(cursor: Cursor, collection: str, path: str) -> DocumentRow | None:
    """Find the document of a path, as it is written."""
    asked = {"collection": collection, "path": path, "composed": paths.to_nfc(path)}
    found = cursor.rows(DocumentRow, "documents/at", **asked)
    return next((each for each in found if each.path == path), None)


def store(database: Database, collection: str, path: str, text: str) -> bool:
    """Put a document into a collection that is stored in the index, in one transaction.

    The collection is made if it is not there.

    Returns:
        True if it took the place of another.

    Raises:
        IndexBusy: other processes put the same document again and again.
        IndexFailure: the index is busy or cannot be written.
    """
    for _ in range(ROUNDS):
        before = database.read(partial(find, collection=collection, path=path))
        made = _batch(collection, path, text, before)
        if database.write(partial(_put, collection=collection, batch=made)):
            return before is not None
    raise IndexBusy(database.path, holder=None, waited=0)


def remove(database: Database, document: DocumentRow) -> bool:
    """Remove a document, and its collection if that is stored in the index and was its last one.

    Returns:
        True if it was still there.
    """

    def work(cursor: Cursor) -> bool:
        gone = commit.remove(cursor, [document.document_id])
        cursor.run("collections/remove_empty", collection=document.collection)
        return bool(gone)

    return database.write(work)


def _put(cursor: Cursor, *, collection: str, batch: Batch) -> bool:
    if all(each.name != collection for each in collections(cursor)):
        cursor.run("collections/add_stored", collection=collection)
    words: Sequence[str] = [word for word, _ in batch.learnt]
    known = commit.known_words(cursor, words)
    new = [learnt for learnt in batch.learnt if learnt[0] not in known]
    return bool(commit.put(cursor, batch._replace(learnt=new)))


def _batch(collection: str, path: str, text: str, before: DocumentRow | None) -> Batch:
    data = text.encode()
    number = before.document_id if before is not None else None
    file = File(
        Change(None, number, path, None, None),
        path,
        len(data),
        time.time_ns(),
        0,
        checksum(data),
        content_hash(data),
        text,
        data,
    )
    made = batch_tables.texts_of([reader.parsed(file)])
    return batch_tables.batch(collection, made, Vocabulary(terms))
