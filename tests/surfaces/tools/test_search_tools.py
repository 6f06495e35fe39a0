"""The tools that search."""

from __future__ import annotations

import pytest

from qmd.analytics.rows import Results
from qmd.errors import NotEmbedded
from qmd.operations.search import NO_DOCUMENTS, search
from qmd.ranking.query import NOTHING_TO_FIND, ONLY_EXCLUSIONS
from qmd.surfaces.tools.dispatch import Toolbox
from qmd.surfaces.tools.reply import Code, Reply
from qmd.surfaces.tools.reply_text import LONGEST_PLACE, SHORTEST_PART, SNIPPET
from qmd.surfaces.tools.server_tools import ServerTools
from tests.surfaces.tools.calling import call, text


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
        "size": 51,
    }
    assert round(found["score"], 2) == found["score"]
    percent = round(found["score"] * 100)
    assert reply.content == (
        f'Found 1 result for "boil":\n\n{found["docid"]} {percent}% notes/tea.md - Green tea',
        "Best lines:\n\nnotes/tea.md:4: Never boil it.",
    )


def test_nothing_found_is_no_error(toolbox):
    reply = call(toolbox, "search", query="zebra")
    assert reply == Reply(('No results found for "zebra"',), {"results": []})
    for tool in ("search", "context"):
        [said, *_] = call(toolbox, tool, query=4000 * "z").content
        assert len(str(said)) < 500


def test_weak_results_are_left_out_before_the_limit(toolbox):
    scores = [r["score"] for r in call(toolbox, "search", query="tea").structured["results"]]
    assert len(scores) == 2
    kept = call(toolbox, "search", query="tea", minScore=scores[0] - 0.005, limit=5)
    assert len(kept.structured["results"]) == 1


@pytest.mark.parametrize("name", ["search", "vsearch"])
@pytest.mark.parametrize(("score", "shown"), [(0.4951, 0.5), (0.4949, 0.49), (0.5049, 0.5)])
def test_a_score_is_high_enough_if_it_is_shown_so(toolbox, monkeypatch, name, score, shown):
    [result, *_] = search(toolbox.engine, "tea")

    async def found(runner, function, asked, through=None):
        assert score >= asked["minScore"] or shown < 0.5
        return Results([result._replace(score=score)])

    monkeypatch.setattr("qmd.surfaces.tools.run_operation.OperationRunner.run", found)
    records = call(toolbox, name, query="tea", minScore=0.5).structured["results"]
    assert [each["score"] for each in records] == [shown] * (shown >= 0.5)


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


