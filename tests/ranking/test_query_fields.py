"""Fields, prefixes, OR and parentheses of queries."""

from __future__ import annotations

from functools import partial

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.errors import QueryError
from qmd.operations.index import Index
from qmd.operations.search import search
from qmd.operations.semantic_search import query, vector_search
from qmd.ranking import bm25, query_document, query_syntax
from qmd.ranking.query import parse
from qmd.ranking.query_syntax import MOST

NOTES = {
    "tea/green.md": "---\ntags: [drink, Draft]\nlang: en\ndate: 2024-03-01\n---\n"
    "# Green tea\n\nGreen tea with milk and sugar.\n",
    "tea/black.md": "---\ntags: drink, hot\nlang: de\ndate: 2023-03-01\n---\n"
    "# Black tea\n\nBlack tea with milk; the configuration of a pot.\n",
    "coffee.md": "---\ntype: recipe\ndate: 2022-03-01\n---\n"
    "# Café au lait\n\nCoffee with milk, configured and hot. #drink/warm\n",
    "water.txt": "Water\n\nWater with sugar, http://example.org std::vector 10:30.\n",
}


def filled(library):
    (library.folder / "index.yml").write_text(
        f'collections:\n  notes:\n    path: {library.root}\n    pattern: "**/*.{{md,txt}}"\n'
    )
    for path, text in NOTES.items():
        library.write(path, text)
    library.update()
    return library


@pytest.fixture(scope="module")
def shelf(libraries):
    return filled(libraries())


GREEN, BLACK, COFFEE, WATER = NOTES


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        # each field
        ("milk title:tea", {GREEN, BLACK}),
        ("milk title:gre", {GREEN}),
        ('milk title:"gre"', set()),
        ('milk title:"green tea"', {GREEN}),
        ('milk title:"tea green"', set()),
        ("milk title:cafe", {COFFEE}),
        ("milk path:tea", {GREEN, BLACK}),
        ("milk path:notes/tea/b*", {BLACK}),
        ("milk tag:drink", {GREEN, BLACK, COFFEE}),
        ("milk tag:draft", {GREEN}),
        ("milk tag:#drink/warm", {COFFEE}),
        ("milk tag:dra", set()),
        ("milk tag:dra*", {GREEN}),
        ("milk tag:hot", {BLACK}),
        ("milk lang:DE", {BLACK}),
        ("milk type:recipe", {COFFEE}),
        ("sugar type:txt", {WATER}),
        ("sugar type:markdown", {GREEN}),
        ("milk after:2023", {GREEN, BLACK}),
        ("milk before:2023-01", {COFFEE}),
        ("milk after:2023 before:2024", {BLACK}),
        # negated, and joined with what there was before
        ("milk -tag:draft", {BLACK, COFFEE}),
        ('milk -title:"green tea"', {BLACK, COFFEE}),
        ("milk -path:tea", {COFFEE}),
        ('"with milk" tag:drink -hot', {GREEN}),
        # prefixes
        ("config*", {BLACK, COFFEE}),
        ("milk -config*", {GREEN}),
        # OR, AND, parentheses
        ("green OR coffee", {GREEN, COFFEE}),
        ("milk tag:draft OR tag:hot", {GREEN, BLACK}),
        ("milk (tag:draft OR type:recipe)", {GREEN, COFFEE}),
        ("milk (tag:draft OR -tag:drink)", {GREEN}),
        ('"green tea" OR "black tea"', {GREEN, BLACK}),
        ('milk ("green tea" OR sugar)', {GREEN, WATER}),
        ("(green tea) OR coffee", {GREEN, COFFEE}),
        ("milk AND sugar", {GREEN}),
        ("(milk AND sugar) OR http", {GREEN, WATER}),
        ("milk -(sugar OR coffee)", {BLACK}),
        ("milk ((green OR coffee) AND (sugar OR hot)) -tag:draft", {COFFEE}),
        ("(config* OR water) AND hot", {BLACK, COFFEE}),
        # ordinary text
        ("foo:milk", {GREEN, BLACK, COFFEE}),
        ("http://example.org", {WATER}),
        ("std::vector", {WATER}),
        ("10:30", {WATER}),
        ("title: water", {WATER}),
        ("title::water", {WATER}),
        ("sugar :) (see", {GREEN, WATER}),
        ("water(sugar)", {GREEN, WATER}),
        ('"title:tea"', set()),
        ("WATER OR COFFEE", {WATER, COFFEE}),
    ],
)
def test_a_query_finds(shelf, asked, found):
    assert set(shelf.found(asked)) == found


def test_a_query_of_fields_alone_lists_the_newest_first(shelf):
    assert shelf.found("tag:drink") == [GREEN, BLACK, COFFEE]
    assert shelf.found("tag:drink -sugar the") == [BLACK, COFFEE]
    assert shelf.found("tag:drink", limit=2) == [GREEN, BLACK]


def test_fields_and_options_both_limit(shelf):
    assert shelf.found("tag:drink", since="2023") == [GREEN, BLACK]
    assert shelf.found("milk tag:drink", path="tea", filter="lang = de") == [BLACK]


def test_postings_in_memory_find_the_same(shelf):
    warm = Index(shelf.engine.place, warm=True)
    try:
        warm.holder.prepare()
        warm.holder.settle()
        assert warm.read(bm25.held) is not None
        for asked in ("config*", "milk (green OR coffee) AND sugar", "tag:drink", "milk -(hot*)"):
            assert list(search(warm, asked)) == list(search(shelf.engine, asked)) != []
    finally:
        warm.close()


