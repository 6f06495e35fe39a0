"""The lines of a document around its best match."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qmd.ranking import matcher
from qmd.ranking.matcher import SEPARATORS, Matcher
from qmd.ranking.snippets import Snippet, plainly_best_window, snippet
from qmd.text import tokenizer

WANTED = frozenset({"tea", "pot", "cup"})
LINE = st.lists(st.sampled_from(["tea", "Pot", "cup", "x", "long" * 9, "é"]), max_size=6).map(
    " ".join
)


def shown(body, *wanted, length=300):
    return snippet(body, Matcher({word: word for word in wanted}), length=length)


def found_in(lines):
    """Wanted words that stand in some lines."""
    return WANTED & {
        folded
        for line in lines
        for raw in tokenizer.split(line)
        for folded, _ in tokenizer.pieces(raw)[1]
    }


def test_the_lines_carry_their_numbers_in_the_document():
    body = "\n".join(["# Title", *["filler"] * 50, "green tea", "hot water", *["filler"] * 50])
    found = shown(body, "tea", length=20)
    assert found.line == 52
    assert found.text == "52: green tea\n53: hot water"


def test_frontmatter_and_blank_lines_are_counted():
    assert shown("---\na: 1\n---\n\n\ntea", "tea", length=5).text == "6: tea"


def test_the_window_holds_the_most_different_words():
    body = "\n".join(["tea tea tea", *["x" * 50] * 10, "tea", "pot", *["x" * 50] * 10, "tea"])
    found = shown(body, "tea", "pot", length=60)
    assert (found.line, found.first) == (12, 12)
    assert found.lines[:2] == ("tea", "pot")


def test_a_longer_snippet_has_the_same_line_if_a_shorter_one_chooses_it():
    apart = ["x" * 50] * 3
    body = "\n".join(["tea", *apart, "cup", *apart, "pot", *apart * 4, "tea", "pot", "x"])
    match = Matcher({"tea": "tea", "pot": "pot", "cup": "cup"})
    found = [snippet(body, match, length=length, choice=60) for length in (30, 60, 500)]
    assert [each.line for each in found] == [22, 22, 22]
    assert snippet(body, match, length=500).line == 1
    assert found[0].lines == ("tea", "pot", "x")
    assert len(found[2].lines) > 9


def test_words_that_are_near_each_other_are_preferred_to_the_same_words_apart():
    body = "\n".join(
        ["tea", "x", "x", "pot", *["x" * 50] * 10, "a pot of tea", "x" * 90, "tea pot"]
    )
    for distinct in (None, 2):
        match = Matcher({"tea": "tea", "pot": "pot"})
        assert snippet(body, match, length=60, distinct=distinct).line == 15


POOR = [
    "[How to make tea](tea.md)",
    "1. [Tea](tea.md) | [[pot|tea pot]]",
    "- ![tea](a.png) [![tea](b(1).png)](https://tea.example/tea_pot)",
    "[tea]: https://example.org/tea 'tea'",
    "<https://tea.example/pot>",
    "Tea ........................ 12",
    "using namespace tea;",
    "import tea.pot as tea",
    "import { tea } from 'pot'",
    "from tea import pot",
    "#include <tea.h>",
    "use tea::pot::{cup, tea};",
    "// Copyright (c) 2020 The tea authors",
]


@pytest.mark.parametrize("line", POOR)
def test_a_line_that_answers_nothing_is_passed_over_for_one_that_does(line):
    body = "\n".join(["# Start", "", line, *["x" * 50] * 9, "Pour the tea.", "y"])
    assert shown(body, "tea", "pot", length=40).line == 13
    assert shown(line + "\n" + "x" * 50, "tea", "pot", length=40).line == 1


GOOD = [
    "See [the pot](pot.md) for tea.",
    "- [Pot](pot.md): tea is made in it",
    "An import tax on tea is due; use tea.",
    "Prices ... 12 for tea",
    "tea[0] = 1",
]


@pytest.mark.parametrize("line", GOOD)
def test_a_line_that_says_something_beside_a_link_answers(line):
    body = "\n".join(["# Start", "", line, *["x" * 50] * 9, "Pour the tea.", "y"])
    assert shown(body, "tea", length=40).line == 3


def test_an_import_that_is_asked_for_is_an_answer():
    body = "\n".join(["import tea", *["x" * 50] * 9, "tea = 1"])
    assert shown(body, "import", "tea", length=40).line == 1
    assert shown(body, "tea", length=40).line == 11


def test_frontmatter_is_passed_over_and_not_shown_around_a_match():
    body = "\n".join(["---", "title: Tea pot", "tags: [tea]", "---", "# Start", "", "tea"])
    assert shown(body, "tea", "pot").text == "5: # Start\n6: \n7: tea"
    assert shown(body, "tags").line == 3
    assert shown(body, "cup", length=8).text == "5: # Start"
    assert shown("---\ntea: no end\nx", "tea").line == 2


def test_among_equals_the_first_window_is_shown():
    body = "\n".join(["tea one", "x" * 90, "tea two"])
    assert shown(body, "tea", length=50).lines == ("tea one",)


def test_what_stands_around_fills_the_window():
    found = shown("a\nb\ntea\nc\nd\n" + "x" * 100, "tea", length=30)
    assert found == Snippet(line=3, first=1, lines=("a", "b", "tea", "c", "d"))


def test_blank_lines_at_the_ends_are_not_shown():
    found = shown("\n\ntea\n\npot\n\n\n", "tea", length=30)
    assert (found.first, found.lines) == (3, ("tea", "", "pot"))


def test_carriage_returns_are_not_shown():
    found = shown("a\r\ntea\r\nb\r\n", "tea")
    assert found.text == "1: a\n2: tea\n3: b"
    assert found.line == 2


def test_only_line_feeds_are_counted():
    found = shown("a\u2028b\x0cc\x85d\ntea", "tea", length=4)
    assert found.text == "2: tea"


def test_a_line_longer_than_the_window_is_cut_around_its_first_match():
    found = shown("\n".join(["head", "a " * 3000 + "green tea " + "b " * 3000]), "tea", length=80)
    assert (found.line, found.first, len(found.lines)) == (2, 2, 1)
    assert "green tea b b" in found.lines[0]
    assert found.lines[0].startswith("…")
    assert found.lines[0].endswith("…")


@pytest.mark.parametrize("place", [0, 10, 2990, 3000])
def test_a_cut_line_is_as_long_as_the_window_wherever_the_match_is(place):
    line = ("x " * place + "tea " + "x " * (3000 - place)).strip()
    cut = shown(line, "tea", length=100).lines[0]
    assert "tea" in cut
    assert 90 <= len(cut) <= 102
    assert cut.strip("…") in line


def test_a_line_is_cut_around_the_word_and_not_around_a_longer_one_that_holds_it():
    line = "steam " + "x " * 3000 + "green tea " + "x " * 3000
    assert "green tea" in shown(line, "tea", length=80).lines[0]


def test_a_long_line_is_cut_around_the_words_that_are_near_each_other_and_between_words():
    filler = "filling words " * 200
    line = f"{filler}tea {filler}a pot for green tea {filler}pot {filler}"
    [cut] = shown(line, "tea", "pot", length=100).lines
    assert "a pot for green tea" in cut
    assert set(cut.strip("…").split()) <= set(line.split())


def test_a_line_is_cut_around_a_word_beside_others_that_hold_it():
    line = "steam/steamy/" + "x/" * 3000 + "東京tea/" + "x/" * 3000
    assert "東京tea/x" in shown(line, "tea", length=80).lines[0]


def test_a_match_in_a_run_of_han_is_shown():
    line = "中" * 5000 + "日本語" + "文" * 5000
    assert "日本語" in shown(line, "日本", "本語", length=60).lines[0]


def test_a_match_with_accents_is_shown():
    assert shown("a\nZÜRICH\nb", "zurich", length=6).text == "2: ZÜRICH"
    assert "Zu\u0308rich" in shown("x " * 3000 + "Zu\u0308rich", "zurich", length=60).lines[0]


def test_an_identifier_matches_by_its_parts():
    assert shown("a\nparseHTTPRequest\nb", "http", length=16).line == 2


def test_without_a_match_the_first_line_that_is_not_blank_is_shown():
    found = shown("\n \nhead\nmore", "tea", length=5)
    assert (found.line, found.first, found.lines) == (3, 3, ("head",))


@pytest.mark.parametrize("body", ["", "\n\n", " \n\t\n"])
def test_a_blank_document_is_one_blank_line(body):
    found = shown(body, "tea")
    assert (found.line, found.first, len(found.lines)) == (1, 1, 1)
    assert not found.lines[0].strip()


def test_a_matcher_tells_which_word_a_raw_word_stands_for():
    match = Matcher({"json": "json", "tea": "tea"})
    assert [match(raw) for raw in ("Parse_JSON", "TEA", "teas", "_")] == ["json", "tea", None, None]


@given(st.lists(LINE, min_size=1, max_size=12), st.integers(1, 80))
@example(["x", "tea", "long" * 9, "pot cup"], 30)
@settings(deadline=None)
def test_no_other_window_of_the_same_length_has_more_words(lines, length):
    found = snippet("\n".join(lines), Matcher({word: word for word in WANTED}), length=length)
    windows = [
        lines[start:end]
        for start in range(len(lines))
        for end in range(start + 1, len(lines) + 1)
        if end == start + 1 or sum(len(line) + 1 for line in lines[start:end]) <= length
    ]
    start = found.first - 1
    assert len(found_in(lines[start : start + len(found.lines)])) == max(
        len(found_in(window)) for window in windows
    )


@given(st.lists(LINE, min_size=1, max_size=12), st.integers(1, 80))
@settings(deadline=None)
def test_a_snippet_is_lines_of_the_document_that_fit_and_names_the_first_that_matches(
    lines, length
):
    found = snippet("\n".join(lines), Matcher({word: word for word in WANTED}), length=length)
    start = found.first - 1
    source = lines[start : start + len(found.lines)]
    if len(found.lines) > 1:
        assert list(found.lines) == source
        assert sum(len(line) + 1 for line in source) <= length
    else:
        assert found.lines[0].strip("…") in source[0]
        assert len(found.lines[0]) <= length + len("……")
    matching = [at + 1 for at, line in enumerate(lines) if found_in([line])]
    if matching:
        assert found.line == next(at for at in matching if at >= found.first)
        assert found.line < found.first + len(found.lines)


def test_the_first_window_with_all_words_is_taken():
    body = "tea\n\njson and tea\n\nmore json, more tea, and json with tea\n"
    match = Matcher({"tea": "tea", "teas": "tea", "json": "json"})
    assert snippet(body, match, length=14).line == 3
    assert snippet(body, match, length=14, distinct=2).line == 3
    assert snippet("teas of tea\njson tea", match, length=9, distinct=2).line == 2


RAW = [
    "tea",
    "Tea's",
    "teaPot",
    "TEA_leaves",
    "té",
    "ＴＥＡ",
    "茶道",
    "JSONParser",
    "x" * 70,
    "-",
    "\n",
    "(1)",
    "1.",
    "⑴",
]


@given(st.lists(st.sampled_from(RAW) | st.text(max_size=6), max_size=12).map(" ".join))
def test_a_line_has_the_words_that_its_raw_words_stand_for(line):
    match = Matcher(
        {
            word: word.upper()
            for word in ("tea", "teapot", "json", "茶", "leaves", "te", "(1)", "1.", " ")
        }
    )
    assert match.found_in(line) == {match(raw) for raw in tokenizer.split(line)} - {None}


@pytest.mark.parametrize("mark", SEPARATORS)
def test_what_is_taken_for_a_separator_is_part_of_no_word(mark):
    assert words_around(f"tea{mark}pot") == ["tea", "pot"]
    assert words_around(f"é{mark}茶{mark}x") == ["é", "茶", "x"]


def words_around(text):
    return [word for word in tokenizer.split(text) if not tokenizer.is_symbol(word)]


@pytest.mark.parametrize(
    ("wanted", "line"),
    [
        ({"c++": "c++"}, "in C++20."),
        ({".net": ".net"}, "on .NET"),
        ({"e-mail": "email"}, "an E-mail"),
        ({"->": "->"}, "x->y"),
        ({"!=": "!="}, "é != ï"),
        ({"→": "→"}, "tea → pot"),
        ({"🍵": "🍵"}, "tea 🍵"),
    ],
)
def test_the_line_with_a_marked_word_or_a_symbol_is_shown(wanted, line):
    body = f"C net x- mail nothing\n{line}\nmore é"
    [asked] = wanted.values()
    match = Matcher(wanted)
    starts = [0, *accumulate(len(each) + 1 for each in body.split("\n"))]
    assert [at for at, _ in match.lines_with(body, starts)] == [1]
    assert match.found_in(line) == {asked}
    assert snippet(body, match, length=len(line)).line == 2
    long = f"{'filler ' * 100}{line}{' filler' * 100}"
    assert line in snippet(long, match, length=80).text


ODD_LINE = st.lists(
    st.sampled_from(
        [
            "tea",
            "TEA",
            "teaPot",
            "pot_",
            "té",
            "‘tea’",
            "İ",
            "茶",
            "x",
            " ",
            "’",
            "\u0301",
            "(1)",
            "⑴",
            "чай",
            "Ча\u00adй",
            "случай",
        ]
    )
).map("".join)


@given(st.lists(ODD_LINE).map("\n".join))
@example("İ\ntea")
@example("teatea tea pot\n‘tea’ té\nteaPot Pot")
def test_the_lines_with_words_of_a_query_are_those_whose_raw_words_stand_for_some(body):
    wanted = {"tea": "tea", "te": "te", "teatea": "te", "pot": "pot", "茶": "茶"}
    match = Matcher(wanted | {"(1)": "⑴", " ": "ͺ", "чаи": "чай"})
    lines = body.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    expected = [{match(raw) for raw in tokenizer.split(line)} - {None} for line in lines]
    assert [(at, match.named(bits)) for at, bits in match.lines_with(body, starts)] == [
        (at, found) for at, found in enumerate(expected) if found
    ]


@pytest.mark.parametrize(
    ("word", "longer"), [("tea", "steam"), ("кот", "шкоты"), ("ωρα", "χωρα"), ("يوم", "كيوم")]
)
def test_a_word_is_found_after_a_longer_one_that_contains_it(word, longer):
    found = shown(f"{longer}\n{'x' * 90}\n{longer} {word}", word, length=20)
    assert (found.line, found.lines) == (3, (f"{longer} {word}",))


def test_a_snippet_of_a_part_has_the_lines_of_the_document():
    part = Snippet(line=3, first=2, lines=("a", "tea"))
    assert part.shifted(10) == Snippet(line=13, first=12, lines=("a", "tea"))


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(1, 60), st.booleans()), max_size=30),
    st.integers(10, 200),
    st.sampled_from([None, 3]),
)
def test_a_line_that_does_not_count_is_as_if_it_did_not_match(rows, length, distinct):
    starts = list(accumulate((size for _, size, _ in rows), initial=0))
    matching = [(at, bits) for at, (bits, _, _) in enumerate(rows) if bits]
    counting = [each for each in matching if rows[each[0]][2]]

    counts = [is_counted for _, _, is_counted in rows].__getitem__
    lazily = plainly_best_window(starts, iter(matching), length, distinct, counts, 50)

    assert lazily == plainly_best_window(starts, iter(counting), length, distinct, None, 50)


@given(
    st.lists(
        st.sampled_from(["tea", "green", "leaf", "x y z " * 9, "[a](b)", "", "\u00e9"]), max_size=60
    ),
    st.sampled_from([1, 40, 300, 10**6]),
    st.sampled_from([40, 300]),
)
def test_how_much_is_read_at_once_decides_nothing(lines, first, length):
    match = Matcher({"tea": "tea", "green": "green", "leaf": "leaf"})
    expected = snippet("\n".join(lines), match, length=length, choice=30, distinct=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matcher, "FIRST", first)
        found = snippet("\n".join(lines), match, length=length, choice=30, distinct=3)
    assert found == expected


def test_an_answer_and_its_reply_have_one_matcher():
    words = {"tea": "tea", "teas": "tea"}
    assert matcher.matcher_of(words) is matcher.matcher_of(dict(words))
    assert matcher.matcher_of({"tea": "tea"})("teas") != matcher.matcher_of(words)("teas")
