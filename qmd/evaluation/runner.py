"""Runner: each query in each search method, with its time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from qmd.embedding.vector_status import vector_status
from qmd.errors import IndexFailure, ModelError, NotEmbedded, QmdError, UsageError
from qmd.evaluation import Backend
from qmd.evaluation.runs import QueryRun, Run, break_ties
from qmd.named_tuple import NamedTuple
from qmd.operations.embed import run_embed
from qmd.operations.search import search
from qmd.operations.semantic_search import query, vector_search
from qmd.ranking import query_document

if TYPE_CHECKING:
    from qmd.analytics.rows import Results
    from qmd.evaluation.fixtures import Fixture, JudgedQuery
    from qmd.evaluation.index_under_test import Bench, Progress
    from qmd.models.selection import Space
    from qmd.operations.index import Index
    from qmd.types import Result

# -- what can be asked -----------------------------------------------------------


class PreparedMethods(NamedTuple):
    """Available search methods.

    Attributes:
        left_out: the others that were wanted, each with the reason.
        space: of the vectors, or None if there are none.
    """

    backends: list[Backend]
    left_out: dict[Backend, str]
    space: Space | None


def ready(bench: Bench, wanted: Sequence[Backend], progress: Progress) -> PreparedMethods:
    """Determine the available search methods. A corpus is embedded if one needs vectors.

    Args:
        wanted: methods that the user wants; none: all that are available.

    Raises:
        QmdError: a wanted method cannot be used; with the reason.
    """
    asked = tuple(wanted) or tuple(Backend)
    space, no_vectors = None, None
    if set(asked) - {Backend.BM25}:
        space, no_vectors = _vectors(bench, progress)
    reasons = {
        Backend.VECTOR: no_vectors,
        Backend.HYBRID: no_vectors,
        Backend.FULL: _no_helper(bench.engine) if Backend.FULL in asked else None,
    }
    backends, left_out = [], {}
    for backend in Backend:
        reason = reasons.get(backend)
        if backend not in asked:
            continue
        if reason is None:
            backends.append(backend)
        elif wanted:
            raise reason
        else:
            left_out[backend] = _first_line(reason)
    return PreparedMethods(backends, left_out, space)


def _vectors(bench: Bench, progress: Progress) -> tuple[Space | None, QmdError | None]:
    """Load the model of the vector space; return it, or the error that prevents vector search."""
    import anyio

    engine = bench.engine
    try:
        space = engine.models.space()
        engine.models.embedder(space)
        if bench.ids:
            anyio.run(lambda: run_embed(engine, progress=progress("Embedding")))
        _, state = vector_status(engine)
    except ModelError as error:
        return None, error
    return (space, None) if state.vectors else (None, NotEmbedded())


def _no_helper(engine: Index) -> QmdError | None:
    """Return the reason why no helper model is in use, or None if one is."""
    from qmd.errors import RuntimeMissing
    from qmd.models import selection
    from qmd.models.registry import can_run, runtime

    problem: QmdError = UsageError(
        "There is no model that expands questions or judges results.\n\n"
        "Fetch them with 'qmd models pull'."
    )
    for role in ("generate", "rerank"):
        try:
            model = engine.models.chosen(role)
            if model is None:
                continue
            selection.located(model, engine.models.machine)
        except ModelError as error:
            problem = error
            continue
        if can_run(model):
            return None
        problem = RuntimeMissing(model.name, library=runtime(model))
    return problem


def _first_line(error: QmdError) -> str:
    return str(error).split("\n")[0]


# -- asking ----------------------------------------------------------------------


async def ask(
    bench: Bench, backends: Sequence[Backend], *, meaning: bool, depth: int, progress: Progress
) -> list[Run]:
    """Ask all questions in all ways, one after the other.

    The first question is asked once more before the clock starts: it loads what is needed.

    Args:
        meaning: whether there are vectors.
        depth: results to ask for.

    Raises:
        IndexFailure: the index cannot be read any more.
    """
    bench.engine.log = None  # queries of a benchmark are not the user's
    runs = []
    ways = _ways(bench, meaning=meaning, depth=depth)
    for backend in backends:
        way = ways[backend]
        told = progress(f"Asking {backend}")
        notices = Counter[str]()
        asked = {}
        await _asked(bench, way, bench.fixture.questions[0], Counter(), depth)
        for done, question in enumerate(bench.fixture.questions, start=1):
            asked[question.id] = await _asked(bench, way, question, notices, depth)
            told(done, len(bench.fixture.questions))
        runs.append(Run(backend.value, asked, notices))
    return runs


Way = Callable[["JudgedQuery"], Awaitable["list[Results]"]]
"""Function that answers a query, once for each search of it."""


def _ways(bench: Bench, *, meaning: bool, depth: int) -> dict[Backend, Way]:
    """Map each search method to its function."""
    from anyio import to_thread

    engine, fixture, among = bench.engine, bench.fixture, bench.among.collections

    async def by_words(question: JudgedQuery) -> list[Results]:
        ask = partial(search, engine, limit=depth, all_copies=True, collection=among)
        return [await to_thread.run_sync(ask, x) for x in searched_texts(fixture, question, "lex")]

    async def by_meaning(question: JudgedQuery) -> list[Results]:
        ask = partial(
            vector_search, engine, limit=depth, min_score=-1.0, all_copies=True, collection=among
        )
        return [
            await to_thread.run_sync(ask, x)
            for x in searched_texts(fixture, question, "vec", "hyde")
        ]

    async def by_both(question: JudgedQuery, *, helping: bool) -> list[Results]:
        text = question.text if fixture.is_typed else f"expand: {strip_query_syntax(question.text)}"
        return [
            await query(
                engine,
                text,
                collection=among,
                limit=depth,
                all_copies=True,
                mode="hybrid" if meaning else "fast",
                expand=helping,
                rerank=helping,
            )
        ]

    return {
        Backend.BM25: by_words,
        Backend.VECTOR: by_meaning,
        Backend.HYBRID: partial(by_both, helping=False),
        Backend.FULL: partial(by_both, helping=True),
    }


async def _asked(
    bench: Bench, way: Way, question: JudgedQuery, notices: Counter[str], depth: int
) -> QueryRun:
    began = time.perf_counter()
    try:
        answers = await way(question)
    except IndexFailure:
        raise
    except QmdError as error:
        return QueryRun(problem=_first_line(error))
    milliseconds = (time.perf_counter() - began) * 1000
    notices.update(answer.notice for answer in answers if answer.notice)
    results: dict[str, Result] = {}
    for answer in answers:
        for result in answer:
            results.setdefault(result.file, result)
    best = list(results.values())[:depth]
    known_as = (bench.names(result.file, result.docid) for result in best)
    names = bench.fixture.named(question.judged, known_as)
    return QueryRun(break_ties(names, (result.score for result in best)), milliseconds)


def strip_query_syntax(question: str) -> str:
    """Remove the characters with a meaning in the query syntax."""
    return " ".join(word.lstrip("-") for word in question.replace('"', " ").split())


def searched_texts(fixture: Fixture, question: JudgedQuery, *kinds: str) -> list[str]:
    """Return the texts for one method: the lines of a query document, else the query."""
    if not fixture.is_typed:
        return [strip_query_syntax(question.text)]
    read = query_document.parse(question.text)
    if read.plain is not None:
        return [read.plain]
    return [each.text for each in read.searches if each.kind in kinds]
