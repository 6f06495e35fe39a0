"""`qmd ask`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from qmd.declaration.operation import Parameter
from qmd.named_tuple import NamedTuple
from qmd.operations.ask import ask as ask_operation
from qmd.operations.ask import in_json
from qmd.surfaces import console, formats
from qmd.surfaces.cli.common import Json, State, notice, say
from qmd.surfaces.cli.derive import interactive
from qmd.visible import visible

if TYPE_CHECKING:
    from qmd.operations.ask import CitedAnswer


class AskOutput(NamedTuple):
    """Options of `qmd ask` alone."""

    session: Annotated[
        bool,
        Parameter(help="Then read further questions, a line each.", flags=("--session",)),
    ] = False
    as_json: Json = False


@interactive(ask_operation, options=AskOutput)
def ask(here: State, arguments: dict[str, Any], options: AskOutput) -> None:
    """Write the answer and its sources; with --session, those of further questions, too."""
    import anyio

    earlier: list[tuple[str, str]] = []
    with here.engine(warm=True) as engine:
        while True:
            work = partial(ask_operation, engine, earlier=earlier, **arguments)
            answer = anyio.run(work)
            _tell(answer, as_json=options.as_json)
            if not options.session:
                return
            earlier.append((answer.question, answer.text))
            following = console.current().stdin.readline().strip()
            if not following:
                return
            arguments["question"] = following


def _tell(answer: CitedAnswer, *, as_json: bool) -> None:
    if answer.notice:
        notice(answer.notice)
    if as_json:
        say(formats.as_json(in_json(answer)))
        return
    say(visible(answer.text))
    used = {number for each in answer.sentences for number in each.citations}
    sources = [
        f"[{number}] {visible(each.place)}"
        for number, each in enumerate(answer.passages, 1)
        if number in used
    ]
    if sources:
        say("\n" + "\n".join(sources))
    if any(not each.supported for each in answer.sentences):
        notice("[?] stands behind what no passage that is cited says: read the sources.")