@pytest.mark.parametrize("size", [280, 290, 295, 300, 720])
@pytest.mark.parametrize("place", [0, 0.5, 1])
def test_of_a_long_line_the_part_that_matches_is_shown(faked, size, place):
    words = ["word"] * (size // 5)
    words[round(place * (len(words) - 1))] = "kettle"
    faked.write("long.md", "A cup." + "\n" * 1233 + " ".join(words) + " brass\n")
    faked.update()
    toolbox = Toolbox(faked.engine)
    for reply in (
        call(toolbox, "search", query="kettle"),
        call(toolbox, "query", query="cup", intent="a kettle of brass"),
    ):
        [found] = reply.structured["results"]
        assert found["line"] == 1234
        assert found["snippet"].startswith("1234: ")
        assert "kettle" in found["snippet"]
        assert len(found["snippet"]) <= SNIPPET
        told = reply.content[-1].removeprefix("Best lines:\n\n")
        assert told.startswith("notes/long.md:1234: ")
        assert "kettle" in told
        assert len(told) <= LONGEST_PLACE


def test_a_place_is_named_in_full_however_long_its_name_is(faked):
    name = f"{'deep' * 40}/{'name' * 40}.md"
    faked.write(name, "word " * 50 + "kettle " + "word " * 50)
    faked.update()
    reply = call(Toolbox(faked.engine), "search", query="kettle")
    place, _, told = reply.content[1].removeprefix("Best lines:\n\n").partition(": ")
    assert place == f"notes/{name}:1"
    assert "kettle" in told
    assert len(told) <= SHORTEST_PART


def test_a_name_with_a_line_break_stands_on_one_line_and_is_understood(faked):
    faked.write("new\nline.md", "kettle\n")
    faked.write("big\none.md", "word " * 5000)
    faked.update()
    toolbox = Toolbox(faked.engine)
    summary, places = call(toolbox, "search", query="kettle").content
    assert len(summary.split("\n")) == 3
    assert summary.endswith("% notes/new%0Aline.md - new line")
    assert places == "Best lines:\n\nnotes/new%0Aline.md:1: kettle"
    skipped, found = call(toolbox, "multi_get", pattern="{new,big}*.md").content
    assert skipped.startswith("[SKIPPED: notes/big%0Aone.md - File too large (25KB). ")
    assert 'with file="notes/big%0Aone.md" to' in skipped
    for name in (found.name, "notes/new%0Aline.md"):
        assert call(toolbox, "get", file=name).content == (found,)


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
    assert reply.structured["notice"] == reply.content[1]


def test_an_index_without_documents_says_what_to_do(faked):
    faked.write("tea.md", "Tea that no update has seen.")
    toolbox = Toolbox(faked.engine)
    asked = [
        ("search", {"query": "tea"}),
        ("vsearch", {"query": "tea"}),
        ("query", {"query": "tea"}),
        ("query", {"searches": [{"type": "vec", "query": "tea"}]}),
    ]
    for name, arguments in asked:
        reply = call(toolbox, name, **arguments)
        assert reply.content == ('No results found for "tea"', NO_DOCUMENTS)
        assert reply.structured == {"results": [], "notice": NO_DOCUMENTS}


def test_a_line_that_matches_is_told_in_short(faked):
    faked.write("long.md", "kettle " + "x" * 500)
    faked.update()
    reply = call(Toolbox(faked.engine), "search", query="kettle")
    [_, told] = reply.content[1].split("\n\n")
    assert told.startswith("notes/long.md:1: kettle xxx")
    assert told.endswith("x…")
    assert len(told) == LONGEST_PLACE - 1  # and nothing is left out in front


def test_a_blank_search_is_refused_whatever_its_kind(toolbox):
    for kind in ("lex", "vec", "hyde"):
        searches = [{"type": "lex", "query": "tea"}, {"type": kind, "query": " \t"}]
        reply = call(toolbox, "query", searches=searches)
        assert reply.error is Code.INVALID_PARAMS
        assert NOTHING_TO_FIND in text(reply)


def test_with_vectors_meaning_is_searched(faked, toolbox):
    faked.embed()
    reply = call(toolbox, "vsearch", query="anything", minScore=0, limit=2)
    assert reply.error is None
    assert len(reply.structured["results"]) <= 2
    reply = call(toolbox, "query", query="boil")
    assert "notes/tea.md" in {each["file"] for each in reply.structured["results"]}
    assert len(reply.structured["results"]) == 3  # by its words alone, only one
    assert not any("words alone" in each for each in reply.content)
    assert "notice" not in reply.structured
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


def test_a_search_that_cannot_be_done_is_told_by_its_number(toolbox):
    for query, problem in (("-tea", ONLY_EXCLUSIONS), ('""', NOTHING_TO_FIND)):
        typed = [{"type": "vec", "query": "tea"}, {"type": "lex", "query": query}]
        reply = call(toolbox, "query", searches=typed)
        assert reply == Reply((f"Line 2 (lex): {problem}",), None, Code.INVALID_PARAMS)


def test_a_result_whose_file_has_gone_is_stale(faked, toolbox):
    (faked.root / "tea.md").unlink()
    reply = call(toolbox, "search", query="brew")
    assert [each.get("stale") for each in reply.structured["results"]] == [True]
    assert "(stale: its file has changed or gone)" in text(reply)
    reply = call(toolbox, "search", query="swim")
    assert "stale" not in reply.structured["results"][0]


@pytest.mark.parametrize("name", ["search", "vsearch", "query"])
def test_a_search_updates_first_only_where_writing_is_allowed(faked, name):
    assert "fresh" not in Toolbox(faked.engine).tool(name).input["properties"]
    assert (
        "fresh"
        in Toolbox(faked.engine, ServerTools(allow_write=True)).tool(name).input["properties"]
    )
    faked.write("new.md", "# New\n\nmatcha\n")
    given = {"query": "matcha", "fresh": True}
    refused = call(Toolbox(faked.engine), "search", **given)
    assert refused.error is Code.INVALID_PARAMS
    reply = call(Toolbox(faked.engine, ServerTools(allow_write=True)), "search", **given)
    assert [each["file"] for each in reply.structured["results"]] == ["notes/new.md"]
