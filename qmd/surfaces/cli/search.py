"""Output of `qmd search`, and what it shares with `vsearch` and `query`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from qmd.analytics.rows import Results
from qmd.errors import UsageError
from qmd.operations.search import search as keyword
from qmd.surfaces import console, formats, render
from qmd.surfaces.cli.common import State, is_interactive, notice, say
from qmd.surfaces.cli.derive import Call, carried_out, command
from qmd.surfaces.cli.search_options import SearchOutput
from qmd.text import paths
from qmd.wording import DIGITS, lowest_shown_as, reaches

AS_WRITTEN = "With --exact, words are searched as they are written."

if TYPE_CHECKING:
    from qmd.operations.index import Index


def adjust(call: Call) -> None:
    """Ask for as much as the output format shows, and for scores that are shown as high enough."""
    options: SearchOutput = call.options
    arguments = call.arguments
    if options.yes or call.given.get("fresh"):
        console.current().stay_alone()  # it may write to the index
    arguments["limit"] = options.wanted(arguments.get("limit"))
    arguments["length"] = options.length
    if call.operation.name == "search":  # one line, also from stdin
        arguments["query"] = " ".join(arguments["query"].splitlines())
    arguments["min_score"] = lowest_shown_as(_least(call), _digits(options))


def _least(call: Call) -> float:
    """Return the lowest score that is shown."""
    least: float = call.given.get("min_score", call.operation.parameters["min_score"].default)
    return least


def _digits(options: SearchOutput) -> int:
    """Return the digits of a score behind the point."""
    return 4 if options.format is formats.Format.CSV else DIGITS


def show(call: Call, results: Results) -> None:
    """Write results."""
    if call.options.yes or (not results and is_interactive()):
        from qmd.surfaces.cli import offer

        if offer.folder_indexed(call, found=bool(results)):
            results = carried_out(call.operation, call)
    here, engine, options = call.here, call.engine, call.options
    roots = {}
    if options.full_path or here.colour:
        roots = {each.name: each.root for each in engine.collections()}
    template = _editor(here, engine) if here.colour else None
    if results.notice:
        notice(results.notice)
    if call.given.get("max_tokens") is not None:
        passages_of(results, options.format)
        return
    if results.respelled:
        notice(AS_WRITTEN)
    least, digits = _least(call), _digits(options)
    shown = [result for result in results if reaches(result.score, least, digits)]

    def on_disk(name: str) -> str:
        root, _, path = name.partition("/")
        return paths.place(roots.get(root, ""), path) or name

    say(
        render.results(
            shown,
            options.format,
            style=_style(here, template, roots, results.words),
            numbered=options.line_numbers,
            names=on_disk if options.full_path else str,
            below_threshold=bool(results.below or len(results) > len(shown)),
            raw_csv=options.raw_csv,
            respelled=results.respelled,
            missing_shards=results.missing_shards,
        )
    )


def passages_of(results: Results, form: formats.Format) -> None:
    """Write the passages of results.

    Raises:
        UsageError: the format is none that passages have.
    """
    from qmd.analytics.rows import Excerpts
    from qmd.surfaces.cli import passages

    if form not in (formats.Format.CLI, formats.Format.JSON):
        raise UsageError("With --max-tokens, results are passages: as text, or with --json.")
    found = Excerpts("", ()) if results.passages is None else results.passages
    passages.write_passages(found, as_json=form is formats.Format.JSON)


search = command(keyword, options=SearchOutput, adjust=adjust)(show)


def _editor(here: State, engine: Index) -> str:
    """Choose the link of a path; that of a project counts only if approved."""
    from qmd.settings import trust

    settings = engine.settings()
    uri = settings.editor_uri
    approved = uri if uri and trust.is_trusted(engine.place, settings) else None
    return here.environ.get("QMD_EDITOR_URI") or approved or "file://{path}"


def _style(
    here: State, template: str | None, roots: dict[str, str], words: Mapping[str, str]
) -> render.Style:
    at = console.current()
    if not at.out.isatty():
        return render.PLAIN
    from qmd.ranking.matcher import matcher_of

    link = render.editor_link(template, roots) if template is not None else None
    columns = at.columns()
    return render.Style(True, template is not None, link, matcher_of(words), columns)
