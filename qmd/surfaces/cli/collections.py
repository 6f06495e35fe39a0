"""`qmd collection …`."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from qmd.errors import QmdError
from qmd.operations import curation
from qmd.settings import trust
from qmd.settings.config import NEW_MASK, Settings
from qmd.settings.edit import Parsed, entry
from qmd.surfaces import formats, wording
from qmd.surfaces.cli.common import (
    READ,
    Json,
    collection_names,
    examples,
    notice,
    say,
    state,
)
from qmd.surfaces.cli.update import report_updates
from qmd.visible import shown

app = typer.Typer(no_args_is_help=True, help="Folders whose files are indexed.")

Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Name of the collection.", autocompletion=collection_names),
]


@app.command()
@examples(
    ("Index the Markdown files of a folder", "qmd collection add ~/journal"),
    (
        "Under another name, with other files",
        "qmd collection add ~/journal --name diary --mask '**/*.{md,txt}'",
    ),
    ("The current folder", "cd ~/journal && qmd collection add ."),
)
def add(
    context: typer.Context,
    path: Annotated[
        Path, typer.Argument(click_type=READ, help="The folder; . is the current one.")
    ],
    name: Annotated[
        str | None, typer.Option("--name", help="Its name; else that of the folder.")
    ] = None,
    mask: Annotated[
        str,
        typer.Option(
            "--mask",
            "--glob",
            metavar="GLOB",
            help="Which files: documents, code, data, all; or globs, with commas between.",
        ),
    ] = NEW_MASK,
    ignored: Annotated[
        list[str] | None,
        typer.Option("--ignore", metavar="GLOB", help="Files to leave out; also several times."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Register a folder and index it."""
    with state(context).engine(warm=True, new=True) as engine:
        try:
            added = curation.add_collection(
                engine, path, name=name, mask=mask, ignored=ignored or ()
            )
        except (QmdError, OSError, KeyboardInterrupt) as error:
            for note in getattr(error, "__notes__", ()):
                notice(note)
            raise
        try:
            report_updates(engine, [added.name], as_json=as_json, added=True)
            curation.end_adding(engine, added)
        except BaseException:  # also Ctrl-C, and the exit of a failure that was told
            notice(curation.state_of(engine, added.name))
            raise


@app.command(name="list")
@examples(
    ("List the collections", "qmd collection list"),
    ("For a program", "qmd collection list --json"),
)
def list_(context: typer.Context, as_json: Json = False) -> None:
    """List the collections."""
    with state(context).engine() as engine:
        found = engine.overview()
    if as_json:
        say(
            formats.as_json(
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
                wording.amount(c.documents, "file"),
                wording.size(c.bytes),
                c.mask,
                wording.folder(c.root),
                "" if c.included else "(excluded)",
            )
            for c in found
        ]
        say(formats.table(rows, right=frozenset({1, 2})))


