"""The tools for agents, whatever protocol brings the call."""

from __future__ import annotations

import json
import logging
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.errors import IndexBusy, NotEmbedded
from qmd.models.registry import MINILM
from qmd.store.gate import Gate, errand
from qmd.surface.tools import schemas, texts
from qmd.surface.tools.answers import TimedOut, UnknownTool
from qmd.surface.tools.arguments import MOST_FAULTS, InvalidArguments, read
from qmd.surface.tools.replies import Code, Reply, Resource
from qmd.surface.tools.toolbox import READERS, Toolbox

CONTRACT = Path(__file__).parents[3] / "shared" / "spec" / "mcp_tools.json"

FOREVER = "select count(*) from range(1000000) a, range(1000000) b where a.range + b.range = 7"
"""A statement that would take minutes."""

LONG = 20
"""Seconds after which something that has to happen is taken for stuck."""


@pytest.fixture
def toolbox(faked):
    faked.write("tea.md", "# Green tea\n\nBrew it at 80 degrees.\nNever boil it.\n")
    faked.write("deep/ünï code.md", "# Umlauts\n\nÜber den Tee.\n")
    faked.write("pool.md", "# Pool\n\nSwim after tea.\n")
    faked.update()
    return Toolbox(faked.engine)


def call(toolbox: Toolbox, name: str, **arguments: object) -> Reply:
    async def work() -> Reply:
        with anyio.fail_after(LONG):
            return await toolbox.call(name, arguments)

    return anyio.run(work)


def text(reply: Reply) -> str:
    """The first part of an answer."""
    assert isinstance(reply.content[0], str)
    return reply.content[0]


# -- what is offered -------------------------------------------------------------


def test_the_tools_are_those_of_the_contract():
    if not CONTRACT.exists():
        pytest.skip("the contract is not here")
    declared = [
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.input,
            **({"outputSchema": tool.output} if tool.output else {}),
            "annotations": tool.annotations,
        }
        for tool in schemas.TOOLS
        if not tool.optional
    ]
    assert declared == json.loads(CONTRACT.read_text(encoding="utf-8"))


def test_who_may_only_read_is_offered_nothing_that_writes(faked):
    names = [tool.name for tool in Toolbox(faked.engine, read_only=True).tools]
    assert "submit_experience" not in names
    assert "query_experiences" in names


def test_updating_and_embedding_are_offered_only_where_it_is_allowed(faked):
    assert not any(tool.optional for tool in Toolbox(faked.engine).tools)
    allowed = Toolbox(faked.engine, allow_write=True)
    assert [tool.name for tool in allowed.tools if tool.optional] == ["update", "embed"]


def test_a_tool_answers_to_its_name_with_the_prefix_too(toolbox):
    assert call(toolbox, "qmd_status").error is None


def test_a_tool_that_is_not_offered_is_unknown(faked):
    toolbox = Toolbox(faked.engine, read_only=True)
    for name in ("submit_experience", "update", "qmd_", "nothing"):
        with pytest.raises(UnknownTool, match=r"Known: search, vsearch"):
            call(toolbox, name)


def test_before_the_first_call_the_index_is_not_there(tmp_path, faked):
    toolbox = Toolbox(faked.engine)
    assert not faked.engine.place.database.exists()
    call(toolbox, "status")
    assert faked.engine.place.database.exists()


def test_what_is_wrong_is_told_of_the_tool_as_it_was_called(toolbox):
    reply = call(toolbox, "qmd_search", query="tea", limmit=1)
    assert text(reply).startswith('Unknown parameter "limmit" for tool "qmd_search".')


# -- arguments -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_value", "meant"),
    [("5", 5), (5.0, 5), (5, 5), ("5.0", 5)],
)
def test_a_whole_number_may_be_written_in_several_ways(given_value, meant):
    assert read(schemas.SEARCH, {"query": "x", "limit": given_value})["limit"] == meant


def test_a_spelling_with_underscores_is_the_same_parameter():
    asked = read(schemas.SEARCH, {"query": "x", "min_score": "0.5"})
    assert asked["minScore"] == 0.5
    asked = read(schemas.GET, {"file": "x", "from_line": 3, "line_numbers": "TRUE"})
    assert (asked["fromLine"], asked["lineNumbers"]) == (3, True)


