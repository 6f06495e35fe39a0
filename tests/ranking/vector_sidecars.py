"""Indexes of vectors with a sidecar, as the next process meets them."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest

from bench.vectors import add, unit
from qmd.embedding.vectors import as_text
from qmd.ranking import vector_sidecar
from qmd.ranking.vector_matrix import Matrix
from qmd.storage.database import Database

WIDTH = 24
DEPTHS = (1, 5, 30)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Sidecars of few vectors, in several blocks."""
    monkeypatch.setattr(vector_sidecar, "LEAST", 1)
    monkeypatch.setattr(vector_sidecar, "BLOCK", 64)


def some_vectors(seed, count, *, spread=0.3):
    """Vectors around few others, some of them the same."""
    chance = np.random.default_rng(seed)
    centres = unit(np.random.default_rng(7).standard_normal((4, WIDTH)))
    chosen = centres[chance.integers(0, 4, count)]
    made = unit(chosen + spread * chance.standard_normal((count, WIDTH)))
    made[chance.random(count) < 0.2] = made[0]
    return made


QUERIES = np.concatenate([some_vectors(99, 3), some_vectors(98, 2, spread=9.0)])


def new_index(path, *, fingerprint="print"):
    """A database with a model and no vectors."""
    database = Database(path, warm=True)
    database.write(
        lambda cursor: cursor.run(
            "embeddings/add_model",
            model_id=1,
            fingerprint=fingerprint,
            name="model",
            dimensions=WIDTH,
            chunk_tokens=256,
            chunk_overlap=0.15,
        )
    )
    return database


def filled_index(path, count=200, *, seed=1, fingerprint="print"):
    """A database with vectors of its model."""
    database = new_index(path, fingerprint=fingerprint)
    add(database, 1, some_vectors(seed, count))
    return database


def sidecar_of(database):
    """Path of the sidecar."""
    return database.path.with_name(f"{database.path.name}.vectors")


def make_sidecar(database):
    """Make it as `embed` does; None: there is no need of another one."""
    before = sidecar_of(database).stat().st_ino if sidecar_of(database).exists() else None
    matrix = Matrix("print", database.path)
    database.read(lambda cursor: matrix.save(cursor, model_id=1, goes_on=lambda: None))
    made = sidecar_of(database)
    return made if made.exists() and made.stat().st_ino != before else None


def of_statements(cursor, vector, depth, chunks=None):
    """(chunk_id, score) as DuckDB finds them."""
    return cursor.run(
        "search/nearest", model_id=1, chunks=chunks, vector=as_text(vector), depth=depth
    )


def check_answers(path, *, may_read=True, chunks=None):
    """Compare the answers of another process with those of the statements.

    Returns:
        True if it held vectors outside of DuckDB: of the sidecar if `may_read` is false.
    """
    with closing(Database(path, warm=True)) as database:
        matrix = Matrix("print", path, may_read=may_read)

        def work(cursor):
            held = False
            for vector in QUERIES:
                compared = matrix.compared(cursor, vector, model_id=1, chunks=chunks)
                held = compared is not None
                for depth in DEPTHS if held else ():
                    assert compared.first(depth) == of_statements(cursor, vector, depth, chunks)
            return held

        return database.read(work)


def is_mapped(path):
    """Check that a process that reads no vectors from the table finds them in the sidecar."""
    return check_answers(path, may_read=False)
