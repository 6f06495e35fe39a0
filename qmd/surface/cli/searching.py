"""`qmd search`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

import typer

from qmd.errors import UsageError
from qmd.surface import render
from qmd.surface.cli.common import Collections, State, notice, parsed_day, say, state
from qmd.surface.render import Format

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
    wanted = {Format(flag) for flag, given in flags.items() if given}
    if name is not None:
        if name not in list(Format):
            valid = ", ".join(form.value for form in Format)
            raise UsageError(f"Unknown format: {name}. Valid: {valid}.")
        wanted.add(Format(name))
    if len(wanted) > 1:
        raise UsageError(f"Choose one format, not {' and '.join(sorted(wanted))}.")
    return wanted.pop() if wanted else Format.CLI


def search(
    context: typer.Context,
    query: Annotated[
        list[str], typer.Argument(help='Words to look for. "exact phrase", -without.')
    ],
    limit: Annotated[
        int | None,
        typer.Option("-n", "--limit", min=1, help="Results at most (5; 20 for programs)."),
    ] = None,
    collection: Collections = None,
    everything: Annotated[bool, typer.Option("--all", help="All results.")] = False,
    min_score: Annotated[
        float, typer.Option("--min-score", min=0, max=1, help="Leave out lower scores.")
    ] = 0.0,
    full: Annotated[bool, typer.Option("--full", help="Whole documents, no snippets.")] = False,
    line_numbers: Annotated[
        bool, typer.Option("--line-numbers", help="Number the lines of whole documents.")
    ] = False,
    full_path: Annotated[
        bool, typer.Option("--full-path", help="Show where the files are on disk.")
    ] = False,
    since: Annotated[
        str | None, typer.Option(metavar="DATE", help="Documents of this day or later.")
    ] = None,
    before: Annotated[
        str | None, typer.Option(metavar="DATE", help="Documents from before this day.")
    ] = None,
    where: Annotated[
        str | None,
        typer.Option("--filter", metavar="TEST", help="On frontmatter: 'status = open'."),
    ] = None,
    form: FormatName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Write CSV.")] = False,
    as_md: Annotated[bool, typer.Option("--md", help="Write Markdown.")] = False,
    as_xml: Annotated[bool, typer.Option("--xml", help="Write XML.")] = False,
    as_files: Annotated[bool, typer.Option("--files", help="Write docid,score,file.")] = False,
) -> None:
    """Find documents by keyword (BM25). Fast: no model is loaded."""
    from qmd.engine import UNLIMITED
    from qmd.text.filters import parse_filter
    from qmd.types import Filter

    chosen = chosen_format(form, json=as_json, csv=as_csv, md=as_md, xml=as_xml, files=as_files)
    for_programs = chosen in (Format.JSON, Format.FILES)
    wanted = limit if limit is not None else MANY if for_programs else FEW
    moments = [parsed_day(since, "--since"), parsed_day(before, "--before")]
    first, last = [moment if isinstance(moment, datetime) else None for moment in moments]
    here = state(context)
    with here.engine() as engine:
        answer = engine.search(
            " ".join(query),
            among=Filter(
                tuple(collection) if collection else None,
                first,
                last,
                parse_filter(where) if where is not None else (),
            ),
            limit=UNLIMITED if everything else wanted,
            length=SHORT if chosen is Format.JSON else LONG,
            full=full,
        )
        roots = {}
        if full_path or here.colour:
            roots = {each.name: each.root for each in engine.collections()}
        template = _editor(here, engine.settings().editor_uri) if here.colour else None
    if answer.notice:
        notice(answer.notice)
    results = [result for result in answer.results if result.score >= min_score]

    def on_disk(name: str) -> str:
        root, _, path = name.partition("/")
        return f"{roots[root]}/{path}"

    say(
        render.results(
            results,
            chosen,
            style=_style(here, template, roots, answer.words),
            numbered=line_numbers,
            names=on_disk if full_path else str,
            below_threshold=bool(answer.results),
        )
    )


def _editor(here: State, configured: str | None) -> str:
    return here.environ.get("QMD_EDITOR_URI") or configured or "file://{path}"


def _style(
    here: State, template: str | None, roots: dict[str, str], words: Mapping[str, str]
) -> render.Style:
    if template is None:
        return render.PLAIN
    from qmd.text.snippet import matcher

    return render.Style(True, render.editor_link(template, roots), matcher(words))
