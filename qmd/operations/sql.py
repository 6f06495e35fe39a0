"""Asking in SQL, with searches as functions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from qmd.operations.semantic_search import Meaning
from qmd.settings import config
from qmd.types import ALL

if TYPE_CHECKING:
    import pyarrow as pa

    from qmd.analytics.heading import Heading
    from qmd.analytics.query_result import Answer as SqlAnswer
    from qmd.analytics.sandbox import Found as SqlFound
    from qmd.analytics.sandbox import Limits
    from qmd.analytics.sandbox_worker import Index
    from qmd.analytics.sandbox_workers import Workers
    from qmd.analytics.search_calls import Call, Parameters

    Work = Callable[[Index], tuple[tuple[Heading, ...], int]]
    """Asks an index."""


class Asking(Meaning):
    """Answers queries of the views."""

    _workers: Workers | None

    @property
    def workers(self) -> Workers:
        """The processes that run queries."""
        if self._workers is None:
            from qmd.analytics.sandbox_workers import Workers

            self._workers = Workers()
        return self._workers

    def sql(
        self,
        text: str,
        parameters: Parameters = (),
        *,
        timeout: float = 60.0,
        memory: str = "1GB",
        files: bool = False,
    ) -> pa.Table:
        """What a query of the views gives, as an Arrow table. It can only read: see docs/sql.md.

        Other reads and writes of this engine wait meanwhile. Other processes that want to write
        wait for a few seconds: a query that takes longer is asked again of a copy, with all of its
        time.

        Args:
            parameters: by name for `$name`, or in order for `?`.
            timeout: seconds that the query may take, without the searches it calls for.
            memory: that it may use, such as "1GB"; more goes to disk. The process in which it runs
                is ended when it takes more.
            files: whether it may read files.

        Raises:
            SqlError: it is no query, or cannot be answered; SqlTimeout: not in time;
                SqlOutOfMemory: not with that memory.
            QueryError, CollectionNotFound, NotEmbedded, ModelError: a search it calls for failed.
        """
        from qmd.analytics.sandbox import Limits

        answer = self.sql_answer(text, parameters, Limits(timeout, memory, files))
        try:
            return answer.table()
        finally:
            answer.close()

    def sql_answer(self, text: str, parameters: Parameters, limits: Limits) -> SqlAnswer:
        """The same as rows, which are there until the answer is closed."""
        from qmd.analytics.query_result import Answer
        from qmd.analytics.sandbox_workers import GaveWay
        from qmd.analytics.views import needed

        limits.check()
        worker = self.workers.take()
        try:
            request = worker.read(self.place.database, limits, text, parameters)
            made = [self._called(number, call) for number, call in enumerate(request.calls)]
            found = [each for rows, _ in made for each in rows]
            log = self.log.lines() if self.log and "searches" in needed(request.names) else ()
            given = request, parameters, found, list(log)
            try:
                wanted = self.database.is_wanted
                kept = self._apart(lambda index: worker.answer(index, *given, wanted=wanted))
            except GaveWay:
                worker = self.workers.take()
                worker.read(self.place.database, limits, text, parameters)
                kept = self._in_copy(lambda index: worker.answer(index, *given))
        except BaseException:
            self.workers.give_back(worker)
            raise
        answer = Answer(worker, *kept, done=self.workers.give_back)
        notices = [notice for _, notice in made if notice is not None]
        answer.notices = tuple(dict.fromkeys(notices))
        return answer

    def _called(self, number: int, call: Call) -> tuple[list[SqlFound], str | None]:
        """What a search finds that a query calls for, and what should be known of it."""
        from qmd.analytics.sandbox import Found

        names = None if call.collection is None else (call.collection,)
        among = ALL._replace(collections=names)
        if call.search == "bm25":
            answer = self.search(call.query, among=among, limit=call.n)
        elif call.search == "vsearch":
            answer = self.vector_search(call.query, among=among, limit=call.n)
        else:
            import anyio

            ask = partial(self.query, call.query, among=among, limit=call.n)
            answer = anyio.run(ask)
        rows = []
        for rank, result in enumerate(answer.results, 1):
            collection, _, path = result.file.partition("/")
            rows.append(
                Found(
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
        return rows, answer.notice

    def _in_copy(self, work: Work) -> tuple[tuple[Heading, ...], int]:
        """What `work` finds in a copy of the index; in itself, if there is no room for one."""
        from contextlib import ExitStack
        from secrets import token_hex

        from qmd.analytics.sandbox_worker import Index
        from qmd.storage.snapshot import copied

        beside = self.place.database.with_name(f"{self.place.database.name}.copy-{token_hex(8)}")
        with ExitStack() as stack:
            try:
                copy, _ = stack.enter_context(copied(self.database, beside))
            except OSError:
                return self._apart(work)
            return copy.apart(lambda _: work(Index(copy.path)))

    def _apart(self, work: Work) -> tuple[tuple[Heading, ...], int]:
        """What `work` finds with a DuckDB of its own, with the tables as index.yml says."""
        from qmd.analytics.sandbox import Outdated
        from qmd.analytics.sandbox_worker import Index

        path = self.place.database
        if path.exists():
            index = Index(path, config.digest(self.place), checked=True)
            with suppress(Outdated):
                return self.database.apart(lambda _: work(index))
        self.read(lambda _: None)
        return self.database.apart(lambda _: work(Index(path)))
