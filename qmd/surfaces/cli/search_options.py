"""What `qmd search`, `vsearch` and `query` can all be told."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, NamedTuple, get_type_hints

import typer

from qmd.errors import UsageError
from qmd.surfaces import formats
from qmd.surfaces.cli.common import Collections, RawCsv, parsed_day
from qmd.surfaces.formats import Format

if TYPE_CHECKING:
    from qmd.types import Filter

FEW, MANY = 5, 20
"""Results for people, and for programs. Source: tobi/qmd (MIT)."""

SHORT, LONG = 300, 500
"""Characters of a snippet in JSON, and elsewhere. Source: tobi/qmd (MIT)."""

FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="How to write results: cli, json, csv, md, xml or files.",
        autocompletion=lambda: [form.value for form in Format],
    ),
]


def chosen_format(name: str | None, **flags: bool) -> Format:
    """The format that `--format` or one of its short forms means.

    Raises:
        UsageError: it is unknown, or several are meant.
    """
    return formats.chosen(Format, name, flags) or Format.CLI


def a_number(value: float | None) -> float | None:
    """The value of an option, if it is a number: the bounds of an option let NaN pass."""
    if value is not None and math.isnan(value):
        raise typer.BadParameter("nan is not a number.")
    return value


def a_half_life(value: float | None) -> float | None:
    """The value of `--recent`, if it can be one.

    Raises:
        UsageError: it cannot.
    """
    if value is not None:
        from qmd.text.dates import HALF_LIFE, is_half_life

        if not is_half_life(value):
            raise UsageError(HALF_LIFE.format("--recent", f"{value:g}"))
    return value


class Options(NamedTuple):
    """What all searches can be told."""

    limit: Annotated[
        int | None,
        typer.Option(
            "-n", "--limit", min=1, help="Results at most (5; 20 with --json and --files)."
        ),
    ] = None
    collection: Collections = None
    everything: Annotated[bool, typer.Option("--all", help="All results.")] = False
    min_score: Annotated[
        float | None,
        typer.Option(
            "--min-score",
            min=0,
            max=1,
            callback=a_number,
            help="Leave out lower scores (0; vsearch: 0.3, also with --all).",
        ),
    ] = None
    full: Annotated[bool, typer.Option("--full", help="Whole documents, no snippets.")] = False
    line_numbers: Annotated[
        bool, typer.Option("--line-numbers", help="Number the lines of whole documents.")
    ] = False
    full_path: Annotated[
        bool, typer.Option("--full-path", help="Show where the files are on disk.")
    ] = False
    since: Annotated[
        str | None,
        typer.Option(
            metavar="DATE", help="Documents of this day or later: 2025-03-14, 2025-03, 7d."
        ),
    ] = None
    before: Annotated[
        str | None, typer.Option(metavar="DATE", help="Documents from before this day.")
    ] = None
    where: Annotated[
        str | None,
        typer.Option("--filter", metavar="TEST", help="On frontmatter: 'status = open'."),
    ] = None
    form: FormatName = None
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False
    as_csv: Annotated[bool, typer.Option("--csv", help="Write CSV.")] = False
    raw_csv: RawCsv = False
    as_md: Annotated[bool, typer.Option("--md", help="Write Markdown.")] = False
    as_xml: Annotated[bool, typer.Option("--xml", help="Write XML.")] = False
    as_files: Annotated[bool, typer.Option("--files", help="Write docid,score,file.")] = False

    @property
    def format(self) -> Format:
        """The one that is meant."""
        return chosen_format(
            self.form,
            json=self.as_json,
            csv=self.as_csv,
            md=self.as_md,
            xml=self.as_xml,
            files=self.as_files,
        )

    @property
    def wanted(self) -> int:
        """Results at most."""
        from qmd.operations.engine import UNLIMITED

        if self.everything:
            if self.limit is not None:
                raise UsageError("Choose one: --all, or so many with -n.")
            return UNLIMITED
        for_programs = self.format in (Format.JSON, Format.FILES)
        wanted = self.limit if self.limit is not None else MANY if for_programs else FEW
        return min(wanted, UNLIMITED)

    @property
    def length(self) -> int:
        """Characters of a snippet."""
        return SHORT if self.format is Format.JSON else LONG

    @property
    def among(self) -> Filter:
        """The documents that may answer."""
        from qmd.text.filters import parse_filter
        from qmd.types import Filter

        moments = [parsed_day(self.since, "--since"), parsed_day(self.before, "--before")]
        first, last = [moment if isinstance(moment, datetime) else None for moment in moments]
        return Filter(
            tuple(self.collection) if self.collection else None,
            first,
            last,
            parse_filter(self.where) if self.where is not None else (),
        )


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options that all searches share; it gets them as `options`."""

    def run(**values: object) -> None:
        shared = {name: values.pop(name) for name in Options._fields}
        command(**values, options=Options(**shared))  # type: ignore[arg-type]

    own = [p for p in signature(command, eval_str=True).parameters.values() if p.name != "options"]
    hints = get_type_hints(Options, include_extras=True)
    shared = [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=Options._field_defaults[name],
            annotation=hints[name],
        )
        for name in Options._fields
    ]
    first = [p for p in own if p.kind is not Parameter.KEYWORD_ONLY]
    last = [p for p in own if p.kind is Parameter.KEYWORD_ONLY]
    parameters = [*first, *shared, *last]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # what typer reads
    return run
