"""Keyword queries, read."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qmd.errors import QueryError
from qmd.ranking import query as queries
from qmd.ranking.query import check_lexical, check_semantic, parse
from qmd.ranking.query_parts import Phrase
from qmd.text import tokenizer

QUERY = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters='"\n\r')),
    st.lists(
        st.sampled_from(
            ["a-b", "_", "-", "日本", '"x y"', '-"z"', "caseCase", "the", " ", "\u0301"]
        )
    ).map("".join),
)


def phrase(text, spare=None):
    """Words in a row, as a phrase."""
    return Phrase(tuple((word, at) for at, word in enumerate(text.split())), spare)


def name(text):
    """A name made of several words, which stand in for it."""
    return phrase(text, tuple(text.split()))


def test_words_are_folded_and_kept_in_order_with_repetitions():
    found = parse("Zürich TEA tea")
    assert found.words == ("zurich", "tea", "tea")
    assert (found.grams, found.phrases, found.excluded) == (frozenset(), (), ())


def test_punctuation_around_a_word_does_not_count():
    assert parse("(tea), pot! — ‘cup’").words == ("tea", "pot", "cup")


@pytest.mark.parametrize("quoted", ["“green tea”", "„green tea“", "«green tea»", "＂green tea＂"])
def test_typographic_quotes_are_quotes(quoted):
    assert parse(f"{quoted} pot") == parse('"green tea" pot')
    assert parse(f"pot -{quoted}") == parse('pot -"green tea"')


def test_a_typographic_quote_alone_is_none():
    assert parse("5” pipe").words == ("5", "pipe")


def test_a_typographic_apostrophe_is_one():
    assert parse("don’t") == parse("don't")


@pytest.mark.parametrize(
    ("text", "words", "forms"),
    [
        ("C++", ("c++",), (("c++", "c"),)),
        ("C", ("c",), (("c", "c++"), ("c", "c#"))),
        (".NET", (".net",), ((".net", "net"),)),
        ("@User", ("@user",), (("@user", "user"),)),
        ("A*", ("a*",), (("a*", "a"),)),
        ("tea 🍵", ("tea", "🍵"), ()),
        ("tea🍵", ("🍵", "tea"), ()),
        ("->tea", (), ()),
    ],
)
def test_a_word_is_looked_for_with_its_marks_and_less_without(text, words, forms):
    if text.startswith("-"):
        with pytest.raises(QueryError):
            parse(text)
        return
    assert (parse(text).words, parse(text).forms) == (words, forms)


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("e-mail", ("e-mail",)),
        ("--dry-run", ("--dry", "dry-run")),
        ("@user/x", ("@user",)),
        ("a-b-c", ()),
        ("node.js", ()),
    ],
)
def test_a_name_has_other_forms(text, forms):
    [found] = parse(text).phrases
    assert found.forms == forms


def test_marks_in_quotes_have_to_be_there():
    assert parse('"C++ code"').phrases == (phrase("c++ code"),)
    assert parse('"a .NET e-mail"').phrases == (
        Phrase((("a", 0), (".net", 1), ("net", 1), ("e", 2), ("mail", 3))),
    )


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("->", ("->",)),
        ("!= ==", ("!=", "==")),
        ('"-> !="', ("-> !=",)),
        ("!?", ("!?",)),
        ("-", ("-",)),
        ("_", ("_",)),
    ],
)
def test_a_query_of_symbols_is_looked_for_as_it_stands(text, texts):
    found = parse(text)
    assert found.texts == texts
    assert (found.words, found.phrases, found.excluded) == ((), (), ())
    assert not parse(f"tea {text}").texts


def test_stop_words_are_left_out_unless_nothing_else_is_left():
    assert parse("what is the best tea").words == ("best", "tea")
    assert parse("The Who").words == ("the", "who")
    assert parse('the "green tea"').words == ()


def test_a_phrase_in_quotes_has_to_be_there_as_it_is():
    assert parse('"Green Tea" pot').phrases == (phrase("green tea"),)
    assert parse('"tea"').phrases == (phrase("tea"),)
    assert parse('"to be or not"').phrases == (phrase("to be or not"),)
    assert parse('"Green Tea" pot').words == ("pot",)


def test_a_quote_may_stand_right_beside_a_word():
    assert parse('hot"green tea"').words == ("hot",)
    assert parse('hot"green tea"').phrases == (phrase("green tea"),)


def test_a_minus_excludes_a_word_a_phrase_or_a_name():
    found = parse('tea -coffee -"green tea" -a/b.md')
    assert found.words == ("tea",)
    assert found.excluded == (phrase("coffee"), phrase("green tea"), phrase("a b md"))


def test_an_option_of_a_command_is_looked_for_and_not_left_out():
    found = parse("git push --force")
    assert found.words == ("git", "push", "--force")
    assert found.excluded == ()


def test_a_minus_alone_or_inside_a_word_excludes_nothing():
    assert parse("tea - pot").words == ("tea", "pot")
    assert parse("tea - pot").excluded == ()
    assert parse("left-right").excluded == ()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("state-of-the-art", "state of the art"),
        ("path/to/file.md", "path to file md"),
        ("user@example.com", "user example com"),
        ("1.2.3", "1 2 3"),
        ("foo(bar)", "foo bar"),
        ("don't", "don t"),
    ],
)
def test_a_name_of_several_words_is_their_phrase_with_the_words_to_spare(text, parts):
    found = parse(text)
    assert (found.words, found.phrases) == ((), (name(parts),))


@pytest.mark.parametrize(
    ("text", "whole", "parts"),
    [
        ("parse_json", "parse_json", "parse json"),
        ("parseHTTPRequest", "parsehttprequest", "parse http request"),
        ("Größe_Äpfel", "grosse_apfel", "grosse apfel"),
    ],
)
def test_an_identifier_is_looked_for_whole_and_by_its_parts(text, whole, parts):
    found = parse(text)
    assert found.words == (whole,)
    assert found.phrases == (name(parts),)


def test_an_identifier_within_a_name_lends_its_parts():
    assert parse("io.parse_json").phrases == (
        Phrase((("io", 0), ("parse", 1), ("json", 2)), ("io", "parse_json", "parse", "json")),
    )


def test_an_excluded_identifier_is_excluded_by_its_parts_in_a_row():
    assert parse("tea -parse_json").excluded == (phrase("parse json"),)


def test_a_run_of_han_is_looked_for_by_its_characters_and_pairs():
    found = parse("日本語")
    assert found.words == ("日", "日本", "本", "本語", "語")
    assert (found.grams, found.phrases) == (set(found.words), ())


def test_han_beside_letters_are_looked_for_apart():
    assert parse("東京Tower").words == ("東", "東京", "京", "tower")
    assert parse("東京Tower").grams == {"東", "東京", "京"}


def test_a_phrase_of_han_is_its_pairs_in_a_row():
    assert parse('"日本語"').phrases == (phrase("日本 本語"),)
    assert parse('"日"').phrases == (phrase("日"),)
    assert parse('"日本語 x"').phrases == (Phrase((("日本", 0), ("本語", 1), ("x", 3))),)
    assert parse("x -日本語").excluded == (phrase("日本 本語"),)


@pytest.mark.parametrize("text", ['"日本語 x"', '"parse_json tea"', '"a _ b"', '"カタカナ 本 x"'])
def test_the_places_of_a_phrase_are_those_of_the_same_words_in_a_document(text):
    places, at = set(), 0
    for raw in tokenizer.split(text):
        width, parts = tokenizer.pieces(raw)
        places |= {(folded, at + shift) for folded, shift in parts}
        at += width
    assert set(parse(text).phrases[0].elements) <= places


@pytest.mark.parametrize("text", ['"tea', 'a "b" "c', '"'])
def test_an_odd_quote_is_an_error(text):
    assert check_lexical(text) == queries.UNMATCHED_QUOTE
    with pytest.raises(QueryError, match="unmatched double quote"):
        parse(text)


@pytest.mark.parametrize("text", ["a\nb", "a\rb", '"a\nb'])
def test_a_line_break_is_an_error(text):
    assert check_lexical(text) == queries.NEWLINE
    with pytest.raises(QueryError, match="single line"):
        parse(text)


@pytest.mark.parametrize("text", ["-tea", '-"green tea"', "-a -b", "- -a", '-tea ""'])
def test_only_exclusions_are_an_error_that_says_so(text):
    assert check_lexical(text) is None
    with pytest.raises(QueryError) as refused:
        parse(text)
    assert str(refused.value) == queries.ONLY_EXCLUSIONS


@pytest.mark.parametrize("text", ["", "  ", '""', '" "', "“”"])
def test_a_query_without_words_is_an_error(text):
    with pytest.raises(QueryError) as refused:
        parse(text)
    assert str(refused.value) == queries.NOTHING_TO_FIND


@given(QUERY)
@example("_-_日本")
@example("tea \u0301")
@settings(deadline=None)
def test_nothing_empty_is_looked_for(text):
    try:
        found = parse(text)
    except QueryError:
        return
    assert all(found.words)
    assert found.grams <= set(found.words)
    for each in (*found.phrases, *found.excluded):
        assert each.elements
        assert all(word for word, _ in each.elements)
        assert each.spare is None or each.spare


def test_underscores_beside_han_are_no_word_to_look_for():
    assert parse("_日本") == parse("日本")


@pytest.mark.parametrize("text", ["-tea", "pot -tea", 'pot -"green tea"', "pot\t-tea", "a-b -c"])
def test_an_exclusion_in_a_query_by_meaning_is_an_error(text):
    assert check_semantic(text) == queries.NEGATION_IN_MEANING


@pytest.mark.parametrize("text", ["how does it work", "state-of-the-art", "a - b", "from -> to"])
def test_a_dash_in_a_query_by_meaning_is_none(text):
    assert check_semantic(text) is None
