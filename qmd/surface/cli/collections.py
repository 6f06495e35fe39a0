"""`qmd collection …`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qmd.config import DEFAULT_MASK, Settings, check_name
from qmd.editing import Parsed, add_collection, entry
from qmd.errors import AlreadyExists, UsageError
from qmd.surface import render
from qmd.surface.cli.common import Json, collection_names, is_text, notice, say, state
from qmd.surface.cli.index import report_updates
from qmd.text.masks import check_mask
from qmd.types import Collection

app = typer.Typer(no_args_is_help=True, help="Folders whose files are indexed.")

Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Name of the collection.", autocompletion=collection_names),
]


@app.command()
def add(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(help="The folder; . is the current one.")],
    name: Annotated[
        str | None, typer.Option("--name", help="Its name; else that of the folder.")
    ] = None,
    mask: Annotated[
        str,
        typer.Option(
            "--mask", "--glob", metavar="GLOB", help="Which files; a comma list of globs."
        ),
    ] = DEFAULT_MASK,
) -> None:
    """Register a folder and index it."""
    root = path.expanduser().resolve()
    if not root.is_dir():
        what = "is not a folder" if root.exists() else "does not exist"
        raise UsageError(f"{path} {what}.\n\nGive the folder to index, such as ~/notes.")
    if not is_text(str(root)):
        raise UsageError("The name of the folder is not valid UTF-8 text. Give it another name.")
    chosen = name if name is not None else root.name or "root"
    check_name(chosen)
    check_mask(mask)
    with state(context).engine(warm=True) as engine:
        known = engine.collections()
        if any(collection.name == chosen for collection in known):
            raise AlreadyExists(
                f"Collection '{chosen}' already exists.\n\n"
                f"Choose another name with --name, or index it with 'qmd update -c {chosen}'."
            )
        for collection in known:
            if collection.root == str(root) and collection.mask == mask:
                raise AlreadyExists(
                    f"Collection '{collection.name}' already has {root} ({mask}).\n\n"
                    f"Index it with 'qmd update -c {collection.name}'."
                )

        def edit(_: Settings, document: Parsed) -> None:
            if chosen in (document.get("collections") or {}):
                raise AlreadyExists(f"Collection '{chosen}' already exists.")
            add_collection(document, Collection(chosen, str(root), mask))

        engine.change(edit)
        report_updates(state(context), engine, [chosen], added=True)


@app.command(name="list")
def list_(context: typer.Context, as_json: Json = False) -> None:
    """List the collections."""
    with state(context).engine() as engine:
        found = engine.overview()
    if as_json:
        say(
            render.as_json(
                [
                    {
                        "name": c.name,
                        "path": c.root,
                        "pattern": c.mask,
                        "included": c.included,
                        "documents": c.documents,
                        "bytes": c.bytes,
                        "modified": c.modified.isoformat() if c.modified else None,
                    }
                    for c in found
                ]
            )
        )
    elif not found:
        say("No collections yet. Add one with 'qmd collection add PATH'.")
    else:
        rows = [
            (
                c.name,
                f"{c.documents} files",
                render.size(c.bytes),
                c.mask,
                render.folder(c.root),
                "" if c.included else "(excluded)",
            )
            for c in found
        ]
        say(render.table(rows, right=frozenset({1, 2})))


@app.command()
def show(context: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show one collection."""
    with state(context).engine() as engine:
        collection = engine.collection(name)
        indexed = next(c for c in engine.overview() if c.name == name)
        contexts = [c for c in engine.contexts() if c.collection == name]
    if as_json:
        say(
            render.as_json(
                {
                    "name": name,
                    "path": collection.root,
                    "pattern": collection.mask,
                    "ignore": list(collection.ignored),
                    "update": collection.update_command,
                    "included": collection.included,
                    "documents": indexed.documents,
                    "bytes": indexed.bytes,
                    "modified": indexed.modified.isoformat() if indexed.modified else None,
                    "contexts": {f"/{c.prefix}": c.body for c in contexts},
                }
            )
        )
        return
    rows = [
        ("Collection", name),
        ("Path", render.folder(collection.root)),
        ("Mask", collection.mask),
        ("Files", f"{indexed.documents} ({render.size(indexed.bytes)})"),
        ("Searched", "by default" if collection.included else "only when named with -c"),
    ]
    if collection.ignored:
        rows.append(("Ignored", ", ".join(collection.ignored)))
    if collection.update_command:
        rows.append(("Update", collection.update_command))
    rows += [(f"Context /{c.prefix}", c.body) for c in contexts]
    say(render.table(rows))


app.command(name="info", hidden=True)(show)


@app.command()
def remove(context: typer.Context, name: Name) -> None:
    """Forget a collection. Its files stay where they are."""
    with state(context).engine() as engine:
        engine.configured(name)

        def edit(_: Settings, document: Parsed) -> None:
            del document["collections"][name]

        engine.change(edit)
    say(f"Removed collection '{name}'. Its files were not touched.")


app.command(name="rm", hidden=True)(remove)


@app.command()
def rename(
    context: typer.Context,
    old: Annotated[str, typer.Argument(metavar="OLD", help="Name of the collection.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Its new name.")],
) -> None:
    """Give a collection another name."""
    with state(context).engine() as engine:
        if any(collection.name == new for collection in engine.collections()):
            raise AlreadyExists(f"Collection '{new}' already exists.")
        engine.rename(old, new)
    say(f"Renamed collection '{old}' to '{new}'.")


app.command(name="mv", hidden=True)(rename)


def _set(context: typer.Context, name: str, key: str, value: object) -> None:
    """Set a key in the lines of a collection; None removes it."""
    with state(context).engine() as engine:
        engine.configured(name)

        def edit(_: Settings, document: Parsed) -> None:
            lines = entry(document, name)
            if value is None:
                lines.pop(key, None)
            else:
                lines[key] = value

        engine.change(edit)


@app.command()
def include(context: typer.Context, name: Name) -> None:
    """Let searches that name no collection look into this one."""
    _set(context, name, "includeByDefault", None)
    say(f"Searches look into '{name}' by default.")


@app.command()
def exclude(context: typer.Context, name: Name) -> None:
    """Let only searches that name this collection look into it."""
    _set(context, name, "includeByDefault", False)
    say(f"Searches look into '{name}' only with -c {name}.")


@app.command(name="update-cmd")
def update_command(
    context: typer.Context,
    name: Name,
    command: Annotated[
        str | None, typer.Argument(metavar="[CMD]", help="A shell command; none clears it.")
    ] = None,
) -> None:
    """Set the command that runs before a collection is indexed."""
    _set(context, name, "update", command or None)
    if command:
        say(f"'qmd update' runs in '{name}' first: {command}")
    else:
        notice(f"'qmd update' runs nothing in '{name}' any more.")
