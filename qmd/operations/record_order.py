"""Experience records beside the documents of the user: their order, and whether they are wanted.

Agents submit these records, and they have not been reviewed. So they stand behind the documents of
the user, unless their collection is named. `experiences: false` in index.yml switches them off.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from qmd.errors import ConfigError, UsageError
from qmd.storage import catalog
from qmd.types import EXPERIENCES

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.ranking.excerpts import Excerpted
    from qmd.storage.cursor import Cursor
    from qmd.types import Filter, Result

FURTHER = 20
"""Documents that are ranked besides, so that records do not take the places of documents."""

SHARE = 5
"""One of so many results may be a record, where documents of the user would fill the list."""


def further(index: Index, cursor: Cursor, among: Filter) -> int:
    """Return the number of documents to rank beyond those that are shown.

    Args:
        among: documents that may answer, as the caller chose them.
    """
    if among.collections is not None and EXPERIENCES in among.collections:
        return 0
    known = index.database.remembered("collections", catalog.collections, cursor=cursor)
    return FURTHER if any(each.name == EXPERIENCES and each.included for each in known) else 0


def records_wanted(index: Index) -> bool:
    """Return whether the user has left experience records switched on.

    Settings that cannot be read are no answer: a call that needs them reports that.
    """
    try:
        return index.settings().experiences
    except ConfigError:
        return True


def check_wanted(index: Index) -> None:
    """Refuse experience records that are switched off.

    Raises:
        UsageError: index.yml switches them off.
        ConfigError: index.yml cannot be read.
    """
    if not index.settings().experiences:
        raise UsageError(f"Experience records are switched off in {index.place.config}.")


def is_record(found: Result | Excerpted) -> bool:
    """Return whether a result, or a document with passages, is an experience record."""
    return found.file.startswith(f"{EXPERIENCES}/")


def behind_documents(results: Sequence[Result], limit: int) -> list[Result]:
    """Place records behind documents, and choose those that are shown.

    Records that are among the first `limit` stay in the list: at least one, and at most one of
    `SHARE` where there are enough documents.

    Args:
        results: best first, more than are shown.
    """
    own = [each for each in results if not is_record(each)]
    records = [each for each in results[:limit] if is_record(each)]
    most = max(limit - len(own), max(1, limit // SHARE) if limit > 1 else 0)
    kept = records[:most]
    return [*own[: limit - len(kept)], *kept]
