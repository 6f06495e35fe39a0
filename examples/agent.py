"""Agent that searches its notes, reads the results, and remembers what it found.

python examples/agent.py [QUESTION …]

What it remembers is a collection of its own, so that the next question finds it. `answer` is where
a model would be asked.
"""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import qmd

NOTES = Path(__file__).parent / "notes"
QUESTIONS = ["Why did the gauges all reconnect at once?", "How do we keep people from quitting?"]


async def main(questions: list[str]) -> None:
    """Answer questions one after the other."""
    with TemporaryDirectory() as scratch:
        memory = Path(scratch) / "memory"
        memory.mkdir()
        async with qmd.open(path=Path(scratch) / "index.duckdb") as kb:
            await kb.add_collection(NOTES, name="notes")
            await kb.add_collection(memory, name="memory")
            await embed(kb)
            for number, question in enumerate(questions):
                passages = await read(kb, question)
                text = answer(question, passages)
                print(text)
                (memory / f"{number:04}.md").write_text(text, encoding="utf-8")
                await kb.update("memory")
                await embed(kb)


async def read(kb: qmd.AsyncKnowledgeBase, question: str) -> list[qmd.Passage]:
    """Fetch the best passages at the same time."""
    async with asyncio.timeout(60):
        hits = await kb.query(question, limit=3)
        if hits.notice:
            print(hits.notice, file=sys.stderr)
        async with asyncio.TaskGroup() as tasks:
            reading = [tasks.create_task(kb.get(hit.file, first=hit.line, count=5)) for hit in hits]
    return [task.result() for task in reading]


async def embed(kb: qmd.AsyncKnowledgeBase) -> None:
    """Give new documents their vectors; without a model, words alone are searched."""
    try:
        done = await kb.embed()
        print(f"{done.chunks} passages embedded", file=sys.stderr)
    except qmd.ModelError as error:
        print(error, file=sys.stderr)


def answer(question: str, passages: list[qmd.Passage]) -> str:
    """Answer as a model would, from the passages: here, by their first lines."""
    lines = [f"# {question}", ""]
    for passage in passages:
        first = next((line for line in passage.body.splitlines() if re.search(r"\w", line)), "")
        lines.append(f"- {first.strip()} ({passage.file}:{passage.first})")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or QUESTIONS))
