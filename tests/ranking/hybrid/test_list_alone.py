"""A list that nothing is fused with keeps its order and its scores."""

from __future__ import annotations

import _duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.ranking import fusion
from qmd.ranking.fusion import Listed
from qmd.storage.cursor import Cursor
from qmd.types import Nearest
from tests.ranking.hybrid.asking import ask, ranks

SCORES = st.lists(st.floats(0.001, 90), min_size=1, max_size=12, unique=True)


def listed(kind, scores):
    ranked = dict(enumerate(sorted(scores, reverse=True), start=1))
    near = {n: Nearest(n, score, 0, 5, 1) for n, score in ranked.items() if kind != "lex"}
    return Listed(kind, "tea", 2.0, ranked, near)


@given(SCORES, st.sampled_from(["lex", "vec"]), st.sets(st.integers(1, 12)))
def test_a_list_alone_is_scored_as_if_dates_counted_where_no_document_is_recent(
    scores, kind, banned
):
    cursor = Cursor(_duckdb.connect(":memory:"))
    cursor.connection.execute(
        "create table documents as select range as document_id, timestamp '1900-01-01' as dated, "
        "'tea' as collection, (99 - range)::text as path "
        "from range(20)"
    )
    each = listed(kind, [score / 90 for score in scores])
    alone, told = (
        fusion.fused(cursor, [each], "scores", banned=banned, half_life=days, limit=5)
        for days in (None, 1.0)
    )
    assert [row.document_id for row in alone] == [row.document_id for row in told]
    assert [row.score for row in alone] == pytest.approx([row.score for row in told], abs=1e-11)
    for one, other in zip(alone, told, strict=True):
        assert one[2:4] == other[2:4]
        [part], [expected] = one.explain["lists"], other.explain["lists"]
        assert part.keys() == expected.keys()
        assert part["contribution"] == pytest.approx(expected["contribution"], abs=1e-11)
        assert (part["rank"], part["weight"]) == (expected["rank"], expected["weight"])


def test_lists_that_are_fused_go_deeper_than_what_is_shown(helped):
    for number in range(11):
        helped.write(f"{number:02}.md", f"{'car ' * (12 - number)}{'filler ' * (number + 1)}")
    helped.write("11.md", "car " + "physician " * 12)
    helped.update()
    helped.embed()
    answer = ask(helped, "lex: car\nvec: doctor", limit=1)
    assert [(result.file, ranks(result, "lex"), ranks(result, "vec")) for result in answer] == [
        ("notes/11.md", [12], [1])
    ]


def test_as_many_passages_of_a_document_are_shown_as_are_wanted(helped):
    helped.configure(more="chunk: {tokens: 20, overlap: 0}")
    parts = ["automobile " * 6 + "and seven other words", "other words " * 6, "vehicle " * 12]
    helped.write("long.md", "\n\n".join(f"# Part\n\n{part}" for part in parts))
    helped.update()
    helped.embed()
    lines = [[result.line for result in ask(helped, "vec: vehicle", per_file=n)] for n in (1, 2, 3)]
    # The line with the word; of a passage without it the first. "other words" are not like it.
    assert lines == [[11], [11, 1], [11, 1]]
