"""Output options of `qmd search`, `vsearch` and `query`."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import typer

from qmd.declaration.parameters import UNLIMITED
from qmd.errors import UsageError
from qmd.surfaces import formats
from qmd.surfaces.cli.common import RawCsv
from qmd.surfaces.formats import Format

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
    """Choose the format by `--format` or one of its short forms.

    Raises:
        UsageError: it is unknown, or several are meant.
    """
    return formats.chosen(Format, name, flags) or Format.CLI


class SearchOutput(NamedTuple):
    """Options of the search commands that say how much is shown, and how."""

    everything: Annotated[bool, typer.Option("--all", help="All results.")] = False
    line_numbers: Annotated[
        bool, typer.Option("--line-numbers", help="Number the lines of whole documents.")
    ] = False
    full_path: Annotated[
        bool, typer.Option("--full-path", help="Show where the files are on disk.")
    ] = False
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

    def wanted(self, limit: int | None) -> int:
        """Return how many results are wanted at most.

        Args:
            limit: as the user gave it.

        Raises:
            UsageError: a limit is given, and all results are asked for.
        """
        if self.everything:
            if limit is not None:
                raise UsageError("Choose one: --all, or so many with -n.")
            return UNLIMITED
        for_programs = self.format in (Format.JSON, Format.FILES)
        wanted = limit if limit is not None else MANY if for_programs else FEW
        return min(wanted, UNLIMITED)

    @property
    def length(self) -> int:
        """Characters of a snippet."""
        return SHORT if self.format is Format.JSON else LONG
