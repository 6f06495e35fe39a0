"""`qmd context …`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from qmd.errors import UsageError
from qmd.operations import contexts as operations
from qmd.operations.contexts import context_place
from qmd.operations.documents import below
from qmd.quoting import command as quoted
from qmd.surfaces import formats
from qmd.surfaces.cli.common import AsJson, State, notice, say
from qmd.surfaces.cli.derive import Call, command, interactive
from qmd.visible import shown

if TYPE_CHECKING:
    from qmd.types import Context

app = typer.Typer(no_args_is_help=True, help="Texts that describe folders, shown with results.")


@app.command()
@interactive(operations.add_context)
def add(here: State, arguments: dict[str, Any], _: object) -> None:
    """Add a context: of the current folder, if no PATH is given."""
    words = arguments["text"]
    if len(words) > 2:
        raise UsageError('Put the text in quotes: qmd context add PATH "TEXT".')
    path, text = words if len(words) == 2 else (".", words[0])
    with here.engine(new=path == "/") as engine:
        known = engine.settings().contexts
        added = operations.add_context(engine, path, text)
        name = added.collection
        empty = name is not None and not below(engine, name, added.prefix)
    place = shown(context_place(name, added.prefix))
    replaces = any((each.collection, each.prefix) == (name, added.prefix) for each in known)
    say(f"{'Replaced' if replaces else 'Added'} context {'of' if replaces else 'to'} {place}.")
    if empty and name is not None:
        others = quoted("qmd", "ls", name)
        notice(f"No document is in {place} yet. {others} shows those that there are.")


@app.command()
@command(operations.contexts, options=AsJson)
def list_(call: Call, contexts: Sequence[Context]) -> None:
    """Write the contexts with their places, in order."""
    ordered = sorted(contexts, key=lambda c: (c.collection or "", c.prefix))
    found = [(context_place(c.collection, c.prefix), c.body) for c in ordered]
    if call.options.as_json:
        say(formats.as_json([{"path": place, "context": text} for place, text in found]))
    elif not found:
        say("No contexts yet. Add one with 'qmd context add PATH TEXT'.")
    else:
        say(formats.table(found))


@app.command()
@command(operations.remove_context)
def rm(_: Call, removed: Context) -> None:
    """Confirm the removal."""
    say(f"Removed context from {shown(context_place(removed.collection, removed.prefix))}.")


@app.command()
@command(operations.missing_contexts, options=AsJson)
def check(call: Call, missing: Sequence[str]) -> None:
    """Write the places that lack a context."""
    if call.options.as_json:
        say(formats.as_json(missing))
    elif missing:
        say("Without a context:\n" + "".join(f"  {shown(place)}\n" for place in missing))
    else:
        say("Every collection and top folder has a context.")
