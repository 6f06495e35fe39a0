"""A word that no document has is replaced by the nearest ones, and the answer says so."""

from __future__ import annotations

import json

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.operations.index import Index
from qmd.operations.search import search
from qmd.operations.semantic_search import query
from qmd.ranking import bm25
from qmd.ranking.spelling import SLIP, distance
from qmd.surfaces.tools.dispatch import Toolbox

NOTES = {
    "house.md": "# Insulation of houses\n\nInsulation keeps conversation inside. 2024.\n",
    "storage.md": "# Storage\n\nThe storage has a request handler, parseRequest. Grammar, which.\n",
    "tea.md": "# Green tea\n\nGreen threat is green. 日本語の文書。 Pull requests.\n",
}


def reference(one, other):
    """Optimal string alignment, by its definition."""
    table = [[max(i, j) for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            table[i][j] = min(
                table[i - 1][j] + 1,
                table[i][j - 1] + 1,
                table[i - 1][j - 1] + (one[i - 1] != other[j - 1]),
            )
            if i > 1 and j > 1 and one[i - 2 : i] == other[j - 2 : j][::-1]:
                table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]


words = st.text("abc", min_size=1, max_size=9)


@given(words, words, st.integers(1, 2))
def test_words_are_near_if_so_many_errors_lie_between_them(one, other, most):
    assert (distance(one, other, most=most) is not None) == (reference(one, other) <= most)


def test_doubled_letters_and_those_that_changed_places_are_smaller_errors():
    assert distance("acount", "account", most=1) == SLIP
    assert distance("serach", "search", most=1) == SLIP
    assert distance("seerch", "search", most=1) == 1


def filled(library):
    for path, text in NOTES.items():
        library.write(path, text)
    library.update()
    return library


@pytest.fixture(scope="module")
def shelf(libraries):
    return filled(libraries())


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("insulaton", "insulation"),  # a letter left out
        ("innsulation", "insulation"),  # one too many
        ("insuletion", "insulation"),  # another one
        ("insulatoin", "insulation"),  # two changed places
        ("insultaoin", "insulation"),  # two errors in a long word
        ("nsulation", "insulation"),  # of the first letter
        ("onsulation", "insulation"),
        ("niusulation", "insulation"),
        ("ginsulation", "insulation"),
        ("Sotrage", "storage"),
        ("gren", "green"),
    ],
)
def test_a_misspelt_word_finds_the_word_and_the_notice_says_so(shelf, asked, meant):
    found = search(shelf.engine, asked)
    assert found.respelled == {asked.lower(): (meant,)}
    assert found.notice == f"No document has *{asked.lower()}*; searched *{meant}*."
    assert [result.file for result in found] == [r.file for r in search(shelf.engine, meant)]


@pytest.mark.parametrize(
    ("asked", "meant"), [("पुस्तकलय", "पुस्तकालय"), ("புத்தாகம்", "புத்தகம்"), ("библеотека", "библиотека")]
)
def test_a_word_of_another_script_may_be_misspelt(library, asked, meant):
    library.write("other.md", f"{meant} tea")
    library.update()
    found = search(library.engine, asked)
    assert [result.file for result in found] == ["notes/other.md"]
    assert found.respelled == {asked: (meant,)}


@pytest.mark.parametrize(
    "asked",
    [
        '"insulaton"',  # a phrase is meant as it is written
        "treat",  # spelt right, however near it is to threat
        "tae",  # too short: too many others are near
        "2025",  # another number is another thing
        "hydraulics",  # nothing is near
        "insultaxen",  # three errors
        "ansolation2",
        "日木誤",  # a pair of characters is no word
        "wich",  # a stop word says nothing
        "insula",  # longer words begin with it
    ],
)
def test_no_other_word_stands_for_what_is_not_plainly_misspelt(shelf, asked):
    assert search(shelf.engine, asked).respelled == {}


def test_excluded_words_are_not_replaced(shelf):
    found = search(shelf.engine, "green -insulaton")
    assert found.respelled == {}
    assert [each.file for each in found] == ["notes/tea.md"]


def test_exact_searches_words_as_they_are_written(shelf):
    found = search(shelf.engine, "insulaton green", exact=True)
    assert found.respelled == {}
    assert found.notice is None
    assert [each.file for each in found] == ["notes/tea.md"]


def test_each_misspelt_word_of_a_query_is_replaced(shelf):
    found = search(shelf.engine, "the insulaton of strage green")
    assert found.respelled == {"insulaton": ("insulation",), "strage": ("storage",)}
    assert {each.file for each in found} == {f"notes/{name}" for name in NOTES}


def test_a_misspelt_part_of_a_name_is_replaced_and_the_name_is_not(shelf):
    assert search(shelf.engine, "parseReqeust").respelled == {"reqeust": ("request",)}
    assert search(shelf.engine, "parse-reqeust").respelled == {"reqeust": ("request",)}
    assert search(shelf.engine, "parseRequest").respelled == {}


def test_the_word_of_more_documents_is_meant(library):
    library.write("odd.md", "gruen\n")
    for number in range(9):
        library.write(f"{number}.md", f"The colour is green, {number}.\n")
    library.update()
    assert search(library.engine, "gree n gren").respelled == {"gren": ("green",)}
    # A misspelling in one document does not hide the word in very many.
    assert search(library.engine, "colur").respelled == {"colur": ("colour",)}


