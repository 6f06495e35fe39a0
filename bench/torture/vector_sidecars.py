"""Kills of a process that makes the sidecar of vectors.

Each trial is made of rounds like those of `bench.crash`, and run by `bench.torture`.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

from bench.crash import killed
from bench.vectors import Vectors, add, filled, more, passages
from qmd.embedding.vectors import as_text
from qmd.ranking.vector_matrix import Matrix
from qmd.storage.cursor import Cursor
from qmd.storage.database import Database

MAKE = """
import sys, pathlib
from qmd.ranking import vector_sidecar
from qmd.ranking.vector_matrix import Matrix
from qmd.storage.database import Database

vector_sidecar.LEAST, vector_sidecar.BLOCK = 1, 2048
path = pathlib.Path(sys.argv[1])
matrix = Matrix("bench", path)
Database(path).read(lambda cursor: matrix.save(cursor, model_id=1, goes_on=lambda: None))
"""

FIRST = 8000
"""Vectors at the beginning."""

ASKED = 3
"""Queries after each round."""


class VectorSidecars:
    """Kills of a maker of vectors: searches answer as the tables do, also with what it left."""

    def __init__(self, work: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self._path = work / "index.duckdb"
        self._real = passages(None)
        self._count = FIRST
        self._typical = 1.5
        self.landed = self.fitted = 0
        filled(self._path, self._real, FIRST).close()

    def round(self) -> list[str]:
        """Run one round and list the problems after it."""
        self._change()
        with self._maker() as process:
            killed(process, self.chance, self._typical)
        self.landed += process.returncode == -9
        wrong = self._compared("after a kill")
        began = time.monotonic()
        with self._maker() as process:
            process.wait()
        self._typical = max(0.7 * self._typical, time.monotonic() - began)
        if process.returncode:
            wrong.append(f"the maker ended with {process.returncode}")
        return wrong + self._compared("after the next one")

    def figures(self) -> dict[str, str]:
        """Return the counts of the actions."""
        return {"killed making vectors": f"{self.landed}, of {self.fitted} sidecars used"}

    def _change(self) -> None:
        """Add vectors, or remove some."""
        with closing(Database(self._path)) as database:
            if self.chance.random() < 0.7:
                count = self.chance.randint(10, 2000)
                add(database, self._count + 1, more(self._real, count, seed=self._count))
                self._count += count
                return
            rest = self.chance.randint(0, 30)
            gone = f"delete from embeddings where chunk_id % 31 = {rest}"
            database.write(lambda cursor: cursor.connection.execute(gone))

    def _maker(self) -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, "-c", MAKE, str(self._path)], text=True)

    def _compared(self, when: str) -> list[str]:
        """Compare the answers of the sidecar with those of the tables."""
        queries = more(self._real, ASKED, seed=self.chance.randint(0, 1 << 30))
        with closing(Database(self._path, warm=True)) as database:
            matrix = Matrix("bench", self._path, may_read=False)

            def agrees(cursor: Cursor, vector: Vectors) -> bool | None:
                found = matrix.compared(cursor, vector, model_id=1)
                asked = {"model_id": 1, "chunks": None, "vector": as_text(vector), "depth": 20}
                return found and found.first(20) == cursor.run("search/nearest", **asked)

            told = [
                database.read(lambda cursor, each=each: agrees(cursor, each)) for each in queries
            ]
        self.fitted += told[0] is not None
        return [
            f"{when}: query {number}" for number, is_right in enumerate(told) if is_right is False
        ]