def test_one_parameter_in_two_spellings_is_refused():
    for pair in ({"minScore": 0.1, "min_score": 0.9}, {"min_score": 0.9, "minScore": 0.1}):
        with pytest.raises(InvalidArguments) as caught:
            read(schemas.SEARCH, {"query": "x", **pair})
        assert str(caught.value) == '"minScore" is given twice, also as "min_score". Give it once.'
    asked = read(schemas.SEARCH, {"query": "x", "minScore": None, "min_score": 0.9})
    assert asked["minScore"] == 0.9


def test_null_is_as_if_it_were_not_there():
    asked = read(schemas.SEARCH, {"query": "x", "limit": None, "collection": None})
    assert asked == {"query": "x", "limit": 10, "minScore": 0}


@pytest.mark.parametrize(
    ("given_value", "meant"),
    [("notes", ["notes"]), ('["a", "b"]', ["a", "b"]), (["a"], ["a"]), ("[odd", ["[odd"])],
)
def test_one_string_or_json_stands_for_an_array_of_strings(given_value, meant):
    assert read(schemas.SEARCH, {"query": "x", "collections": given_value})["collections"] == meant


def test_searches_may_come_as_json_in_a_string():
    typed = [{"type": "lex", "query": "tea"}]
    assert read(schemas.QUERY, {"searches": json.dumps(typed)})["searches"] == typed
    assert read(schemas.QUERY, {"searches": [json.dumps(typed[0])]})["searches"] == typed


