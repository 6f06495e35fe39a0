"""Backfill of outlines in texts indexed by an earlier version.

Each batch is a transaction, so that an interrupted run is resumed by the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from qmd.ingest import commit
from qmd.ingest.front_matters import front_matter_of
from qmd.ingest.outlines import Outline, outline_of_text
from qmd.storage.arrow import Relation
from qmd.storage.arrow import texts as column
from qmd.storage.database import Database

TEXTS, BYTES = 1000, 5_000_000
"""Texts and bytes of one commit, at most."""


def fill(database: Database) -> int:
    """Give all texts their outlines.

    Returns:
        The number of texts that got one.

    Raises:
        IndexFailure: the index is busy or cannot be written.
    """
    if not database.read(commit.lack_outlines):
        return 0
    filled = 0
    while texts := database.read(partial(commit.unoutlined, limit=TEXTS, size=BYTES)):
        database.write(partial(commit.add_outlines, made=_made(texts)))
        filled += len(texts)
    return filled


def _made(texts: Sequence[commit.Unoutlined]) -> Relation:
    from qmd.ingest.batch_tables import of_outlines

    made = [_outline(each) for each in texts]
    return Relation(hash=column([each.hash for each in texts]), outline=of_outlines(made))


def _outline(text: commit.Unoutlined) -> Outline:
    block = front_matter_of(text.body, text.path).block
    return outline_of_text(text.body, block).with_links(text.links)
