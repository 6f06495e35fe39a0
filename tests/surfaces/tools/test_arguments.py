"""What an agent gives a tool is read kindly, and refused in words."""

from __future__ import annotations

import json
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.surfaces.tools import schemas
from qmd.surfaces.tools.arguments import MOST_FAULTS, InvalidArguments, read
from qmd.surfaces.tools.reply import Code
from qmd.surfaces.tools.schemas import TOOLS
from qmd.surfaces.tools.schemas.reading import GET, MULTI_GET
from qmd.surfaces.tools.schemas.searching import QUERY, SEARCH
from tests.surfaces.tools.calling import call, text


@pytest.mark.parametrize(
    ("given_value", "meant"),
    [("5", 5), (5.0, 5), (5, 5), ("5.0", 5)],
)
def test_a_whole_number_may_be_written_in_several_ways(given_value, meant):
    assert read(SEARCH, {"query": "x", "limit": given_value})["limit"] == meant


def test_a_spelling_with_underscores_is_the_same_parameter():
    asked = read(SEARCH, {"query": "x", "min_score": "0.5"})
    assert asked["minScore"] == 0.5
    asked = read(GET, {"file": "x", "from_line": 3, "line_numbers": "TRUE"})
    assert (asked["fromLine"], asked["lineNumbers"]) == (3, True)


def test_one_parameter_in_two_spellings_is_refused():
    for pair in ({"minScore": 0.1, "min_score": 0.9}, {"min_score": 0.9, "minScore": 0.1}):
        with pytest.raises(InvalidArguments) as caught:
            read(SEARCH, {"query": "x", **pair})
        assert str(caught.value) == '"minScore" is given twice, also as "min_score". Give it once.'
    asked = read(SEARCH, {"query": "x", "minScore": None, "min_score": 0.9})
    assert asked["minScore"] == 0.9


@pytest.mark.parametrize(
    ("tool", "given_values", "meant"),
    [
        (SEARCH, {"q": "tea"}, {"query": "tea"}),
        (SEARCH, {"text": "tea", "top_k": 3}, {"query": "tea", "limit": 3}),
        (SEARCH, {"query": "tea", "topK": "3"}, {"limit": 3}),
        (SEARCH, {"query": "tea", "n": 3}, {"limit": 3}),
        (SEARCH, {"query": "tea", "MIN_SCORE": 0.5}, {"minScore": 0.5}),
        (GET, {"path": "tea.md", "start": 5}, {"file": "tea.md", "fromLine": 5}),
        (GET, {"docid": "#abc123", "line": 5}, {"file": "#abc123", "fromLine": 5}),
        (GET, {"id": "#abc123", "offset": 5, "limit": 9}, {"fromLine": 5, "maxLines": 9}),
        (GET, {"file": ["tea.md"]}, {"file": "tea.md"}),
        (MULTI_GET, {"files": ["a.md", "b, c.md"]}, {"pattern": ["a.md", "b, c.md"]}),
        (MULTI_GET, {"pattern": ["*.md"]}, {"pattern": "*.md"}),
        (
            QUERY,
            {"searches": {"type": "lex", "query": "x"}},
            {"searches": [{"type": "lex", "query": "x"}]},
        ),
        (
            QUERY,
            {"searches": '{"type": "lex", "query": "x"}'},
            {"searches": [{"type": "lex", "query": "x"}]},
        ),
    ],
)
def test_what_models_call_a_parameter_is_understood(tool, given_values, meant):
    asked = read(tool, given_values)
    assert {name: asked.get(name) for name in meant} == meant


def test_an_alias_and_the_name_itself_are_not_both_taken():
    with pytest.raises(InvalidArguments, match='"query" is given twice, also as "q"'):
        read(SEARCH, {"query": "tea", "q": "green"})


@pytest.mark.parametrize("name", ["sinks", "when", "include", "sort"])
def test_a_name_that_is_no_misspelling_is_not_taken_for_one(name):
    with pytest.raises(InvalidArguments) as caught:
        read(SEARCH, {"query": "tea", name: "x"})
    assert "Did you mean" not in str(caught.value)


def test_aliases_name_one_parameter_and_no_other():
    for tool in TOOLS:
        plain = [name.lower() for name in tool.input["properties"]]
        aliases = [alias.lower() for alias in tool.aliases]
        assert len(set(plain + aliases)) == len(plain + aliases), tool.name


def test_a_list_of_texts_is_checked_text_by_text():
    for value, fault in (([1, "a"], "pattern[0]"), ([], '"pattern"'), (["a", ""], "pattern[1]")):
        with pytest.raises(InvalidArguments, match=re.escape(fault)):
            read(MULTI_GET, {"pattern": value})
    with pytest.raises(InvalidArguments, match='"file" must be a string'):
        read(GET, {"file": ["a.md", "b.md"]})


def test_null_is_as_if_it_were_not_there():
    asked = read(SEARCH, {"query": "x", "limit": None, "collection": None})
    assert asked == {
        "query": "x",
        "limit": 10,
        "minScore": 0,
        "exact": False,
        "allCopies": False,
        "fresh": False,
    }


