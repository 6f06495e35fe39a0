"""Asking the questions of a fixture, each in several ways, by the engine that users have."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from qmd.engine import ALL, Engine
from qmd.errors import IndexFailure, ModelError, NotEmbedded, QmdError, QueryError, UsageError
from qmd.evaluation import Backend, fixtures
from qmd.evaluation.runs import Asked, Run, Spread, apart, spread
from qmd.store import search
from qmd.text import query, questions
from qmd.types import Collection, Filter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qmd.config import Settings
    from qmd.editing import Parsed
    from qmd.engine import Answer
    from qmd.evaluation.fixtures import Fixture, Question
    from qmd.models.choice import Space
    from qmd.store.cursor import Cursor
    from qmd.types import Result

Told = Callable[[int, int], None]
"""Is told (done, in all)."""

Progress = Callable[[str], Told]
"""Gives for a piece of work what is told how far it is."""

Value = TypeVar("Value")

STAGED = 200
"""Questions whose stages are timed, at most."""


class Bench(NamedTuple):
    """An index, and who asks it.

    Attributes:
        among: documents that may answer.
        ids: of the documents of a corpus, by the name of the file; empty for a user's own index.
    """

    engine: Engine
    fixture: Fixture
    among: Filter = ALL
    ids: Mapping[str, str] = MappingProxyType({})

    def names(self, file: str, docid: str) -> Sequence[str]:
        """What the fixture may call a document, known here as `collection/path` and docid."""
        if self.ids:
            return (self.ids[file.partition("/")[2]],)
        return (f"qmd://{file}",) if self.fixture.is_typed else (file, docid)


class Ready(NamedTuple):
    """What can be asked.

    Attributes:
        left_out: the others that were wanted, each with the reason.
        space: of the vectors, or None if there are none.
    """

    backends: list[Backend]
    left_out: dict[Backend, str]
    space: Space | None


# -- the index -------------------------------------------------------------------


def own_index(engine: Engine, fixture: Fixture, names: Sequence[str]) -> Bench:
    """The user's own index.

    Args:
        names: of collections; without any, those that the fixture names, or that searches look
            into.

    Raises:
        CollectionNotFound: there is none of one of the names.
        UsageError: there is nothing in it.
    """
    named = tuple(names) or ((fixture.collection,) if fixture.collection else ())
    for name in named:
        engine.collection(name)
    known = engine.overview()
    chosen = named or tuple(each.name for each in known if each.included)
    if not any(each.documents for each in known if each.name in chosen):
        raise UsageError(
            "There are no documents to find.\n\n"
            "Add a folder with 'qmd collection add PATH', or run 'qmd update'."
        )
    return Bench(engine, fixture, Filter(chosen) if named or len(chosen) < len(known) else ALL)


@contextmanager
def corpus_index(engine: Engine, fixture: Fixture, progress: Progress) -> Iterator[Bench]:
    """An index of the documents of a fixture, gone afterwards.

    Args:
        engine: of the user: its models and its way to cut texts are used.

    Raises:
        UsageError: the documents cannot be read.
    """
    import anyio

    from qmd.environment import Place
    from qmd.models.registry import ROLES

    assert fixture.corpus is not None
    with tempfile.TemporaryDirectory(prefix="qmd-bench-") as name:
        work = Path(name)
        ids = _written(fixture.corpus, work / "docs")
        place = Place(
            "index", work / "index.yml", work / "index.duckdb", None, work / "trusted.json"
        )
        used: dict[str, str] = {
            role: model.uri for role in ROLES if (model := engine.models.chosen(role)) is not None
        }
        made = Engine(place, engine.models.machine._replace(chosen=used), warm=True)
        try:
            made.change(partial(_configure, engine.settings(), work / "docs"))
            told = progress("Indexing")
            [report] = anyio.run(lambda: made.update(progress=lambda _: told))
            if report.failure:
                raise UsageError(f"{fixture.corpus} could not be indexed: {report.failure}")
            yield Bench(made, fixture, ids=ids)
        finally:
            made.close()


def _configure(own: Settings, folder: Path, _: Settings, document: Parsed) -> None:
    """Write an index.yml with one collection, and the user's way to cut texts."""
    from qmd.editing import add_collection

    document["chunk"] = {
        "tokens": own.chunk_tokens,
        "overlap": own.chunk_overlap,
        "strategy": own.chunk_strategy,
    }
    add_collection(document, Collection("docs", str(folder)))


def _written(corpus: Path, folder: Path) -> dict[str, str]:
    """Write each document as a Markdown file whose name no question has a word of.

    Returns:
        The ids of the documents, by the names of the files.
    """
    folder.mkdir()
    ids = {}
    for number, (name, title, text) in enumerate(fixtures.documents(corpus), start=1):
        heading = " ".join(title.split())
        body = f"# {heading}\n\n{text}" if heading else text
        file = folder / f"zq{number}.md"
        file.write_text(body or ".", encoding="utf-8")
        ids[file.name] = name
    if not ids:
        raise UsageError(f"{corpus} has no documents.")
    return ids


def missing(bench: Bench) -> list[str]:
    """Judged documents that cannot be found: they are not in the index."""
    among = bench.among.collections
    return bench.fixture.unknown(
        bench.names(document.name, document.docid)
        for document in bench.engine.documents(None)
        if among is None or document.collection in among
    )


# -- what can be asked -----------------------------------------------------------


