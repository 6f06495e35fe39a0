"""Questions with known answers, asked by two scripted agents.

    python -m bench.agent_tasks INDEX [--tasks FILE] [--max-tokens 1000] [--compact]

INDEX is a DuckDB file of qmd beside its index.yml. The first agent searches with `query` and reads
40 lines around each of the best places with `get`, until it has read the answer or four times; the
second calls `context`, and again with three times the tokens. An answer is read if its pattern is
in a text that the agent was given. Printed are calls, tokens (four bytes each, text and structured
content as a client gets them), answered questions, and calls that were refused.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

import anyio

from qmd.operations.index import Index
from qmd.settings.environment import Machine, Place
from qmd.surfaces.tools.dispatch import Toolbox
from qmd.surfaces.tools.schemas.listing import listed
from qmd.surfaces.tools.server_tools import ServerTools
from qmd.text.tokens import estimated_tokens

READS = 3
"""Places that the first agent reads of one search."""

AROUND, LINES = 10, 40
"""Lines before a place, and in all."""


class Task(NamedTuple):
    """A question and the pattern of its answer."""

    question: str
    answer: re.Pattern[str]


class Agent:
    """A scripted agent, and what its calls have cost.

    Attributes:
        seen: texts of the documents that it was given.
    """

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self.calls = self.tokens = self.refused = 0
        self.seen = ""

    async def call(self, name: str, **arguments: object) -> dict:
        """Call a tool, and return what programs get of its reply."""
        reply = await self._toolbox.call(name, arguments)
        self.calls += 1
        self.refused += reply.error is not None
        texts = [part if isinstance(part, str) else part.text for part in reply.content]
        sent = "\n".join(texts)
        structured = dict(reply.structured or {})
        if self._toolbox.tool(name).output is not None:
            sent += json.dumps(structured, ensure_ascii=False)
        self.tokens += estimated_tokens(sent)
        self.seen += "\n".join(texts)
        return structured


async def search_and_read(agent: Agent, task: Task) -> None:
    """Search, and read around the best places until the answer is there."""
    found = await agent.call("query", query=task.question)
    agent.seen = ""  # a line of a result is no text that has been read
    for result in found.get("results", [])[:READS]:
        first = max(1, result["line"] - AROUND)
        await agent.call("get", file=f"{result['file']}:{first}:{LINES}")
        if task.answer.search(agent.seen):
            return


async def ask_for_context(agent: Agent, task: Task, most: int) -> None:
    """Ask for passages, and once more for more of them if the answer is not among them."""
    await agent.call("context", query=task.question, maxTokens=most)
    if not task.answer.search(agent.seen):
        await agent.call("context", query=task.question, maxTokens=3 * most)


Ask = Callable[[Agent, Task], Awaitable[None]]


async def outcome(toolbox: Toolbox, tasks: list[Task], ask: Ask) -> str:
    """Do all tasks, and say in a line what they took."""
    answered = calls = tokens = refused = 0
    for task in tasks:
        agent = Agent(toolbox)
        await ask(agent, task)
        answered += task.answer.search(agent.seen) is not None
        calls, tokens, refused = calls + agent.calls, tokens + agent.tokens, refused + agent.refused
    return f"{answered:3} of {len(tasks)}   {calls:5}   {tokens:7,}   {refused:7}"


def main() -> None:
    """Run both agents and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("index", type=Path)
    parser.add_argument("--tasks", type=Path, default=Path(__file__).with_suffix(".json"))
    parser.add_argument("--max-tokens", type=int, default=1000)
    parser.add_argument("--compact", action="store_true")
    options = parser.parse_args()
    recorded = json.loads(options.tasks.read_text(encoding="utf-8"))["tasks"]
    tasks = [Task(each["question"], re.compile(each["answer"])) for each in recorded]
    folder = options.index.resolve().parent
    place = Place("index", folder / "index.yml", options.index.resolve(), None, folder / "trusted")
    toolbox = Toolbox(Index(place, Machine(), warm=True), ServerTools(compact=options.compact))
    shown = [listed(tool) for tool in toolbox.tools]
    offered = [
        {"name": each.name, "description": each.description, "inputSchema": each.input}
        for each in shown
    ]
    size = estimated_tokens(json.dumps(offered, separators=(",", ":")))
    print(f"{len(shown)} tools, {size:,} tokens for a model\n")
    print(f"{'':18}answered   calls    tokens   refused")
    agents: dict[str, Ask] = {
        "search and read": search_and_read,
        "context": lambda agent, task: ask_for_context(agent, task, options.max_tokens),
    }
    for name, ask in agents.items():
        print(f"{name:18}{anyio.run(outcome, toolbox, tasks, ask)}", flush=True)
    toolbox.close()


if __name__ == "__main__":
    main()
