"""Maintenance: merge of postings, totals, integrity checks, removal of orphans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from qmd.errors import JobRunning, NotEnoughMemory
from qmd.named_tuple import NamedTuple
from qmd.storage import catalog, long_texts
from qmd.storage.attachment import LARGE_MERGE, MERGE
from qmd.storage.cursor import Cursor, as_json
from qmd.storage.database import Database
from qmd.storage.file_lock import dictionary, errand
from qmd.text import paths

SLICE_POSTINGS = 400_000
"""Postings that a merge sorts in one transaction: a fifth of a second."""

OF_A_RUN, LARGEST_SLICE = 8_000, 4_000_000
"""Of each run that many go into a slice, two row groups of the table: of fewer, most of what is
read is of other slices, and the time of a merge would grow with the square of the index. But no
more at once than two seconds take."""

MANY_RUNS = 32
"""Commits since the last merge from which on a merge pays, if they hold enough postings."""

UNSORTED_SHARE = 0.1
"""Share of unsorted postings from which on a merge pays, after many commits."""

GONE_SHARE, FEW_GONE = 0.1, 100
"""Share of deleted documents from which on a merge pays, and the count that is too small for
one."""

LAST_TERM = (1 << 63) - 1


class MergeSize(NamedTuple):
    """Amount of work of a merge."""

    postings: int
    merged: int
    runs: int
    tombstones: int
    documents: int

    @property
    def is_loose(self) -> bool:
        """True if so many postings are unsorted that a merge would pay, some day."""
        in_order = self.runs + bool(self.merged) < 2
        return not in_order and self.postings - self.merged > UNSORTED_SHARE * self.postings

    @property
    def pays(self) -> bool:
        """True if a merge pays now."""
        gone = self.tombstones > max(FEW_GONE, GONE_SHARE * self.documents)
        return gone or (self.is_loose and self.runs >= MANY_RUNS)

    @property
    def slices(self) -> int:
        """Number of transactions of a merge."""
        return self.postings // min(max(SLICE_POSTINGS, OF_A_RUN * self.runs), LARGEST_SLICE) + 1


class Totals(NamedTuple):
    """Totals of the index."""

    documents: int
    contents: int
    orphans: int
    chunks: int
    words: int
    postings: int
    modified: datetime | None


class StrayPath(NamedTuple):
    """A path that leaves the folder of its collection.

    Attributes:
        kind: document or context.
    """

    kind: str
    collection: str | None
    path: str


class Remark(NamedTuple):
    """A file about which something is odd.

    Attributes:
        total: files with remarks in all.
    """

    file: str
    remark: str
    total: int


class IntegrityProblem(NamedTuple):
    """An integrity constraint of the index, and the number of violations."""

    fact: str
    times: int


class Waste(NamedTuple):
    """Data that a cleanup removes."""

    texts: int
    bytes: int
    words: int
    answers: int
    documents: int
    vectors: int


def merge_size(cursor: Cursor) -> MergeSize:
    """Measure the work of a merge."""
    return cursor.rows(MergeSize, "postings/size")[0]


def totals(cursor: Cursor) -> Totals:
    """Count the content of the index."""

    def made(rows: Sequence[Sequence[Any]]) -> Totals:
        found = Totals(*rows[0])
        return found._replace(modified=catalog.time_of(found.modified))

    return cursor.fact("totals", partial(cursor.run, "maintenance/totals"), made)


def problems(cursor: Cursor) -> list[IntegrityProblem]:
    """Count the violations of each integrity constraint."""
    return cursor.rows(IntegrityProblem, "maintenance/problems")


def remarks(cursor: Cursor, limit: int = 20) -> list[Remark]:
    """Find files that are indexed, but about which something is odd."""
    return cursor.rows(Remark, "maintenance/remarks", limit=limit)


def stray_paths(cursor: Cursor, limit: int = 1) -> list[StrayPath]:
    """Find paths outside of the folder of their collection, whose files lie elsewhere."""
    return cursor.rows(
        StrayPath,
        "maintenance/stray_paths",
        outside=paths.OUTSIDE,
        longest_name=paths.LONGEST_NAME,
        longest_path=paths.LONGEST_PATH,
        limit=limit,
    )


def waste(cursor: Cursor, *, unused_models: Sequence[int] = ()) -> Waste:
    """Count the data that a cleanup would remove.

    Args:
        unused_models: numbers of models whose vectors go.
    """
    return Waste(
        *orphans(cursor),
        cursor.one("maintenance/unused_words"),
        cursor.one("maintenance/cached"),
        len(_gone(cursor)),
        cursor.one("embeddings/unused", models=as_json(list(unused_models))),
    )


def orphans(cursor: Cursor) -> tuple[int, int]:
    """Count texts without a document, and their bytes."""
    [(texts, taken)] = cursor.run("maintenance/orphans")
    return texts, taken


def remove_orphans(cursor: Cursor) -> None:
    """Remove texts without a document, and all that was made of them."""
    cursor.run("maintenance/remove_orphan_chunks")
    cursor.run("embeddings/remove_embeddings")
    cursor.run("maintenance/remove_orphans")
    cursor.run("maintenance/remove_orphan_pieces")
    cursor.run("maintenance/remove_orphan_places")
    cursor.run("maintenance/remove_orphan_readings")
    cursor.run("maintenance/forget_old_bytes")


def merge(database: Database, *, always: bool = False, at_leisure: bool = False) -> bool:
    """Sort the postings and the words, and remove the postings of deleted documents.

    It goes by slices of the terms, each a transaction of its own, so that others get their
    turn in between; cut off in the middle, it leaves postings that are right, if not yet
    in order. While another process is at it, it is left to that one.

    Args:
        always: even if it does not pay, or another process merges.
        at_leisure: also after few commits: what was done before has taken far longer.

    Returns:
        True if there was anything to do.
    """
    now = database.read(merge_size)
    worth = now.pays or (at_leisure and now.is_loose)
    if not (worth or (always and (now.tombstones or now.merged < now.postings))):
        return False
    with suppress(JobRunning), errand(database.path, "merge"):
        _merge(database, now)
        return True
    if always:
        _merge(database, now)
    return always


def _merge(database: Database, now: MergeSize) -> None:
    gone = database.read(_gone)
    step, writing = LAST_TERM // now.slices + 1, MERGE
    for at in range(now.slices):
        high = min((at + 1) * step - 1, LAST_TERM)
        work = partial(_merge_slice, low=at * step, high=high)
        try:
            database.write(work, writing=writing)
        except NotEnoughMemory:
            writing = LARGE_MERGE  # for the other slices, too: they are as large
            database.write(work, writing=writing)
    database.write(partial(_finish, gone=gone))


def _gone(cursor: Cursor) -> list[int]:
    return [document_id for (document_id,) in cursor.run("postings/tombstones")]


def _merge_slice(cursor: Cursor, *, low: int, high: int) -> None:
    last = cursor.one("postings/last")
    cursor.run("postings/put_slice", low=low, high=high)
    cursor.run("postings/cut_slice", low=low, high=high, last=last)


def sort_words(database: Database) -> None:
    """Sort the words, so that those with the same beginning are adjacent."""
    database.write(_sort_words)


def _sort_words(cursor: Cursor) -> None:
    last = cursor.one("words/last")
    cursor.run("words/put_sorted")
    cursor.run("words/cut", last=last)


def _finish(cursor: Cursor, *, gone: list[int]) -> None:
    _sort_words(cursor)
    cursor.run("postings/forget", ids=as_json(gone))
    cursor.run("postings/note_merge")


def clean(
    database: Database,
    *,
    unused_models: Callable[[Cursor], Sequence[int]] = lambda _: (),
    remove_model: Callable[[Cursor, int], None] = lambda *_: None,
) -> Waste:
    """Remove unused data and sort the postings.

    Args:
        unused_models: finds the numbers of models whose vectors go, in the transaction that
            removes them: another process may begin to make vectors until then.
        remove_model: removes the vectors of one.

    Returns:
        Report of what was removed.
    """
    gone = database.read(waste).documents
    merge(database, always=True)

    def work(cursor: Cursor) -> Waste:
        unused = unused_models(cursor)
        removed = waste(cursor, unused_models=unused)._replace(documents=gone)
        if not forgets:  # an update has looked some of them up
            removed = removed._replace(words=0)
        for model_id in unused:
            remove_model(cursor, model_id)
        remove_orphans(cursor)
        long_texts.cut_stored(cursor)
        if forgets:
            cursor.run("maintenance/remove_unused_words")
        cursor.run("maintenance/remove_repeated_words")
        cursor.run("words/note_digest")
        cursor.run("maintenance/clear_cache")
        return removed

    with dictionary(database.path, shared=False) as forgets:
        return database.write(work)