@app.command()
@examples(
    ("Show the folder, the mask and the contexts of one", "qmd collection show notes"),
    ("For a program", "qmd collection show notes --json"),
)
def show(context: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show one collection."""
    with state(context).engine() as engine:
        collection = engine.collection(name)
        indexed = next(c for c in engine.overview() if c.name == name)
        contexts = [c for c in engine.contexts() if c.collection == name]
    if as_json:
        say(
            formats.as_json(
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
        ("Path", wording.folder(collection.root)),
        ("Mask", collection.mask),
        ("Files", f"{indexed.documents} ({wording.size(indexed.bytes)})"),
        ("Searched", "by default" if collection.included else "only when named with -c"),
    ]
    if collection.ignored:
        rows.append(("Ignored", ", ".join(collection.ignored)))
    if collection.update_command:
        rows.append(("Update", collection.update_command))
    rows += [(f"Context /{c.prefix}", c.body) for c in contexts]
    say(formats.table(rows))


app.command(name="info", hidden=True)(show)


@app.command()
@examples(
    ("Forget a collection, but keep its files", "qmd collection remove work"),
    ("And free the space that it took", "qmd collection remove work && qmd cleanup"),
)
def remove(context: typer.Context, name: Name) -> None:
    """Forget a collection. Its files stay where they are."""
    with state(context).engine() as engine:
        curation.remove_collection(engine, name)
    say(f"Removed collection '{shown(name)}'. Its files were not touched.")


app.command(name="rm", hidden=True)(remove)


@app.command()
@examples(
    ("Give a collection another name", "qmd collection rename work job"),
    ("And see the result", "qmd collection rename work job && qmd ls job"),
)
def rename(
    context: typer.Context,
    old: Annotated[
        str,
        typer.Argument(
            metavar="OLD", help="Name of the collection.", autocompletion=collection_names
        ),
    ],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Its new name.")],
) -> None:
    """Give a collection another name."""
    with state(context).engine() as engine:
        curation.rename_collection(engine, old, new)
    say(f"Renamed collection '{shown(old)}' to '{shown(new)}'.")


app.command(name="mv", hidden=True)(rename)


def _set(context: typer.Context, name: str, key: str, value: object) -> bool:
    """Set a key in the lines of a collection; None removes it.

    Returns:
        Whether what index.yml says needs no approval, or has it.
    """
    with state(context).engine() as engine:
        engine.configured(name)

        def edit(_: Settings, document: Parsed) -> None:
            lines = entry(document, name)
            if value is None:
                lines.pop(key, None)
            else:
                lines[key] = value

        engine.change(edit)
        return trust.is_trusted(engine.place, engine.settings())


@app.command()
@examples(
    ("Search it again without naming it", "qmd collection include work"),
    ("See which are searched", "qmd collection include work && qmd collection list"),
)
def include(context: typer.Context, name: Name) -> None:
    """Let searches that name no collection look into this one."""
    _set(context, name, "includeByDefault", None)
    say(f"Searches look into '{shown(name)}' by default.")


@app.command()
@examples(
    ("Leave a collection out, unless it is named", "qmd collection exclude work"),
    ("And search in it all the same", "qmd collection exclude work && qmd search plan -c work"),
)
def exclude(context: typer.Context, name: Name) -> None:
    """Let only searches that name this collection look into it."""
    _set(context, name, "includeByDefault", False)
    say(f"Searches look into '{shown(name)}' only with -c {quote(shown(name))}.")


@app.command()
@examples(
    ("Leave a folder out", "qmd collection ignore notes drafts/"),
    ("Leave several kinds of files out", "qmd collection ignore notes '**/*.tmp' '**/*.bak'"),
)
def ignore(
    context: typer.Context,
    name: Name,
    globs: Annotated[
        list[str],
        typer.Argument(metavar="GLOB...", help="Files to leave out, such as 'work/'."),
    ],
) -> None:
    """Leave files of a collection out."""
    with state(context).engine() as engine:
        curation.ignore(engine, name, globs)
    told = ", ".join(map(shown, globs))
    say(f"Left out of '{shown(name)}' from the next 'qmd update' on: {told}")


@app.command(name="update-cmd")
@examples(
    ("Run a command before each update", "qmd collection update-cmd notes 'git pull --ff-only'"),
    ("Run none any more", "qmd collection update-cmd notes"),
)
def update_command(
    context: typer.Context,
    name: Name,
    command: Annotated[
        str | None, typer.Argument(metavar="[CMD]", help="A shell command; none clears it.")
    ] = None,
) -> None:
    """Set the command that runs before a collection is indexed."""
    if command:
        trust.check_command(name, command, state(context).place.config)
    approved = _set(context, name, "update", command or None)
    if command and not approved:
        say(f"Set for '{shown(name)}': {shown(command)}")
        notice("It does not run before this project is approved. Look at it with 'qmd trust'.")
    elif command:
        say(f"'qmd update' runs in '{shown(name)}' first: {shown(command)}")
    else:
        notice(f"'qmd update' runs nothing in '{shown(name)}' any more.")
