"""`qmd append`, `qmd edit`, `qmd move`, `qmd undo` and `qmd journal`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from qmd.named_tuple import NamedTuple
from qmd.operations import editing, undoing
from qmd.operations.document_changes import DocumentChange, change_in_words
from qmd.surfaces import formats
from qmd.surfaces.cli.common import Json, State, say
from qmd.surfaces.cli.derive import Call, command, interactive
from qmd.surfaces.cli.put import PutInput, given_text
from qmd.visible import shown


class ChangeOutput(NamedTuple):
    """Options of commands that change a document."""

    as_json: Json = False


@interactive(editing.append, options=PutInput)
def append(here: State, arguments: dict[str, Any], options: PutInput) -> None:
    """Append a text that comes on stdin or from a file."""
    _with_text(here, editing.append, arguments, options)


@interactive(editing.edit, options=PutInput)
def edit(here: State, arguments: dict[str, Any], options: PutInput) -> None:
    """Replace a part of a document by a text that comes on stdin or from a file."""
    _with_text(here, editing.edit, arguments, options)


@command(editing.move, options=ChangeOutput)
def move(call: Call, done: DocumentChange) -> None:
    """Say what was moved."""
    _tell(done, as_json=call.options.as_json)


@command(undoing.undo, options=ChangeOutput)
def undo(call: Call, done: DocumentChange) -> None:
    """Say what was undone."""
    _tell(done, as_json=call.options.as_json)


@command(undoing.journal, options=ChangeOutput)
def journal(call: Call, entries: Sequence[DocumentChange]) -> None:
    """Write the journal, a write a line."""
    if call.options.as_json:
        say(formats.as_json([_record(each) for each in entries]))
    elif not entries:
        say("Nothing was written.")
    else:
        say(
            formats.table(
                [
                    (str(each.number), f"{each.when:%Y-%m-%d %H:%M} UTC", each.action, each.file)
                    for each in entries
                ]
            )
        )


def _with_text(here: State, operation: Any, arguments: dict[str, Any], options: PutInput) -> None:
    import anyio

    text = given_text(options.file)
    with here.engine(warm=True, new=operation is editing.append) as engine:
        done = anyio.run(partial(operation, engine, text=text, **arguments))
    _tell(done, as_json=options.as_json)


def _tell(done: DocumentChange, *, as_json: bool) -> None:
    say(formats.as_json(_record(done)) if as_json else shown(change_in_words(done)))


def _record(done: DocumentChange) -> dict[str, object]:
    when = done.when.isoformat(timespec="seconds").replace("+00:00", "Z")
    return {**done._asdict(), "also": list(done.also), "when": when}
