"""Operations on collections: list, add, change and remove them."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from qmd.analytics.rows import Rows
from qmd.declaration.operation import Parameter, operation
from qmd.declaration.parameters import File, Names, named
from qmd.errors import AlreadyExists
from qmd.operations.update import update
from qmd.reports import Report
from qmd.settings.config_reader import check_name
from qmd.settings.schema import NEW_MASK
from qmd.storage.catalog import Overview
from qmd.types import Context

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.settings.edit import Parsed
    from qmd.settings.schema import Settings

log = logging.getLogger("qmd")

OF_THE_USER = "Which folders are indexed is for the user to decide."
LISTED = "`status` lists the collections."

CollectionFolder = Annotated[File, Parameter(help="The folder; . is the current one.", kind="path")]

NewName = Annotated[str | None, Parameter(help="Its name; else that of the folder.")]

Mask = Annotated[
    str,
    Parameter(
        help="Which files: documents, code, data, all; or globs, with commas between.",
        flags=("--mask", "--glob"),
        metavar="GLOB",
    ),
]

Ignored = Annotated[
    Names,
    Parameter(
        help="Files to leave out; also several times.",
        flags=("--ignore",),
        metavar="GLOB",
        kind="names",
    ),
]

Name = Annotated[
    str,
    Parameter(help="Name of the collection.", metavar="NAME", complete="collections"),
]

OldName = Annotated[
    str,
    Parameter(help="Name of the collection.", metavar="OLD", complete="collections"),
]

OtherName = Annotated[str, Parameter(help="Its new name.", metavar="NEW")]


@dataclass(frozen=True, slots=True)
class CollectionDetails:
    """A collection with its settings and the totals of its documents.

    Attributes:
        root: its folder.
        mask: which files; a comma list of globs and of `documents`, `code`, `data` and `all`.
        ignored: globs of files that are left out.
        update_command: that runs before it is indexed, or None.
        included: searches that name no collection look into it.
        bytes: of all its documents.
        modified: when its newest document was, in UTC; None without documents.
        contexts: of its folders.
    """

    name: str
    root: str
    mask: str
    ignored: tuple[str, ...]
    update_command: str | None
    included: bool
    documents: int
    bytes: int
    modified: datetime | None
    contexts: tuple[Context, ...]


@operation(
    name="collection list",
    title="Collections",
    sharded=True,
    absent={"tool": LISTED},
    examples=(
        ("List the collections", "qmd collection list"),
        ("For a program", "qmd collection list --json"),
    ),
)
def collections(index: Index) -> Rows[Overview]:
    """List the collections."""
    return Rows(Overview, index.overview())


@operation(
    name="collection show",
    title="One collection",
    sharded=True,
    absent={"tool": LISTED},
    examples=(
        ("Show the folder, the mask and the contexts of one", "qmd collection show notes"),
        ("For a program", "qmd collection show notes --json"),
    ),
)
def collection(index: Index, name: Name) -> CollectionDetails:
    """Show one collection.

    Args:
        name: of the collection.

    Raises:
        CollectionNotFound: no collection has this name.
    """
    known = index.collection(name)
    indexed = next(each for each in index.overview() if each.name == name)
    return CollectionDetails(
        name,
        known.root,
        known.mask,
        known.ignored,
        known.update_command,
        known.included,
        indexed.documents,
        indexed.bytes,
        indexed.modified,
        tuple(each for each in index.contexts() if each.collection == name),
    )


@operation(
    name="collection add",
    title="Add a collection",
    writes=True,
    absent={"tool": OF_THE_USER},
    examples=(
        ("Index the Markdown files of a folder", "qmd collection add ~/journal"),
        (
            "Under another name, with other files",
            "qmd collection add ~/journal --name diary --mask '**/*.{md,txt}'",
        ),
        ("The current folder", "cd ~/journal && qmd collection add ."),
    ),
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
    goes on. The report tells of what is no error, such as a folder that is missing. If other
    collections have files of the folder, the log `qmd` has a warning.

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
            for line in await to_thread.run_sync(curation.shared_folders, index, added):
                log.warning(line)
    except BaseException as error:  # also of a cancelled task
        error.add_note(curation.state_of(index, added.name))
        raise
    return report


@operation(
    name="collection remove",
    title="Remove a collection",
    writes=True,
    absent={"tool": OF_THE_USER},
    examples=(
        ("Forget a collection, but keep its files", "qmd collection remove work"),
        ("And free the space that it took", "qmd collection remove work && qmd cleanup"),
    ),
)
def remove_collection(index: Index, name: Name) -> None:
    """Forget a collection. Its files stay where they are.

    Args:
        name: of the collection.

    Raises:
        CollectionNotFound: no collection has this name.
        UsageError: it is that of the experience records.
    """
    from qmd.settings import edit as editing

    index.configured(name)

    def edit(_: Settings, document: Parsed) -> None:
        editing.remove_collection(document, name)

    index.change(edit)


@operation(
    name="collection rename",
    title="Rename a collection",
    writes=True,
    absent={"tool": OF_THE_USER},
    examples=(
        ("Give a collection another name", "qmd collection rename work job"),
        ("And see the result", "qmd collection rename work job && qmd ls job"),
    ),
)
def rename_collection(index: Index, old: OldName, new: OtherName) -> None:
    """Give a collection another name.

    Its documents keep their postings and vectors.

    Args:
        old: name of the collection.
        new: its new name.

    Raises:
        CollectionNotFound: no collection has the old name.
        AlreadyExists: a collection has the new name.
        UsageError: the new name is invalid.
    """
    from qmd.settings import edit as editing

    check_name(new)
    index.configured(old)

    def edit(_: Settings, document: Parsed) -> None:
        editing.entry(document, old)
        if new in document["collections"]:
            raise AlreadyExists(f"Collection '{new}' already exists.")
        editing.rename_collection(document, old, new)

    index.change(edit)
