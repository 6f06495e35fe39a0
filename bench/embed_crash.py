"""Kill -9 in the middle of `qmd embed`, repeatedly: it has to resume and stay whole.

    python -m bench.embed_crash [--rounds 50] [--seed 1]

In each round a folder changes and is indexed, and a real `qmd embed`, or `qmd embed --force`, is
killed at a random moment. At that point every vector has to have its chunk, and no document may
have lost its own. Another `qmd embed`, with or without --force, then runs to its end, and has to
leave every document with all its chunks, all of them with vectors, with --force no others, what
the first one committed unchanged, and the vectors equal to those that the model gives to the same
texts now.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import numpy as np

from bench.crash import Corpus, main
from qmd.embedding import vectors
from qmd.embedding.vector_status import vector_status
from qmd.operations.cleanup import remove_waste
from qmd.operations.index import Index
from qmd.operations.update import run_update
from qmd.settings.environment import Place
from qmd.storage import maintenance
from qmd.storage.cursor import Cursor

DOCUMENTS = 40

SAMPLE = 8
"""Vectors that are made again in each round."""

EQUAL = 0.999
"""Cosine of two vectors of one text: the kernels of a quantised model differ with the batch."""

HALF = """
    select chunk_id, hash, seq, vector
    from chunks left join embeddings using (chunk_id)
    order by chunk_id
"""
WHOLE = """
    select body[position + 1 : position + length], vector
    from chunks join embeddings using (chunk_id) join content using (hash)
    where hash in (select hash from documents)
    order by hash, seq
"""
BARE = """
    with used as (
        select chunk_id, hash from chunks join embedding_models using (model_id)
        where not suffix(fingerprint, '.draft')
    )
    select count(*) from documents
    where hash not in (select hash from used)
    or hash in (select hash from used where chunk_id not in (select chunk_id from embeddings))
"""


class Trial:
    """An index whose embedding is killed, round after round."""

    def __init__(self, work: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.landed = self.half = self.anew = 0
        self._corpus = Corpus(work / "docs", self.chance, DOCUMENTS)
        settings = work / "index.yml"
        settings.write_text(f"collections:\n  docs:\n    path: {work / 'docs'}\n", "utf-8")
        self._place = Place("index", settings, work / "index.duckdb", None, work / "trusted")
        self._environ = {
            **os.environ,
            "QMD_CONFIG_DIR": str(work),
            "INDEX_PATH": str(self._place.database),
        }
        self._typical = 3.0

    def round(self) -> list[str]:
        """Run one round and list the problems after it."""
        self._corpus.change()
        engine = Index(self._place)
        try:
            anyio.run(run_update, engine)
            if self.chance.random() < 0.1:
                remove_waste(engine)
            lacked = vector_status(engine)[1].lacking
        finally:
            engine.close()
        force = self.chance.random() < 0.5
        with self._started(force=force) as process:
            time.sleep(0.3 + self.chance.random() * self._typical)
            process.kill()
            process.communicate()
        self.landed += process.returncode == -9
        before, wrong = self._look(lacked=lacked)
        self.anew += force and process.returncode == -9
        self.half += any(row[3] is None for row in before.values())
        began = time.monotonic()
        force = self.chance.random() < 0.5
        with self._started(force=force) as process:
            _, said = process.communicate(timeout=300)
        self._typical = max(0.5 * self._typical, time.monotonic() - began, 1.0)
        if process.returncode:
            return [*wrong, f"exit {process.returncode}: {said.strip()[-500:]}"]
        after, more = self._look(complete=True, force=force, lacked=0)
        wrong += more
        wrong += [
            f"chunk {number} changed"
            for number, row in before.items()
            if row[3] is not None and number in after and after[number] != row
        ]
        return wrong

    def figures(self) -> dict[str, str]:
        """Return the counts of the actions."""
        killed = f"{self.landed}, {self.half} with chunks left to embed, {self.anew} with --force"
        return {"killed in mid-run": killed}

    def _started(self, *, force: bool) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "qmd", "embed", "--batch-tokens", "512", *(["--force"] * force)],
            cwd=Path(__file__).parents[1],
            env=self._environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def _look(
        self, *, lacked: int, complete: bool = False, force: bool = False
    ) -> tuple[dict[int, tuple[Any, ...]], list[str]]:
        """Load the chunks with their vectors, and list their problems.

        Args:
            lacked: documents that may lack vectors.
            complete: nothing was left to do.
            force: not even a draft.
        """
        engine = Index(self._place)
        try:

            def work(cursor: Cursor) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]], int]:
                run = cursor.connection.execute
                [(bare,)] = run(BARE).fetchall()
                return run(HALF).fetchall(), run(WHOLE).fetchall() if complete else [], bare

            rows, texts, bare = engine.read(work)
            broken = [fact for fact in engine.read(maintenance.problems) if fact.times]
            wrong = [f"not so {fact.times} times: {fact.fact}" for fact in broken]
            lacking = vector_status(engine)[1].lacking
            if lacking > lacked:
                wrong.append(f"{lacking} documents lack vectors, {lacked} lacked them")
            if complete:
                if force and len(engine.read(vectors.models)) != 1:
                    wrong.append("vectors that are of no use are left")
                if bare:
                    wrong.append(f"{bare} documents without all of their vectors")
                wrong += self._remade(engine, texts)
        finally:
            engine.close()
        return {row[0]: row for row in rows}, wrong

    def _remade(self, engine: Index, texts: list[tuple[Any, ...]]) -> list[str]:
        """Vectors that are not what the model gives."""
        some = self.chance.sample(texts, min(SAMPLE, len(texts)))
        made = engine.models.embedder(engine.models.space()).embed([text for text, _ in some])
        kept = np.array([vector for _, vector in some], np.float32)
        return [
            f"another vector for {text[:30]!r}"
            for (text, _), cosine in zip(some, (made * kept).sum(axis=1), strict=True)
            if cosine < EQUAL
        ]


if __name__ == "__main__":
    sys.exit(main(Trial, __doc__, rounds=50))
