"""`qmd search`, `vsearch`, `query`: find documents by words, by meaning, by both."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from qmd.errors import UsageError
from qmd.surfaces import formats, render
from qmd.surfaces.cli.common import State, notice, say, state
from qmd.surfaces.cli.search_options import Options, a_half_life, a_number, with_options
from qmd.text import paths
from qmd.types import SIMILAR
from qmd.wording import DIGITS, reaches

if TYPE_CHECKING:
    from qmd.operations.engine import Answer, Engine


class FusionName(StrEnum):
    """How ranked lists become one."""

    SCORES = "scores"
    RRF = "rrf"


PerFile = Annotated[
    int, typer.Option("--per-file", min=1, help="Passages of one document at most.")
]


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
    if query == ["-"]:
        text = " ".join(text.splitlines())
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
    per_file: PerFile = 1,
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
    per_file: PerFile = 1,
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
            metavar="DAYS",
            callback=a_half_life,
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

    from qmd.ranking.hybrid import Recipe

    among, length = options.among, options.length
    document = _asked(question)
    here = state(context)
    with here.engine(warm=True, gpu=not no_gpu) as engine:
        engine.database.missed = None  # to read all postings is for who is asked again
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
                    per_file=per_file,
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
        text = sys.stdin.read().rstrip("\n")
        text.encode()  # where bytes that are no UTF-8 are kept as halves of characters
        return text
    except UnicodeError as error:
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
    digits = 4 if options.format is formats.Format.CSV else DIGITS
    results = [result for result in answer.results if reaches(result.score, least, digits)]

    def on_disk(name: str) -> str:
        root, _, path = name.partition("/")
        return paths.place(roots.get(root, ""), path) or name

    say(
        render.results(
            results,
            options.format,
            style=_style(here, template, roots, answer.words),
            numbered=options.line_numbers,
            names=on_disk if options.full_path else str,
            below_threshold=bool(answer.results),
            raw_csv=options.raw_csv,
        )
    )


def _editor(here: State, engine: Engine) -> str:
    """What a click on a path opens; what a project says of it counts if it was approved."""
    from qmd.settings import trust

    settings = engine.settings()
    uri = settings.editor_uri
    approved = uri if uri and trust.is_trusted(engine.place, settings) else None
    return here.environ.get("QMD_EDITOR_URI") or approved or "file://{path}"


def _style(
    here: State, template: str | None, roots: dict[str, str], words: Mapping[str, str]
) -> render.Style:
    if template is None:
        return render.Style(terminal=sys.stdout.isatty())
    from qmd.ranking.snippets import Matcher

    return render.Style(True, True, render.editor_link(template, roots), Matcher(words))
