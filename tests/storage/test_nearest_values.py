"""The nearest passages, by vectors and places that are written out."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from qmd.ranking import nearest as neighbours
from qmd.ranking import vector_blocks
from qmd.ranking.nearest import Faster
from qmd.ranking.vector_blocks import Block, joined_blocks
from qmd.ranking.vector_matrix import Compared
from qmd.ranking.vector_sums import rounded_scores, summed_in_order
from qmd.storage.cursor import Cursor, Memory
from qmd.types import Nearest

VECTOR = np.array([1, 0], np.float32)


def block(*rows):
    """A block of (chunk_id, x): the cosine with `VECTOR` is x."""
    ids = [number for number, _ in rows]
    vectors = [(x, (1 - x * x) ** 0.5) for _, x in rows]
    return Block(
        np.array(ids, np.uint32),
        np.array([10 * number for number in ids], np.uint64),
        np.array(vectors, np.float32).reshape(-1, 2),
    )


BLOCKS = (block((3, 0.75), (5, 0.5)), block((1, 0.5), (7, -0.5), (9, 0.25)))


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5, 9])
def test_the_nearest_come_first_and_those_equally_near_by_number(depth):
    expected = [(3, 0.75), (1, 0.5), (5, 0.5), (9, 0.25), (7, -0.5)]
    assert Compared(BLOCKS, VECTOR, None).first(depth) == expected[:depth]


@pytest.mark.parametrize("some", [0.0, 1.1])
@pytest.mark.parametrize("depth", [1, 2, 3, 9])
def test_only_chunks_that_may_answer_do_and_are_few_or_many(depth, some, monkeypatch):
    monkeypatch.setattr(vector_blocks, "SOME", some)
    expected = [(5, 0.5), (9, 0.25), (7, -0.5)]
    assert Compared(BLOCKS, VECTOR, "[7, 5, 9, 77]").first(depth) == expected[:depth]
    assert Compared(BLOCKS, VECTOR, "[]").first(depth) == []
    assert Compared((), VECTOR, "[1]").first(depth) == Compared((), VECTOR, None).first(depth) == []


def test_a_half_of_a_millionth_is_rounded_away_from_0():
    # 1, 3 and 5 / 128 are 7,812.5, 23,437.5 and 39,062.5 millionths.
    scores = np.array([1 / 128, 3 / 128, 5 / 128, -1 / 128, 0.25, 0.0], np.float32)
    assert rounded_scores(scores).tolist() == [0.007813, 0.023438, 0.039063, -0.007813, 0.25, 0.0]
    assert rounded_scores(np.array([0.1234564, 0.1234566], np.float32)).tolist() == [
        0.123456,
        0.123457,
    ]


def test_products_are_added_up_one_after_the_other_in_32_bits():
    # 1 is lost beside 2 ** 24, and is not if the two 1 come first.
    large, ones = np.float32(2**24), np.ones(3, np.float32)
    vectors = np.array([[large, 1, 1], [1, 1, large]], np.float32)
    assert summed_in_order(vectors, ones, is_fused=False).tolist() == [2**24, 2**24 + 2]
    near_one = np.array([[-1.00048828125, 1.000244140625]], np.float32)
    factors = np.array([1, 1.000244140625], np.float32)
    assert summed_in_order(near_one, factors, is_fused=False).tolist() == [0]
    assert summed_in_order(near_one, factors, is_fused=True).tolist() == [2**-24]


def test_what_a_block_has_is_found_among_others_by_number_and_sign():
    ids, signs = np.array([1, 3, 5], np.uint32), np.array([10, 30, 51], np.uint64)
    held = block((1, 0.5), (3, 0.1), (4, 0.2), (5, 0.3), (9, 0.4))
    assert held.present(ids, signs).tolist() == [0, 1, -1, -1, -1]
    assert held.present(ids[:0], signs[:0]).tolist() == [-1] * 5


def test_more_than_eight_blocks_become_the_largest_and_one_more():
    blocks = [block((number, 0.5)) for number in range(7)]
    eight = [*blocks, block((7, 0.1), (8, 0.2))]
    empty = block()
    assert joined_blocks([empty, *eight]) == eight
    [largest, rest] = joined_blocks([block((9, 0.3)), *eight])
    assert largest is eight[7]
    assert sorted(rest.chunk_ids.tolist()) == [0, 1, 2, 3, 4, 5, 6, 9]
    assert rest.vectors.shape == (8, 2)
    assert rest.signs.tolist() == [10 * number for number in rest.chunk_ids.tolist()]


class Stub:
    """Stands in for a cursor and for the vectors in memory.

    Attributes:
        depths: that were asked for.
    """

    def __init__(self, scores, places):
        self.scores, self.places, self.depths = scores, places, []
        self.memory = None

    def compared(self, cursor, vector, *, model_id, chunks):
        return self

    def first(self, depth):
        self.depths.append(depth)
        return self.scores[:depth]

    def each(self, kind, keys, read, **_):
        return read(list(dict.fromkeys(keys)))

    def again(self, name, *, chunks):
        return [
            (chunk, "notes", f"{document:05}.md", seq, document, 10 * seq, 9, seq + 1)
            for chunk, document, seq in self.places
            if chunk in set(json.loads(chunks))
        ]

    def nearest(self, **options):
        given = {"documents": None, "limit": 10, **options}
        return neighbours.nearest(self, VECTOR, model_id=1, faster=Faster(self), **given)


def falling(count):
    """(chunk_id, cosine), each less than the one before."""
    return [(number, 1 - number / 10_000) for number in range(count)]


def of_its_own(count):
    """Each chunk in a document of its own."""
    return [(number, number, 0) for number in range(count)]


@pytest.mark.parametrize(
    ("vectors", "limit", "per_file", "depth"),
    [
        (1000, 10, 1, 100),
        (1000, 50, 1, 100),
        (1000, 51, 1, 102),
        (1000, 51, 3, 306),
        (1000, 600, 1, 1000),
        (50, 10, 1, 100),
    ],
)
def test_twice_as_many_chunks_are_looked_at_as_may_be_shown_and_a_hundred_at_least(
    vectors, limit, per_file, depth
):
    stub = Stub(falling(vectors), of_its_own(vectors))
    found = stub.nearest(vectors=vectors, limit=limit, per_file=per_file)
    assert [each.document_id for each in found] == list(range(min(limit, vectors)))
    assert stub.depths == [depth]


def test_it_is_looked_deeper_until_there_are_enough_documents():
    # Of the first hundred chunks, each document has twenty: five, where ten are wanted.
    places = [(number, number // 20, number % 20) for number in range(1000)]
    stub = Stub(falling(1000), places)
    found = stub.nearest(vectors=1000)
    assert [each.document_id for each in found] == list(range(10))
    assert stub.depths == [100, 400]  # 100 × 2 × 10 / 5
    stub = Stub(falling(1000), [(number, 0, number) for number in range(1000)])
    assert [each.position for each in stub.nearest(vectors=1000)] == [0]
    assert stub.depths == [100, 1000]


def test_it_is_looked_deeper_if_the_last_that_was_looked_at_is_as_near_as_the_last_shown():
    scores = [(number, 0.9 if number < 9 else 0.5) for number in range(200)]
    places = [(number, 1000 - number, 0) for number in range(200)]
    stub = Stub(scores, places)
    found = stub.nearest(vectors=200)
    assert stub.depths == [100, 200]
    # Of those equally near the first by path, which is that of the last chunk.
    assert [each.document_id for each in found] == [*range(992, 1001), 801]


def test_a_document_answers_with_its_nearest_passages():
    scores = [(1, 0.9), (2, 0.8), (3, 0.8), (4, 0.7), (5, 0.6)]
    places = [(1, 7, 4), (2, 7, 2), (3, 5, 1), (4, 7, 0), (5, 5, 3)]
    stub = Stub(scores, places)
    assert stub.nearest(vectors=5) == [Nearest(7, 0.9, 40, 9, 5), Nearest(5, 0.8, 10, 9, 2)]
    assert stub.nearest(vectors=5, per_file=2) == [
        Nearest(7, 0.9, 40, 9, 5),
        Nearest(5, 0.8, 10, 9, 2),
        Nearest(7, 0.8, 20, 9, 3),
        Nearest(5, 0.6, 30, 9, 4),
    ]
    assert stub.nearest(vectors=5, per_file=2, limit=3) == stub.nearest(vectors=5, per_file=2)[:3]


def test_a_text_that_stands_in_several_documents_answers_in_each():
    stub = Stub([(1, 0.9)], [(1, 8, 0), (1, 6, 2), (1, 6, 1)])
    assert stub.nearest(vectors=1) == [Nearest(6, 0.9, 10, 9, 2), Nearest(8, 0.9, 0, 9, 1)]
    stub.run = lambda name, **_: [("[1]", 1)]
    assert stub.nearest(vectors=1, documents="[8]") == [Nearest(8, 0.9, 0, 9, 1)]


class Asked(Stub):
    """A cursor without vectors in memory: notes what is asked of DuckDB."""

    def compared(self, cursor, vector, *, model_id, chunks):
        return None

    def run(self, name, **given):
        self.depths.append((name.removeprefix("search/"), given.get("depth")))
        return self.scores[: given["depth"]]

    def one(self, name, **given):
        self.depths.append((name.removeprefix("search/"), given.get("candidates")))
        return "[]"


@pytest.mark.parametrize(
    ("vectors", "limit", "two_stages", "asked"),
    [
        (1000, 10, 1000, [("nearest", 100)]),
        (1000, 26, 1000, [("nearest", 104)]),  # four times as many as are shown
        (1000, 10, 999, [("by_signs", 400), ("nearest", 100)]),
        (1000, 50, 0, [("by_signs", 800), ("nearest", 200)]),
        (500, 10, 0, [("by_signs", 400), ("nearest", 100)]),
        (400, 10, 0, [("nearest", 100)]),  # four times the depth
        (200_000, 10, 0, [("by_signs", 800), ("nearest", 100)]),  # 0.004 of all
    ],
)
def test_duckdb_compares_all_or_those_whose_signs_are_alike(vectors, limit, two_stages, asked):
    stub = Asked(falling(1000), of_its_own(1000))
    stub.nearest(vectors=vectors, limit=limit, two_stages=two_stages)
    assert stub.depths == asked


def test_the_chunks_of_a_filter_are_looked_up_once(monkeypatch):
    cursor, asked = Cursor(None, Memory()), []

    def run(name, *, model_id, documents):
        asked.append((name, model_id, documents))
        return [("[1]", len(asked))]

    monkeypatch.setattr(cursor, "run", run)
    known = [neighbours._chunks_of(cursor, *each) for each in [(1, "[1]"), (1, "[2]"), (2, "[1]")]]
    assert known == [("[1]", 1), ("[1]", 2), ("[1]", 3)]
    assert neighbours._chunks_of(cursor, 1, "[1]") == known[0]
    assert asked == [("search/chunks_of", *each) for each in [(1, "[1]"), (1, "[2]"), (2, "[1]")]]


class Shortcut:
    """Finds a few; notes how many were asked for."""

    def __init__(self):
        self.asked = []

    def nearest(self, text, count):
        self.asked.append(count)
        return SimpleNamespace(chunk_ids=[1, 2], last=2)


@pytest.mark.parametrize(
    ("vectors", "documents", "asked", "counts"),
    [
        (401, None, [("chunks_after", None), ("nearest", 100)], [200]),
        (400, None, [("nearest", 100)], []),
        (500, "[1]", [("nearest", 100)], []),
    ],
)
def test_a_shortcut_is_taken_among_more_than_four_times_the_depth(
    vectors, documents, asked, counts
):
    stub, shortcut = Asked(falling(1000), of_its_own(1000)), Shortcut()
    run = stub.run
    stub.run = lambda name, **given: (
        [("[1]", 500)] if name == "search/chunks_of" else run(name, **given)
    )
    neighbours.nearest(
        stub,
        VECTOR,
        model_id=1,
        vectors=vectors,
        documents=documents,
        limit=1,
        faster=Faster(shortcut=shortcut),
    )
    assert (stub.depths[: len(asked)], shortcut.asked[:1]) == (asked, counts)
