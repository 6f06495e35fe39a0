"""`qmd context …`."""

from __future__ import annotations

from typing import Annotated

import typer

from qmd.errors import UsageError
from qmd.operations import curation
from qmd.operations.curation import shown as named
from qmd.operations.documents import below
from qmd.quoting import command
from qmd.storage.catalog import folders
from qmd.surfaces import formats
from qmd.surfaces.cli.common import (
    Json,
    examples,
    notice,
    say,
    state,
)
from qmd.visible import shown

app = typer.Typer(no_args_is_help=True, help="Texts that describe folders, shown with results.")


@app.command()
@examples(
    ("Describe all that is indexed", "qmd context add / 'Notes and plans of mine'"),
    (
        "Describe a folder of a collection",
        "qmd context add qmd://notes/journal 'What happened, day by day'",
    ),
    ("Describe the current folder", "cd ~/notes && qmd context add 'What I know of drinks'"),
)
def add(
    context: typer.Context,
    words: Annotated[
        list[str],
        typer.Argument(metavar="[PATH] TEXT", help="/, qmd://collection/folder, or a folder."),
    ],
) -> None:
    """Describe a folder: the current one, if no PATH is given."""
    if len(words) > 2:
        raise UsageError('Put the text in quotes: qmd context add PATH "TEXT".')
    path, text = words if len(words) == 2 else (".", words[0])
    with state(context).engine(new=path == "/") as engine:
        added = curation.add_context(engine, path, text)
        name = added.collection
        empty = name is not None and not below(engine, name, added.prefix)
    place = shown(named((name, added.prefix)))
    say(f"Added context to {place}.")
    if empty and name is not None:
        others = command("qmd", "ls", name)
        notice(f"No document is in {place} yet. {others} shows those that there are.")


@app.command(name="list")
@examples(
    ("List the contexts", "qmd context list"),
    ("For a program", "qmd context list --json"),
)
def list_(context: typer.Context, as_json: Json = False) -> None:
    """List all contexts."""
    with state(context).engine() as engine:
        found = sorted(engine.contexts(), key=lambda c: (c.collection or "", c.prefix))
    if as_json:
        say(
            formats.as_json(
                [{"path": named((c.collection, c.prefix)), "context": c.body} for c in found]
            )
        )
    elif not found:
        say("No contexts yet. Add one with 'qmd context add PATH TEXT'.")
    else:
        say(formats.table([(named((c.collection, c.prefix)), c.body) for c in found]))


@app.command()
@examples(
    ("Remove the context of a collection", "qmd context rm qmd://work"),
    ("Remove that of everything", "qmd context rm /"),
)
def rm(
    context: typer.Context,
    path: Annotated[str, typer.Argument(help="/, qmd://collection/folder, or a folder.")],
) -> None:
    """Remove a context."""
    with state(context).engine() as engine:
        folder = curation.remove_context(engine, path)
    say(f"Removed context from {shown(named(folder))}.")


@app.command()
@examples(
    ("See what nothing is said of", "qmd context check"),
    ("For a program", "qmd context check --json"),
)
def check(context: typer.Context, as_json: Json = False) -> None:
    """List collections and top folders that have no context."""
    with state(context).engine() as engine:
        described = {(c.collection, c.prefix) for c in engine.contexts()}
        names = [collection.name for collection in engine.collections()]
        tops = engine.read(folders)
    missing = [named((name, "")) for name in names if (name, "") not in described]
    missing += [
        named((top.collection, top.folder))
        for top in tops
        if (top.collection, top.folder) not in described
    ]
    missing.sort()
    if as_json:
        say(formats.as_json(missing))
    elif missing:
        say("Without a context:\n" + "".join(f"  {shown(place)}\n" for place in missing))
    else:
        say("Every collection and top folder has a context.")
