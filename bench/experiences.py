"""Experience records: cost of a query and of a submission among many.

    python -m bench.experiences [--records 10000] [--rounds 200] [--vectors]

Fills an index with records of about 200 words whose frequencies fall as those of a language do, and
then, as a server would, submits one and asks two questions, round after round. Prints for both the
milliseconds that half of them and nine tenths of them stay below, and those of the processor, which
other work on the machine changes less.

With --vectors all records but those submitted last have one: random numbers, which take as long to
compare as others. Questions get theirs from the model in use.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import accumulate
from pathlib import Path

import numpy as np
import pyarrow as pa

from qmd.embedding import vectors
from qmd.experiences.contract import Submission
from qmd.experiences.table import Record
from qmd.operations.experiences import Experiences
from qmd.operations.index import Index
from qmd.settings.environment import Machine, Place
from qmd.storage.cursor import Cursor

VOCABULARY, WORDS = 30_000, 200
BATCH = 500
SYLLABLES = "ka lo mi re tu sa ne vo di pa que ster ing ion al er an th ou".split()


class Author:
    """Writer of records and of queries for them."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._words = [
            "".join(self._chance.choices(SYLLABLES, k=3)) + (str(n) if n > VOCABULARY // 2 else "")
            for n in range(VOCABULARY)
        ]
        self._weights = list(accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))

    def text(self, count: int) -> str:
        """So many words."""
        return " ".join(self._chance.choices(self._words, cum_weights=self._weights, k=count))

    def question(self) -> str:
        """Two to six words, some of them rare."""
        some = self._chance.choices(self._words, k=2)
        return f"{self.text(self._chance.randint(0, 4))} {' '.join(some)}"

    def submission(self) -> Submission:
        """Make a new record."""
        return Submission(
            self.text(8),
            self.text(WORDS // 3),
            self.text(WORDS // 6),
            self.text(WORDS // 3),
            self.text(WORDS // 6),
            tuple(self.text(4).split()),
        )

    def id(self) -> str:
        """Make a UUID."""
        return f"{self._chance.getrandbits(128):032x}"


def fill(experiences: Experiences, author: Author, count: int) -> None:
    """Add records of the last hundred days."""
    now = datetime.now(UTC).replace(tzinfo=None)
    for at in range(0, count, BATCH):
        records = [
            Record(author.id(), author.submission(), now - timedelta(days=100 * n / count))
            for n in range(at, min(at + BATCH, count))
        ]
        experiences.add(records)


def embed(engine: Index) -> None:
    """Give all records that are there a vector of the model in use."""
    space = engine.models.space()

    def work(cursor: Cursor) -> None:
        hashes = [
            row for (row,) in cursor.connection.execute("from content select hash").fetchall()
        ]
        number = vectors.meet(cursor, space, 384)
        count = len(hashes)
        zeros = np.zeros(count, np.uint32)
        cut = {
            "number": np.arange(count, dtype=np.uint32),
            "hash": hashes,
            **dict.fromkeys(("seq", "position"), zeros),
            **dict.fromkeys(("length", "line", "tokens"), zeros + 1),
        }
        added = vectors.add_chunks(cursor, model_id=number, cut=pa.table(cut))
        rows = np.random.default_rng(1).standard_normal((count, 384)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        vectors.add(cursor, model_id=number, chunk_ids=list(added.values()), vectors=rows)

    engine.database.write(work)


def report(what: str, taken: list[tuple[float, float]]) -> None:
    """One line."""
    (half, most), (busy, _) = np.percentile(taken, [50, 90], axis=0).T
    print(f"{what:24} p50 {half:6.1f} ms  p90 {most:6.1f} ms  processor p50 {busy:6.1f} ms")


def measured(experiences: Experiences, author: Author, rounds: int) -> None:
    """Submit and ask, and print what it took."""
    submits, queries, counts = [], [], []

    def timed(taken: list[tuple[float, float]], work: Callable[[], dict | None]) -> None:
        began, busy = time.perf_counter(), time.process_time()
        outcome = work()
        ended = time.perf_counter() - began, time.process_time() - busy
        taken.append((ended[0] * 1000, ended[1] * 1000))
        assert outcome is None or outcome["success"], outcome

    for number in range(rounds):
        given = author.submission()._asdict()
        timed(submits, partial(experiences.submit, given))
        for _ in range(2):
            timed(queries, partial(experiences.query, {"keywords": author.question()}))
        if number % 10 == 9:
            timed(counts, experiences.count)
    report("submit", submits)
    report("query", queries)
    report("count, after 20 queries", counts)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--vectors", action="store_true")
    options = parser.parse_args()
    author = Author(7)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        place = Place(
            "index", folder / "index.yml", folder / "index.duckdb", None, folder / "trust"
        )
        engine = Index(place, Machine(), warm=True, stays=True)
        experiences = Experiences(engine)
        began = time.perf_counter()
        fill(experiences, author, options.records)
        print(f"{options.records} records in {time.perf_counter() - began:.0f} s", flush=True)
        if options.vectors:
            embed(engine)
        for _ in range(3):  # what is loaded once
            experiences.query({"keywords": author.question()})
        measured(experiences, author, options.rounds)
        size = place.database.stat().st_size
        print(f"the index takes {size / 1e6:.0f} MB")
        engine.close()


if __name__ == "__main__":
    main()
