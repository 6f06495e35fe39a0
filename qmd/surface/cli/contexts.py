"""`qmd context …`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from qmd.config import Settings
from qmd.editing import Parsed, remove_context, set_context
from qmd.engine import Engine
from qmd.errors import ContextNotFound, UsageError
from qmd.store.collections import folders
from qmd.surface import render
from qmd.surface.cli.common import Json, say, state
from qmd.text import paths
from qmd.types import Context

app = typer.Typer(no_args_is_help=True, help="Texts that describe folders, shown with results.")

Place = tuple[str | None, str]
"""A collection, or None for everywhere, and a folder in it."""


@app.command()
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
    path, text = words if len(words) == 2 else (None, words[0])
    if not text.strip():
        raise UsageError("The text of a context cannot be empty.")
    with state(context).engine() as engine:
        place = _place(engine, path)

        def edit(_: Settings, document: Parsed) -> None:
            set_context(document, Context(*place, text))

        engine.change(edit)
    say(f"Added context to {_shown(place)}.")


@app.command(name="list")
def list_(context: typer.Context, as_json: Json = False) -> None:
    """List all contexts."""
    with state(context).engine() as engine:
        found = engine.contexts()
    if as_json:
        say(
            render.as_json(
                [{"path": _shown((c.collection, c.prefix)), "context": c.body} for c in found]
            )
        )
    elif not found:
        say("No contexts yet. Add one with 'qmd context add PATH TEXT'.")
    else:
        say(render.table([(_shown((c.collection, c.prefix)), c.body) for c in found]))


@app.command()
def rm(
    context: typer.Context,
    path: Annotated[str, typer.Argument(help="/, qmd://collection/folder, or a folder.")],
) -> None:
    """Remove a context."""
    with state(context).engine() as engine:
        place = _place(engine, path)
        if not any((c.collection, c.prefix) == place for c in engine.contexts()):
            raise ContextNotFound(_shown(place))

        def edit(_: Settings, document: Parsed) -> None:
            remove_context(document, *place)

        engine.change(edit)
    say(f"Removed context from {_shown(place)}.")


@app.command()
def check(context: typer.Context, as_json: Json = False) -> None:
    """List collections and top folders that have no context."""
    with state(context).engine() as engine:
        described = {(c.collection, c.prefix) for c in engine.contexts()}
        names = [collection.name for collection in engine.collections()]
        tops = engine.read(folders)
    missing = [_shown((name, "")) for name in names if (name, "") not in described]
    missing += [
        _shown((top.collection, top.folder))
        for top in tops
        if (top.collection, top.folder) not in described
    ]
    if as_json:
        say(render.as_json(missing))
    elif missing:
        say("Without a context:\n" + "".join(f"  {place}\n" for place in sorted(missing)))
    else:
        say("Every collection and top folder has a context.")


def _place(engine: Engine, path: str | None) -> Place:
    """The collection and folder that a path means.

    Raises:
        CollectionNotFound: a virtual path names none.
        UsageError: a folder is in no collection.
    """
    if path == "/":
        return None, ""
    virtual = paths.parse_virtual(path) if path is not None else None
    if virtual is not None:
        return engine.configured(virtual.collection).name, virtual.path.strip("/")
    folder = Path(os.path.abspath(Path(path or ".").expanduser()))  # noqa: PTH100
    for collection in sorted(engine.collections(), key=lambda c: -len(c.root)):
        root = Path(collection.root)
        for place in (folder, folder.resolve()):
            if place == root or root in place.parents:
                inside = place.relative_to(root).as_posix()
                return collection.name, "" if inside == "." else inside
    raise UsageError(
        f"{path or 'The current folder'} is in no collection.\n\n"
        "Name a folder of one, qmd://collection/folder, or / for all."
    )


def _shown(place: Place) -> str:
    collection, prefix = place
    if collection is None:
        return "/"
    return f"{paths.SCHEME}{collection}/{prefix}"
