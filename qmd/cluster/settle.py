"""Facts about all texts together, written into each shard: near-duplicates and cosines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from qmd.named_tuple import NamedTuple
from qmd.storage.cursor import Cursor, as_json, connected
from qmd.storage.database import Database

if TYPE_CHECKING:
    from qmd.embedding.cosines import Ask
    from qmd.ingest.near_duplicates import Grouped, NamedText
    from qmd.models.selection import Space


class _Text(NamedTuple):
    """A text of a shard; the columns of cluster/sketches."""

    hash: str
    bins: bytes
    title: str
    collection: str
    path: str
    documents: int


@contextmanager
def opened(path: Path) -> Iterator[Database]:
    """Open the file of a shard for a moment."""
    database = Database(path)
    try:
        yield database
    finally:
        database.close()


class Measured(NamedTuple):
    """Vectors whose cosines are measured.

    Attributes:
        ask: gives the vectors of questions.
    """

    space: Space
    ask: Ask


def settle_shards(paths: Sequence[Path], measured: Measured | None) -> None:
    """Compare the texts of all shards, and write into each what concerns its own.

    A shard that has it already is not written to.

    Args:
        measured: None: there are no vectors, or what they are worth is known.

    Raises:
        IndexFailure: a shard cannot be read or written.
    """
    _settle_copies(paths)
    if measured is not None:
        _settle_cosines(paths, measured)


def _settle_copies(paths: Sequence[Path]) -> None:
    from qmd.ingest.near_duplicates import Signatures, groups_of, put_groups

    texts: dict[str, _Text] = {}
    own: list[set[str]] = []
    for path in paths:
        with opened(path) as database:
            found = database.read(lambda cursor: cursor.rows(_Text, "cluster/sketches"))
        own.append({each.hash for each in found})
        for each in found:
            texts[each.hash] = _joined(each, texts.get(each.hash))
    signed = Signatures([*texts], bytearray().join([each.bins for each in texts.values()]))
    copied = [key for key in sorted(texts) if texts[key].documents > 1]
    groups = groups_of(signed, partial(_named, texts), copied)
    for path, hashes in zip(paths, own, strict=True):
        wanted = [each for each in groups if each.hash in hashes]
        with opened(path) as database:
            if database.read(_copies) != _in_order(wanted):
                database.write(lambda cursor, wanted=wanted: put_groups(cursor, wanted))  # type: ignore[misc]


def _joined(one: _Text, other: _Text | None) -> _Text:
    """Join what two shards know of the same text: the first document gives its names."""
    if other is None:
        return one
    first = min(one, other, key=lambda each: (each.collection, each.path))
    return first._replace(documents=one.documents + other.documents)


def _named(texts: Mapping[str, _Text], hashes: Sequence[str]) -> list[NamedText]:
    """Name some texts, as documents/names_of_texts does."""
    from qmd.ingest.near_duplicates import NamedText

    titles = as_json([each.title for each in texts.values()])
    rows = Cursor(connected()).run("cluster/lowered", titles=titles)
    lowered = {key: title for key, (title,) in zip(texts, rows, strict=True)}
    counts = Counter(lowered.values())
    return [
        NamedText(key, texts[key].title, texts[key].path, counts[lowered[key]]) for key in hashes
    ]


def _copies(cursor: Cursor) -> list[tuple[str, str, float]]:
    return [(key, leader, round(near, 6)) for key, leader, near in cursor.run("cluster/copies")]


def _in_order(groups: Sequence[Grouped]) -> list[tuple[str, str, float]]:
    import numpy as np

    return sorted((g.hash, g.leader, round(float(np.float32(g.similarity)), 6)) for g in groups)


def _settle_cosines(paths: Sequence[Path], measured: Measured) -> None:
    """Measure the cosines of passages of all shards, as one index does."""
    from qmd.embedding import cosines, vectors

    fingerprint = measured.space.fingerprint
    first: dict[str, tuple[str, Sequence[float]]] = {}
    for path in paths:
        with opened(path) as database:
            rows = database.read(
                lambda cursor: cursor.run(
                    "cluster/first_passages",
                    fingerprint=fingerprint,
                    limit=cosines.MOST,
                    count=cosines.BEGINNING,
                )
            )
        first |= {key: (beginning, vector) for key, beginning, vector in rows}
    chosen = [first[key] for key in sorted(first)[: cosines.MOST]]
    found = cosines.measured_for(chosen, measured.space, measured.ask)

    def differs(cursor: Cursor) -> int | None:
        number = vectors.model_id(cursor, fingerprint)
        return number if number is not None and cosines.of(cursor, number) != found else None

    def keep(cursor: Cursor, number: int) -> None:
        cosines.keep(cursor, found, model_id=number)

    for path in paths:
        with opened(path) as database:
            number = database.read(differs)
            if number is not None:
                database.write(lambda cursor, number=number: keep(cursor, number))  # type: ignore[misc]