@pytest.mark.parametrize("value", ["5", "true", "[1]", '{"a": 1}', "null"])
def test_a_string_is_never_parsed(value):
    assert read(schemas.SEARCH, {"query": value})["query"] == value


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({}, 'Missing required parameter "query" for tool "search".'),
        (
            {"query": "x", "min_scor": 1},
            'Unknown parameter "min_scor" for tool "search". Did you mean "minScore"? '
            "Valid parameters: query, limit, minScore, collection, collections.",
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
        read(schemas.SEARCH, arguments)
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
        read(schemas.QUERY, {"searches": searches})
    assert str(caught.value).split("\n") == [
        '"searches[0].type" must be one of lex, vec, hyde, not "foo".',
        '"searches[1]" has an unknown field "more". Valid: type, query.',
        '"searches[1].type" is missing.',
        '"searches[2]" must be an object, not 3.',
    ]


def test_deep_or_huge_json_in_a_string_is_no_harm():
    for value in ("[" * 100_000, "9" * 100_000, "1" + "0" * 400):
        with pytest.raises(InvalidArguments):
            read(schemas.SEARCH, {"query": "x", "limit": value})


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


# -- search ----------------------------------------------------------------------


def test_a_search_gives_records_and_a_summary(toolbox):
    reply = call(toolbox, "search", query="boil", limit=3)
    [found] = reply.structured["results"]
    assert found == {
        "docid": found["docid"],
        "file": "notes/tea.md",
        "title": "Green tea",
        "score": found["score"],
        "context": None,
        "snippet": "1: # Green tea\n2: \n3: Brew it at 80 degrees.\n4: Never boil it.",
        "line": 4,
    }
    assert round(found["score"], 2) == found["score"]
    percent = round(found["score"] * 100)
    assert reply.content == (
        f'Found 1 result for "boil":\n\n{found["docid"]} {percent}% notes/tea.md - Green tea',
    )


def test_nothing_found_is_no_error(toolbox):
    reply = call(toolbox, "search", query="zebra")
    assert reply == Reply(('No results found for "zebra"',), {"results": []})


def test_weak_results_are_left_out_before_the_limit(toolbox):
    scores = [r["score"] for r in call(toolbox, "search", query="tea").structured["results"]]
    assert len(scores) == 2
    kept = call(toolbox, "search", query="tea", minScore=scores[0] - 0.005, limit=5)
    assert len(kept.structured["results"]) == 1


def test_one_collection_and_several_are_united(faked):
    faked.configure("work", "home")
    for name in ("notes", "work", "home"):
        faked.write("tea.md", f"# Tea\n\nTea at {name}.", collection=name)
    faked.update()
    reply = call(
        Toolbox(faked.engine), "search", query="tea", collection="work", collections="home"
    )
    assert {r["file"] for r in reply.structured["results"]} == {"work/tea.md", "home/tea.md"}


def test_an_unknown_collection_is_told_with_those_that_are_known(toolbox):
    for name in ("search", "query"):
        reply = call(toolbox, name, query="tea", collection="nots")
        assert reply.error is Code.UNKNOWN_COLLECTION
        assert text(reply) == "Collection not found: nots. Known: notes."


def test_snippets_have_300_characters_at_most_and_the_line_that_matches(faked):
    faked.write("many.md", "# Many\n\n" + "ab\n" * 200 + "kettle\n" + "cd\n" * 200)
    faked.write("long.md", "x" * 500 + " kettle " + "y" * 500)
    faked.update()
    for each in call(Toolbox(faked.engine), "search", query="kettle").structured["results"]:
        assert len(each["snippet"]) <= 300
        assert "kettle" in each["snippet"]
        assert f"{each['line']}: " in each["snippet"]


def test_without_vectors_a_search_by_meaning_says_what_to_do(toolbox):
    reply = call(toolbox, "vsearch", query="tea")
    assert reply.error is Code.NO_VECTOR_INDEX
    assert text(reply) == str(NotEmbedded())
    typed = call(toolbox, "query", searches=[{"type": "vec", "query": "tea"}])
    assert typed == reply


def test_without_vectors_a_query_searches_by_words_and_says_so(toolbox):
    reply = call(toolbox, "query", query="boil")
    assert [r["file"] for r in reply.structured["results"]] == ["notes/tea.md"]
    assert text(reply).startswith('Found 1 result for "boil":')
    assert "words alone" in reply.content[1]


def test_with_vectors_meaning_is_searched(faked, toolbox):
    faked.embed()
    reply = call(toolbox, "vsearch", query="anything", minScore=0, limit=2)
    assert reply.error is None
    assert len(reply.structured["results"]) <= 2
    reply = call(toolbox, "query", query="boil")
    assert "notes/tea.md" in {each["file"] for each in reply.structured["results"]}
    assert len(reply.structured["results"]) == 3  # by its words alone, only one
    assert len(reply.content) == 1
    assert toolbox.model_loaded


def test_typed_searches_are_called_by_the_first_of_words(faked, toolbox):
    faked.embed()
    searches = [
        {"type": "hyde", "query": "One brews tea."},
        {"type": "vec", "query": "how to brew"},
        {"type": "lex", "query": "boil"},
    ]
    assert '"boil"' in text(call(toolbox, "query", searches=searches))
    assert '"how to brew"' in text(call(toolbox, "query", searches=searches[:2]))
    assert '"One brews tea."' in text(call(toolbox, "query", searches=searches[:1]))


def test_either_query_or_searches(toolbox):
    both = call(toolbox, "query", query="x", searches=[{"type": "lex", "query": "x"}])
    neither = call(toolbox, "query")
    assert (both.error, neither.error) == (Code.INVALID_PARAMS, Code.INVALID_PARAMS)
    assert text(both) == 'Give either "query" or "searches", not both.'
    assert text(neither) == 'Give either "query" or "searches".'


def test_a_query_that_cannot_be_read_is_a_bad_argument(toolbox):
    assert call(toolbox, "search", query="-tea").error is Code.INVALID_PARAMS
    typed = [{"type": "vec", "query": "tea -green"}]
    assert call(toolbox, "query", searches=typed).error is Code.INVALID_PARAMS


# -- documents -------------------------------------------------------------------


def test_a_document_comes_with_its_names(toolbox):
    [found] = call(toolbox, "get", file="deep/ünï code.md").content
    assert found == Resource(
        "qmd://notes/deep/%C3%BCn%C3%AF%20code.md",
        "notes/deep/ünï code.md",
        "Umlauts",
        "# Umlauts\n\nÜber den Tee.\n",
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"file": "tea.md:3"}, "Brew it at 80 degrees.\nNever boil it."),
        ({"file": "tea.md:3:1"}, "Brew it at 80 degrees."),
        ({"file": "tea.md:3:1", "fromLine": 1, "maxLines": 9}, "Brew it at 80 degrees."),
        ({"file": "tea.md", "fromLine": -2, "maxLines": 1}, "# Green tea"),
        ({"file": "tea.md", "fromLine": 0, "maxLines": 1}, "# Green tea"),
        ({"file": "tea.md:0:1"}, "# Green tea"),
        ({"file": "tea.md:0", "fromLine": 4, "maxLines": 1}, "# Green tea"),
        ({"file": "tea.md", "from_line": 4, "lineNumbers": "true"}, "4: Never boil it."),
    ],
)
def test_some_lines_of_a_document(toolbox, arguments, expected):
    [found] = call(toolbox, "get", **arguments).content
    assert found.text == expected