@pytest.mark.parametrize(
    ("given_value", "meant"),
    [("notes", ["notes"]), ('["a", "b"]', ["a", "b"]), (["a"], ["a"]), ("[odd", ["[odd"])],
)
def test_one_string_or_json_stands_for_an_array_of_strings(given_value, meant):
    assert read(SEARCH, {"query": "x", "collections": given_value})["collections"] == meant


def test_searches_may_come_as_json_in_a_string():
    typed = [{"type": "lex", "query": "tea"}]
    assert read(QUERY, {"searches": json.dumps(typed)})["searches"] == typed
    assert read(QUERY, {"searches": [json.dumps(typed[0])]})["searches"] == typed


@pytest.mark.parametrize("value", ["5", "true", "[1]", '{"a": 1}', "null"])
def test_a_string_is_never_parsed(value):
    assert read(SEARCH, {"query": value})["query"] == value


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({}, 'Missing required parameter "query" for tool "search".'),
        (
            {"query": "x", "min_scor": 1},
            'Unknown parameter "min_scor" for tool "search". Did you mean "minScore"? '
            "Valid parameters: query, limit, minScore, exact, allCopies, maxTokens, fresh, "
            "collection, collections, since, before, filter, path, cursor.",
        ),
        ({"query": ""}, '"query" must not be empty.'),
        ({"query": "x" * 10_001}, '"query" must have at most 10000 characters, not 10001.'),
        ({"query": 5}, '"query" must be a string, not 5.'),
        ({"query": "x", "limit": 0}, '"limit" must be at least 1, not 0.'),
        ({"query": "x", "limit": 501}, '"limit" must be at most 500, not 501.'),
        ({"query": "x", "limit": "many"}, '"limit" must be a whole number, not "many".'),
        ({"query": "x", "limit": True}, '"limit" must be a whole number, not true.'),
        ({"query": "x", "limit": 1.5}, '"limit" must be a whole number, not 1.5.'),
        ({"query": "x", "minScore": float("nan")}, '"minScore" must be a number, not nan.'),
        ({"query": "x", "minScore": "1e999"}, '"minScore" must be a number, not inf.'),
        ({"query": "x", "collections": [1]}, '"collections[0]" must be a string, not 1.'),
        (
            {"query": "x", "collections": ["a"] * 101},
            '"collections" must have 0 to 100 items, not 101.',
        ),
        ({"query": "\ud83d"}, '"query" is not valid Unicode text.'),
    ],
)
def test_what_is_wrong_is_said(arguments, fault):
    with pytest.raises(InvalidArguments) as caught:
        read(SEARCH, arguments)
    assert str(caught.value) == fault


def test_all_that_is_wrong_is_said_at_once(toolbox):
    reply = call(toolbox, "search", limit=0, minScore=2, nothing=1)
    assert reply.error is Code.INVALID_PARAMS
    assert [line.split('"')[1] for line in text(reply).split("\n")] == [
        "nothing",
        "query",
        "limit",
        "minScore",
    ]


def test_of_very_many_or_very_long_unknown_names_some_are_told(toolbox):
    many = {f"name {n}": n for n in range(100_000)}
    assert text(call(toolbox, "status", **many)).count("\n") == MOST_FAULTS - 1
    reply = call(toolbox, "query_experiences", keywords="x", **{"n" * 1_000_000: 1})
    assert len(text(reply)) < 1000


def test_faults_of_typed_searches_say_where():
    searches = [{"type": "foo", "query": "x"}, {"query": "x", "more": 1}, 3]
    with pytest.raises(InvalidArguments) as caught:
        read(QUERY, {"searches": searches})
    assert str(caught.value).split("\n") == [
        '"searches[0].type" must be one of lex, vec, hyde, not "foo".',
        '"searches[1]" has an unknown field "more". Valid: type, query.',
        '"searches[1].type" is missing.',
        '"searches[2]" must be an object, not 3.',
    ]


def test_deep_or_huge_json_in_a_string_is_no_harm():
    for value in ("[" * 100_000, "9" * 100_000, "1" + "0" * 400):
        with pytest.raises(InvalidArguments):
            read(SEARCH, {"query": "x", "limit": value})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)


@given(
    st.sampled_from(schemas.TOOLS),
    st.dictionaries(
        st.sampled_from(["query", "limit", "minScore", "searches", "collections", "file"])
        | st.text(max_size=12),
        VALUES,
        max_size=5,
    ),
)
def test_any_arguments_are_read_or_refused(tool, arguments):
    with suppress(InvalidArguments):
        assert read(tool, arguments).keys() <= tool.input["properties"].keys()


def test_many_names_at_once_are_refused(toolbox):
    reply = call(toolbox, "multi_get", pattern=",".join(f"{n}.md" for n in range(501)))
    assert reply.error is Code.INVALID_PARAMS
    assert text(reply) == '"pattern" may name at most 500 documents.'
