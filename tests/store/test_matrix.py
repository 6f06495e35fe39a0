"""All vectors in memory, for a process that stays."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest

from bench.vectors import add, unit
from qmd.store import embeddings, matrix, neighbours
from qmd.store.cursor import Cursor
from qmd.store.database import Database
from qmd.store.matrix import Matrix
from qmd.store.neighbours import Faster

COUNT, WIDTH = 3000, 48
VECTORS = unit(np.random.default_rng(1).standard_normal((COUNT, WIDTH)))
QUERIES = unit(np.random.default_rng(2).standard_normal((20, WIDTH)))


@pytest.fixture
def database(tmp_path):
    made = Database(tmp_path / "index.duckdb", warm=True)
    add(made, 1, VECTORS)
    yield made
    made.close()


@pytest.fixture
def held():
    return Matrix("print")


def found(database, vector, held=None, *, documents=None, count=COUNT, limit=10, per_file=1):
    return database.read(
        partial(
            neighbours.nearest,
            vector=vector,
            model_id=1,
            vectors=count,
            documents=documents,
            limit=limit,
            per_file=per_file,
            faster=Faster(held) if held else None,
        )
    )


@pytest.fixture
def read(monkeypatch):
    """What is asked of DuckDB, by name."""
    asked = []
    original = matrix._answer

    def answer(cursor, name, **parameters):
        asked.append((name, parameters.get("chunks")))
        return original(cursor, name, **parameters)

    monkeypatch.setattr(matrix, "_answer", answer)
    return asked


def names(read):
    return [name.removeprefix("embeddings/") for name, _ in read]


def test_it_finds_exactly_what_duckdb_finds(database, held):
    for query in QUERIES:
        assert found(database, query, held) == found(database, query)


def test_what_is_equally_near_comes_in_the_same_order(database, held):
    add(database, COUNT + 1, np.repeat(VECTORS[:1], 30, axis=0))
    for limit in (1, 7, 31):
        exact = found(database, VECTORS[0], count=COUNT + 30, limit=limit)
        assert found(database, VECTORS[0], held, count=COUNT + 30, limit=limit) == exact


def test_a_filter_holds(database, held):
    documents = json.dumps(list(range(5, COUNT, 7)))
    for query in QUERIES[:5]:
        near = found(database, query, held, documents=documents, per_file=2)
        assert near == found(database, query, documents=documents, per_file=2)
        assert near
        assert all(hit.document_id % 7 == 5 for hit in near)
    assert found(database, QUERIES[0], held, documents="[]") == []


def test_vectors_are_read_once(database, held, read):
    for query in QUERIES:
        found(database, query, held)
    assert names(read) == ["signs", "vectors"]


def test_after_a_write_only_what_is_new_is_read(database, held, read):
    query = unit(np.ones((1, WIDTH)))[0]
    found(database, query, held)
    add(database, COUNT + 1, unit(np.ones((2, WIDTH))))
    near = found(database, query, held, count=COUNT + 2)
    assert [hit.document_id for hit in near[:2]] == [COUNT + 1, COUNT + 2]
    assert near == found(database, query, count=COUNT + 2)
    assert names(read) == ["signs", "vectors", "signs", "vectors"]
    assert sorted(json.loads(read[-1][1])) == [COUNT + 1, COUNT + 2]


def test_what_went_is_not_found(database, held, read):
    query = QUERIES[0]
    gone = [hit.document_id for hit in found(database, query, held)[:3]]

    def remove(cursor):
        cursor.connection.execute(f"delete from embeddings where chunk_id in {tuple(gone)}")

    database.write(remove)
    near = found(database, query, held, count=COUNT - 3)
    assert near == found(database, query, count=COUNT - 3)
    assert not {hit.document_id for hit in near} & set(gone)
    assert names(read) == ["signs", "vectors", "signs"]


def test_other_vectors_under_the_same_numbers_are_told_apart(database, held, tmp_path):
    found(database, QUERIES[0], held)
    other = Database(tmp_path / "other.duckdb")
    add(other, 1, np.concatenate([VECTORS[:100], -VECTORS[100:]]))
    other.close()
    database.replace(tmp_path / "other.duckdb", lambda _: None)
    for query in QUERIES[:5]:
        assert found(database, query, held) == found(database, query)


def test_all_are_gone_and_come_again(database, held):
    found(database, QUERIES[0], held)
    database.write(lambda cursor: cursor.connection.execute("delete from embeddings"))
    assert found(database, QUERIES[0], held, count=0) == []

    def again(cursor: Cursor) -> None:
        embeddings.add(cursor, model_id=1, chunk_ids=range(1, COUNT + 1), vectors=VECTORS)

    database.write(again)
    assert found(database, QUERIES[0], held) == found(database, QUERIES[0])


def test_documents_with_very_many_passages_do_not_starve_others(database, held, monkeypatch):
    monkeypatch.setattr(neighbours, "DEPTH", 1)
    near = unit(VECTORS[:1] + 0.01 * np.random.default_rng(3).standard_normal((50, WIDTH)))

    def crowd(cursor: Cursor) -> None:
        run = cursor.connection.execute
        for number in range(50):
            chunk = COUNT + 1 + number
            run(
                "insert into chunks select $chunk, 1, hash, $seq, 0, 4, 1, 1"
                " from documents where document_id = 1",
                {"chunk": chunk, "seq": number + 1},
            )
        embeddings.add(cursor, model_id=1, chunk_ids=range(COUNT + 1, COUNT + 51), vectors=near)

    database.write(crowd)
    hits = found(database, VECTORS[0], held, count=COUNT + 50, limit=5)
    assert len({hit.document_id for hit in hits}) == 5
    assert hits == found(database, VECTORS[0], count=COUNT + 50, limit=5)


@pytest.mark.parametrize("depth", [1, 7, 35, COUNT + 40])
def test_the_first_are_those_of_duckdb_where_many_are_equally_near(database, held, depth):
    add(database, COUNT + 1, np.repeat(VECTORS[1:2], 40, axis=0)[::-1])

    def both(cursor):
        beside = held.compared(cursor, VECTORS[1], model_id=1)
        text = embeddings.as_text(VECTORS[1])
        given = {"model_id": 1, "chunks": None, "vector": text, "depth": depth}
        return beside.first(depth), cursor.run("search/nearest", **given)

    ours, theirs = database.read(both)
    assert ours == theirs
    assert len(ours) == min(depth, COUNT + 40)


def test_duckdb_does_not_hold_what_is_held_here(database, held, monkeypatch):
    def of_duckdb():
        return database.read(
            lambda cursor: cursor.connection.execute(
                "select sum(memory_usage_bytes)::bigint, current_setting('memory_limit')"
                " from duckdb_memory() where tag = 'BASE_TABLE'"
            ).fetchall()
        )

    monkeypatch.setattr(matrix, "MUCH", 0)
    monkeypatch.setattr("qmd.store.attachment.LEAST_MEMORY", "1KB")
    found(database, QUERIES[0])
    [(before, limit)] = of_duckdb()
    near = found(database, QUERIES[0], held)
    [(after, still)] = of_duckdb()
    assert after < before / 2
    assert still == limit
    assert found(database, QUERIES[0]) == near
    [(again, _)] = of_duckdb()
    assert again > after  # once is enough
    database.write(lambda _: None)
    found(database, QUERIES[0])
    [(before, _)] = of_duckdb()
    found(database, QUERIES[0], held)  # nothing new is read
    assert of_duckdb() == [(before, limit)]