def test_a_context_stands_above_the_document(faked, toolbox):
    faked.configure(more="global_context: All about tea.")
    [found] = call(toolbox, "get", file="tea.md:3:1").content
    assert found.text == "<!-- Context: All about tea. -->\n\nBrew it at 80 degrees."


def test_a_missing_document_comes_with_those_like_it(toolbox):
    reply = call(toolbox, "get", file="notes/tee.md")
    assert reply.error is Code.NOT_FOUND
    assert text(reply).startswith(
        "Document not found: notes/tee.md\n\nDid you mean one of these?\n  - notes/tea.md"
    )


def test_an_ambiguous_name_is_told_with_all_that_have_it(faked, toolbox):
    faked.write("a/same.md", "# One\n\nFirst.")
    faked.write("b/same.md", "# Two\n\nSecond.")
    faked.update()
    reply = call(toolbox, "get", file="same.md")
    assert reply.error is Code.AMBIGUOUS_PATH
    assert "notes/a/same.md" in text(reply)
    assert "notes/b/same.md" in text(reply)


@pytest.mark.parametrize("name", ["/a\0b", "~/\0", "notes/\0", "a/" * 1_000_000, "x" * 1_000_000])
def test_a_name_that_no_file_can_have_is_not_found(toolbox, name):
    for reply in (call(toolbox, "get", file=name), call(toolbox, "multi_get", pattern=name)):
        assert reply.error is Code.NOT_FOUND


def test_nothing_outside_the_index_is_read(faked, toolbox):
    outside = faked.folder / "secret.md"
    outside.write_text("secret")
    for name in (str(outside), "../secret.md", "notes/../../secret.md", f"file://{outside}"):
        assert call(toolbox, "get", file=name).error is Code.NOT_FOUND


def test_several_documents_come_after_what_is_missing_and_what_is_too_large(faked, toolbox):
    faked.write("big.md", "# Big\n\n" + "x" * 15_000)
    faked.update()
    reply = call(toolbox, "multi_get", pattern="tea.md, nothing.md, big.md, notes/pool.md")
    missing, skipped, *found = reply.content
    assert missing.startswith("Document not found: nothing.md")
    assert skipped == (
        "[SKIPPED: notes/big.md - File too large (15KB). "
        "Use 'qmd get' with file=\"notes/big.md\" to retrieve.]"
    )
    assert [each.name for each in found] == ["notes/tea.md", "notes/pool.md"]


def test_several_documents_are_cut_with_what_is_left(toolbox):
    reply = call(toolbox, "multi_get", pattern="{tea,pool}.md", maxLines=3, lineNumbers=True)
    texts_found = {each.name: each.text for each in reply.content}
    assert texts_found["notes/tea.md"] == (
        "1: # Green tea\n2: \n3: Brew it at 80 degrees.\n\n[... truncated 1 more lines]"
    )
    assert "truncated" not in texts_found["notes/pool.md"]


def test_a_pattern_without_a_match_is_an_error(toolbox):
    reply = call(toolbox, "multi_get", pattern="journals/*.md")
    assert reply == Reply(("No files matched pattern: journals/*.md",), None, Code.NOT_FOUND)


