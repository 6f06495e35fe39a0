"""Searches that stand where tables can."""

from __future__ import annotations

import pytest

from qmd.errors import CollectionNotFound, NotEmbedded, QueryError, SqlError
from qmd.operations.sql import sql


def test_a_search_stands_wherever_a_table_can(answered):
    assert answered("select rank, file, title, line from bm25('green tea')") == [
        ("1", "notes/tea.md", "Tea", "4")
    ]
    everywhere = """
        with found as (from bm25($words, n := 5))
        select (select count(*) from BM25('leaves')), documents.title
        from found
        join documents using (file)
        where file not in (select file from bm25('coffee', 3, 'notes'))
    """
    assert answered(everywhere, {"words": "tea leaves"}) == [("1", "Tea")]
    assert answered("select file from bm25(?)", ["coffee"]) == [("notes/coffee.md",)]
    assert len(answered("describe from bm25('tea')")) == 9
    assert answered("select count(*) from bm25('absent')") == [("0",)]


def test_a_search_gives_no_more_than_it_is_asked_for(answered):
    assert answered("select count(*) from bm25('tea coffee')") == [("2",)]
    assert answered("select count(*) from bm25('tea coffee', n := 1)") == [("1",)]
    assert answered("select count(*) from bm25('tea coffee', n := $n)", {"n": 1}) == [("1",)]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("from bm25('tea' || 'cup')", "query of bm25 is not a constant"),
        ("from documents, lateral (from bm25(title))", "query of bm25 is not a constant"),
        ("from bm25(1)", "what to look for is a text"),
        ("from bm25()", "what to look for is a text"),
        ("from bm25('tea', n := 0)", "n of bm25 is a number"),
        ("from bm25('tea', n := 'all')", "n of bm25 is a number"),
        ("from bm25('tea', n := 1.5)", "a whole number, 1 to"),
        ("from bm25('tea', n := 2.0)", "a whole number, 1 to"),
        ("from bm25(1.5)", "what to look for is a text"),
        ("from bm25('tea', most := 3)", "bm25 takes bm25('words', n := 100"),
        ("from bm25('tea', collection := 3)", "collection of bm25 is a text"),
        ("from bm25($words)", "There is no value for $words"),
        ("select bm25('tea')", "bm25 gives rows"),
    ],
)
def test_a_call_of_a_search_that_cannot_be_made_is_explained(query, words, answered):
    with pytest.raises(SqlError) as wrong:
        answered(query)
    assert words in str(wrong.value)


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("from bm25('tea', collection := 'absent')", CollectionNotFound),
        ("from bm25('tea', collection := '')", CollectionNotFound),
        ("from bm25('')", QueryError),
        ("from vsearch('')", QueryError),
        ("""from bm25('odd"')""", QueryError),
        ("from vsearch('tea')", NotEmbedded),
    ],
)
def test_a_search_that_fails_says_why_as_it_does_elsewhere(query, error, answered):
    with pytest.raises(error):
        answered(query)


def test_meaning_is_searched_alone_and_together_with_words(faked):
    faked.write("tea.md", "# Tea\n\nBrew green tea.\n")
    faked.write("coffee.md", "# Coffee\n\nNo leaves at all.\n")
    faked.update()
    faked.embed()
    query = """
        select near.file, near.rank, both_ways.rank, list_inner_product(vector, vector)::int, model
        from vsearch('a drink') as near
        join hybrid('tea', collection := 'notes') as both_ways using (file)
        join embeddings using (file)
        order by near.rank
    """
    found = sql(faked.engine, query).arrow().to_pylist()
    wanted = [hit.file for hit in faked.nearest("a drink")]
    assert [row["file"] for row in found] == wanted
    assert {row["rank_1"] for row in found} == {1, 2}
    assert {row["model"] for row in found} == {"fake.gguf"}
