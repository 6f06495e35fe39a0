"""A sidecar of vectors is used as far as it fits the index, and never else."""

from __future__ import annotations

import json
import shutil
import tempfile
import tracemalloc
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bench.vectors import add, unit
from qmd.embedding import vectors as embeddings
from qmd.errors import IndexNotWritable
from qmd.ranking import vector_codes, vector_matrix, vector_sidecar
from qmd.ranking.sidecar_file import SidecarFile
from qmd.ranking.sidecar_format import VECTORS
from qmd.ranking.vector_blocks import Block, IndexedVectors
from qmd.ranking.vector_codes import CodedQuery, Codes
from qmd.ranking.vector_matrix import Compared, Matrix
from qmd.storage.database import Database
from tests.ranking.vector_sidecars import (
    QUERIES,
    WIDTH,
    check_answers,
    filled_index,
    is_mapped,
    make_sidecar,
    new_index,
    of_statements,
    sidecar_of,
    some_vectors,
)
from tests.ranking.vector_sidecars import small as small


@pytest.fixture
def database(tmp_path):
    made = filled_index(tmp_path / "index.duckdb")
    yield made
    made.close()


@settings(max_examples=30, deadline=None)
@given(
    history=st.lists(
        st.tuples(
            st.sampled_from(["add", "add", "few", "delete", "anew", "nothing"]),
            st.sampled_from(["", "save", "save", "copy", "restore", "cut", "foreign", "remove"]),
            st.integers(0, 5),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_a_sidecar_of_any_time_answers_as_the_tables_do(history):
    with tempfile.TemporaryDirectory() as folder:
        path, copy, foreign = (Path(folder, each) for each in ("index.duckdb", "copy", "foreign"))
        vector_sidecar.LEAST, vector_sidecar.BLOCK = 1, 64
        with closing(filled_index(Path(folder, "other.duckdb"), 150, seed=3)) as other:
            shutil.copy(make_sidecar(other), foreign)
        database, last = new_index(path), 0
        for change, then, number in history:
            if change in ("add", "few"):
                count = 3 if change == "few" else 60 + 20 * number
                add(database, last + 1, some_vectors(number, count))
                last += count
            elif change == "delete":
                run = f"delete from embeddings where chunk_id % 17 = {number}"
                database.write(lambda cursor, run=run: cursor.connection.execute(run))
            elif change == "anew":  # as a forced embed does: the same vectors under new numbers
                run = f"update embeddings set chunk_id = chunk_id + {last}"
                database.write(lambda cursor, run=run: cursor.connection.execute(run))
                last *= 2
            database.close()
            sidecar = sidecar_of(database)
            if then == "save":
                make_sidecar(database)
            elif then == "copy" and sidecar.exists():
                shutil.copy(sidecar, copy)
            elif (
                then in ("restore", "foreign") and (copy if then == "restore" else foreign).exists()
            ):
                shutil.copy(copy if then == "restore" else foreign, sidecar)
            elif then == "cut" and sidecar.exists():
                sidecar.write_bytes(sidecar.read_bytes()[: -1 - 100 * number])
            elif then == "remove":
                sidecar.unlink(missing_ok=True)
            database.close()
            check_answers(path, may_read=False)
            check_answers(path)
        database.close()


def test_it_serves_a_process_that_asks_once(database, monkeypatch):
    database.close()
    assert not is_mapped(database.path)
    assert make_sidecar(database) is not None
    database.close()
    asked = []
    monkeypatch.setattr(vector_matrix, "read_vectors", lambda *given, **_: asked.append(given))
    monkeypatch.setattr(IndexedVectors, "of", lambda *given: asked.append(given))
    assert is_mapped(database.path)
    assert asked == []


def test_few_new_vectors_are_read_besides_and_gone_ones_left_out(database):
    saved = make_sidecar(database).read_bytes()
    add(database, 201, some_vectors(8, 5))
    database.write(
        lambda cursor: cursor.connection.execute("delete from embeddings where chunk_id in (3, 90)")
    )
    database.close()
    assert is_mapped(database.path)
    assert check_answers(database.path)
    assert make_sidecar(database) is None
    assert sidecar_of(database).read_bytes() == saved


def test_much_that_is_new_makes_another_one_worth_it(database):
    make_sidecar(database)
    add(database, 201, some_vectors(8, 60))
    database.close()
    assert not is_mapped(database.path)  # all are compared in DuckDB
    assert make_sidecar(database) is not None
    database.close()
    assert is_mapped(database.path)


def test_the_second_question_of_a_process_makes_it(database):
    database.close()
    assert check_answers(database.path)
    assert sidecar_of(database).exists()
    assert sidecar_of(database).stat().st_mode & 0o777 == 0o600
    assert is_mapped(database.path)


def test_many_candidates_are_compared_in_parts(monkeypatch):
    count = 20_000
    monkeypatch.setattr(vector_matrix, "PART", 500)
    vectors = np.repeat(some_vectors(1, 1), count, axis=0)
    ids, signs = np.arange(count, dtype=np.uint32), np.zeros(count, np.uint64)
    compared = Compared([Block(ids, signs, vectors)], QUERIES[0], None)
    tracemalloc.start()
    try:
        found = compared.first(5)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    monkeypatch.undo()
    assert found == compared.first(5)
    assert [number for number, _ in found] == [0, 1, 2, 3, 4]
    assert peak < vectors.nbytes


def test_few_vectors_have_none(database, monkeypatch):
    monkeypatch.setattr(vector_sidecar, "LEAST", 201)
    database.close()
    assert check_answers(database.path)
    assert make_sidecar(database) is None
    assert not sidecar_of(database).exists()


def test_very_many_are_never_read_into_the_memory_of_one_process(database, monkeypatch):
    monkeypatch.setattr(vector_matrix, "MOST", 4 * WIDTH * 199)
    database.close()
    assert not check_answers(database.path)
    matrix = Matrix("print", database.path)
    database.read(lambda cursor: matrix.compared(cursor, QUERIES[0], model_id=1))
    assert matrix.lacks_sidecar
    assert make_sidecar(database) is not None
    database.close()
    assert check_answers(database.path)
    add(database, 201, some_vectors(5, 60))  # more than a tenth is new, and small enough
    database.close()
    assert check_answers(database.path)


def test_vectors_of_another_model_or_index_are_not_used(database, tmp_path):
    database.close()
    for name, fingerprint in (("another", "another"), ("print", "print")):
        other = filled_index(tmp_path / f"{name}.duckdb", fingerprint=fingerprint)
        shutil.copy(make_sidecar(other), sidecar_of(database))
        other.close()
        assert not is_mapped(database.path)


def test_a_filter_compares_those_alone_that_may_answer(database):
    make_sidecar(database)
    database.close()
    for chosen in ([], [7], list(range(3, 250, 50)), list(range(1, 190))):
        assert check_answers(database.path, chunks=json.dumps(chosen))


def test_a_process_that_is_still_there_uses_a_new_one(database):
    matrix = Matrix("print", database.path, may_read=False)

    def asked(cursor):
        compared = matrix.compared(cursor, QUERIES[0], model_id=1)
        return compared and compared.first(5) == of_statements(cursor, QUERIES[0], 5)

    assert database.read(asked) is None
    with closing(Database(database.path, warm=True)) as other:
        make_sidecar(other)
    assert database.read(asked)


def test_the_same_is_found_without_compiled_products(database, monkeypatch):
    make_sidecar(database)
    database.close()
    monkeypatch.setattr(vector_codes, "_compiled", None)
    assert is_mapped(database.path)
    assert check_answers(database.path, chunks=json.dumps(list(range(1, 190))))


def test_several_threads_compare_as_one_does(database, monkeypatch):
    make_sidecar(database)
    database.close()
    monkeypatch.setattr(vector_matrix, "TOGETHER", 1)
    monkeypatch.setattr(vector_matrix.processes, "cores", lambda: 3)
    assert is_mapped(database.path)


NUMBERS = st.floats(-1, 1, width=32, allow_subnormal=False)


@settings(max_examples=200, deadline=None)
@given(
    rows=arrays.arrays(np.float32, st.tuples(st.integers(1, 40), st.just(6)), elements=NUMBERS),
    query=arrays.arrays(np.float32, 6, elements=NUMBERS),
    depth=st.integers(1, 41),
)
def test_what_codes_leave_out_is_never_among_the_nearest(rows, query, depth):
    rows = unit(rows + np.where(np.abs(rows).sum(axis=1) < 1e-3, 1, 0)[:, None])
    query = unit(query[None] + (1 if np.abs(query).sum() < 1e-3 else 0))[0]
    ids, signs = np.arange(1, len(rows) + 1, dtype=np.uint32), np.zeros(len(rows), np.uint64)
    plain = Block(ids, signs, rows)
    coded = plain._replace(codes=Codes.of(rows))
    expected = Compared([plain], query, None).first(len(rows))[:depth]
    assert Compared([coded], query, None).first(depth) == expected
    assert Compared([plain], query, None).first(depth) == expected


@settings(max_examples=100, deadline=None)
@given(
    rows=arrays.arrays(np.float32, st.tuples(st.integers(1, 9), st.just(50)), elements=NUMBERS),
    query=arrays.arrays(np.float32, 50, elements=NUMBERS),
)
@pytest.mark.skipif(not vector_codes.is_compiled(), reason="there is no compiler")
def test_the_error_of_a_code_is_no_less_than_the_difference_it_makes(rows, query):
    codes, coded = Codes.of(rows), CodedQuery(query)
    near = np.empty(len(rows), np.float32)
    coded.compare(codes, near, None)
    exact = rows.astype(np.float64) @ query.astype(np.float64)
    reach = np.linalg.norm(rows.astype(np.float64), axis=1) + codes.errors
    allowed = codes.errors * coded.length + coded.error * reach + 1e-5 * (1 + np.abs(exact))
    assert (np.abs(near - exact) <= allowed).all()
    chosen = np.arange(0, len(rows), 2)
    part = np.empty(len(chosen), np.float32)
    coded.compare(codes, part, chosen)
    assert part.tolist() == near[chosen].tolist()


@pytest.mark.skipif(not vector_codes.is_compiled(), reason="needs compiled products")
def test_no_sum_of_a_code_that_no_vector_has_exceeds_its_bits():
    """A damaged file may have -128: its sums stay what they are."""
    width = 1024
    codes = Codes(
        np.full((1, width), -128, np.int8), np.ones(1, np.float32), np.ones(1, np.float32)
    )
    for sign in (1, -1):
        out = np.empty(1, np.float32)
        CodedQuery(np.full(width, sign, np.float32)).compare(codes, out, None)
        assert out[0] == pytest.approx(-128 * sign * width, rel=1e-3)


def test_the_same_vectors_added_again_are_those_of_the_sidecar(database):
    make_sidecar(database)

    def again(cursor):
        rows = cursor.run("embeddings/part", model_id=1, after=0, limit=1000)
        cursor.connection.execute("delete from embeddings")
        numbers, vectors = zip(*rows, strict=True)
        embeddings.add(cursor, model_id=1, chunk_ids=numbers, vectors=np.array(vectors, np.float32))

    database.write(again)
    database.close()
    assert is_mapped(database.path)


@pytest.mark.parametrize("number", ["nan", "inf", "1e30"])
def test_vectors_that_have_no_length_are_left_to_duckdb(database, monkeypatch, number):
    """Only a program that edits the file writes them: bounds of similarities would not hold."""
    spoilt = (
        "update embeddings set vector = list_transform(vector, lambda one: "
        f"'{number}'::float) where chunk_id = 77"
    )
    database.write(lambda cursor: cursor.connection.execute(spoilt))
    with pytest.raises(IndexNotWritable, match="finite"):
        make_sidecar(database)
    read = []
    real = vector_matrix.read_vectors
    monkeypatch.setattr(
        vector_matrix, "read_vectors", lambda *g, **o: (read.append(1), real(*g, **o))[1]
    )
    assert not check_answers(database.path)
    assert len(read) == 1  # not at each search
    assert not sidecar_of(database).exists()
    assert not SidecarFile(database.path, VECTORS).part.exists()
