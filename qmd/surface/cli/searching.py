"""`qmd search`, `vsearch`, `query`: find documents by words, by meaning, by both."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, NamedTuple, get_type_hints

import typer

from qmd.errors import UsageError
from qmd.surface import render
from qmd.surface.cli.common import Collections, State, notice, parsed_day, say, state
from qmd.surface.formats import Format
from qmd.types import SIMILAR

if TYPE_CHECKING:
    from qmd.engine import Answer, Engine
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
    wanted = {Format(flag) for flag, given in flags.items() if given}
    if name is not None:
        if name not in list(Format):
            valid = ", ".join(form.value for form in Format)
            raise UsageError(f"Unknown format: {name}. Valid: {valid}.")
        wanted.add(Format(name))
    if len(wanted) > 1:
        raise UsageError(f"Choose one format, not {' and '.join(sorted(wanted))}.")
    return wanted.pop() if wanted else Format.CLI


def a_number(value: float | None) -> float | None:
    """The value of an option, if it is a number: the bounds of an option let NaN pass."""
    if value is not None and math.isnan(value):
        raise typer.BadParameter("nan is not a number.")
    return value


class FusionName(StrEnum):
    """How ranked lists become one."""

    SCORES = "scores"
    RRF = "rrf"


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
        from qmd.engine import UNLIMITED

        if self.everything:
            if self.limit is not None:
                raise UsageError("Choose one: --all, or so many with -n.")
            return UNLIMITED
        for_programs = self.format in (Format.JSON, Format.FILES)
        return self.limit if self.limit is not None else MANY if for_programs else FEW

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


@with_options
def search(
    context: typer.Context,
    query: Annotated[
        list[str],
        typer.Argument(
            help='Words to look for. "exact phrase"; "tea -green" or -- tea -green; - reads stdin.'
        ),
    ],
    *,
    options: Options,
) -> None:
    """Find documents by keyword (BM25). Fast: no model is loaded."""
    among, length, text = options.among, options.length, _asked(query)
    here = state(context)
    with here.engine() as engine:
        answer = engine.search(
            text,
            among=among,
            limit=options.wanted,
            length=length,
            full=options.full,
        )
        show(here, engine, answer, options, lowest=0.0)


@with_options
def vsearch(
    context: typer.Context,
    query: Annotated[
        list[str],
        typer.Argument(help="What you want to know, in your own words; - reads stdin."),
    ],
    *,
    options: Options,
    per_file: Annotated[
        int, typer.Option("--per-file", min=1, help="Passages of one document at most.")
    ] = 1,
    no_gpu: Annotated[bool, typer.Option("--no-gpu", help="Run the model on the CPU.")] = False,
) -> None:
    """Find documents by meaning: passages that say what you ask, in whatever words."""
    among, length, text = options.among, options.length, _asked(query)
    here = state(context)
    with here.engine(gpu=not no_gpu) as engine:
        answer = engine.vector_search(
            text,
            among=among,
            limit=options.wanted,
            per_file=per_file,
            length=length,
            full=options.full,
        )
        show(here, engine, answer, options, lowest=SIMILAR)


class Mode(StrEnum):
    """How much is done for an answer."""

    FAST = "fast"
    HYBRID = "hybrid"
    FULL = "full"


NO_HELP = (
    "No model here expands or reranks: this is what --mode hybrid finds. "
    "'qmd models list' shows models that do."
)


@with_options
def query(
    context: typer.Context,
    question: Annotated[
        list[str],
        typer.Argument(help="A question, or lines lex: vec: hyde: intent:; - reads stdin."),
    ],
    *,
    options: Options,
    mode: Annotated[
        Mode | None,
        typer.Option(help="fast: words; hybrid: and meaning; full: and models that help."),
    ] = None,
    intent: Annotated[
        str | None, typer.Option("--intent", metavar="TEXT", help="What the question is about.")
    ] = None,
    candidates: Annotated[
        int,
        typer.Option("-C", "--candidate-limit", min=1, help="Documents that a model judges."),
    ] = 40,
    no_expand: Annotated[
        bool, typer.Option("--no-expand", help="Search as it is asked, not also in other words.")
    ] = False,
    no_rerank: Annotated[
        bool, typer.Option("--no-rerank", help="Let no model judge the results.")
    ] = False,
    fusion: Annotated[
        FusionName, typer.Option("--fusion", help="How the lists become one.")
    ] = FusionName.SCORES,
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            min=0,
            metavar="SECONDS",
            callback=a_number,
            help="For each model that helps.",
        ),
    ] = None,
    recent: Annotated[
        float | None,
        typer.Option(
            "--recent",
            min=0.01,
            metavar="DAYS",
            callback=a_number,
            help="Prefer new documents; half after so long.",
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show how each score came about.")
    ] = False,
    no_gpu: Annotated[bool, typer.Option("--no-gpu", help="Run models on the CPU.")] = False,
) -> None:
    """Find documents by words and by meaning, the best of both first."""
    import anyio

    from qmd.pipeline.hybrid import Recipe

    among, length = options.among, options.length
    document = _asked(question)
    here = state(context)
    with here.engine(warm=True, gpu=not no_gpu) as engine:
        helping = mode is Mode.FULL or (mode is None and engine.models.help_at_once())
        answer = anyio.run(
            lambda: engine.query(
                document,
                among=among,
                limit=options.wanted,
                recipe=Recipe(
                    fusion.value,
                    meaning=mode is not Mode.FAST,
                    candidates=candidates,
                    timeout=timeout,
                    half_life=recent,
                ),
                expand=helping and not no_expand,
                rerank=helping and not no_rerank,
                length=length,
                full=options.full,
                intent=intent,
            )
        )
        models = engine.models
        if mode is Mode.FULL and not (models.chosen("generate") or models.chosen("rerank")):
            notice(NO_HELP)
        if not explain:
            answer = answer._replace(results=[r._replace(explain=None) for r in answer.results])
        show(here, engine, answer, options, lowest=0.0)


def _asked(words: list[str]) -> str:
    """What is asked: words, or what comes on stdin."""
    if words != ["-"]:
        return " ".join(words)
    try:
        return sys.stdin.read().rstrip("\n")
    except UnicodeDecodeError as error:
        raise UsageError("What came on stdin is not valid UTF-8 text.") from error


def show(here: State, engine: Engine, answer: Answer, options: Options, *, lowest: float) -> None:
    """Write results.

    Args:
        lowest: score from which on a result is shown, if the user did not say.
    """
    roots = {}
    if options.full_path or here.colour:
        roots = {each.name: each.root for each in engine.folders()}
    template = _editor(here, engine) if here.colour else None
    if answer.notice:
        notice(answer.notice)
    least = lowest if options.min_score is None else options.min_score
    results = [result for result in answer.results if result.score >= least]

    def on_disk(name: str) -> str:
        root, _, path = name.partition("/")
        return f"{roots[root]}/{path}" if root in roots else name

    say(
        render.results(
            results,
            options.format,
            style=_style(here, template, roots, answer.words),
            numbered=options.line_numbers,
            names=on_disk if options.full_path else str,
            below_threshold=bool(answer.results),
        )
    )


def _editor(here: State, engine: Engine) -> str:
    """What a click on a path opens; what a project says of it counts if it was approved."""
    from qmd import trust

    settings = engine.settings()
    approved = settings.editor_uri if trust.is_trusted(engine.place, settings) else None
    return here.environ.get("QMD_EDITOR_URI") or approved or "file://{path}"


def _style(
    here: State, template: str | None, roots: dict[str, str], words: Mapping[str, str]
) -> render.Style:
    if template is None:
        return render.PLAIN
    from qmd.text.snippet import Matcher

    return render.Style(True, render.editor_link(template, roots), Matcher(words))
