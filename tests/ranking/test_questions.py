"""Query documents: what is read, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qmd.errors import QueryError
from qmd.ranking.query import NEGATION_IN_MEANING, NOTHING_TO_FIND, ONLY_EXCLUSIONS, UNMATCHED_QUOTE
from qmd.ranking.query_document import Question, Search, parse
from tests.test_cases import recorded

PIECES = (
    *(
        "\n",
        "\r\n",
        "lex:",
        "vec:",
        "hyde:",
        "intent:",
        "expand:",
        "LEX:",
        "Vec: ",
        "lex :",
        "unknown:",
        ":",
    ),
    *("tea", "green tea", "number3", "parse_json", "a.b/c-d", "the", "naïve", "有馬温泉", "ไทย"),
    *('"', '"green tea"', "-tea", '-"green tea"', "-", "--force", "-(x)", '-"', "'", "{text}", "%"),
    *(" ", "\t", "\xa0", "\u3000", "\u200b", "\ufeff", "\x00", "\x07", "\x0b", "\x0c", "\x1c"),
    *("\x85", "\u2028", "\ud800", "\udfff", "👩‍👩‍👧", "e\u0301\u0301", "\U000e0100", "ﬃ", "İ"),
)
ENDS = ("\n", "\r\n", "\r", "\n\n", "\n \n")

documents = st.one_of(
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5)), max_size=7).map("".join),
    st.lists(
        st.tuples(
            st.sampled_from(("lex: ", "vec:", "hyde: ", "intent: ")),
            st.lists(st.sampled_from(PIECES[12:]), min_size=1, max_size=4).map("".join),
            st.sampled_from(ENDS),
        ).map("".join),
        min_size=1,
        max_size=4,
    ).map("".join),
)
"""Query documents of all kinds, most of them with something wrong."""


def refusal(document):
    """What is said to a document that cannot be read."""
    with pytest.raises(QueryError) as caught:
        parse(document)
    return str(caught.value)


@pytest.mark.parametrize("case", recorded("query_syntax.json", "parseStructuredQuery"))
def test_a_query_document_is_read_as_recorded(case):
    if "error" in case:
        assert refusal(case["query"]) == case["error"]
    elif case["ok"] is None:
        assert parse(case["query"]) == Question((), case["query"])
    else:
        searches = [Search(s["type"], s["query"], s["line"]) for s in case["ok"]["searches"]]
        assert parse(case["query"]) == Question(tuple(searches), None, case["ok"].get("intent"))


@pytest.mark.parametrize(
    "document",
    ["tea or coffee", " tea or coffee \n", "\r\n\r\nexpand: tea or coffee", "EXPAND:tea or coffee"],
)
def test_one_line_is_a_plain_question_with_expand_or_without(document):
    assert parse(document) == Question((), "tea or coffee")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_on_any_system_and_are_counted_with_those_that_are_blank(end):
    document = end.join(["", "lex: tea", "", "  vec:  a warm drink ", "intent: the kitchen", ""])
    assert parse(document) == Question(
        (Search("lex", "tea", 2), Search("vec", "a warm drink", 4)), None, "the kitchen"
    )
    assert refusal(document + "tea").startswith("Line 6 is missing a lex:/vec:/hyde:/intent: ")


@pytest.mark.parametrize("mark", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_what_a_reader_does_not_see_as_a_line_end_is_none(mark):
    assert parse(f"warm{mark}drink") == Question((), f"warm{mark}drink")
    assert parse(f"lex: warm{mark}vec: drink").searches == (
        Search("lex", f"warm{mark}vec: drink", 1),
    )


def test_a_byte_order_mark_is_no_part_of_a_question():
    assert parse("\ufefflex: tea") == parse("lex: tea")
    assert parse("\ufefftea") == parse("tea")


def test_ten_searches_are_taken_and_eleven_are_not():
    ten = "\n".join(f"lex: word{number}" for number in range(10))
    assert len(parse(f"intent: words\n{ten}").searches) == 10
    assert refusal(f"{ten}\nvec: one more") == (
        "A query document has at most 10 searches; this one 11."
    )


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("", NOTHING_TO_FIND),
        (" \r\n\t\n", NOTHING_TO_FIND),
        ("\n\nexpand: ", "Line 3: expand: must include text."),
        ("vec:", "Line 1: vec: must include text."),
        ("lex: tea\n\nhyde:  \n", "Line 3: hyde: must include text."),
        ('lex: tea\r\nlex: "green', f"Line 2 (lex): {UNMATCHED_QUOTE}"),
        ("lex: tea -green\n\nvec: tea -green", f"Line 3 (vec): {NEGATION_IN_MEANING}"),
        ("vec: tea\nlex: -green", f"Line 2 (lex): {ONLY_EXCLUSIONS}"),
        ('lex: -"green tea" -pot', f"Line 1 (lex): {ONLY_EXCLUSIONS}"),
        ('lex: tea\n\nlex: ""', f"Line 3 (lex): {NOTHING_TO_FIND}"),
        ("hyde: -tea", f"Line 1 (hyde): {NEGATION_IN_MEANING}"),
        (
            "intent: tea",
            "intent: cannot stand alone.\n\nAdd at least one lex:, vec: or hyde: line.",
        ),
        ("tea \ud800", "The query is not valid Unicode text."),
    ],
)
def test_a_mistake_is_told_with_its_line(document, message):
    assert refusal(document) == message


@pytest.mark.parametrize(
    ("document", "texts"),
    [
        ("tea -green", ["tea -green"]),
        ("lex: tea\nhyde: Tea is warm.\nvec: a drink\nintent: food", ["tea", "a drink"]),
        ("intent: food\nhyde: Tea is warm.", ["Tea is warm."]),
    ],
)
def test_what_is_asked_leaves_out_the_intent_and_passages_beside_questions(document, texts):
    assert parse(document).texts == texts


@settings(max_examples=1000)
@given(documents)
def test_any_text_is_read_or_refused_with_a_reason(document):
    try:
        question = parse(document)
    except QueryError:
        return
    lines = document.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if question.plain is not None:
        assert question.searches == ()
        assert question.plain.strip() == question.plain != ""
        assert any(question.plain in line for line in lines)
    else:
        assert 1 <= len(question.searches) <= 10
        for search in question.searches:
            assert search.text
            assert search.kind in lines[search.line - 1].lower()
            assert search.text in lines[search.line - 1]
