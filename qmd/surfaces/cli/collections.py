"""`qmd collection …`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import typer

from qmd.errors import QmdError
from qmd.operations import collection_settings as settings
from qmd.operations import collections as operations
from qmd.operations import curation
from qmd.surfaces import formats, wording
from qmd.surfaces.cli.common import AsJson, State, notice, say
from qmd.surfaces.cli.derive import Call, command, interactive
from qmd.surfaces.cli.update import report_updates
from qmd.visible import shown

if TYPE_CHECKING:
    from qmd.operations.collections import CollectionDetails
    from qmd.storage.catalog import Overview

app = typer.Typer(no_args_is_help=True, help="Folders whose files are indexed.")


@app.command()
@interactive(operations.add_collection, options=AsJson)
def add(here: State, arguments: dict[str, Any], options: AsJson) -> None:
    """Register a folder and index it, showing the progress."""
    path, ignored = Path(arguments.pop("path")), arguments.pop("ignore", ())
    with here.engine(warm=True, new=True) as engine:
        try:
            added = curation.add_collection(engine, path, ignored=ignored, **arguments)
        except (QmdError, OSError, KeyboardInterrupt) as error:
            for note in getattr(error, "__notes__", ()):
                notice(note)
            raise
        try:
            report_updates(engine, [added.name], as_json=options.as_json, added=True)
            curation.end_adding(engine, added)
            for line in curation.shared_folders(engine, added):
                notice(line)
        except BaseException:  # also Ctrl-C, and the exit of a failure that was told
            notice(curation.state_of(engine, added.name))
            raise


@app.command()
@command(operations.collections, options=AsJson)
def list_(call: Call, found: Sequence[Overview]) -> None:
    """Write the collections, each on a line."""
    if call.options.as_json:
        say(formats.as_json([_record(each) for each in found]))
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


def _record(collection: Overview | CollectionDetails, **settings: object) -> Mapping[str, object]:
    """Return what JSON says of a collection.

    Args:
        settings: that stand after its mask.
    """
    return {
        "name": collection.name,
        "path": collection.root,
        "pattern": collection.mask,
        **settings,
        "included": collection.included,
        "documents": collection.documents,
        "bytes": collection.bytes,
        "modified": collection.modified.isoformat() if collection.modified else None,
    }


@app.command()
@command(operations.collection, options=AsJson)
def show(call: Call, found: CollectionDetails) -> None:
    """Write the settings of a collection."""
    contexts = {f"/{c.prefix}": c.body for c in found.contexts}
    if call.options.as_json:
        record = _record(found, ignore=list(found.ignored), update=found.update_command)
        say(formats.as_json({**record, "contexts": contexts}))
        return
    rows = [
        ("Collection", found.name),
        ("Path", wording.folder(found.root)),
        ("Mask", found.mask),
        ("Files", f"{found.documents} ({wording.size(found.bytes)})"),
        ("Searched", "by default" if found.included else "only when named with -c"),
    ]
    if found.ignored:
        rows.append(("Ignored", ", ".join(found.ignored)))
    if found.update_command:
        rows.append(("Update", found.update_command))
    rows += [(f"Context {place}", text) for place, text in contexts.items()]
    say(formats.table(rows))


@app.command()
@command(operations.remove_collection)
def remove(call: Call, _: None) -> None:
    """Confirm the removal."""
    say(f"Removed collection '{shown(call.given['name'])}'. Its files were not touched.")


@app.command()
@command(operations.rename_collection)
def rename(call: Call, _: None) -> None:
    """Confirm the new name."""
    old, new = shown(call.given["old"]), shown(call.given["new"])
    say(f"Renamed collection '{old}' to '{new}'.")


@app.command()
@command(settings.include_collection)
def include(call: Call, _: None) -> None:
    """Confirm that searches look into it."""
    say(f"Searches look into '{shown(call.given['name'])}' by default.")


@app.command()
@command(settings.exclude_collection)
def exclude(call: Call, _: None) -> None:
    """Say how searches still look into it."""
    name = shown(call.given["name"])
    say(f"Searches look into '{name}' only with -c {quote(name)}.")


@app.command()
@command(settings.ignore_files)
def ignore(call: Call, _: None) -> None:
    """Confirm which files are left out."""
    told = ", ".join(map(shown, call.given["globs"]))
    say(f"Left out of '{shown(call.given['name'])}' from the next 'qmd update' on: {told}")


@app.command()
@command(settings.set_update_command)
def update_command(call: Call, approved: bool) -> None:
    """Say when the command runs, if it does."""
    name, line = shown(call.given["name"]), call.given.get("command")
    if line and not approved:
        say(f"Set for '{name}': {shown(line)}")
        notice("It does not run before this project is approved. Look at it with 'qmd trust'.")
    elif line:
        say(f"'qmd update' runs in '{name}' first: {shown(line)}")
    else:
        notice(f"'qmd update' runs nothing in '{name}' any more.")


for spelling, function in (("info", show), ("rm", remove), ("mv", rename)):
    app.command(name=spelling, hidden=True)(function)