def test_an_answer_that_is_full_says_how_to_go_on(faked, toolbox):
    line = "word " * 20
    faked.write("huge.md", "\n".join(f"{n} {line}" for n in range(1, 5001)) + "\n")
    faked.update()
    lines: list[str] = []
    while len(lines) < 5000:
        [found] = call(toolbox, "get", file="huge.md", fromLine=len(lines) + 1).content
        assert len(found.text.encode()) <= texts.MOST_BYTES
        body, _, note = found.text.partition("\n\n[... ")
        lines += body.rstrip("\n").split("\n")
        if note:
            assert note == f"the answer is full; go on with fromLine={len(lines) + 1}]"
    assert [each.split()[0] for each in lines] == [str(n) for n in range(1, 5001)]


def test_where_an_answer_goes_on_does_not_depend_on_its_context(faked, toolbox):
    faked.configure(more="global_context: |\n  All\n  about --> tea.")
    faked.write("huge.md", "\n".join(f"{n} " + "word " * 20 for n in range(1, 5001)))
    faked.update()
    [found] = call(toolbox, "get", file="huge.md").content
    body, _, note = found.text.rpartition("\n\n[... ")
    assert (
        note
        == f"the answer is full; go on with fromLine={int(body.split(chr(10))[-1].split()[0]) + 1}]"
    )


def test_a_line_that_is_too_long_is_cut(faked, toolbox):
    faked.write("line.md", "é" * 200_000)
    faked.update()
    [found] = call(toolbox, "get", file="line.md").content
    assert len(found.text.encode()) <= texts.MOST_BYTES
    assert found.text.endswith("[... line 1 is too long for an answer; go on with fromLine=2]")


def test_many_documents_that_do_not_fit_are_named(faked, toolbox):
    for n in range(40):
        faked.write(f"many/{n}.md", f"# {n}\n\n" + "word " * 1900)
    faked.update()
    reply = call(toolbox, "multi_get", pattern="many/*.md")
    found = [each for each in reply.content if isinstance(each, Resource)]
    left_out = [each for each in reply.content if isinstance(each, str)]
    assert len(found) + len(left_out) == 40
    assert sum(len(each.text.encode()) for each in found) <= texts.MOST_BYTES
    assert all("The answer is full" in each for each in left_out)
    assert left_out


def test_a_resource_has_its_lines_numbered(toolbox):
    found = anyio.run(partial(toolbox.resource, "notes/deep/%C3%BCn%C3%AF%20code.md"))
    assert found.text == "1: # Umlauts\n2: \n3: Über den Tee."


# -- status ----------------------------------------------------------------------


def test_status_says_what_is_indexed(faked, toolbox):
    reply = call(toolbox, "status")
    [collection] = reply.structured["collections"]
    assert collection["lastUpdated"].endswith("Z")
    assert reply.structured == {
        "totalDocuments": 3,
        "needsEmbedding": 3,
        "hasVectorIndex": False,
        "collections": [
            {
                "name": "notes",
                "path": str(faked.root),
                "pattern": "**/*.md",
                "documents": 3,
                "lastUpdated": collection["lastUpdated"],
            }
        ],
    }
    assert text(reply) == (
        "QMD Index Status:\n  Total documents: 3\n  Needs embedding: 3\n  Vector index: no\n"
        f"  Collections: 1\n    - {faked.root} (3 docs) [notes]"
    )
    faked.embed()
    assert "Needs embedding: 0\n  Vector index: yes" in text(call(toolbox, "status"))


# -- upkeep ----------------------------------------------------------------------


def test_updating_and_embedding_tell_how_far_they_are(faked):
    faked.write("tea.md", "# Tea\n\nGreen.")
    toolbox = Toolbox(faked.engine, allow_write=True)
    told = []

    async def progress(done, total, doing):
        told.append((done, total, doing))

    async def work():
        with anyio.fail_after(LONG):
            return (
                await toolbox.call("update", {}, progress=progress),
                await toolbox.call("embed", {"maxSeconds": "60"}, progress=progress),
            )

    updated, embedded = anyio.run(work)
    assert updated.structured["collections"][0]["new"] == 1
    assert embedded.structured["chunks"] == 1
    assert (1, 1, "notes") in told
    assert "bytes of text" in {doing for _, _, doing in told}


