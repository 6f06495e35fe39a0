"""Removal of the texts of old versions, once they are much of the file.

A text that no document has any more stays for a while: it may come back, with its vectors. Without
a limit, an index whose files change every day would grow until someone runs `qmd cleanup`.

To find such texts takes .6 s among a million. A large index counts the bytes of texts as documents
leave them, about, and they are looked for when the count exceeds the limit. Whatever
removes documents without counting makes it forget the count.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from qmd.errors import IndexFailure
from qmd.storage import maintenance
from qmd.storage.file_lock import errand

if TYPE_CHECKING:
    from qmd.storage.cursor import Cursor
    from qmd.storage.database import Database

OLD_SHARE = 0.2
"""Share of the bytes of the file from which on old texts are removed."""

FEW_BYTES = 16_000_000
"""Bytes of old texts that are no reason to write the file anew."""

LARGE_FILE = 200_000_000
"""Bytes of a file from which on those of old texts are counted. In a smaller one each update finds
them, in 60 ms at 138 MB."""


def free_old_texts(database: Database) -> bool:
    """Remove the texts of old versions and their vectors, and write the file anew without them.

    This happens once they are a fifth of the file; it is left to a later update where another
    process is at it, or there is no room for a second file.

    Returns:
        True if they were removed.
    """
    size = database.path.stat().st_size
    limit = int(max(FEW_BYTES, OLD_SHARE * size))
    if size < limit:
        return False
    counted = database.read(lambda cursor: cursor.one("maintenance/old_bytes"))
    if counted is not None and counted <= limit:
        return False
    try:
        if _found(database, counts=size >= LARGE_FILE) <= limit:
            return False
        with errand(database.path, "cleanup"):
            database.write(maintenance.remove_orphans)
            from qmd.storage import compaction

            compaction.compact(database)
    except IndexFailure as error:
        logging.getLogger("qmd.storage").debug("Old texts keep their room: %s", error)
        return False
    return True


def _found(database: Database, *, counts: bool) -> int:
    """Return the bytes of texts without a document.

    Args:
        counts: note them, in the transaction that finds them: what others count is added to it.
    """

    def look(cursor: Cursor) -> int:
        _, taken = maintenance.orphans(cursor)
        return taken

    def look_and_note(cursor: Cursor) -> int:
        taken = look(cursor)
        cursor.run("maintenance/forget_old_bytes")
        cursor.run("maintenance/note_old_bytes", bytes=taken)
        return taken

    if counts:
        return database.sparingly(lambda: database.write(look_and_note))
    return database.sparingly(lambda: database.read(look))
