"""Operations `export` and `import_`: Parquet out and in."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from qmd.declaration.operation import Parameter, operation
from qmd.declaration.parameters import (
    Collections,
    File,
    Names,
    StepProgress,
    selected,
)
from qmd.storage import catalog

if TYPE_CHECKING:
    from qmd.exchange.exporter import Exported, Wish
    from qmd.exchange.importer import Imported
    from qmd.operations.index import Index

NOT_OVER_A_WIRE = "It reads and writes any folder of the user's, which a client must not choose."

ExportFolder = Annotated[File, Parameter(help="Folder to write to.", metavar="DIR", kind="path")]
ImportFolder = Annotated[File, Parameter(help="Folder of an export.", metavar="DIR", kind="path")]

ExportFilter = Annotated[
    str | None,
    Parameter(
        help="On frontmatter: 'status = open'.", flags=("--where", "--filter"), metavar="TEST"
    ),
]

Tables = Annotated[
    Names,
    Parameter(
        help="Only these: documents,chunks,embeddings.",
        metavar="NAMES",
        kind="names",
        commas=True,
    ),
]

Vectors = Annotated[bool, Parameter(help="Leave the vectors out.", flags=("--no-vectors",))]

Parted = Annotated[
    bool,
    Parameter(
        help="Documents by collection, in folders of their own.",
        absent={"command": "--partition-by names what the documents are parted by."},
    ),
]

ExportForce = Annotated[
    bool, Parameter(help="Replace DIR, whatever it has in it.", flags=("--force",))
]

Replace = Annotated[bool, Parameter(help="Replace the index, if it has documents.")]

Trusting = Annotated[
    bool,
    Parameter(help="Take over its update commands and its choice of models.", flags=("--trust",)),
]


@operation(
    title="Export",
    writes=False,
    absent={"tool": NOT_OVER_A_WIRE},
    examples=(
        ("Write the whole index", "qmd export ~/export"),
        ("One collection, without vectors", "qmd export ~/shared -c notes --no-vectors"),
        (
            "Only what is tagged, in a folder for each collection",
            "qmd export ~/open --filter 'status = open' --partition-by collection",
        ),
    ),
)
def export(
    index: Index,
    folder: ExportFolder,
    *,
    collection: Collections = None,
    filter: ExportFilter = None,
    tables: Tables = None,
    vectors: Vectors = True,
    parted: Parted = False,
    force: ExportForce = False,
    progress: StepProgress = None,
) -> Exported:
    """Write the index to a folder as Parquet; there again, only what has changed.

    Args:
        folder: to write to.
        collection: names; without any, all.
        filter: on frontmatter; see `search`.
        tables: names; None: all.
        vectors: with the vectors.
        parted: documents by collection, in folders of their own.
        force: replace whatever the folder has in it.
        progress: called with (files done, files in all), in another thread.

    Raises:
        CollectionNotFound: no collection has one of the names.
        ExchangeError: the folder has something else in it, or cannot be written.
        JobRunning: another process exports this index.
    """
    from qmd.exchange.exporter import Wish

    among = selected(collection=collection, filter=filter)
    names = (tables,) if isinstance(tables, str) else tuple(tables or ())
    wish = Wish(among, filter, names, vectors, parted)
    return run_export(index, Path(folder), wish=wish, force=force, progress=progress)


@operation(
    title="Import",
    name="import",
    writes=True,
    absent={"tool": NOT_OVER_A_WIRE},
    examples=(
        ("Make an index of its own of an export", "qmd --index restored import ~/backup"),
        ("Replace the index", "qmd import ~/backup --replace"),
    ),
)
def import_(
    index: Index,
    folder: ImportFolder,
    *,
    replace: Replace = False,
    trusting: Trusting = False,
    progress: StepProgress = None,
) -> Imported:
    """Make an index of an export, with its vectors; nothing is embedded again.

    Args:
        folder: of the export.
        replace: an index that has documents.
        trusting: take over the update commands and the models of the export.
        progress: called with (steps done, steps in all), in another thread.

    Raises:
        ExchangeError: the export cannot be used, or the index has documents.
        JobRunning: another process imports into this index.
    """
    return run_import(index, Path(folder), replace=replace, trusting=trusting, progress=progress)


def run_export(
    index: Index,
    folder: Path,
    *,
    wish: Wish | None = None,
    force: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Exported:
    """Write the index to a folder as Parquet, or bring an earlier export there up to date.

    Args:
        wish: what to export; None: everything.
        force: replace whatever the folder has in it.
        progress: called with (files done, files in all).

    Raises:
        CollectionNotFound: one of the wish does not exist.
        FolderTaken: the folder has something else in it.
        ExportFailed: it cannot be written.
        JobRunning: another process exports this index.
    """
    from qmd.exchange import exporter as export

    wanted = wish or export.Wish()
    names = list(wanted.among.collections or ())
    index.read(partial(catalog.check_collections, names=names))
    return export.export(
        index.database,
        index.place,
        index.settings(),
        folder,
        wish=wanted,
        force=force,
        progress=progress,
    )


def run_import(
    index: Index,
    folder: Path,
    *,
    replace: bool = False,
    trusting: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Imported:
    """Make this index that of an export, with vectors and scores; a new one with its numbers.

    Args:
        replace: an index that has documents.
        trusting: take over the update commands and the models of the export.
        progress: called with (steps done, steps in all).

    Raises:
        ExchangeError: the export cannot be used, or the index has documents.
        JobRunning: another process imports into this index.
    """
    from qmd.exchange import importer

    imported = importer.import_(
        index.database,
        index.place,
        folder,
        recorded=index.recorded_settings,
        replace=replace,
        trusting=trusting,
        progress=progress,
    )
    index.forget_settings()
    index.sync()
    return imported
