"""`qmd experiences …`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from qmd.operations import kept_records as operations
from qmd.surfaces import formats
from qmd.surfaces.cli.common import AsJson, say
from qmd.surfaces.cli.derive import Call, command
from qmd.visible import shown

if TYPE_CHECKING:
    from qmd.operations.kept_records import KeptRecord

app = typer.Typer(no_args_is_help=True, help="Solved problems that agents have submitted.")


@app.command()
@command(operations.list_records, options=AsJson)
def list_(call: Call, records: Sequence[KeptRecord]) -> None:
    """Write the records with their ids, dates and uses."""
    if call.options.as_json:
        say(formats.as_json([_record(each) for each in records]))
    elif not records:
        say("No experience records.")
    else:
        say(formats.table([_row(each) for each in records]))


@app.command()
@command(operations.correct_record)
def correct(_: Call, record: KeptRecord) -> None:
    """Confirm the correction."""
    say(f"Corrected {_named(record)}.")


@app.command()
@command(operations.retire_record)
def retire(_: Call, record: KeptRecord) -> None:
    """Confirm that no search finds it any more."""
    say(f"Retired {_named(record)}. 'qmd experiences restore {record.id}' undoes it.")


@app.command()
@command(operations.restore_record)
def restore(_: Call, record: KeptRecord) -> None:
    """Confirm that searches find it again."""
    say(f"Restored {_named(record)}.")


@app.command()
@command(operations.remove_record)
def remove(_: Call, record: KeptRecord) -> None:
    """Confirm the removal."""
    say(f"Removed {_named(record)}.")


def _record(record: KeptRecord) -> dict[str, object]:
    created = record.created_at.isoformat(timespec="milliseconds") + "Z"
    return {**record._asdict(), "keywords": list(record.keywords), "created_at": created}


def _row(record: KeptRecord) -> tuple[str, ...]:
    state = "retired" if record.retired else f"{record.query_count} answers"
    return record.id[:8], f"{record.created_at:%Y-%m-%d}", state, record.title


def _named(record: KeptRecord) -> str:
    return f"{record.id[:8]} {shown(record.title)}"
