"""All vectors in memory, for a process that stays."""

from __future__ import annotations

import gc
import json
import threading
import weakref
from functools import partial

import numpy as np
import pytest

from bench.vectors import add, unit
from qmd.embedding import vectors as embeddings
from qmd.ranking import nearest, vector_blocks, vector_matrix
from qmd.ranking.nearest import Faster
from qmd.ranking.vector_matrix import Matrix
from qmd.storage import cancellation
from qmd.storage.cursor import Cursor
from qmd.storage.database import Database

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
            nearest.nearest,
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
    original = vector_blocks._table

    def table(cursor, name, **parameters):
        asked.append((name, parameters.get("chunks")))
        return original(cursor, name, **parameters)

    monkeypatch.setattr(vector_blocks, "_table", table)
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


def test_another_file_is_told_apart_by_itself(database, held, tmp_path):
    everywhere = np.abs(VECTORS)  # all signs are the same
    for name, vectors in (("one", everywhere), ("other", everywhere[::-1])):
        made = Database(tmp_path / f"{name}.duckdb")
        add(made, 1, vectors)
        made.close()
        database.replace(tmp_path / f"{name}.duckdb", lambda _: None)
        assert found(database, everywhere[7], held) == found(database, everywhere[7])


def test_scores_are_rounded_as_duckdb_rounds_them(database, held):
    chance = np.random.default_rng(5)
    halves = np.where(chance.random((400, 256)) > 0.5, 1, -1).astype(np.float32) / 16

    def work(cursor):
        cursor.connection.execute("delete from embeddings")
        embeddings.add(cursor, model_id=1, chunk_ids=range(1, 401), vectors=halves)

    database.write(work)
    for query in halves[:20]:
        near = found(database, query, held, count=400, limit=400)
        assert near == found(database, query, count=400, limit=400)


def test_many_small_writes_leave_few_blocks(database, held):
    for number in range(3 * vector_blocks.BLOCKS):
        add(database, COUNT + 1 + number, QUERIES[:1] if number % 2 else QUERIES[1:2])
        count = COUNT + 1 + number
        assert found(database, QUERIES[0], held, count=count) == found(
            database, QUERIES[0], count=count
        )
        assert len(held._held) <= vector_blocks.BLOCKS
    database.write(
        lambda cursor: cursor.connection.execute(f"delete from embeddings where chunk_id > {COUNT}")
    )
    assert found(database, QUERIES[0], held) == found(database, QUERIES[0])
    assert len(held._held) == 1


def test_a_load_that_is_given_up_lets_go_of_the_file(database, held, monkeypatch):
    looks = iter([False, False, True])

    def check():
        if next(looks):
            raise cancellation.Stopped

    monkeypatch.setattr(vector_blocks, "AT_ONCE", 1000)
    with monkeypatch.context() as patch:
        patch.setattr(vector_matrix.cancellation, "check", check)
        with pytest.raises(cancellation.Stopped) as kept:
            found(database, QUERIES[0], held)
    database.write(lambda _: None)
    other = Database(database.path, patience=2)
    other.write(lambda _: None)
    other.close()
    assert found(database, QUERIES[0], held) == found(database, QUERIES[0])
    assert kept.value


def test_who_waits_for_another_one_to_read_can_be_stopped(database, held):
    stop = cancellation.Stop()
    held._turn.acquire()
    too_late = threading.Timer(10, held._turn.release)
    too_late.start()
    token = cancellation.CURRENT.set(stop)
    try:
        threading.Timer(0.1, stop.ask).start()
        with pytest.raises(cancellation.Stopped):
            found(database, QUERIES[0], held)
    finally:
        cancellation.CURRENT.reset(token)
        too_late.cancel()


def test_nothing_else_keeps_what_is_not_held_any_more(database, held):
    meeting = threading.Barrier(3)

    def together(cursor):
        meeting.wait(60)
        return held.compared(cursor, QUERIES[0], model_id=1)

    threads = [threading.Thread(target=database.read, args=[together]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    old = weakref.ref(held._held[0].vectors)
    database.write(
        lambda cursor: cursor.connection.execute("delete from embeddings where chunk_id = 5")
    )
    found(database, QUERIES[0], held)
    gc.collect()
    assert old() is None
    last = weakref.ref(held._held[0].vectors)
    held._held.clear()
    database.close()
    gc.collect()
    assert last() is None


def test_all_are_gone_and_come_again(database, held):
    found(database, QUERIES[0], held)
    database.write(lambda cursor: cursor.connection.execute("delete from embeddings"))
    assert found(database, QUERIES[0], held, count=0) == []

    def again(cursor: Cursor) -> None:
        embeddings.add(cursor, model_id=1, chunk_ids=range(1, COUNT + 1), vectors=VECTORS)

    database.write(again)
    assert found(database, QUERIES[0], held) == found(database, QUERIES[0])


def test_documents_with_very_many_passages_do_not_starve_others(database, held, monkeypatch):
    monkeypatch.setattr(nearest, "DEPTH", 1)
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

    monkeypatch.setattr(vector_matrix, "MUCH", 0)
    monkeypatch.setattr("qmd.storage.attachment.LEAST_MEMORY", "1KB")
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


def test_the_limit_of_memory_stays_what_it_was(database, held, monkeypatch):
    def limit():
        return database.read(
            lambda cursor: cursor.connection.execute(
                "select current_setting('memory_limit')"
            ).fetchall()
        )

    before = limit()
    monkeypatch.setattr(vector_matrix, "MUCH", 0)
    monkeypatch.setattr("qmd.storage.attachment.LEAST_MEMORY", "1KB")  # too little: it fails
    found(database, QUERIES[0], Matrix("print"))
    assert limit() == before