def test_what_cannot_be_updated_or_embedded_is_said_word_for_word(faked):
    toolbox = Toolbox(faked.engine, allow_write=True)

    async def progress(done, total, doing):
        raise AssertionError

    async def work(name, **arguments):
        with anyio.fail_after(LONG):
            return await toolbox.call(name, arguments, progress=progress)

    for name in ("update", "embed"):
        reply = anyio.run(partial(work, name, collections="nope"))
        assert reply.error is Code.UNKNOWN_COLLECTION
        assert text(reply) == "Collection not found: nope. Known: notes."
    faked.write("tea.md", "# Tea")
    faked.update()
    with errand(faked.engine.place.database, "embed"):
        reply = anyio.run(partial(work, "embed"))
    assert reply.error is Code.DATABASE_BUSY
    assert "Another 'qmd embed' is at work" in text(reply)


# -- limits ----------------------------------------------------------------------


def test_a_call_that_takes_too_long_is_ended_and_told(toolbox, monkeypatch):
    monkeypatch.setattr("qmd.surface.tools.toolbox.SOON", 0.3)
    ended = []
    slow_reads(toolbox, monkeypatch, ended)
    reply = call(toolbox, "search", query="tea")
    assert reply == Reply(("Timed out after 0 s.",), None, Code.TIMEOUT)
    assert ended == [True]


def test_a_cancelled_call_stops_its_statement_before_it_ends(toolbox, monkeypatch):
    ended = []
    began = slow_reads(toolbox, monkeypatch, ended)

    async def work():
        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(toolbox.call, "search", {"query": "tea"})
                await anyio.to_thread.run_sync(began.wait)
                tasks.cancel_scope.cancel()
            assert ended == [True]
            monkeypatch.undo()
            return await toolbox.call("search", {"query": "boil"})

    assert anyio.run(work).error is None


def slow_reads(toolbox, monkeypatch, ended):
    """Lets a search run a statement that would take minutes.

    Args:
        ended: gets True when the statement was interrupted.

    Returns:
        An event that is set when it begins.
    """
    began = threading.Event()

    def forever(cursor):
        began.set()
        try:
            cursor.connection.execute(FOREVER).fetchall()
        except BaseException:
            ended.append(True)
            raise

    engine = toolbox.engine
    monkeypatch.setattr(engine, "search", lambda *given, **named: engine.read(forever))
    return began


def test_a_call_that_waits_for_the_file_can_be_cancelled(toolbox):
    call(toolbox, "status")
    toolbox.engine.close()
    gate = Gate(toolbox.engine.place.database)
    gate.shut()
    try:

        async def work():
            with anyio.fail_after(LONG):
                with anyio.move_on_after(0.2):
                    await toolbox.call("search", {"query": "tea"})
                return True

        assert anyio.run(work)
    finally:
        gate.open()
    assert call(toolbox, "search", query="tea").error is None


def test_an_index_that_is_busy_names_who_holds_it(toolbox, monkeypatch):
    def busy(*given, **named):
        raise IndexBusy(Path("index.duckdb"), holder="process 7", waited=8)

    monkeypatch.setattr(toolbox.engine, "search", busy)
    reply = call(toolbox, "search", query="tea")
    assert reply.error is Code.DATABASE_BUSY
    assert "by process 7" in text(reply)


def test_a_fault_of_ours_is_logged_and_not_shown(toolbox, monkeypatch, caplog):
    monkeypatch.setattr(toolbox.engine, "search", lambda *given, **named: 1 / 0)
    with caplog.at_level(logging.ERROR):
        reply = call(toolbox, "search", query="tea")
    assert reply == Reply(("Internal error in search. See the server log.",), None, Code.INTERNAL)
    assert "ZeroDivisionError" in caplog.text


def test_many_calls_at_once_are_all_answered(toolbox):
    async def work():
        replies = []

        async def one(n):
            replies.append(await toolbox.call("search", {"query": "tea", "limit": n + 1}))

        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as tasks:
                for n in range(20):
                    tasks.start_soon(one, n)
            await toolbox.drain(1)
        return replies

    assert all(reply.error is None for reply in anyio.run(work))


