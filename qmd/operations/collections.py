"""Operations on collections and contexts: list, add, remove."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from qmd.analytics.rows import Rows
from qmd.declaration.operation import Parameter, operation
from qmd.declaration.parameters import File, Names, named
from qmd.operations.update import update
from qmd.settings.config import NEW_MASK
from qmd.storage.catalog import Overview
from qmd.types import Context, Report

if TYPE_CHECKING:
    from qmd.operations.index import Index

OF_THE_USER = "Which folders are indexed is for the user to decide."
LISTED = "`status` lists the collections."

CollectionFolder = Annotated[File, Parameter(help="The folder; . is the current one.", kind="path")]

NewName = Annotated[str | None, Parameter(help="Its name; else that of the folder.")]

Mask = Annotated[
    str,
    Parameter(
        help="Which files: documents, code, data, all, or globs; a comma list.",
        flags=("--mask", "--glob"),
        metavar="GLOB",
    ),
]

Ignored = Annotated[
    Names,
    Parameter(
        help="Leave these files out, such as 'work/'; may be repeated.",
        flags=("--ignore",),
        metavar="GLOB",
        kind="names",
    ),
]

Name = Annotated[
    str,
    Parameter(help="Name of the collection.", metavar="NAME", complete="collections"),
]

ContextFolder = Annotated[
    File, Parameter(help="/, qmd://collection/folder, or a folder.", kind="place")
]

ContextText = Annotated[str, Parameter(help="The description.")]


@operation(name="collection list", title="Collections", absent={"tool": LISTED})
def collections(index: Index) -> Rows[Overview]:
    """List the collections."""
    return Rows(Overview, index.overview())


@operation(
    name="collection add", title="Add a collection", writes=True, absent={"tool": OF_THE_USER}
)
async def add_collection(
    index: Index,
    path: CollectionFolder,
    *,
    name: NewName = None,
    mask: Mask = NEW_MASK,
    ignore: Ignored = None,
) -> Report:
    """Register a folder and index it.

    If indexing fails, the folder stays registered, a note of the error says so, and the same call
    goes on. The report tells of what is no error, such as a folder that is missing.

    Args:
        path: the folder.
        name: else that of the folder.
        mask: which files; a comma list of globs and of `documents`, `code`, `data` and `all`.
        ignore: globs of files that are left out.

    Raises:
        UsageError: there is no such folder, it cannot be read, or the name or mask is invalid.
        AlreadyExists: the name is taken, or the folder is registered under another.
    """
    from anyio import to_thread

    from qmd.operations import curation

    added = await to_thread.run_sync(
        lambda: curation.add_collection(
            index, Path(path), name=name, mask=mask, ignored=named(ignore)
        )
    )
    try:
        report = (await update(index, added.name))[0]
        if report.failure is None:
            await to_thread.run_sync(curation.end_adding, index, added)
    except BaseException as error:  # also of a cancelled task
        error.add_note(curation.state_of(index, added.name))
        raise
    return report


@operation(
    name="collection remove", title="Remove a collection", writes=True, absent={"tool": OF_THE_USER}
)
def remove_collection(index: Index, name: Name) -> None:
    """Forget a collection. Its files stay where they are.

    Args:
        name: of the collection.

    Raises:
        CollectionNotFound: no collection has this name.
    """
    from qmd.operations import curation

    curation.remove_collection(index, name)


@operation(
    name="context list",
    title="Contexts",
    absent={"tool": "Results carry the contexts that apply to them."},
)
def contexts(index: Index) -> Rows[Context]:
    """List all contexts."""
    return Rows(Context, index.contexts())


@operation(name="context add", title="Add a context", writes=True, absent={"tool": OF_THE_USER})
def add_context(index: Index, path: ContextFolder, text: ContextText) -> None:
    """Describe a folder; results from there carry the text.

    Args:
        path: `/` for all, `qmd://collection/folder`, or a folder.
        text: the description.

    Raises:
        UsageError: the text is empty, or the folder in no collection.
        CollectionNotFound: no collection has this name.
    """
    from qmd.operations import curation

    curation.add_context(index, os.fspath(path), text)


@operation(name="context rm", title="Remove a context", writes=True, absent={"tool": OF_THE_USER})
def remove_context(index: Index, path: ContextFolder) -> None:
    """Remove a context.

    Args:
        path: `/` for all, `qmd://collection/folder`, or a folder.

    Raises:
        ContextNotFound: the folder has none.
    """
    from qmd.operations import curation

    curation.remove_context(index, os.fspath(path))
