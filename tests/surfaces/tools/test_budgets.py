"""Searches that answer with passages, within a budget of tokens."""

from __future__ import annotations

import json

import pytest

from qmd.surfaces.tools.dispatch import Toolbox
from qmd.surfaces.tools.reply import Code
from qmd.text.tokens import estimated_tokens
from tests.surfaces.tools.calling import call, text


@pytest.fixture
def toolbox(faked):
    for number in range(12):
        faked.write(
            f"tea{number}.md",
            f"# Tea {number}\n\n## Brewing\n\nGreen tea {number} takes {70 + number} degrees. "
            + f"{chr(97 + number) * 7} of it. " * 30
            + "\n",
        )
    faked.update()
    return Toolbox(faked.engine)


@pytest.mark.parametrize("tool", ["search", "query"])
@pytest.mark.parametrize("most", [100, 400, 2000])
def test_text_and_data_are_within_the_budget(toolbox, tool, most):
    reply = call(toolbox, tool, query="green tea degrees", maxTokens=most)
    assert "notes/tea" in text(reply)
    assert most == 100 or ("[1] notes/tea" in text(reply) and "Brewing" in text(reply))
    assert estimated_tokens(text(reply)) <= most
    assert estimated_tokens(json.dumps(reply.structured)) <= most + 20
    for each in reply.structured["results"]:
        assert each["file"] in text(reply)
        assert "\n" not in each["snippet"]


def test_a_larger_budget_brings_more(toolbox):
    few, many = (
        len(call(toolbox, "search", query="green tea", maxTokens=most).structured["results"])
        for most in (300, 3000)
    )
    assert few < many


def test_what_is_left_out_is_named(toolbox):
    assert "raise maxTokens" in text(call(toolbox, "search", query="green tea", maxTokens=300))


def test_nothing_found_is_said_as_without_a_budget(toolbox):
    for tool in ("search", "query"):
        reply = call(toolbox, tool, query="zebra", maxTokens=200)
        assert text(reply).startswith("No results found for")
        assert reply.structured["results"] == []


def test_weak_results_give_no_passages(toolbox):
    reply = call(toolbox, "search", query="tea 3", maxTokens=2000, minScore=1)
    assert "nextCursor" not in reply.structured
    assert len(reply.structured["results"]) <= 1


def test_the_bounds_are_those_of_context(toolbox):
    said = {
        text(call(toolbox, tool, query="tea", maxTokens=99)).replace(tool, "")
        for tool in ("search", "query", "context")
    }
    assert said == {'"maxTokens" must be at least 100, not 99.'}
    assert call(toolbox, "search", query="tea", tokenBudget=300).error is None
    assert call(toolbox, "search", query="tea", maxTokens=50_001).error is Code.INVALID_PARAMS


def test_the_command_writes_passages(qmd, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tea.md").write_text("# Tea\n\n## Brewing\n\nEighty degrees.\n")
    qmd("collection", "add", folder)
    for command in ("search", "query"):
        out = qmd(command, "eighty", "--max-tokens", "200")[1]
        assert out.startswith("[1] notes/tea.md:")
        [record] = json.loads(qmd(command, "eighty", "--max-tokens", "200", "--json")[1])
        assert record["headings"] == ["Tea", "Brewing"] or "Eighty" in record["body"]
    code, _, err = qmd("search", "eighty", "--max-tokens", "200", "--csv")
    assert (code, "--max-tokens" in err) == (1, True)
    assert qmd("search", "eighty", "--max-tokens", "5")[0] != 0


def test_python_gives_passages_beside_results(faked, toolbox):
    from qmd.operations.search import search

    found = search(faked.engine, "green tea", max_tokens=300)
    assert found.passages is not None
    assert estimated_tokens(found.passages.text) <= 300
    assert search(faked.engine, "green tea").passages is None
