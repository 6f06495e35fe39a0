"""`qmd export`, and `qmd import`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from qmd.errors import UsageError
from qmd.named_tuple import NamedTuple
from qmd.operations import exchange
from qmd.surfaces import formats, wording
from qmd.surfaces.cli.common import AsJson, Json, notice, say
from qmd.surfaces.cli.derive import Call, command
from qmd.surfaces.cli.progress import bar
from qmd.visible import one_line, shown

if TYPE_CHECKING:
    from qmd.exchange.exporter import Exported
    from qmd.exchange.importer import Imported


PARTED = "collection"
"""What documents can be parted by."""


class ExportOutput(NamedTuple):
    """Options of `qmd export` alone."""

    parted: Annotated[
        str | None,
        typer.Option(
            "--partition-by",
            metavar=PARTED,
            help="Give the documents of each a folder of its own.",
            autocompletion=lambda: [PARTED],
        ),
    ] = None
    as_json: Json = False


def _adjust(call: Call) -> None:
    parted = call.options.parted
    if parted not in (None, PARTED):
        raise UsageError(f"Documents can be parted by {PARTED}, not by '{parted}'.")
    call.arguments["parted"] = parted is not None


@command(exchange.export, options=ExportOutput, adjust=_adjust, progress=lambda _: bar("Exporting"))
def export(call: Call, done: Exported) -> None:
    """Write the report of an export."""
    if call.options.as_json:
        say(formats.as_json({**done._asdict(), "folder": str(done.folder)}))
    else:
        say(_exported(done))
    if done.rows.get("documents") == 0 and {"collection", "filter"} & call.given.keys():
        notice("No document matches: what was exported has none.")


def _exported(done: Exported) -> str:
    documents = done.rows.get("documents")
    what = "the index" if documents is None else wording.amount(documents, "document")
    return (
        f"Exported {what} to {shown(done.folder)} ({wording.size(done.bytes)}) in "
        f"{wording.duration(done.seconds)}: {done.written} of {wording.amount(done.files, 'file')} "
        f"written{', the others as they were' if done.written < done.files else ''}.\n"
        f"For {done.held:.2f} s of that, nothing could be written to the index."
    )


@command(exchange.import_, options=AsJson, progress=lambda _: bar("Importing"), new=True)
def import_(call: Call, done: Imported) -> None:
    """Write the report of an import."""
    if call.options.as_json:
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
