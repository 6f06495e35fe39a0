"""Answers of the tools that search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from qmd.operations.grep import grep
from qmd.operations.links import links
from qmd.operations.passages import passages
from qmd.operations.search import search
from qmd.operations.semantic_search import query, vector_search
from qmd.operations.similar import similar
from qmd.surfaces.tools import finding_reply
from qmd.surfaces.tools.arguments import question_of, read
from qmd.surfaces.tools.paging import page_of
from qmd.surfaces.tools.reply import Reply
from qmd.surfaces.tools.run_operation import OperationRunner, ToolCall
from qmd.wording import lowest_shown_as


async def answer_search(runner: OperationRunner, call: ToolCall) -> Reply:
    """Answer `search`."""
    asked = read(call.tool, call.given)
    question, least = question_of(asked), asked["minScore"]
    page = page_of(call, asked)
    wanted = {"minScore": lowest_shown_as(least), "limit": page.end}
    found = await runner.run(search, asked | wanted, through=page.found)
    return finding_reply.results(question, found, least, page, most=asked.get("maxTokens"))


async def answer_vsearch(runner: OperationRunner, call: ToolCall) -> Reply:
    """Answer `vsearch`."""
    return await _found(runner, vector_search, call)


async def answer_query(runner: OperationRunner, call: ToolCall) -> Reply:
    """Answer `query`."""
    return await _found(runner, query, call)


async def answer_similar(runner: OperationRunner, call: ToolCall) -> Reply:
    """Answer `similar`."""
    asked = read(call.tool, call.given)
    least = asked["minScore"]
    found = await runner.run(similar, asked | {"minScore": lowest_shown_as(least)})
    return finding_reply.results(asked["file"], found, least)


async def answer_context(runner: OperationRunner, call: ToolCall) -> Reply:
    """Answer `context`."""
    return finding_reply.excerpts(await runner.run(passages, read(call.tool, call.given)))


async def answer_grep(runner: OperationRunner, call: ToolCall) -> Reply:
    """Answer `grep`."""
    asked = read(call.tool, call.given)
    page = page_of(call, asked)
    # One more than is shown tells whether there are more.
    wanted = {"limit": page.end + 1}
    found = await runner.run(grep, asked | wanted, through=page.found)
    return finding_reply.lines(asked["pattern"], found, page)


async def answer_links(runner: OperationRunner, call: ToolCall) -> Reply:
    """Answer `links`."""
    asked = read(call.tool, call.given)
    return finding_reply.linked(asked["file"], await runner.prepare(links, asked))


async def _found(runner: OperationRunner, function: Callable[..., Any], call: ToolCall) -> Reply:
    """Answer with the results of a search."""
    asked = read(call.tool, call.given)
    question, least = question_of(asked), asked["minScore"]
    found = await runner.run(function, asked | {"minScore": lowest_shown_as(least)})
    return finding_reply.results(question, found, least, most=asked.get("maxTokens"))
