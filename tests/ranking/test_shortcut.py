"""The faster way to the nearest of very many vectors."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from bench.vectors import add, unit
from qmd.ranking import nearest
from qmd.ranking.hnsw import Shortcut
from qmd.storage import extensions
from qmd.storage.database import Database
from qmd.storage.statements import statement

COUNT, WIDTH = 3000, 16


VECTORS = unit(np.random.default_rng(1).standard_normal((COUNT, WIDTH)))


@pytest.fixture
def database(tmp_path: Path):
    made = Database(tmp_path / "index.duckdb", warm=True)
    add(made, 1, VECTORS)
    yield made
    made.close()


@pytest.fixture
def shortcut(database):
    if extensions.binary("vss") is None:
        pytest.skip("vss is not installed")
    made = Shortcut(database.path, "print", WIDTH)
    made.build(database, 1)
    yield made
    made.close()


def found(database, vector, shortcut=None, count=COUNT, limit=10):
    hits = database.read(
        partial(
            nearest.nearest,
            vector=vector,
            model_id=1,
            vectors=count,
            documents=None,
            limit=limit,
            faster=nearest.Faster(shortcut=shortcut),
        )
    )
    return [hit.document_id for hit in hits]


def test_it_finds_what_a_comparison_with_all_vectors_finds(database, shortcut):
    queries = unit(np.random.default_rng(2).standard_normal((20, WIDTH)))
    exact = [found(database, query) for query in queries]
    near = [found(database, query, shortcut) for query in queries]
    shares = [len(set(a) & set(b)) / 10 for a, b in zip(exact, near, strict=True)]
    assert np.mean(shares) >= 0.99


def test_the_graph_is_what_answers(database, shortcut):
    assert shortcut.fits(COUNT)
    text = statement("shortcut/nearest").replace("$dimensions", str(WIDTH)).replace("$limit", "5")
    vector = "[" + ",".join(map(str, VECTORS[0])) + "]"
    plan = shortcut._connection.execute("explain " + text, {"vector": vector}).fetchall()
    assert "HNSW_INDEX_SCAN" in plan[0][1]


def test_what_came_after_it_was_made_is_found_and_what_went_is_not(database, shortcut):
    query = unit(np.ones((1, WIDTH)))[0]
    add(database, COUNT + 1, unit(np.ones((1, WIDTH))))
    gone = found(database, query, shortcut, COUNT + 1, limit=2)[1]

    def remove(cursor):
        cursor.connection.execute(f"delete from documents where document_id = {gone}")

    database.write(remove)
    after = found(database, query, shortcut, COUNT + 1)
    assert after[0] == COUNT + 1
    assert gone not in after


def test_a_copy_of_another_model_or_another_size_does_not_fit(database, shortcut):
    assert not Shortcut(database.path, "another", WIDTH).fits(COUNT)
    assert not shortcut.fits(2 * COUNT)


def test_a_damaged_copy_is_no_copy(database, shortcut):
    shortcut.close()
    shortcut.path.write_bytes(b"no database")
    assert not Shortcut(database.path, "print", WIDTH).fits(COUNT)


def test_a_pipe_is_no_copy(database, shortcut):
    shortcut.close()
    shortcut.path.unlink()
    os.mkfifo(shortcut.path)
    assert not Shortcut(database.path, "print", WIDTH).fits(COUNT)


def test_it_is_made_in_the_background_and_given_up_when_closed(database):
    shortcut = Shortcut(database.path, "print", WIDTH)
    assert not shortcut.fits(COUNT)
    shortcut.prepare(database, 1)
    shortcut.close()
    left = [file.name for file in database.path.parent.iterdir() if ".new" in file.name]
    assert left == []
