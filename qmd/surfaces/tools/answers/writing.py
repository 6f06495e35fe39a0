"""Answers of the tools that update the index and write documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from qmd.operations.edit_targets import titled_alike
from qmd.operations.editing import append, edit, move
from qmd.operations.embed import embed
from qmd.operations.put import put, remove
from qmd.operations.undoing import undo
from qmd.operations.update import update
from qmd.operations.writable import dated, place_of
from qmd.surfaces import wording
from qmd.surfaces.tools import build_reply
from qmd.surfaces.tools.arguments import read
from qmd.surfaces.tools.progress import Tell, telling
from qmd.surfaces.tools.reply import Code, Reply, refusal
from qmd.surfaces.tools.run_operation import OperationRunner, ToolCall

if TYPE_CHECKING:
    from qmd.reports import Embedded, EmbedStep, Report


async def answer_update(runner: OperationRunner, call: ToolCall) -> Reply:
    """Answer `update`."""
    asked = read(call.tool, call.given)

    async def work(tell: Tell) -> Sequence[Report]:
        def told(name: str, done: int, total: int) -> None:
            tell(done, total, name)

        reports: Sequence[Report] = await runner.run(update, asked, progress=told)
        return reports

    return build_reply.updated(await telling(call.progress, work))


async def answer_embed(runner: OperationRunner, call: ToolCall) -> Reply:
    """Answer `embed`."""
    asked = read(call.tool, call.given)

    async def work(tell: Tell) -> Embedded:
        def told(step: EmbedStep) -> None:
            tell(step.bytes, step.total_bytes, wording.embedded(step))

        report: Embedded = await runner.run(embed, asked, detail=told)
        return report

    return build_reply.embedded(await telling(call.progress, work))


async def answer_put(runner: OperationRunner, call: ToolCall) -> Reply:
    """Answer `put`: documents with the title of a new one are named first."""
    asked = read(call.tool, call.given)
    if asked.get("expected") is None and (alike := await _alike(runner, asked)):
        return refusal(Code.CONFLICT, build_reply.like_others(asked["name"], alike))
    return build_reply.stored(await runner.run(put, asked))


async def _alike(runner: OperationRunner, asked: Mapping[str, Any]) -> list[str]:
    """Find documents with the title of one that would be new."""
    place = partial(place_of, runner.engine, dated(asked["name"]), asked.get("collection"))
    found = await runner.read(place)
    return await runner.read(titled_alike, runner.engine, found, asked["text"], asked.get("title"))


async def answer_append(runner: OperationRunner, call: ToolCall) -> Reply:
    """Answer `append`."""
    return build_reply.changed(await runner.run(append, read(call.tool, call.given)))


async def answer_edit(runner: OperationRunner, call: ToolCall) -> Reply:
    """Answer `edit`."""
    return build_reply.changed(await runner.run(edit, read(call.tool, call.given)))


async def answer_move(runner: OperationRunner, call: ToolCall) -> Reply:
    """Answer `move`."""
    return build_reply.changed(await runner.run(move, read(call.tool, call.given)))


async def answer_undo(runner: OperationRunner, call: ToolCall) -> Reply:
    """Answer `undo`."""
    return build_reply.changed(await runner.run(undo, read(call.tool, call.given)))


async def answer_remove(runner: OperationRunner, call: ToolCall) -> Reply:
    """Answer `remove`."""
    file = await runner.run(remove, read(call.tool, call.given))
    return Reply((f"Removed {file}.",), {"file": file})
