"""Operation `sql`: queries in SQL over views of the index, with searches as functions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

from qmd.analytics.rows import Table
from qmd.declaration.operation import OPERATIONS, Parameter, operation
from qmd.settings import config

if TYPE_CHECKING:
    from qmd.analytics.heading import Heading
    from qmd.analytics.query_result import Answer
    from qmd.analytics.sandbox import Limits, SearchRow
    from qmd.analytics.sandbox_worker import IndexFile
    from qmd.analytics.search_calls import Parameters, SearchCall
    from qmd.operations.index import Index

    Work = Callable[[IndexFile], tuple[tuple[Heading, ...], int]]
    """Runs a query on an index file."""

_SHELL = "`qmd sql` has an option for each value: `-p NAME=VALUE`."

SqlText = Annotated[
    str,
    Parameter(
        help="One query; - reads stdin. None: a shell.",
        metavar="QUERY",
        words=True,
        defaults={"command": None},
    ),
]

SqlParameters = Annotated[
    Any,
    Parameter(
        help="Values of $NAME, or of ? in order.", kind="bindings", absent={"command": _SHELL}
    ),
]

SqlTimeout = Annotated[
    float, Parameter(help="Seconds that the query may take.", metavar="SECONDS", least=0)
]

Memory = Annotated[
    str, Parameter(help="Memory that the query may use, such as 500MB.", metavar="SIZE")
]

Files = Annotated[
    bool,
    Parameter(help="Let the query read files: read_csv and others.", flags=("--allow-files",)),
]


@operation(
    title="SQL",
    forwardable=True,
    sharded=True,
    absent={"tool": "SQL is for the user: an agent has searches, and an answer of fixed size."},
    examples=(
        (
            "The ten largest documents",
            "qmd sql 'select file, size from documents order by size desc limit 10'",
        ),
        ("What can be asked, and useful questions", "qmd sql --tables && qmd sql --examples"),
        ("With a value of your own", "qmd sql 'select file, score from bm25($words)' -p words=tea"),
        ("Into a file, whose name tells the format", "qmd sql 'from documents' -o documents.csv"),
    ),
)
def sql(
    index: Index,
    query: SqlText,
    parameters: SqlParameters = (),
    *,
    timeout: SqlTimeout = 60.0,
    memory: Memory = "1GB",
    files: Files = False,
) -> Table:
    """Ask in SQL: views of documents, links and vectors, with searches as functions. Read-only.

    Writes of this index wait meanwhile, and other reads of this process unless it is a server.
    Other processes that want to write wait for a few seconds: a query that takes longer runs again
    on a copy, with all of its time. See docs/sql.md.

    Args:
        query: one statement that reads.
        parameters: by name for `$name`, or in order for `?`.
        timeout: seconds that the query may take, without the searches it calls for.
        memory: that it may use, such as "1GB"; more goes to disk. The process in which it runs is
            ended when it takes more.
        files: the query may read files.

    Returns:
        The rows, as an Arrow table.

    Raises:
        SqlError: it is no query, or cannot be answered.
        SqlTimeout: the time was not enough; SqlOutOfMemory: the memory was not.
        QueryError, CollectionNotFound, NotEmbedded, ModelError: a search it calls for failed.
    """
    from qmd.analytics.sandbox import Limits

    answer = run_sql(index, query, parameters, Limits(timeout, memory, files))
    try:
        return Table(answer.table())
    finally:
        answer.close()


def run_sql(index: Index, text: str, parameters: Parameters, limits: Limits) -> Answer:
    """Run a query; its rows are there until the answer is closed.

    Raises:
        SqlError: see `sql`.
    """
    limits.check()
    with index.during(OPERATIONS["sql"]):  # a surface may call this without the operation
        return _ran(index, text, parameters, limits)


def _ran(index: Index, text: str, parameters: Parameters, limits: Limits) -> Answer:
    from qmd.analytics.query_result import Answer
    from qmd.analytics.sandbox_workers import GaveWay
    from qmd.analytics.views import needed

    worker = index.workers.take()
    try:
        request = worker.read(index.place.database, limits, text, parameters)
        made = [_called(index, number, call) for number, call in enumerate(request.calls)]
        found = [each for rows, _ in made for each in rows]
        kept = index.over_shards(worker, request, parameters, found, limits)
        if kept is not None:
            return _noticed(Answer(worker, *kept, done=index.workers.give_back), made)
        log = index.log.lines() if index.log and "searches" in needed(request.names) else ()
        given = request, parameters, found, list(log)
        try:
            wanted = index.database.is_wanted
            kept = _on_index(index, lambda file: worker.answer(file, *given, wanted=wanted))
        except GaveWay:
            worker = index.workers.take()
            worker.read(index.place.database, limits, text, parameters)
            kept = _in_copy(index, lambda file: worker.answer(file, *given))
    except BaseException:
        index.workers.give_back(worker)
        raise
    return _noticed(Answer(worker, *kept, done=index.workers.give_back), made)


def _noticed(answer: Answer, made: list[tuple[list[SearchRow], str | None]]) -> Answer:
    """Add what the user should know of the searches."""
    notices = [notice for _, notice in made if notice is not None]
    answer.notices = tuple(dict.fromkeys(notices))
    return answer


def _called(index: Index, number: int, call: SearchCall) -> tuple[list[SearchRow], str | None]:
    """Run a search that a query calls for.

    Returns:
        Its rows, and a notice.
    """
    from qmd.analytics.sandbox import SearchRow
    from qmd.operations.search import search
    from qmd.operations.semantic_search import query, vector_search

    asked: dict[str, Any] = {"limit": call.n, "all_copies": True, **call.selection}
    if call.search == "bm25":
        results = search(index, call.query, **asked)
    elif call.search == "vsearch":
        results = vector_search(index, call.query, min_score=-1.0, **asked)
    else:
        import anyio

        results = anyio.run(lambda: query(index, call.query, **asked))
    rows = []
    for rank, result in enumerate(results, 1):
        collection, _, path = result.file.partition("/")
        rows.append(
            SearchRow(
                number,
                rank,
                result.score,
                result.docid,
                result.file,
                collection,
                path,
                result.title,
                result.line,
                result.snippet,
            )
        )
    return rows, results.notice


def _in_copy(index: Index, work: Work) -> tuple[tuple[Heading, ...], int]:
    """Run `work` on a copy of the index, or on the index if there is no room for a copy."""
    from contextlib import ExitStack
    from secrets import token_hex

    from qmd.analytics.sandbox_worker import IndexFile
    from qmd.storage.snapshot import copied

    path = index.place.database
    beside = path.with_name(f"{path.name}.copy-{token_hex(8)}")
    with ExitStack() as stack:
        try:
            copy, _ = stack.enter_context(copied(index.database, beside))
        except OSError:
            return _on_index(index, work)
        return copy.apart(lambda _: work(IndexFile(copy.path)))


def _on_index(index: Index, work: Work) -> tuple[tuple[Heading, ...], int]:
    """Run `work`, in which another process reads the index, with the tables as index.yml says.

    A server keeps the index attached beside it: searches go on, with what they have loaded. A
    command does not attach it at all, which takes as long as a short query.
    """
    from qmd.analytics.sandbox import Outdated
    from qmd.analytics.sandbox_worker import IndexFile

    path = index.place.database
    if index.database.stays_attached:
        return index.read(lambda _: work(IndexFile(path)))
    if path.exists():
        file = IndexFile(path, config.digest(index.place), checked=True)
        with suppress(Outdated):
            return index.database.apart(lambda _: work(file))
    index.read(lambda _: None)
    return index.database.apart(lambda _: work(IndexFile(path)))
