"""Operations on contexts: list, add and remove them, and list the folders that have none."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from qmd.analytics.rows import Rows
from qmd.declaration.operation import Parameter, operation
from qmd.declaration.parameters import File
from qmd.errors import ContextNotFound, UsageError
from qmd.operations.collections import OF_THE_USER
from qmd.operations.documents import folder_named
from qmd.storage.catalog import folders
from qmd.text import paths
from qmd.types import Context

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.settings.edit import Parsed
    from qmd.settings.schema import Settings

Folder = tuple[str | None, str]
"""A collection, or None for everywhere, and a folder in it."""

ContextFolder = Annotated[
    File, Parameter(help="/, qmd://collection/folder, or a folder.", kind="place")
]

AddedFolder = Annotated[
    File,
    Parameter(
        help="/, qmd://collection/folder, or a folder.",
        kind="place",
        absent={"command": "The first of two words is the folder; one word is a text."},
    ),
]

ContextText = Annotated[
    str,
    Parameter(
        help="The description.",
        helps={"command": "/, qmd://collection/folder, or a folder; else of the current one."},
        metavar="[PATH] TEXT",
        several=frozenset({"command"}),
    ),
]


@operation(
    name="context list",
    title="Contexts",
    sharded=True,
    absent={"tool": "Results carry the contexts that apply to them."},
    examples=(
        ("List the contexts", "qmd context list"),
        ("For a program", "qmd context list --json"),
    ),
)
def contexts(index: Index) -> Rows[Context]:
    """List all contexts."""
    return Rows(Context, index.contexts())


@operation(
    name="context add",
    title="Add a context",
    writes=True,
    absent={"tool": OF_THE_USER},
    examples=(
        ("Describe all that is indexed", "qmd context add / 'Notes and plans of mine'"),
        (
            "Describe a folder of a collection",
            "qmd context add qmd://notes/journal 'What happened, day by day'",
        ),
        ("Describe the current folder", "cd ~/notes && qmd context add 'What I know of drinks'"),
    ),
)
def add_context(index: Index, path: AddedFolder, text: ContextText) -> Context:
    """Describe a folder; results from there carry the text.

    A description that the folder has is replaced.

    Args:
        path: `/` for all, `qmd://collection/folder`, or a folder.
        text: the description.

    Raises:
        UsageError: the text is empty, or the folder in no collection.
        CollectionNotFound: no collection has this name.
    """
    from qmd.settings.edit import set_context

    if not text.strip():
        raise UsageError("The text of a context cannot be empty.")
    added = Context(*folder_of(index, os.fspath(path)), text)

    def edit(_: Settings, document: Parsed) -> None:
        set_context(document, added)

    index.change(edit)
    return added


@operation(
    name="context rm",
    title="Remove a context",
    writes=True,
    absent={"tool": OF_THE_USER},
    examples=(
        ("Remove the context of a collection", "qmd context rm qmd://work"),
        ("Remove that of everything", "qmd context rm /"),
    ),
)
def remove_context(index: Index, path: ContextFolder) -> Context:
    """Remove a context.

    Args:
        path: `/` for all, `qmd://collection/folder`, or a folder.

    Returns:
        The context that the folder had.

    Raises:
        ContextNotFound: the folder has none.
        UsageError: the folder is in no collection.
        CollectionNotFound: no collection has this name.
    """
    from qmd.settings import edit as editing

    folder = folder_of(index, os.fspath(path))
    found = next((c for c in index.contexts() if (c.collection, c.prefix) == folder), None)
    if found is None:
        raise ContextNotFound(context_place(*folder))

    def edit(_: Settings, document: Parsed) -> None:
        editing.remove_context(document, *folder)

    index.change(edit)
    return found


@operation(
    name="context check",
    title="Folders without a context",
    sharded=True,
    absent={"tool": "The user describes folders, not an agent."},
    examples=(
        ("See what nothing is said of", "qmd context check"),
        ("For a program", "qmd context check --json"),
    ),
)
def missing_contexts(index: Index) -> list[str]:
    """List collections and top folders that have no context."""
    described = {(c.collection, c.prefix) for c in index.contexts()}
    places = [(collection.name, "") for collection in index.collections()]
    places += [(top.collection, top.folder) for top in index.read(folders)]
    return sorted(context_place(*place) for place in places if place not in described)


def folder_of(index: Index, path: str) -> Folder:
    """Resolve a path to a collection and a folder in it.

    Raises:
        CollectionNotFound: a virtual path names none.
        UsageError: a folder is in no collection.
    """
    if not path.strip():
        raise UsageError(
            "The path is empty.\n\nName a folder, qmd://collection/folder, or / for all."
        )
    if path == "/":
        return None, ""
    virtual = paths.parse_virtual(path)
    if virtual is not None:
        collection, prefix = virtual.collection, virtual.path.strip("/")
        if not any((c.collection, c.prefix) == (collection, prefix) for c in index.contexts()):
            collection, prefix = folder_named(index, path)
        return index.configured(collection).name, prefix.strip("/")
    inside = on_disk(index, path)
    if inside is None:
        raise UsageError(
            f"{'The current folder' if path == '.' else path} is in no collection.\n\n"
            "Name a folder of one, qmd://collection/folder, or / for all."
        )
    return inside


def on_disk(index: Index, path: str) -> tuple[str, str] | None:
    """Find the collection of a folder, and the path in it; None without one."""
    folder = Path(os.path.abspath(paths.at_home(path)))  # noqa: PTH100
    for collection in sorted(index.collections(), key=lambda c: -len(c.root)):
        root = Path(collection.root)
        for place in (folder, folder.resolve()):
            if place == root or root in place.parents:
                inside = place.relative_to(root).as_posix()
                return collection.name, "" if inside == "." else inside
    return None


def context_place(collection: str | None, prefix: str) -> str:
    """Format a folder for people: `/`, or `qmd://collection/folder`."""
    return "/" if collection is None else f"{paths.SCHEME}{collection}/{prefix}"
