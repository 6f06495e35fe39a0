"""Keyword scores, worked out by hand; the same from the file and from postings in memory.

All documents have the same length, so that BM25 is idf × 2.5 f / (f + 1.5), of a frequency f and
an idf of ln(1 + (N - n + 0.5) / (n + 0.5)), where n of N documents have the word. With f = 1 it
is the idf alone.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from math import log

import _duckdb
import pytest

from qmd.operations.index import Index
from qmd.ranking import bm25, query
from qmd.ranking.postings import Filed, fulfilling
from qmd.storage.cursor import Cursor, Memory
from qmd.types import ALL, Clause, Filter

FIVE = {
    "a.md": "tea cup pot jug mug",
    "b.md": "tea tea pot lid lid",
    "c.md": "teapot jar jar jar jar",
    "d.md": "green tea lid jar jar",
}

IDF = {1: log(10 / 3), 2: log(2), 3: log(10 / 7)}
"""Of a word that so many of four documents have: 1 + 3.5 / 1.5, 1 + 2.5 / 2.5, 1 + 1.5 / 3.5."""

TWICE = 2.5 * 2 / 3.5
"""What a word counts that is there twice, beside one that is there once."""


def of(engine):
    """What searches for (path, bm25), best first."""

    def found(text, *, among=ALL, limit=10):
        parsed = query.parse(text)

        def work(cursor):
            rows = bm25.bm25(cursor, parsed, among=among, limit=limit)
            assert len(rows.scores) <= limit
            ordered = bm25.in_order(cursor, rows.scores, lambda row: row[1], limit)
            places = bm25.documents(cursor, [number for number, _ in ordered])
            return [(places[number].path, score) for number, score in ordered], rows.words

        scores, words = engine.read(work)
        return [(path, pytest.approx(score, abs=1e-9)) for path, score in scores], words

    return found


@pytest.fixture(params=["file", "memory"])
def index(library, request):
    """Gives for the files of a folder what searches them."""
    engines = []

    def make(files):
        for path, text in files.items():
            library.write(path, text)
        library.update()
        if request.param == "file":
            return of(library.engine)
        library.engine.close()
        place, machine = library.engine.place, library.engine.models.machine
        engine = Index(place, machine, warm=True, stays=True)
        engines.append(engine)
        engine.read(lambda cursor: None)
        engine.holder.prepare()
        engine.holder.settle()
        assert engine.read(bm25.held) is not None
        return of(engine)

    yield make
    for each in engines:
        each.close()


def test_a_rare_word_is_found_with_longer_words_that_start_with_it(index):
    scores, words = index(FIVE)("tea")
    assert scores == [
        ("b.md", TWICE * IDF[3]),
        ("c.md", 0.3 * IDF[1]),  # teapot
        ("a.md", IDF[3]),
        ("d.md", IDF[3]),
    ]
    assert words == {"tea": "tea", "teapot": "tea"}


def test_the_longer_words_count_together_as_one(index):
    files = {"a.md": "pot pots cup", "b.md": "potter pottery x", "c.md": "potato y z"}
    # Three documents, of which two have a longer word: potter and pottery, potato.
    idf = log(1 + 1.5 / 2.5)
    scores, words = index(files)("pot")
    assert scores == [
        ("a.md", TWICE * log(1 + 2.5 / 1.5)),  # pots has the same stem
        ("b.md", 0.3 * TWICE * idf),
        ("c.md", 0.3 * idf),
    ]
    assert dict(words) == dict.fromkeys(("pot", "pots", "potter", "pottery", "potato"), "pot")


def test_words_add_up_and_count_as_often_as_they_are_asked_for(index):
    found = index(FIVE)
    assert found("pot lid")[0] == [
        ("b.md", IDF[2] + TWICE * IDF[2]),
        ("a.md", IDF[2]),
        ("d.md", IDF[2]),
    ]
    assert found("tea tea")[0] == [
        ("b.md", 2 * TWICE * IDF[3]),
        ("a.md", 2 * IDF[3]),
        ("d.md", 2 * IDF[3]),
        ("c.md", 0.3 * IDF[1]),
    ]
    # What is asked for itself is no longer word of another.
    assert found("tea teapot")[0][0] == ("c.md", IDF[1])


def test_a_phrase_has_to_be_there_and_counts_as_a_word(index):
    found = index(FIVE)
    assert found('"green tea"') == ([("d.md", IDF[1])], {"green": "green", "tea": "tea"})
    assert found('"tea green"')[0] == found('"green lid"')[0] == found('"green beer"')[0] == []
    assert found('"tea tea"')[0] == [("b.md", IDF[1])]
    assert found('"pot lid lid" tea')[0] == [("b.md", IDF[1] + TWICE * IDF[3])]
    assert found('"tea" "lid"')[0] == [
        ("b.md", TWICE * IDF[3] + TWICE * IDF[2]),
        ("d.md", IDF[3] + IDF[2]),
    ]


def test_what_is_excluded_does_not_answer_and_changes_no_score(index):
    found = index(FIVE)
    assert found("tea -lid")[0] == [("c.md", 0.3 * IDF[1]), ("a.md", IDF[3])]
    assert found('tea -"tea tea"')[0] == [
        ("c.md", 0.3 * IDF[1]),
        ("a.md", IDF[3]),
        ("d.md", IDF[3]),
    ]
    assert found('tea -"lid tea"')[0] == found("tea")[0]
    assert found("tea -beer")[0] == found("tea")[0]


def test_a_filter_changes_no_score(index):
    found = index(FIVE)
    assert found("pot", among=Filter(("notes",)))[0] == found("pot")[0]
    assert found("pot", among=Filter(("others",)))[0] == []


@pytest.mark.parametrize("limit", [1, 2, 3, 4])
def test_the_first_are_the_best_and_by_path_if_equal(index, limit):
    found = index({"b.md": "tea y", "a.md": "tea z", "d.md": "tea tea", "c.md": "x tea"})
    scores, _ = found("tea", limit=limit)
    assert [path for path, _ in scores] == ["d.md", "a.md", "b.md", "c.md"][:limit]


@pytest.mark.parametrize("limit", [1, 2, 3, 4])
def test_of_equal_ones_the_first_by_path_is_found_whenever_it_was_indexed(library, index, limit):
    for path, text in (("d.md", "tea tea"), ("c.md", "x tea"), ("b.md", "tea y")):
        library.write(path, text)
        library.update()
    scores, _ = index({"a.md": "tea z"})("tea", limit=limit)
    assert [path for path, _ in scores] == ["d.md", "a.md", "b.md", "c.md"][:limit]


def test_a_title_counts_four_times_and_a_path_one_and_a_half_times(index):
    # "green" stands in the title and in the path: f is 4 + 1.5, and one more in the text.
    found = index({"green tea.md": "green pot", "white mug.md": "green jug"})
    idf = log(1 + 0.5 / 2.5)  # both of two have it
    assert found("green")[0] == [
        ("green tea.md", idf * 2.5 * 6.5 / 8),
        ("white mug.md", idf),
    ]
    once = log(1 + 1.5 / 1.5)
    assert found("mug")[0] == [("white mug.md", once * 2.5 * 5.5 / 7)]
    assert found('"green tea"')[0] == [("green tea.md", once * 2.5 * 5.5 / 7)]
    assert found('"tea md"')[0] == [("green tea.md", once * 2.5 * 1.5 / 3)]  # of the path alone
    assert found('"mug white"')[0] == []  # from the end of the title to the path


def test_a_long_document_counts_less(index):
    # Title and path have one word and two: 4 and 3. Lengths are 8 and 12, 10 in the mean:
    # 1.5 × (0.25 + 0.75 × 8 / 10) = 1.275, and 1.5 × (0.25 + 0.75 × 12 / 10) = 1.725.
    found = index({"a.md": "tea", "b.md": "tea pot pot pot pot"})
    idf = log(1 + 0.5 / 2.5)
    assert found("tea")[0] == [("a.md", idf * 2.5 / 2.275), ("b.md", idf * 2.5 / 2.725)]


def test_a_long_title_makes_a_document_as_much_longer_as_its_words_count(index):
    # The title has two words in "b c.md", and the path three: 8 + 4.5 + 1 beside 4 + 3 + 1.
    found = index({"a.md": "tea", "b c.md": "tea"})
    idf, mean = log(1 + 0.5 / 2.5), (13.5 + 8) / 2
    assert found("tea")[0] == [
        ("a.md", idf * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 8 / mean))),
        ("b c.md", idf * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 13.5 / mean))),
    ]


@pytest.mark.parametrize(("documents", "paths"), [(19, ["pot.md"]), (20, [])])
def test_a_word_of_twenty_documents_does_not_stand_for_longer_ones(index, documents, paths):
    files = {f"n{number}.md": f"tea x{number}" for number in range(documents)}
    found = index(files | {"pot.md": "teapot y"})
    scores, _ = found("tea", limit=30)
    assert [path for path, _ in scores if path == "pot.md"] == paths


@pytest.mark.parametrize(("word", "paths"), [("te", []), ("teap", ["c.md"]), ("teapots", ["c.md"])])
def test_words_of_three_letters_and_more_are_found_by_stem_and_beginning(index, word, paths):
    assert [path for path, _ in index(FIVE)(word)[0]] == paths


def test_a_name_is_a_phrase_and_its_words_if_no_document_has_it(index):
    found = index({"a.md": "call parse_json", "b.md": "json to parse", "c.md": "a dump_json"})
    assert [path for path, _ in found("parse_json")[0]] == ["a.md"]
    scores, words = found("json_dump")
    assert [path for path, _ in scores] == ["c.md", "b.md", "a.md"]  # names make a text longer
    assert words == {"json": "json", "dump": "dump", "json_dump": "json_dump", "dump_json": "dump"}


def test_documents_that_are_gone_count_no_more(library, index):
    library.write("e.md", "tea green gold coin ring")
    library.write("f.md", "tea tea teapot coin ring")
    library.update()
    for name in ("e.md", "f.md"):
        (library.root / name).unlink()
    found = index(FIVE)
    assert found("green")[0] == [("d.md", IDF[1])]
    assert found('"green tea"')[0] == [("d.md", IDF[1])]
    assert found("tea")[0] == [
        ("b.md", TWICE * IDF[3]),
        ("c.md", 0.3 * IDF[1]),
        ("a.md", IDF[3]),
        ("d.md", IDF[3]),
    ]


def test_the_rarest_word_is_that_of_fewest_documents_that_have_any(library):
    for path, text in FIVE.items():
        library.write(path, text)
    library.update()

    def rarest(text):
        work = query.parse(text)
        return library.engine.read(lambda cursor: bm25.rarest(cursor, work))

    assert rarest("tea lid cup") == "cup"
    assert rarest("tea pot lid beer") == "pot"  # pot and lid have two, and pot comes first
    assert rarest("beer") is None


def test_a_syllable_of_hangul_counts_a_fifth_of_a_word(index):
    found = index({"a.md": "차 pot", "b.md": "컵 mug", "c.md": "병 mug"})
    assert found("차")[0] == [("a.md", 0.2 * log(1 + 2.5 / 1.5))]
    assert found("차 mug")[0][0] == ("b.md", log(1 + 1.5 / 2.5))


def test_the_spelling_that_is_asked_for_comes_first(index):
    # The word is once more in the second text, with its accents: both have three words.
    found = index({"a.md": "resume mug pot", "b.md": "résumé mug", "c.md": "mug pot jug"})
    idf = log(1 + 1.5 / 2.5)
    assert found("resume")[0] == [("a.md", idf), ("b.md", 0.8 * idf)]
    assert found("résumé")[0] == [("b.md", 1.2 * idf), ("a.md", idf)]


def test_a_joined_word_finds_the_one_with_a_hyphen_and_counts_that_less(index):
    # "e-mail" is three words: its parts, and both together.
    found = index({"a.md": "e-mail mug", "b.md": "email jug pot mug", "c.md": "lid jug pot mug"})
    once = log(1 + 2.5 / 1.5)
    assert found("email")[0] == [("b.md", once), ("a.md", 0.3 * once)]
    assert found("email jug")[0][0] == ("b.md", once + log(1 + 1.5 / 2.5))


def test_a_word_that_no_document_has_is_found_in_another_form_as_if_it_were_that(index):
    found = index({"a.md": "e-mail mug", "b.md": "jar jug pot mug"})
    assert found("email")[0] == [("a.md", log(1 + 1.5 / 1.5))]


def test_a_missing_blank_is_found_where_both_words_are_side_by_side_in_that_order(index):
    found = index(FIVE)
    assert found("greentea") == (
        [("d.md", IDF[1])],
        {"greentea": "greentea", "green": "greentea", "tea": "greentea"},
    )
    assert found("teagreen") == found("greenlid") == ([], {})
    assert found("tealid")[0] == [("d.md", IDF[1])]


def test_what_has_all_fields_that_are_asked_for_has_the_whole_score(index):
    assert index(FIVE)("path:b.md")[0] == [("b.md", 1.0)]


def test_a_filter_by_time_has_the_documents_since_then(library, index):
    files = {"old.md": "tea cup", "new.md": "tea pot"}
    for path, text in files.items():
        library.write(path, text)
    old = datetime(2020, 1, 1, tzinfo=UTC).timestamp()
    os.utime(library.root / "old.md", (old, old))
    found = index({"new.md": "tea pot"})
    scores, _ = found("tea", among=Filter(since=datetime(2022, 1, 1)))
    assert [path for path, _ in scores] == ["new.md"]


def test_a_search_by_the_tables_says_so(library):
    library.update()
    missed = []
    cursor = Cursor(_duckdb.connect(":memory:"), Memory(missed=lambda *given: missed.append(given)))
    assert isinstance(bm25.postings_of(cursor), Filed)
    assert missed == [(cursor, True)]


@pytest.mark.parametrize(
    ("operator", "expected"), [("and", {2}), ("or", {1, 2, 3}), ("not", {4, 5})]
)
def test_a_clause_combines_the_documents_of_its_parts(operator, expected):
    holders = {"tea": {1, 2}, "pot": {2, 3}}
    test = Clause(operator, ("tea", "pot"))
    assert fulfilling(test, holders.__getitem__, range(1, 6)) == expected
    nested = Clause("not", (Clause("or", ("tea",)),))
    assert fulfilling(nested, holders.__getitem__, range(1, 6)) == {3, 4, 5}


def test_a_word_is_found_by_its_stem_in_the_language_of_a_document(index):
    found = index({"a.md": "---\nlang: de\n---\nHaus mug", "b.md": "pot jar"})
    scores, words = found("Häusern")
    assert [path for path, _ in scores] == ["a.md"]
    assert words["haus"] == "hausern"


@pytest.mark.parametrize(
    ("lang", "text", "asked"),
    [
        ("hi", "लड़कियाँ", "लड़की"),
        ("hi", "लड़कियाँ", "लड़कि*"),
        ("ar", "الشاي", "شاي"),
        ("ar", "شاي", "الشاي"),
    ],
)
def test_words_with_marks_and_the_article_of_arabic_are_found(index, lang, text, asked):
    found = index({"a.md": f"---\nlang: {lang}\n---\n{text} mug", "b.md": "pot jar"})
    assert [path for path, _ in found(asked)[0]] == ["a.md"]


def test_a_name_with_a_hyphen_finds_its_other_spellings_and_its_own_as_much(index):
    found = index({"a.md": "call parse-json", "b.md": "call parseJson", "c.md": "cup parsejson"})
    scores, _ = found("parse-json")
    assert [path for path, _ in scores] == ["a.md", "b.md", "c.md"]
    assert scores[0][1] == scores[1][1]


def test_a_longer_word_that_is_a_form_of_the_one_asked_for_counts_once(index):
    matter = "---\nlang: de\n---\n"
    files = {
        "a.md": f"{matter}Kind und Tasse",
        "b.md": f"{matter}Kinder und Tasse",
        "c.md": f"{matter}Kinderwagen und Tasse",
        "d.md": "in kinder times",  # in English that is another word
    }
    scores, words = index(files)("Kind")
    assert [path for path, _ in scores[:2]] == ["a.md", "b.md"]
    assert {path for path, _ in scores[2:]} == {"c.md", "d.md"}
    assert words["kinder"] == words["kinderwagen"] == "kind"


@pytest.mark.parametrize("asked", ["maisons", "maison"])
def test_a_word_with_one_stem_in_two_languages_counts_once(index, asked):
    matter = "---\nlang: fr\n---\n"
    scores, _ = index({"a.md": f"{matter}maison verte", "b.md": f"{matter}maisons verte"})(asked)
    assert [path for path, _ in scores] == ["a.md", "b.md"]
    assert scores[0][1] == scores[1][1]
