"""`qmd export`, and `qmd import`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qmd.errors import UsageError
from qmd.surfaces import formats, wording
from qmd.surfaces.cli.common import READ, Collections, Json, notice, say, state
from qmd.surfaces.cli.progress import bar
from qmd.visible import one_line, shown

if TYPE_CHECKING:
    from qmd.exchange.exporter import Exported
    from qmd.exchange.importer import Imported


PARTED = "collection"
"""What documents can be parted by."""


def export(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", click_type=READ, help="Folder to write to.")
    ],
    collection: Collections = None,
    where: Annotated[
        str | None,
        typer.Option(
            "--where", "--filter", metavar="TEST", help="On frontmatter: 'status = open'."
        ),
    ] = None,
    tables: Annotated[
        str | None,
        typer.Option("--tables", metavar="NAMES", help="Only these: documents,chunks,embeddings."),
    ] = None,
    parted: Annotated[
        str | None,
        typer.Option(
            "--partition-by",
            metavar=PARTED,
            help="Give the documents of each a folder of its own.",
            autocompletion=lambda: [PARTED],
        ),
    ] = None,
    no_vectors: Annotated[
        bool, typer.Option("--no-vectors", help="Leave the vectors out.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace DIR, whatever it has in it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write the index to a folder as Parquet; there again, only what has changed."""
    from qmd.exchange.exporter import Wish
    from qmd.text.filters import parse_filter
    from qmd.types import ALL, Filter

    if parted not in (None, PARTED):
        raise UsageError(f"Documents can be parted by {PARTED}, not by '{parted}'.")
    wish = Wish(
        Filter(
            collections=tuple(collection) if collection else None,
            conditions=parse_filter(where) if where is not None else (),
        ),
        where,
        _tables(tables),
        not no_vectors,
        parted is not None,
    )
    with state(context).engine() as engine, bar("Exporting") as progress:
        done = engine.export(folder, wish=wish, force=force, progress=progress)
    if as_json:
        say(formats.as_json({**done._asdict(), "folder": str(done.folder)}))
    else:
        say(_exported(done))
    if done.rows.get("documents") == 0 and wish.among != ALL:
        notice("No document matches: what was exported has none.")


def _tables(given: str | None) -> tuple[str, ...]:
    """Names of tables; none: all.

    Raises:
        UsageError: there are none in what was given.
    """
    names = tuple(name.strip() for name in (given or "").split(",") if name.strip())
    if given is not None and not names:
        raise UsageError("--tables takes names of tables with commas between: documents,chunks.")
    return names


def _exported(done: Exported) -> str:
    documents = done.rows.get("documents")
    what = "the index" if documents is None else wording.amount(documents, "document")
    return (
        f"Exported {what} to {shown(done.folder)} ({wording.size(done.bytes)}) in "
        f"{wording.duration(done.seconds)}: {done.written} of {wording.amount(done.files, 'file')} "
        f"written{', the others as they were' if done.written < done.files else ''}.\n"
        f"Nobody could write to the index for {done.held:.2f} s of that."
    )


def import_(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", click_type=READ, help="Folder of an export.")
    ],
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the index, if it has documents.")
    ] = False,
    trust: Annotated[
        bool,
        typer.Option("--trust", help="Take over its update commands and its choice of models."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Make an index of an export, with its vectors; nothing is embedded again."""
    with state(context).engine(new=True) as engine, bar("Importing") as progress:
        done = engine.import_(folder, replace=replace, trusting=trust, progress=progress)
    if as_json:
        record = {
            "database": str(done.database),
            "rows": done.rows,
            "leftOut": done.left_out,
            "missing": [{"collection": name, "folder": root} for name, root in done.missing],
            "seconds": done.seconds,
        }
        say(formats.as_json(record))
        return
    say(_imported(done))
    for name, root in done.missing:
        notice(
            f"The folder of collection '{shown(name)}' is not on this machine: {shown(root)}\n"
            "  Its documents stay. Where it is elsewhere, say so in index.yml."
        )
    if done.left_out:
        lines = "\n".join(f"  {one_line(line)}" for line in done.left_out)
        notice(
            f"Left out, since it would run or load something:\n{lines}\n"
            "  Import with --trust to take it over, if you know where the export comes from."
        )


def _imported(done: Imported) -> str:
    vectors = done.rows.get("embeddings", 0)
    return (
        f"Imported {wording.amount(done.rows['documents'], 'document')} and "
        f"{wording.amount(vectors, 'vector')} into {shown(done.database)} in "
        f"{wording.duration(done.seconds)}."
    )