def test_draining_waits_for_what_is_under_way_but_not_for_ever(toolbox, monkeypatch):
    go_on = threading.Event()
    original = toolbox.engine.search

    def slow(*given, **named):
        assert go_on.wait(LONG)
        return original(*given, **named)

    monkeypatch.setattr(toolbox.engine, "search", slow)

    async def work():
        replies = []

        async def one():
            replies.append(await toolbox.call("search", {"query": "tea"}))

        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(one)
                await anyio.wait_all_tasks_blocked()
                await toolbox.drain(0.05)
                assert not replies
                go_on.set()
                await toolbox.drain(LONG)
                assert len(replies) == 1

    anyio.run(work)


def test_texts_can_be_embedded(faked, toolbox):
    rows = anyio.run(toolbox.embed_texts, ["tea", "pool"])
    assert [len(row) for row in rows] == [16, 16]
    assert (
        MINILM.as_document("tea") in faked.engine.models.embedder(faked.engine.models.space()).made
    )


def test_embedding_texts_takes_as_long_as_a_call_may(faked, fake, toolbox, monkeypatch):
    monkeypatch.setattr("qmd.surface.tools.toolbox.LATER", 0.2)

    def until_stopped(batch, between):
        while True:
            between()

    fake.before = until_stopped
    with pytest.raises(TimedOut, match=r"Timed out after 0 s\."):
        anyio.run(toolbox.embed_texts, ["tea"])


def test_what_was_written_as_the_time_ran_out_is_told_as_written(toolbox, monkeypatch):
    monkeypatch.setattr("qmd.surface.tools.toolbox.SOON", 0.2)
    database = toolbox.engine.database
    original = database.write

    def slow(work):
        def slower(cursor):
            time.sleep(0.5)
            return work(cursor)

        return original(slower)

    monkeypatch.setattr(database, "write", slow)
    told = {"title": "Tea", "problem_description": "Cold.", "solution": "Brew."}
    assert call(toolbox, "submit_experience", **told).error is None


def test_a_write_that_nobody_waits_for_any_more_does_not_begin(toolbox, monkeypatch):
    monkeypatch.setattr("qmd.surface.tools.toolbox.SOON", 0.3)
    call(toolbox, "status")
    began, go_on = threading.Event(), threading.Event()

    def reading(cursor):
        began.set()
        assert go_on.wait(LONG)

    reader = threading.Thread(target=toolbox.engine.read, args=(reading,))
    reader.start()
    assert began.wait(LONG)
    told = {"title": "Tea", "problem_description": "Cold.", "solution": "Brew."}
    reply = call(toolbox, "submit_experience", **told)
    go_on.set()
    reader.join(LONG)
    assert reply.error is Code.TIMEOUT
    assert call(toolbox, "query_experiences", keywords="tea").structured["data"]["total"] == 0


def test_many_names_at_once_are_refused(toolbox):
    reply = call(toolbox, "multi_get", pattern=",".join(f"{n}.md" for n in range(501)))
    assert reply.error is Code.INVALID_PARAMS
    assert text(reply) == '"pattern" may name at most 500 documents.'


RECORD = {"title": "Kettle hums", "problem_description": "It hums.", "solution": "Fill it."}


@pytest.mark.parametrize(
    ("given_value", "kept"),
    [("tea", ["tea"]), ('["tea", "pot"]', ["tea", "pot"]), ("[odd", ["[odd"]), (["tea"], ["tea"])],
)
def test_keywords_of_a_record_are_read_like_any_array(toolbox, given_value, kept):
    assert call(toolbox, "submit_experience", **RECORD, keywords=given_value).error is None
    found = call(toolbox, "query_experiences", keywords="kettle").structured
    assert found["data"]["experiences"][0]["keywords"] == kept


def test_a_query_for_records_is_read_like_any_other(toolbox):
    for title in ("Kettle hums", "Kettle hums again"):
        call(toolbox, "submit_experience", **{**RECORD, "title": title})
    asked = {"keywords": ["kettle", "hums"], "limit": "1", "offset": 1.0}
    data = call(toolbox, "query_experiences", **asked).structured["data"]
    assert (data["limit"], data["offset"], data["total"]) == (1, 1, 2)
    assert len(data["experiences"]) == 1