def test_what_or_joins_ranks_what_has_both_first(library):
    filled(library)
    library.write("both.md", "green coffee\n")
    library.update()
    assert library.found("green OR coffee")[0] == "both.md"
    assert library.found('"green tea" OR "with milk"')[0] == GREEN


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("after:banana", "after: takes a date such as"),
        ("tea path:/etc", "is a path on disk"),
        ('tea title:""', "title: has no value"),
        ("tea title:---", "title: has no word"),
        ("tea tag:" + "x" * 201, "more than 200 characters"),
        ("-tag:draft", "only says what to leave out"),
        ("-(tag:draft OR tea)", "only says what to leave out"),
        (" ".join(f"tag:{number}" for number in range(MOST + 1)), f"more than {MOST}"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_to_do(asked, said):
    with pytest.raises(QueryError, match=said) as caught:
        parse(asked)
    assert "\n\n" in str(caught.value)


@given(
    st.lists(
        st.sampled_from(
            ["(", ")", "-(", "OR", "AND", "tea", '"a b"', "-x", "con*", "tag:a", "-title:b", " "]
        )
    ).map(" ".join)
)
def test_any_arrangement_of_signs_is_read_or_refused(asked):
    try:
        found = parse(asked)
    except QueryError:
        return
    assert found.has_words or found.fields


def test_very_many_parentheses_are_text():
    assert parse("(" * 5000 + "tea OR milk" + ")" * 5000).words == ("tea", "milk")


def test_a_field_begins_a_word_whatever_stands_beside_it():
    glued = '"green tea"title:x'
    for asked in (glued, f"path:a {glued}"):
        tokens = [each.kind for each in query_syntax.tokens_of(asked)]
        assert tokens[-2:] == ["phrase", "plain"]
    assert query_syntax.structure(glued) is None


def test_fields_limit_what_is_found_by_meaning_as_well(meaning):
    for path, text in NOTES.items():
        meaning.write(path, text)
    meaning.update()
    meaning.embed()

    def asked(question):
        found = anyio.run(partial(query, meaning.engine, question))
        return {each.file.removeprefix("notes/") for each in found}

    assert asked("brewing a drink") == {GREEN, BLACK, COFFEE}
    assert asked("brewing a drink tag:draft") == {GREEN}
    assert asked("brewing a drink -path:tea") == {COFFEE}
    assert asked("tag:draft") == {GREEN}
    assert asked("lex: milk tag:draft") == {GREEN}
    with pytest.raises(QueryError, match="leave out"):
        asked("-tag:draft")


def test_the_fields_of_a_typed_line_limit_what_it_finds(meaning):
    for path, text in NOTES.items():
        meaning.write(path, text)
    meaning.update()
    meaning.embed()

    def asked(question):
        found = anyio.run(partial(query, meaning.engine, question, explain=True))
        return {each.file.removeprefix("notes/"): each.score for each in found}

    whole = asked("vec: brewing a drink")
    assert whole.keys() == {GREEN, BLACK, COFFEE}
    assert asked("vec: brewing a drink tag:draft") == {GREEN: whole[GREEN]}
    assert asked("hyde: brewing a drink -path:tea").keys() == {COFFEE}
    both = "vec: brewing a drink tag:draft\nvec: brewing a drink -path:tea"
    assert asked(both).keys() == {GREEN, COFFEE}
    assert query_document.parse(both).document == both
    with pytest.raises(QueryError, match=r"Line 1 \(vec\): .*no words"):
        asked("vec: tag:draft")
    with pytest.raises(QueryError, match=r"Line 2 \(hyde\): after: takes a date"):
        asked("vec: tea\nhyde: brewing after:soon")


def test_fields_limit_a_search_by_meaning_and_are_not_embedded(meaning):
    for path, text in NOTES.items():
        meaning.write(path, text)
    meaning.update()
    meaning.embed()

    def asked(question):
        found = vector_search(meaning.engine, question, min_score=0.0)
        return {each.file.removeprefix("notes/"): each.score for each in found}

    whole = asked("brewing a drink")
    assert whole.keys() == {GREEN, BLACK, COFFEE}
    assert asked("brewing a drink tag:draft") == {GREEN: whole[GREEN]}
    assert asked("path:tea brewing a drink") == {each: whole[each] for each in (GREEN, BLACK)}
    assert asked("brewing a drink -path:tea") == {COFFEE: whole[COFFEE]}
    with pytest.raises(QueryError, match="Negation"):
        asked("brewing -tea tag:draft")
    with pytest.raises(QueryError, match="no words to look for"):
        asked("tag:draft")
    with pytest.raises(QueryError, match="takes a date"):
        asked("brewing after:soon")


@pytest.mark.parametrize(
    ("title", "asked"),
    [
        ("Đường phố", "duong"),
        ("Smørrebrød", "smorrebrod"),
        ("Weiße Straße", "strasse"),
        ("Æbler", "aebler"),
        ("हरी चाय", "चाय"),
        ("น้ำชา", "น้ำ"),
        ("مدرسة كبيرة", "مدرسه"),
        ("Σίσυφος", "ΣΊΣΥΦΟΣ"),
        ("Թեյ և սուրճ", "եւ"),
    ],
)
def test_a_title_is_found_however_its_letters_are_typed(library, title, asked):
    library.write("a.md", f"# {title}\n\nwater")
    library.write("b.md", "# Tea\n\nwater")
    library.update()
    assert [each.file for each in search(library.engine, f"title:{asked}")] == ["notes/a.md"]
