"""Removal of the texts of old versions, once they are much of the file.

A text that no document has any more stays for a while: it may come back, with its vectors. Without
a limit, an index whose files change every day would grow until someone runs `qmd cleanup`.
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


def free_old_texts(database: Database) -> bool:
    """Remove the texts of old versions and their vectors, and write the file anew without them.

    This happens once they are a fifth of the file; it is left to a later update where another
    process is at it, or there is no room for a second file.

    Returns:
        True if they were removed.
    """
    size = database.path.stat().st_size
    if not database.sparingly(lambda: database.read(lambda cursor: _is_much(cursor, size))):
        return False
    try:
        with errand(database.path, "cleanup"):
            database.write(maintenance.remove_orphans)
            from qmd.storage import compaction

            compaction.compact(database)
    except IndexFailure as error:
        logging.getLogger("qmd.storage").debug("Old texts keep their room: %s", error)
        return False
    return True


def _is_much(cursor: Cursor, size: int) -> bool:
    """Check that texts without a document are a large share of `size` bytes."""
    _, taken = maintenance.orphans(cursor)
    return taken > max(FEW_BYTES, OLD_SHARE * size)
