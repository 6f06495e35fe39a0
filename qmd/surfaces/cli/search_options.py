"""Output options of `qmd search`, `vsearch` and `query`."""

from __future__ import annotations

from typing import Annotated

from qmd.declaration.operation import Parameter
from qmd.declaration.parameters import UNLIMITED
from qmd.errors import UsageError
from qmd.named_tuple import NamedTuple
from qmd.surfaces import formats
from qmd.surfaces.cli.common import RawCsv
from qmd.surfaces.formats import Format

FEW, MANY = 5, 20
"""Results for people, and for programs. Source: tobi/qmd (MIT)."""

SHORT, LONG = 300, 500
"""Characters of a snippet in JSON, and elsewhere. Source: tobi/qmd (MIT)."""

FormatName = Annotated[
    str | None,
    Parameter(
        help="How to write results: cli, json, csv, md, xml or files.",
        flags=("--format",),
        metavar="FORMAT",
        complete="formats",
    ),
]


def chosen_format(name: str | None, **flags: bool) -> Format:
    """Choose the format by `--format` or one of its short forms.

    Raises:
        UsageError: it is unknown, or several are meant.
    """
    return formats.format_of(Format, name, flags) or Format.CLI


class SearchOutput(NamedTuple):
    """Options of the search commands that say how much is shown, and how."""

    everything: Annotated[bool, Parameter(help="All results.", flags=("--all",))] = False
    line_numbers: Annotated[
        bool, Parameter(help="Number the lines of whole documents.", flags=("--line-numbers",))
    ] = False
    full_path: Annotated[
        bool, Parameter(help="Show where the files are on disk.", flags=("--full-path",))
    ] = False
    yes: Annotated[
        bool,
        Parameter(
            help="Index the current folder first if no collection covers it.", flags=("--yes",)
        ),
    ] = False
    form: FormatName = None
    as_json: Annotated[bool, Parameter(help="Write JSON.", flags=("--json",))] = False
    as_csv: Annotated[bool, Parameter(help="Write CSV.", flags=("--csv",))] = False
    raw_csv: RawCsv = False
    as_md: Annotated[bool, Parameter(help="Write Markdown.", flags=("--md",))] = False
    as_xml: Annotated[bool, Parameter(help="Write XML.", flags=("--xml",))] = False
    as_files: Annotated[bool, Parameter(help="Write docid,score,file.", flags=("--files",))] = False

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
