"""Small updates in one thread, without the pipeline.

To load the pipeline would take longer than the update itself.
"""

from __future__ import annotations

from contextlib import ExitStack

from qmd.ingest.batches import ROUNDS, Batches
from qmd.ingest.compare import Comparison, compare
from qmd.ingest.extractor import Readers
from qmd.reports import Report
from qmd.storage.database import Database


def carry_out(
    database: Database, comparison: Comparison, readers: Readers, *, groups: bool = False
) -> Report:
    """Update one collection, whose comparison has just been made.

    Args:
        readers: of files that are no text.
        groups: see `Batches`.

    Raises:
        CollectionNotFound: it was removed, or got another name.
        RootMissing, RootUnreadable: the folder is not there any more, or cannot be read.
        IndexFailure: the index is busy or cannot be written.
    """
    collection = comparison.collection
    report = Report(collection.name, collection.mask)
    for _ in range(ROUNDS):
        with ExitStack() as held:
            batches = Batches(
                database, collection, report, comparison, held, readers, groups=groups
            )
            settled = all([_committed(batches), batches.remove()])
            batches.finish()
        if settled:
            break
        comparison = compare(database, collection, readers=readers, removes=comparison.removes)
    return report


def _committed(batches: Batches) -> bool:
    """Commit all batches; return whether all documents were accepted."""
    settled = True
    for changes in batches.cut():
        files = batches.read(changes)
        batch = batches.prepared(files, batches.parsed(files))
        files = [file.spent() for file in files]
        settled &= batches.commit(files, batch)
    return settled
