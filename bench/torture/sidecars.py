"""Kills of a process that makes the sidecar of postings.

Each trial is made of rounds like those of `bench.crash`, and run by `bench.torture`.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

from bench.crash import Corpus, killed
from bench.torture.proof import Home
from qmd.operations.index import Index
from qmd.operations.search import search
from qmd.ranking import bm25

MAKE = """
import os, pathlib
from qmd.operations.index import Index
from qmd.settings import environment

made = Index(environment.locate(dict(os.environ), pathlib.Path()), warm=True, stays=True)
made.read(lambda cursor: None)
made.holder.prepare()
made.holder.settle()
made.close()
"""


class Sidecars:
    """Kills of a maker of sidecars: searches answer as the tables do, also with what it left."""

    def __init__(self, work: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.home = Home(work)
        self.corpus = Corpus(self.home.docs, self.chance, 200)
        self.landed = self.fitted = 0
        self._typical = 0.8
        self._begun = False

    def round(self) -> list[str]:
        """Run one round and list the problems after it."""
        self.corpus.change()
        wanted = ["update"] if self._begun else ["collection", "add", str(self.home.docs)]
        said = self.home.run(*wanted)
        if said.problem:
            return [said.problem]
        self._begun = True
        with self.home.start(code=("-c", MAKE)) as process:
            killed(process, self.chance, self._typical)
        self.landed += process.returncode == -9
        wrong = self._compared("after a kill")
        began = time.monotonic()
        said = self.home.run(code=("-c", MAKE))
        self._typical = max(0.7 * self._typical, time.monotonic() - began)
        if said.problem:
            return [*wrong, said.problem]
        return wrong + self._compared("after the next one") + self.home.wrong(self.corpus.queries())

    def figures(self) -> dict[str, str]:
        """Return the counts of the actions."""
        return {"killed making postings": f"{self.landed}, of {self.fitted} sidecars used"}

    def _compared(self, when: str) -> list[str]:
        """Compare the answers of the sidecar with those of the tables."""
        mapped, tables = self._engine(), self._engine()
        tables.database.missed = None
        try:
            wrong = [
                f"{when}: {query}"
                for query in [*self.corpus.queries(), "kara file"]
                if list(search(mapped, query, limit=20)) != list(search(tables, query, limit=20))
            ]
            self.fitted += mapped.database.read(bm25.held) is not None
            return wrong
        finally:
            mapped.close()
            tables.close()

    def _engine(self) -> Index:
        return Index(self.home.engine().place, warm=True)
