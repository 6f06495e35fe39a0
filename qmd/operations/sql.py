"""Asking in SQL, with searches as functions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Protocol, cast

from qmd.operations.base import Base, Stale
from qmd.settings import config
from qmd.storage import catalog
from qmd.storage.cursor import Cursor

if TYPE_CHECKING:
    import pyarrow as pa

    from qmd.analytics.query_result import Answer as SqlAnswer
    from qmd.analytics.sandbox import Found as SqlFound
    from qmd.analytics.sandbox import Limits
    from qmd.analytics.search_calls import Call, Parameters
    from qmd.operations.engine import Engine
    from qmd.storage.cursor import Connection


class Work(Protocol):
    """Asks an index, which it attaches, and checks before."""

    def __call__(
        self, *, attach: Callable[[Connection], None], check: Callable[[Cursor], None]
    ) -> SqlAnswer: ...


class Asking(Base):
    """Answers queries of the views."""

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
            memory: that it may use, such as "1GB"; more goes to disk.
            files: whether it may read files.

        Raises:
            SqlError: it is no query, or cannot be answered; SqlTimeout: not in time.
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
        from qmd.analytics.sandbox import GaveWay, Sandbox
        from qmd.analytics.views import needed

        box = Sandbox(self.place.database, limits)
        try:
            request = box.read(text, parameters)
            made = [self._called(number, call) for number, call in enumerate(request.calls)]
            found = [each for rows, _ in made for each in rows]
            log = self.log.lines() if self.log and "searches" in needed(request.names) else ()
            ask = partial(
                Sandbox.answer, request=request, parameters=parameters, found=found, log=log
            )
            try:
                wanted = self.database.is_wanted
                answer = self._apart(partial(ask, box, wanted=wanted))
            except GaveWay:
                box.close()
                box = Sandbox(self.place.database, limits)
                answer = self._in_copy(partial(ask, box))
        except BaseException:
            box.close()
            raise
        notices = [notice for _, notice in made if notice is not None]
        answer.notices = tuple(dict.fromkeys(notices))
        return answer

    def _called(self, number: int, call: Call) -> tuple[list[SqlFound], str | None]:
        """What a search finds that a query calls for, and what should be known of it."""
        from qmd.analytics.sandbox import Found
        from qmd.operations.search import search
        from qmd.operations.semantic_search import query, vector_search

        if call.search == "bm25":
            found = search(
                cast("Engine", self), call.query, limit=call.n, collection=call.collection
            )
        elif call.search == "vsearch":
            found = vector_search(
                cast("Engine", self),
                call.query,
                limit=call.n,
                min_score=-1.0,
                collection=call.collection,
            )
        else:
            import anyio

            found = anyio.run(
                lambda: query(
                    cast("Engine", self), call.query, limit=call.n, collection=call.collection
                )
            )
        rows = []
        for rank, result in enumerate(found, 1):
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
        return rows, found.notice

    def _in_copy(self, work: Work) -> SqlAnswer:
        """What `work` finds in a copy of the index; in itself, if there is no room for one."""
        from contextlib import ExitStack
        from secrets import token_hex

        from qmd.storage.snapshot import copied

        beside = self.place.database.with_name(f"{self.place.database.name}.copy-{token_hex(8)}")
        with ExitStack() as stack:
            try:
                copy, _ = stack.enter_context(copied(self.database, beside))
            except OSError:
                return self._apart(work)
            return copy.apart(lambda attach: work(attach=attach, check=lambda _: None))

    def _apart(self, work: Work) -> SqlAnswer:
        """What `work` finds with a DuckDB of its own, with the tables as index.yml says."""
        from qmd.storage import migrations

        digest = config.digest(self.place)

        def check(cursor: Cursor) -> None:
            if not migrations.is_current(cursor, self.place.database):
                raise Stale
            if digest is not None and catalog.config_digest(cursor) != digest:
                raise Stale

        if self.place.database.exists():
            with suppress(Stale):
                return self.database.apart(lambda attach: work(attach=attach, check=check))
        self.read(lambda _: None)
        return self.database.apart(lambda attach: work(attach=attach, check=lambda _: None))