def test_what_is_no_parameter_of_a_record_is_told_as_its_contract_has_it(toolbox):
    reply = call(toolbox, "submit_experience", title="x", solutio="y")
    assert reply.structured["error"]["code"] == "MISSING_REQUIRED_FIELDS"
    [told] = [e for e in reply.structured["error"]["validation_errors"] if e["field"] == "solutio"]
    assert told["message"] == (
        'Unknown parameter "solutio" for tool "submit_experience". Did you mean "solution"? '
        "Valid parameters: title, problem_description, root_cause, solution, context, keywords."
    )
    assert json.loads(text(reply)) == reply.structured
    error = call(toolbox, "query_experiences", keywords="kettle", ofset=1).structured["error"]
    assert error["code"] == "VALIDATION_ERROR"
    assert [each["field"] for each in error["validation_errors"]] == ["ofset"]


def test_a_model_that_takes_long_keeps_nobody_from_reading(faked, fake, toolbox):
    """More queries than readers wait for it, and others are answered."""
    call(toolbox, "submit_experience", **RECORD)
    faked.embed()
    asked, go_on = threading.Semaphore(0), threading.Event()

    def before(batch, between):
        asked.release()
        assert go_on.wait(LONG)

    fake.before = before

    async def work():
        async def ask():
            reply = await toolbox.call("query_experiences", {"keywords": "kettle"})
            assert reply.structured["data"]["total"] == 1

        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as tasks:
                for _ in range(READERS + 1):
                    tasks.start_soon(ask)
                assert await anyio.to_thread.run_sync(partial(asked.acquire, timeout=LONG))
                await anyio.wait_all_tasks_blocked()
                assert (await toolbox.call("search", {"query": "tea"})).error is None
                go_on.set()

    anyio.run(work)


def test_a_busy_index_is_told_of_as_the_contract_of_records_has_it(toolbox, monkeypatch):
    busy = IndexBusy(Path("index"), holder="process 7", waited=8)

    def fail(*given, **named):
        raise busy

    monkeypatch.setattr(toolbox.engine.database, "read", fail)
    monkeypatch.setattr(toolbox.engine.database, "write", fail)
    for name, arguments in (
        ("query_experiences", {"keywords": "x"}),
        ("submit_experience", RECORD),
    ):
        reply = call(toolbox, name, **arguments)
        assert reply.error is Code.DATABASE_BUSY
        assert reply.structured == {
            "success": False,
            "error": {"code": "DATABASE_ERROR", "message": str(busy)},
        }


def test_experience_records_that_do_not_fit_are_on_the_next_page(toolbox):
    for n in range(6):
        told = {"title": f"Tea {n}", "problem_description": "cold " * 13_000, "solution": "Brew."}
        assert call(toolbox, "submit_experience", **told).error is None
    seen, offset = set(), 0
    while True:
        reply = call(toolbox, "query_experiences", keywords="tea", offset=offset)
        page = reply.structured["data"]
        assert page["total"] == 6
        assert json.loads(text(reply)) == reply.structured
        assert len(text(reply).encode()) <= texts.MOST_BYTES
        seen |= {each["id"] for each in page["experiences"]}
        offset += len(page["experiences"])
        if len(reply.content) == 1:
            break
        assert reply.content[1] == f"[... the answer is full; go on with offset={offset}]"
    assert len(seen) == 6


def test_who_may_only_read_counts_nothing(faked, toolbox):
    told = {"title": "Tea", "problem_description": "Cold.", "solution": "Brew."}
    assert call(toolbox, "submit_experience", **told).error is None
    reader = Toolbox(faked.engine, read_only=True)
    assert call(reader, "query_experiences", keywords="tea").structured["data"]["total"] == 1
    reader.close()
    [found] = call(toolbox, "query_experiences", keywords="tea").structured["data"]["experiences"]
    assert found["query_count"] == 0
    toolbox.close()
    [found] = call(toolbox, "query_experiences", keywords="tea").structured["data"]["experiences"]
    assert found["query_count"] == 1
