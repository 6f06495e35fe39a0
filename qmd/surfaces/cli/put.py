"""`qmd put` and `qmd remove`."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from qmd.declaration.operation import Parameter
from qmd.errors import UsageError
from qmd.named_tuple import NamedTuple
from qmd.operations.put import put as put_operation
from qmd.operations.put import remove as remove_operation
from qmd.operations.put import storable_text
from qmd.surfaces import formats
from qmd.surfaces.cli.common import Json, State, notice, say
from qmd.surfaces.cli.derive import Call, command, interactive
from qmd.visible import shown


class PutInput(NamedTuple):
    """Options of `qmd put` alone."""

    file: Annotated[
        Path | None,
        Parameter(
            help="Not stdin, but a file.", flags=("-f", "--file"), metavar="FILE", kind="path"
        ),
    ] = None
    as_json: Json = False


@interactive(put_operation, options=PutInput)
def put(here: State, arguments: dict[str, Any], options: PutInput) -> None:
    """Store a text as a document."""
    import anyio

    text = given_text(options.file)
    with here.engine(warm=True, new=True) as engine:
        done = anyio.run(partial(put_operation, engine, text=text, **arguments))
    if options.as_json:
        say(formats.as_json(done._asdict()))
    else:
        say(f"{'Replaced' if done.replaced else 'Stored'} {shown(done.file)} {done.docid}")


class RemoveOutput(NamedTuple):
    """Options of `qmd remove` alone."""

    as_json: Json = False


@command(remove_operation, options=RemoveOutput)
def remove(call: Call, file: str) -> None:
    """Say what is gone."""
    if call.options.as_json:
        say(formats.as_json({"file": file}))
    else:
        say(f"Removed {shown(file)}")


def given_text(file: Path | None) -> str:
    """Read the text that is to be stored.

    Raises:
        UsageError: it cannot be read, is no text, or nothing comes on stdin.
    """
    from qmd.text.composing import LARGEST

    if file is None and sys.stdin.isatty():
        raise UsageError("The text comes on stdin, or from a file: `qmd put NAME --file FILE`.")
    try:
        if file is None:
            data = sys.stdin.buffer.read(LARGEST + 1)
        else:
            with file.open("rb") as opened:
                data = opened.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise UsageError(f"The text is too large: the limit is {LARGEST // 1_000_000} MB.")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}.") from error
    text, remark = storable_text(data)
    if remark:
        notice(f"The text was {remark}.")
    return text
