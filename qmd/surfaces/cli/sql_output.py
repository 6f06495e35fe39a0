"""Destination of the results of `qmd sql`: a terminal, a pipe, a file."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from qmd.errors import UsageError
from qmd.surfaces import console, terminal
from qmd.surfaces.cli.common import State, notice
from qmd.surfaces.sql_tables import TableFormat

if TYPE_CHECKING:
    from qmd.analytics.query_result import Answer
    from qmd.operations.index import Index

ON_A_TERMINAL = 100
"""Rows that are shown on a terminal, if nothing else is asked for."""


def show_answer(
    answer: Answer, form: TableFormat, limit: int | None, *, raw_csv: bool = False
) -> None:
    """Write an answer to stdout as text."""
    from qmd.surfaces import sql_tables, wording

    here = console.current()
    seen = here.out.isatty()
    most = limit if limit is not None else ON_A_TERMINAL if seen else 0
    width = here.columns() if seen else None
    pieces = sql_tables.written(answer, form, limit=most or None, width=width, raw_csv=raw_csv)
    for piece in pieces:
        terminal.out(piece)
    if most and answer.count > most:
        here.out.flush()
        notice(f"… {wording.amount(answer.count - most, 'more row')}; --limit 0 shows all.")
    elif seen and not answer.count:
        notice("No rows.")


def check_output(path: Path, here: State) -> None:
    """Refuse a file that cannot be written, or must not be."""
    from qmd import files

    files.check_writable(path)
    kept = (here.place.database, here.place.config, here.place.trusted)
    if any(_is_of(path, own) for own in kept):
        raise UsageError(f"{path} is what qmd itself needs. Name another file.")


def _is_of(path: Path, own: Path) -> bool:
    """Return whether a file is qmd's own, or has the name of a side file: locks, logs."""
    if path.exists() and own.exists() and path.samefile(own):
        return True
    folder, name = os.path.split(os.path.realpath(path))
    return any(
        folder == os.path.realpath(each.parent) and f"{name}.".startswith(f"{each.name}.")
        for each in (own, Path(os.path.realpath(own)))
    )


def check_no_document(path: Path, engine: Index) -> None:
    """Refuse to replace a document of the index."""
    from qmd.storage import document_lookup

    place = os.path.normpath(console.current().folder() / path)
    document = engine.read(partial(document_lookup.at_place, name=place))
    if document is not None:
        raise UsageError(
            f"{path} is the document {document.name}.\n\n"
            "Name another file, or replace this one with --force."
        )


def write_file(
    answer: Answer, form: TableFormat, path: Path, limit: int | None, *, raw_csv: bool = False
) -> None:
    """Write a file, all of it or nothing; or a stream."""
    from qmd import files
    from qmd.surfaces import sql_tables

    with files.written(path) as file:
        if form.is_binary:
            sql_tables.write_binary(answer, form, file, limit, whole=not files.is_stream(path))
        else:
            pieces = sql_tables.written(answer, form, limit=limit, raw_csv=raw_csv)
            file.writelines(piece.encode() for piece in pieces)
