"""`qmd bench`: how good search is, over judged questions."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qmd.declaration.parameters import UNLIMITED
from qmd.errors import UsageError, extras
from qmd.evaluation import Backend
from qmd.named_tuple import NamedTuple
from qmd.surfaces import formats, wording
from qmd.surfaces.cli.bench_report import Outcome, amount_of_queries, report, report_json
from qmd.surfaces.cli.bench_tuning import tuning_json, tuning_report
from qmd.surfaces.cli.common import PARTLY, Ended, Json, examples, notice, say, state
from qmd.surfaces.cli.framework import READ, WRITTEN, Collections, Whole
from qmd.surfaces.cli.progress import bars

if TYPE_CHECKING:
    from qmd.evaluation.fixtures import Fixture
    from qmd.evaluation.index_under_test import Bench, Progress
    from qmd.evaluation.runs import Run, Spread
    from qmd.operations.index import Index


MISSING_FIXTURE = (
    "Name a file with judged queries, or a folder.\n\n"
    "'qmd bench --tune' alone takes results that were read after a search."
)

NAMED = 5
"""Names that a notice lists at most."""


class BenchOptions(NamedTuple):
    """The options of a run, besides the fixture."""

    backends: Sequence[Backend]
    collections: Sequence[str]
    depth: int
    searching: bool
    runs: Path | None


@examples(
    ("Ask questions whose answers are known", "qmd bench questions.json"),
    (
        "Keyword search alone, on 20 questions by chance",
        "qmd bench questions.json --backend bm25 --queries 20",
    ),
    ("Draw quality against time", "qmd bench questions.json --chart quality.svg"),
    ("Propose weights for your documents", "qmd bench questions.json --tune"),
)
def bench(
    context: typer.Context,
    fixture: Annotated[
        Path | None,
        typer.Argument(
            click_type=READ, help="JSON with queries and expected files, or a BEIR or TREC folder."
        ),
    ] = None,
    backend: Annotated[
        list[Backend] | None,
        typer.Option("--backend", help="Only this way to search; may be repeated."),
    ] = None,
    queries: Annotated[
        int | None,
        typer.Option("--queries", click_type=Whole(1), help="So many of the queries, by chance."),
    ] = None,
    collection: Collections = None,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth", click_type=Whole(1), help="Results of a query (100; of JSON what it needs)."
        ),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(
            "--run",
            metavar="FILE",
            click_type=WRITTEN,
            help="Write what was found as TREC run files.",
        ),
    ] = None,
    score: Annotated[
        list[Path] | None,
        typer.Option(
            "--score",
            metavar="RUN",
            click_type=READ,
            help="Score this TREC run too; may be repeated.",
        ),
    ] = None,
    no_search: Annotated[
        bool, typer.Option("--no-search", help="Only score the runs of --score.")
    ] = False,
    chart: Annotated[
        Path | None,
        typer.Option(
            "--chart",
            metavar="FILE",
            click_type=WRITTEN,
            help="Draw quality against time: .png or .svg.",
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace files, even if they are no runs or pictures of qmd."),
    ] = False,
    tune: Annotated[
        bool,
        typer.Option(
            "--tune",
            help="Propose the share of keywords in 'query'; without a fixture, by results that "
            "were read after a search.",
        ),
    ] = False,
    no_gpu: Annotated[bool, typer.Option("--no-gpu", help="Run models on the CPU.")] = False,
    as_json: Json = False,
) -> None:
    """Measure how good search is, over queries whose right answers are known."""
    from qmd.evaluation import charts, fixtures, runs

    gc.enable()  # thousands of queries leave much behind
    extras.require_extra("ir-measures", "ir_measures", "computes the figures", extra="bench")
    if chart is not None:
        charts.check_drawable(chart, force=force)
    if no_search and not score:
        raise UsageError("There is nothing to do: --no-search goes with --score RUN.")
    if run is not None:
        runs.check_run_files(run, backend or list(Backend), force=force)
    if tune and (backend or depth or run or score or no_search or chart):
        raise UsageError("--tune compares hybrid searches: it goes with --queries, -c and --json.")
    if fixture is None:
        if not tune:
            raise UsageError(MISSING_FIXTURE)
        from qmd.evaluation import opened_results

        with state(context).engine() as engine:
            judged = opened_results.from_log(engine.log.lines() if engine.log else ())
    else:
        judged = fixtures.read(fixture)
    if judged.corpus is not None and collection:
        raise UsageError(
            f"{fixture} has documents of its own; -c is for queries about yours.\n\n"
            "Leave it out, or take corpus.jsonl away."
        )
    if judged.remark:
        notice(judged.remark)
    if queries is not None:
        judged = judged.sampled(queries)
    if tune:
        _tune(context, judged, collection or (), gpu=not no_gpu, as_json=as_json)
        return
    depth = min(depth or judged.depth, UNLIMITED)
    options = BenchOptions(backend or (), collection or (), depth, not no_search, run)
    others = [runs.read(path, judged, depth=options.depth) for path in score or ()]
    with state(context).engine(warm=True, gpu=not no_gpu) as engine, bars("shares") as of:
        outcome = _measured(engine, judged, options, others, of)
    if chart is not None:
        _draw(outcome, chart)
    say(formats.as_json(report_json(outcome)) if as_json else report(outcome))
    if _tell_failures(outcome):
        raise Ended(PARTLY)


def _tune(
    context: typer.Context,
    judged: Fixture,
    collections: Sequence[str],
    *,
    gpu: bool,
    as_json: bool,
) -> None:
    """Compare weights, and tell what to write into index.yml."""
    from qmd.evaluation import index_under_test, tuning
    from qmd.evaluation.fixtures import MIN_DEPTH

    judged = judged._replace(depth=MIN_DEPTH)
    with (
        state(context).engine(warm=True, gpu=gpu) as engine,
        bars("shares") as of,
        ExitStack() as stack,
    ):
        if judged.corpus is None:
            tried = index_under_test.own_index(engine, judged, collections)
        else:
            tried = stack.enter_context(index_under_test.corpus_index(engine, judged, of))
            tried.engine.tried_share = engine.keyword_share()
        _tell_missing(tried)
        tuned = tuning.tune(tried, of)
        config = engine.place.config
    if as_json:
        say(formats.as_json(tuning_json(tuned, judged.name)))
    else:
        say(tuning_report(tuned, judged.name, config))


def _measured(
    engine: Index, fixture: Fixture, options: BenchOptions, others: list[Run], progress: Progress
) -> Outcome:
    """All runs and their figures."""
    import anyio

    from qmd.evaluation import index_under_test, metrics, runner, runs, timing

    found: list[Run] = []
    left_out: dict[Backend, str] = {}
    stages: dict[str, Spread] = {}
    model = None
    with ExitStack() as stack:
        if options.searching:
            if fixture.corpus is None:
                bench = index_under_test.own_index(engine, fixture, options.collections)
            else:
                bench = stack.enter_context(
                    index_under_test.corpus_index(engine, fixture, progress)
                )
            _tell_missing(bench)
            ready = runner.ready(bench, options.backends, progress)
            left_out = ready.left_out
            for backend, reason in left_out.items():
                notice(f"{backend} is left out. {reason}")
            model = ready.space.model.name if ready.space is not None else None
            found = anyio.run(
                lambda: runner.ask(
                    bench,
                    ready.backends,
                    meaning=ready.space is not None,
                    depth=options.depth,
                    progress=progress,
                )
            )
            searched = any(each is not Backend.BM25 for each in ready.backends)
            stages = timing.stages(bench, ready.space if searched else None, progress)
    if options.runs is not None:
        runs.write(found, options.runs)
    rows = [(each, metrics.score(each, fixture, depth=options.depth)) for each in [*found, *others]]
    return Outcome(fixture, options.depth, rows, left_out, stages, model)


# -- what is told ------------------------------------------------------------------


def _tell_missing(bench: Bench) -> None:
    from qmd.evaluation import index_under_test

    missing = index_under_test.missing_documents(bench)
    if missing:
        documents = wording.amount(len(missing), "judged document")
        notice(f"{documents} cannot be found, since the index has none such: {_listed(missing)}")


def _tell_failures(outcome: Outcome) -> bool:
    """Tell what was said of answers, and which queries could not be asked; whether any."""
    failed = False
    for run, _ in outcome.rows:
        for text, times in run.notices.items():
            notice(f"{run.name}, {amount_of_queries(times)}: {text}")
        if run.failed:
            failed = True
            reason = next(iter(run.failed.values()))
            count = amount_of_queries(len(run.failed))
            notice(f"{run.name}, {count} failed: {_listed([*run.failed])}\n  {reason}")
    return failed


def _listed(names: Sequence[str]) -> str:
    more = ", …" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _draw(outcome: Outcome, path: Path) -> None:
    from qmd.evaluation import charts, metrics
    from qmd.evaluation.runs import spread

    points = []
    for run, scores in outcome.rows:
        time = spread(run.milliseconds)
        quality = scores.mean[metrics.QUALITY]
        points.append(charts.Point(run.name, quality, time.p50 if time else None))
    title = f"{outcome.fixture.name}: {amount_of_queries(len(outcome.fixture.questions))}"
    charts.draw(points, path, title=title, quality=metrics.QUALITY)
