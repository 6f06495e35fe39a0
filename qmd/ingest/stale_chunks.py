"""Removal of chunks that earlier versions made of data, such as base64.

Only texts with data lose their chunks, and are embedded again as they are read now. Each batch is a
transaction: an interrupted run is resumed by the next one.
"""

from __future__ import annotations

from functools import partial

from qmd.ingest.searched_text import data_blanked
from qmd.named_tuple import NamedTuple
from qmd.storage.cursor import Cursor, as_json
from qmd.storage.database import Database
from qmd.storage.long_texts import with_bodies

TEXTS, BYTES = 4_000, 12_000_000
"""Texts and bytes of them that are read at once, at most."""


class Chunked(NamedTuple):
    """A text with chunks of an earlier version.

    Attributes:
        matter: characters of its front matter.
    """

    hash: str
    body: str
    matter: int

    @property
    def has_data(self) -> bool:
        """True if it has data, which is not embedded any more."""
        return data_blanked(self.body[self.matter :].encode())[1] > 0


def drop_stale(database: Database) -> int:
    """Remove the chunks of all texts with data that were cut by an earlier version.

    Returns:
        Number of texts that lost their chunks.

    Raises:
        IndexFailure: the index is busy or cannot be written.
    """
    if not database.read(lambda cursor: bool(cursor.one("embeddings/has_stale"))):
        return 0
    dropped, after = 0, ""
    while texts := database.read(partial(_stale, after=after)):
        after = texts[-1].hash
        hashes = [text.hash for text in texts if text.has_data]
        if hashes:
            database.write(partial(_drop, hashes=hashes))
        dropped += len(hashes)
    database.write(lambda cursor: cursor.run("embeddings/note_fresh"))
    return dropped


def _stale(cursor: Cursor, after: str) -> list[Chunked]:
    rows = cursor.rows(Chunked, "embeddings/stale", after=after, limit=TEXTS, bytes=BYTES)
    return with_bodies(cursor, rows)


def _drop(cursor: Cursor, hashes: list[str]) -> None:
    cursor.run("embeddings/drop_stale", hashes=as_json(hashes))
    cursor.run("embeddings/remove_embeddings")
