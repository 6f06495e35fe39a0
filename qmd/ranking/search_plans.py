"""Plans of the statements of a keyword search, which a server makes before the first question."""

from __future__ import annotations

from qmd.ranking.bm25 import statistics
from qmd.ranking.postings import TIES
from qmd.storage.cursor import Cursor, Value


def get_ready(cursor: Cursor, *, limit: int) -> None:
    """Plan the statements of a keyword search in advance.

    Args:
        limit: documents that will be asked for.
    """
    for name in ("variants", "documents", "files", "paths"):
        cursor.get_ready(f"search/{name}")
    for name in ("frequencies", "phrases", "any_of"):
        cursor.get_ready(f"search/{name}", since=None)
    cursor.get_ready("documents/bodies")
    asked: dict[str, Value] = dict.fromkeys(("terms", "term_weights", "holders", "frequencies"), "")
    asked["average"] = statistics(cursor).average
    asked |= dict.fromkeys(("allowed", "least", "since"))
    for counted in (None, ""):
        cursor.get_ready("search/bm25", **asked, counted=counted, limit=limit + TIES)