def ready(bench: Bench, wanted: Sequence[Backend], progress: Progress) -> Ready:
    """Which backends can answer. The documents of a corpus get their vectors, if one needs them.

    Args:
        wanted: by the user; without any, all that can.

    Raises:
        QmdError: why one that is wanted cannot.
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
    return Ready(backends, left_out, space)


def _vectors(bench: Bench, progress: Progress) -> tuple[Space | None, QmdError | None]:
    """Where vectors are compared, with their model loaded; or why they cannot be."""
    import anyio

    engine = bench.engine
    try:
        space = engine.models.space()
        engine.models.embedder(space)
        if bench.ids:
            anyio.run(lambda: engine.embed(progress=progress("Embedding")))
        _, state = engine.vectors()
    except ModelError as error:
        return None, error
    return (space, None) if state.vectors else (None, NotEmbedded())


def _no_helper(engine: Engine) -> QmdError | None:
    """Why no model expands or judges, or None if one does."""
    from qmd.errors import RuntimeMissing
    from qmd.models import choice
    from qmd.models.registry import is_installed

    problem: QmdError = UsageError(
        "There is no model that expands questions or judges results.\n\n"
        "Fetch them with 'qmd models pull'."
    )
    for role in ("generate", "rerank"):
        try:
            model = engine.models.chosen(role)
            if model is None:
                continue
            choice.located(model, engine.models.machine)
        except ModelError as error:
            problem = error
            continue
        if model.is_remote or is_installed():
            return None
        problem = RuntimeMissing(model.name)
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
    bench.engine.log = None  # what a judge asks is nothing that the user has asked
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


Way = Callable[["Question"], Awaitable["list[Answer]"]]
"""Answers a question: once for each search of it."""


def _ways(bench: Bench, *, meaning: bool, depth: int) -> dict[Backend, Way]:
    """How each backend is asked."""
    from anyio import to_thread

    from qmd.pipeline.hybrid import Recipe

    engine, fixture, among = bench.engine, bench.fixture, bench.among

    async def by_words(question: Question) -> list[Answer]:
        ask = partial(engine.search, among=among, limit=depth)
        return [await to_thread.run_sync(ask, x) for x in _lines(fixture, question, "lex")]

    async def by_meaning(question: Question) -> list[Answer]:
        ask = partial(engine.vector_search, among=among, limit=depth)
        return [await to_thread.run_sync(ask, x) for x in _lines(fixture, question, "vec", "hyde")]

    async def by_both(question: Question, *, helping: bool) -> list[Answer]:
        text = question.text if fixture.is_typed else f"expand: {plain(question.text)}"
        return [
            await engine.query(
                text,
                among=among,
                limit=depth,
                recipe=Recipe(meaning=meaning),
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
    bench: Bench, way: Way, question: Question, notices: Counter[str], depth: int
) -> Asked:
    began = time.perf_counter()
    try:
        answers = await way(question)
    except IndexFailure:
        raise
    except QmdError as error:
        return Asked(problem=_first_line(error))
    milliseconds = (time.perf_counter() - began) * 1000
    notices.update(answer.notice for answer in answers if answer.notice)
    results: dict[str, Result] = {}
    for answer in answers:
        for result in answer.results:
            results.setdefault(result.file, result)
    best = list(results.values())[:depth]
    known_as = (bench.names(result.file, result.docid) for result in best)
    names = bench.fixture.named(question.judged, known_as)
    return Asked(apart(names, (result.score for result in best)), milliseconds)


def plain(question: str) -> str:
    """A question without what has a meaning in the query syntax."""
    return " ".join(word.lstrip("-") for word in question.replace('"', " ").split())


def _lines(fixture: Fixture, question: Question, *kinds: str) -> list[str]:
    """What is searched in one way: of a query document its lines, else the question."""
    if not fixture.is_typed:
        return [plain(question.text)]
    read = questions.parse(question.text)
    if read.plain is not None:
        return [read.plain]
    return [each.text for each in read.searches if each.kind in kinds]


# -- stages ----------------------------------------------------------------------


def stages(bench: Bench, space: Space | None, progress: Progress) -> dict[str, Spread]:
    """How long the parts of a hybrid search take, each alone: `words`, `embed`, `vectors`.

    Args:
        space: None: words alone are timed.
    """
    from qmd.pipeline.fusion import DEPTH
    from qmd.store import embeddings

    engine, limit = bench.engine, DEPTH["scores"]
    chosen = bench.fixture.sampled(STAGED).questions
    vectors = engine.vectors()[1].vectors if space is not None else 0
    times: dict[str, list[float]] = {"words": [], "embed": [], "vectors": []}
    told = progress("Timing stages")

    def timed(stage: str, work: Callable[[], Value]) -> Value:
        began = time.perf_counter()
        value = work()
        times[stage].append((time.perf_counter() - began) * 1000)
        return value

    def by_words(text: str, cursor: Cursor) -> object:
        asked = query.parse(text)
        return search.scored(cursor, asked, engine.stemmer, among=bench.among, limit=limit)

    def by_meaning(space: Space, vector: NDArray[np.float32], cursor: Cursor) -> object:
        number = embeddings.model_id(cursor, space.fingerprint)
        assert number is not None
        return embeddings.nearest(
            cursor,
            vector,
            model_id=number,
            vectors=vectors,
            documents=search.allowed(cursor, bench.among),
            limit=limit,
        )

    for done, question in enumerate(chosen, start=1):
        with suppress(QueryError, ModelError):
            for text in _lines(bench.fixture, question, "lex")[:1]:
                timed("words", partial(engine.read, partial(by_words, text)))
            for text in _lines(bench.fixture, question, "vec", "hyde")[:1]:
                if space is not None:
                    asked = [space.model.as_query(text)]
                    [vector] = timed("embed", partial(engine.models.embedder(space).embed, asked))
                    timed("vectors", partial(engine.read, partial(by_meaning, space, vector)))
        told(done, len(chosen))
    return {stage: found for stage, each in times.items() if (found := spread(each)) is not None}
