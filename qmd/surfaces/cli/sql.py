"""Output of `qmd sql`, and its shell."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from qmd.declaration import operation as declaration
from qmd.errors import UsageError
from qmd.named_tuple import NamedTuple
from qmd.operations.sql import run_sql
from qmd.operations.sql import sql as operation
from qmd.surfaces import console, formats
from qmd.surfaces.cli.common import (
    INTERRUPTED,
    PATIENCE,
    RawCsv,
    State,
    complain,
    is_interactive,
    is_text,
    notice,
    say,
)
from qmd.surfaces.cli.derive import interactive, words
from qmd.surfaces.cli.sql_output import (
    check_no_document,
    check_output,
    show_answer,
    write_file,
)
from qmd.surfaces.sql_tables import SUFFIXES, TableFormat, write_binary

if TYPE_CHECKING:
    from threading import Event

    import typer

    from qmd.analytics.query_result import Answer
    from qmd.analytics.sandbox import Limits
    from qmd.operations.index import Index
    from qmd.storage.cancellation import Stop
    from qmd.surfaces.cli.framework import READ, WRITTEN

Found = TypeVar("Found")

AGAIN = 0.05
"""Seconds after which it is asked again: what has not begun cannot be stopped."""


class SqlOutput(NamedTuple):
    """Options of `qmd sql` alone: where a query comes from, and how its rows are written."""

    file: Annotated[
        Path | None,
        typer.Option(
            "-f", "--file", metavar="FILE", click_type=READ, help="Read the query from here."
        ),
    ] = None
    stdin: Annotated[bool, typer.Option("--stdin", help="Read the query from stdin.")] = False
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "-p", "--param", metavar="NAME=VALUE", help="Value of $NAME; may be repeated."
        ),
    ] = None
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="table, json, jsonl, csv, md, parquet or arrow.",
            autocompletion=lambda: [form.value for form in TableFormat],
        ),
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False
    as_jsonl: Annotated[bool, typer.Option("--jsonl", help="Write an object in each line.")] = False
    as_csv: Annotated[bool, typer.Option("--csv", help="Write CSV.")] = False
    raw_csv: RawCsv = False
    as_md: Annotated[bool, typer.Option("--md", help="Write a Markdown table.")] = False
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            click_type=WRITTEN,
            help="Write here; the name tells the format.",
        ),
    ] = None
    force: Annotated[
        bool, typer.Option("--force", help="Replace FILE even if it is a document of a collection.")
    ] = False
    limit: Annotated[
        int | None,
        typer.Option(
            "-n", "--limit", min=0, help="Rows at most; 0: all. 100 on a terminal, else all."
        ),
    ] = None
    tables: Annotated[
        bool, typer.Option("--tables", help="Show what can be asked: views and their columns.")
    ] = False
    examples: Annotated[bool, typer.Option("--examples", help="Show useful questions.")] = False

    @property
    def format(self) -> TableFormat:
        """Format that is meant."""
        return _format(
            self.form,
            self.output,
            json=self.as_json,
            jsonl=self.as_jsonl,
            csv=self.as_csv,
            md=self.as_md,
        )


@interactive(operation, options=SqlOutput)
def sql(here: State, arguments: dict[str, Any], options: SqlOutput) -> None:
    """Answer one query, or open a shell."""
    from qmd.analytics.sandbox_workers import Workers

    if options.tables or options.examples:
        show = tables_text if options.tables else examples_text
        say(show(as_json=options.as_json or options.form == TableFormat.JSON))
        return
    at = console.current()
    chosen, output, limit = options.format, options.output, options.limit
    limits = _limits(arguments)
    given = ["query" in arguments, options.file is not None, options.stdin]
    if not any(given) and is_interactive() and at.out.isatty() and output is None:
        at.stay_alone()
        _open_shell(here, limits, options)
        return
    if sum(given) != 1:
        raise UsageError(
            "Give one query: as an argument, with -f FILE, or with - on stdin."
            if any(given)
            else "There is no query.\n\nTry: qmd sql 'from documents limit 5', or see --examples.\n"
            "With - it is read from stdin."
        )
    text = arguments["query"] if "query" in arguments else _text(options.file)
    parameters = _parameters(options.parameter or ())
    if output is not None:
        check_output(output, here)
    elif chosen.is_binary and at.out.isatty():
        name = chosen.capitalize()
        raise UsageError(f"{name} is not for a terminal.\n\nWrite a file: -o answer.{chosen}")
    limits.check()
    if output is not None or limits.files:
        at.stay_alone()  # files have the rights and the folder of the caller
    workers = None
    if at.is_process:
        workers = Workers()
        workers.prepare()  # as long as this process has no other threads
    with here.engine(workers=workers) as engine:
        if output is not None and not options.force:
            check_no_document(output, engine)
        answer = answered(engine, text, parameters, limits)
        for each in answer.notices:
            notice(each)
        if output is not None:
            write_file(answer, chosen, output, limit or None, raw_csv=options.raw_csv)
        elif chosen.is_binary:
            write_binary(answer, chosen, at.out.buffer, limit or None, whole=False)
        else:
            show_answer(answer, chosen, limit, raw_csv=options.raw_csv)
        answer.close()


def _open_shell(here: State, limits: Limits, options: SqlOutput) -> None:
    """Answer the queries that are typed on a terminal."""
    from qmd.surfaces.cli import sql_shell

    texts = {
        ".tables": partial(tables_text, as_json=False),
        ".examples": partial(examples_text, as_json=False),
    }
    parameters = _parameters(options.parameter or ())
    written = partial(
        show_answer, form=options.format, limit=options.limit, raw_csv=options.raw_csv
    )
    sql_shell.run(here, limits, parameters, answered=answered, show=written, texts=texts)


# -- what is asked -------------------------------------------------------------------


def _format(name: str | None, output: Path | None, **flags: bool) -> TableFormat:
    """Choose the format of the result.

    Raises:
        UsageError: it is unknown, several are meant, or the name of the file tells none.
    """
    wanted = formats.format_of(TableFormat, name, flags)
    if wanted is not None:
        return wanted
    ending = output.suffix.lower() if output else ""
    if ending not in SUFFIXES:
        valid = ", ".join(filter(None, SUFFIXES))
        raise UsageError(
            f"{output}: {ending} tells no format. Valid: {valid}.\n\n"
            "Name the file so, or choose a format with --format."
        )
    return SUFFIXES[ending]


def _limits(arguments: Mapping[str, Any]) -> Limits:
    """Return the limits of a query, with the defaults of the operation."""
    from qmd.analytics.sandbox import Limits

    declared = declaration.of(operation).parameters
    return Limits(
        *(arguments.get(name, declared[name].default) for name in ("timeout", "memory", "files"))
    )


def _text(file: Path | None) -> str:
    """Read a query from a file, or from stdin if there is none.

    Raises:
        UsageError: the file cannot be read, or is not UTF-8.
    """
    if file is None:
        return words(["-"])
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeError as error:
        raise UsageError("The query is not valid UTF-8 text.") from error
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}.") from error


def _parameters(given: Sequence[str]) -> dict[str, object]:
    """Values by name: JSON numbers, true, false, null and texts in quotes, else text as it is.

    Raises:
        UsageError: one has no name, or two have the same.
    """
    found: dict[str, object] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or (not name.isidentifier() and not name.isdigit()):
            raise UsageError(f"-p takes NAME=VALUE, not '{each}'.\n\nA query calls it $NAME.")
        if name in found:
            raise UsageError(f"There are two values for {name}.")
        found[name] = scalar = _scalar(value)
        if isinstance(scalar, str) and not is_text(scalar):
            raise UsageError(f"The value of {name} has half a character in it.")
    return found


def _scalar(text: str) -> object:
    try:
        value = json.loads(text, parse_constant=lambda _: text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, list | dict) else value


# -- what is answered ----------------------------------------------------------------


def answered(engine: Index, text: str, parameters: Mapping[str, object], limits: Limits) -> Answer:
    """Run a query, unless it is interrupted from the keyboard."""
    return _interruptible(lambda: run_sql(engine, text, dict(parameters), limits))


def _interruptible(work: Callable[[], Found]) -> Found:
    """Return the result of `work`, run in another thread, so that Ctrl-C is handled at once."""
    import threading

    from qmd.storage import cancellation

    stop = cancellation.CURRENT.get() or cancellation.Stop()
    over = threading.Event()
    done: list[Found] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:
            failed.append(error)
        finally:
            over.set()

    around = copy_context()
    around.run(cancellation.CURRENT.set, stop)
    thread = threading.Thread(target=around.run, args=(run,), name="qmd-sql", daemon=True)
    try:
        thread.start()  # in here: an interrupt may come when the thread runs and this has not ended
        over.wait()
    except KeyboardInterrupt:
        _stop(stop, over)
        raise
    if failed:
        raise failed[0]
    return done[0]


def _stop(work: Stop, over: Event) -> None:
    """End work, or this process: if it takes too long, or at a second Ctrl-C."""
    try:
        for _ in range(round(PATIENCE / AGAIN)):
            work.ask()
            if over.wait(AGAIN):
                return
    except KeyboardInterrupt:
        pass
    # Inside a function that looks up from a value only when it is done with it, say.
    _end("Interrupted.", INTERRUPTED)


def _end(message: str, code: int) -> None:
    complain(message)
    console.current().err.flush()
    os._exit(code)


# -- what can be asked ---------------------------------------------------------------


def tables_text(*, as_json: bool) -> str:
    """List views and functions, with their columns."""
    from qmd.analytics.views import views

    if as_json:
        return formats.as_json(
            [
                {
                    "name": view.name,
                    "call": view.call,
                    "about": view.about,
                    "parameters": [each._asdict() for each in view.parameters],
                    "columns": [each._asdict() for each in view.columns],
                }
                for view in views()
            ]
        )
    parts = []
    for view in sorted(views(), key=lambda view: (not view.is_macro, view.name)):
        rows = [("    " + each.name, each.kind, each.meaning) for each in view.parameters]
        rows += [("  " + each.name, each.kind, each.meaning) for each in view.columns]
        parts.append(f"{view.call}\n  {view.about}\n\n{formats.table(rows)}")
    return "\n".join(parts)


def examples_text(*, as_json: bool) -> str:
    """List useful questions."""
    from qmd.analytics.views import examples

    if as_json:
        return formats.as_json([each._asdict() for each in examples()])
    return "\n".join(f"-- {each.question}\n{each.query}" for each in examples())
