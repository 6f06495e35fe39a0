"""A copy of the index for whoever reads it for long, so that nobody has to wait for that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from qmd.store.database import Database
from qmd.store.workplaces import workplace


@contextmanager
def copied(database: Database, *folders: Path) -> Iterator[tuple[Database, float]]:
    """A copy, which goes in the end, and for how many seconds the index was held for it.

    Args:
        folders: where it may be: the first that has room is taken.

    Raises:
        IndexFailure: the index is busy or unreadable.
        OSError: none of them has room.
    """
    with ExitStack() as stack:
        for folder in folders:
            try:
                path, held = database.copy(stack.enter_context(workplace(folder)))
                break
            except OSError:
                stack.close()
                if folder == folders[-1]:
                    raise
        copy = Database(path)
        stack.callback(copy.close)
        yield copy, held