def test_words_that_are_as_near_are_searched_too(library):
    library.write("one.md", "candle\n")
    library.write("two.md", "handle\n")
    library.write("other.md", "tea\n")
    library.update()
    found = search(library.engine, "andle")
    assert found.respelled == {"andle": ("candle", "handle")}
    assert found.notice == "No document has *andle*; searched *candle* and *handle*."
    assert [each.file for each in found] == ["notes/one.md", "notes/two.md"]


def test_a_word_of_deleted_documents_is_not_offered(library):
    shelf = filled(library)
    (shelf.root / "house.md").unlink()
    shelf.update()
    found = search(shelf.engine, "insulaton")
    assert (list(found), found.respelled, found.notice) == ([], {}, None)


def test_postings_in_memory_give_the_same_words(shelf):
    warm = Index(shelf.engine.place, warm=True)
    try:
        warm.holder.prepare()
        warm.holder.settle()
        assert warm.read(bm25.held) is not None
        for asked in ("insulaton strage", "gren", "conversatoin", "greenthreat"):
            inside, outside = search(warm, asked), search(shelf.engine, asked)
            assert inside.respelled == outside.respelled != {}
            assert list(inside) == list(outside)
    finally:
        warm.close()


def test_hybrid_search_replaces_words_of_its_keywords(shelf):
    def asked(question, **options):
        return anyio.run(lambda: query(shelf.engine, question, mode="fast", **options))

    for question in ("insulaton", "lex: insulaton\nlex: gren"):
        found = asked(question)
        assert found.respelled["insulaton"] == ("insulation",)
        assert found.notice.startswith("No document has *insulaton*; searched *insulation*.")
        assert "notes/house.md" in [each.file for each in found]
    assert asked("insulaton", exact=True).respelled == {}
    assert asked('lex: "insulaton"').respelled == {}


def test_the_command_says_it_on_stderr_and_in_json(qmd, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for path, text in NOTES.items():
        (folder / path).write_text(text)
    qmd("collection", "add", folder)
    code, out, err = qmd("search", "insulaton")
    assert code == 0
    assert "house.md" in out
    assert "No document has *insulaton*; searched *insulation*." in err
    assert "--exact" in err
    code, out, err = qmd("search", "insulaton", "--json")
    [record] = json.loads(out)
    assert record["respelled"] == {"insulaton": ["insulation"]}
    assert "searched *insulation*" in err
    assert "respelled" not in qmd("search", "insulation", "--json")[1]
    code, out, err = qmd("search", "insulaton", "--exact")
    assert (code, out) == (0, "No results found.\n")
    assert "insulation" not in err


@pytest.mark.parametrize("tool", ["search", "query"])
def test_a_tool_says_it_in_text_and_in_structured_content(shelf, tool):
    async def call(**arguments):
        return await Toolbox(shelf.engine).call(tool, arguments)

    reply = anyio.run(lambda: call(query="insulaton"))
    assert reply.structured["respelled"] == {"insulaton": ["insulation"]}
    said = "No document has *insulaton*; searched *insulation*."
    assert said in reply.structured["notice"]
    assert said in "\n".join(part for part in reply.content if isinstance(part, str))
    refused = anyio.run(lambda: call(query="insulaton", exact=True))
    assert "respelled" not in refused.structured


def stocked(library):
    library.write("kettle.md", "Don't fill it. The green tea shouldn't boil, as well you know.\n")
    library.write("swell.md", "A swell of the sea.\n")
    library.write("apart.md", "Green leaves for tea.\n")
    library.update()
    return library


@pytest.fixture(scope="module")
def kitchen(libraries):
    return stocked(libraries())


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("dont", "don't"),
        ("Shouldnt", "shouldn't"),
        ("greentea", "green tea"),
        ("aswell", "as well"),
    ],
)
def test_a_blank_or_an_apostrophe_may_be_left_out(kitchen, asked, meant):
    found = search(kitchen.engine, asked)
    assert found.respelled == {asked.lower(): (meant,)}
    assert [each.file for each in found] == ["notes/kettle.md"]
    for other in ("zebra", "zebr*", '"green zebra"'):
        structured = search(kitchen.engine, f"({asked} OR {other}) boil")
        assert [each.file for each in structured] == ["notes/kettle.md"]


@pytest.mark.parametrize("asked", ["seasea", "leavestea", "greentea2", "teagreen"])
def test_words_that_no_document_has_side_by_side_stand_for_nothing(kitchen, asked):
    assert search(kitchen.engine, asked).respelled == {}


def test_exact_search_divides_no_word(kitchen):
    assert search(kitchen.engine, "greentea", exact=True).respelled == {}


def test_the_nearest_word_is_meant_where_more_documents_have_it(library):
    kitchen = stocked(library)
    kitchen.write("waves.md", "The swell grows.\n")
    kitchen.update()
    assert search(kitchen.engine, "aswell").respelled == {"aswell": ("swell",)}


def test_two_words_of_one_stem_that_no_document_has_are_replaced_once(kitchen):
    for asked, meant in (("greentea greenteas", "green tea"), ("swelll swellls", "swell")):
        found = search(kitchen.engine, asked)
        assert list(found.respelled.values()) == [(meant,)]
        assert found
