"""The tools, at work on one index."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread

from qmd.errors import QmdError
from qmd.operations.record_order import records_wanted
from qmd.operations.search import prepare
from qmd.operations.threads import stoppable
from qmd.ranking import search_log
from qmd.storage import cancellation
from qmd.surfaces.tools import build_reply, schemas
from qmd.surfaces.tools.answers import finding, reading, writing
from qmd.surfaces.tools.answers.records import RecordAnswers
from qmd.surfaces.tools.arguments import deprecations
from qmd.surfaces.tools.build_reply import TimedOut, UnknownTool, code_of
from qmd.surfaces.tools.progress import Progress, heartbeat
from qmd.surfaces.tools.reply import Code, Reply, Resource, refusal
from qmd.surfaces.tools.run_operation import OperationRunner, ToolCall
from qmd.surfaces.tools.schemas.experiences import QUERY_EXPERIENCES, SUBMIT_EXPERIENCE
from qmd.surfaces.tools.schemas.tool import Tool
from qmd.surfaces.tools.server_tools import PLAIN, ServerTools

if TYPE_CHECKING:
    from qmd.operations.index import Index

Answer = Callable[[OperationRunner, ToolCall], Awaitable[Reply]]
log = logging.getLogger("qmd.tools")

SOON, LATER = 10.0, 60.0
"""Seconds that a call may take: one that reads, and one that asks models."""

CANNOT_ASK = (
    "This server asks the user before each write (--confirm), and the client has no way to ask."
)

ANSWERS: Mapping[str, Answer] = {
    "search": finding.answer_search,
    "vsearch": finding.answer_vsearch,
    "query": finding.answer_query,
    "similar": finding.answer_similar,
    "context": finding.answer_context,
    "grep": finding.answer_grep,
    "links": finding.answer_links,
    "get": reading.answer_get,
    "multi_get": reading.answer_multi_get,
    "ls": reading.answer_ls,
    "status": reading.answer_status,
    "update": writing.answer_update,
    "embed": writing.answer_embed,
    "put": writing.answer_put,
    "remove": writing.answer_remove,
    "append": writing.answer_append,
    "edit": writing.answer_edit,
    "move": writing.answer_move,
    "undo": writing.answer_undo,
}
"""What answers each tool, but those of experience records, which keep a count."""


class Toolbox:
    """Answers calls of tools, for any protocol.

    Nothing is opened before the first call, or `get_ready`.

    Attributes:
        options: of the server.
        tools: that are offered.
    """

    def __init__(self, engine: Index, options: ServerTools = PLAIN) -> None:
        self.engine = engine
        self.options = options
        self.tools = options.offered(with_records=records_wanted(engine))
        self._by_name = {tool.name: tool for tool in self.tools}
        self._runner = OperationRunner(engine)
        self._records = RecordAnswers(self._runner, read_only=options.read_only)
        self._answers = {
            **ANSWERS,
            QUERY_EXPERIENCES.name: self._records.query,
            SUBMIT_EXPERIENCE.name: self._records.submit,
        }
        self._calls = 0
        self._drained: anyio.Event | None = None
        self._is_ready = False

    # -- calls -------------------------------------------------------------------

    def tool(self, name: str) -> Tool:
        """Find a tool by its name, with or without the prefix.

        Raises:
            UnknownTool: there is none, or it is not offered.
        """
        tool = self._by_name.get(name) or self._by_name.get(name.removeprefix(schemas.PREFIX))
        if tool is None:
            raise UnknownTool(name, list(self._by_name))
        return tool

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        progress: Progress | None = None,
        has_consent: bool = False,
    ) -> Reply:
        """Call a tool; errors become replies, too.

        Args:
            has_consent: the user was asked, if that is needed.

        Raises:
            UnknownTool: no tool has this name.
        """
        tool = self.tool(name)
        if self.options.needs_consent(tool) and not has_consent:
            return refusal(Code.NO_CONSENT, CANNOT_ASK)
        # What is wrong is told of the tool under the name that the caller has for it.
        asked = ToolCall(tool._replace(name=name), arguments, progress)
        work = partial(self._answers[tool.name], self._runner, asked)
        seconds = None if tool.optional else LATER if tool.asks_models else SOON
        if seconds is not None:
            seconds += self.engine.deadline  # which names the machines that are late
        replies: list[Reply] = []

        failures: list[Exception] = []

        async def answer() -> None:
            replies.append(await work())

        # Those that write tell themselves how far they are.
        beating = None if tool.optional else progress
        try:
            with self._at_work(), anyio.move_on_after(seconds):
                async with heartbeat(beating, name):
                    try:
                        await stoppable(answer)
                    except Exception as error:
                        failures.append(error)
            if failures:
                raise failures[0]
            # What was written while the time ran out has been written.
            limit = seconds or 0
            busy = self.engine.database.busy_for(limit)
            if not replies:
                return build_reply.timed_out(tool, limit, busy)
            return replies[0]._replace(deprecated=deprecations(tool._replace(name=name), arguments))
        except QmdError as error:
            return refusal(code_of(error), error.told("tool"))
        except Exception:
            log.exception("%s failed", name)
            return refusal(Code.INTERNAL, f"Internal error in {name}. See the server log.")

    async def get_ready(self) -> None:
        """Load and plan what the first search needs, before it is asked for.

        What goes wrong is told to who searches, then.
        """
        if self._is_ready:
            return
        self._is_ready = True
        limit = self.tool("query").input["properties"]["limit"]["default"]
        try:
            await stoppable(partial(to_thread.run_sync, prepare, self.engine, limit))
        except QmdError as error:
            log.debug("Not ready yet: %s", error)
        except Exception:
            log.exception("Nothing is ready before it is asked for")

    async def resource(self, name: str) -> Resource:
        """Read a document by the part of its URI after `qmd://`, with line numbers.

        Raises:
            QmdError: there is none, or several, or the index cannot be read.
        """
        with self._at_work(), anyio.fail_after(SOON):
            return await stoppable(partial(reading.read_resource, self._runner, name))

    async def look(
        self,
        work: Callable[..., Any],
        *given: Any,
        asks_models: bool = False,
        takes_long: bool = False,
        **named: Any,
    ) -> Any:
        """Return what `work` finds in the index, for a page that people look at.

        Searches are not logged: to look changes nothing.

        Args:
            work: function or coroutine function, given the index first.
            asks_models: it may use a model, and takes longer.
            takes_long: it may take as long without one, as for the first look at a large index.

        Raises:
            QmdError: the index cannot be read, or it takes too long.
        """
        limiter = self._runner.models if asks_models else self._runner.readers
        seconds = LATER if asks_models or takes_long else SOON
        call = partial(work, self.engine, *given, **named)

        async def run() -> Any:
            search_log.WANTED.set(False)
            if not inspect.iscoroutinefunction(work):
                return await to_thread.run_sync(call, limiter=limiter)
            async with limiter:
                return await call()

        with self._at_work(), anyio.move_on_after(seconds):
            return await stoppable(run)
        raise self.engine.database.busy_for(seconds) or TimedOut(seconds)

    async def drain(self, seconds: float) -> None:
        """Wait until all calls are answered, if that does not take too long."""
        self._drained = anyio.Event()
        with anyio.move_on_after(seconds):
            if self._calls:
                await self._drained.wait()

    def close(self) -> None:
        """Write what is left to be written, if the index is free, and let go of it."""
        self._records.close()
        self._runner.close()
        self.engine.close()

    @property
    def model_loaded(self) -> bool:
        """True if a model is in memory."""
        return self.engine.models.loaded

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """Count a call, for which a drain waits."""
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1
            if not self._calls and self._drained is not None:
                self._drained.set()

    async def embed_texts(self, given: Sequence[str]) -> list[list[float]]:
        """Vectors of texts, as documents are embedded.

        Raises:
            QmdError: the model cannot run here, does not take them, or takes too long.
        """

        def work() -> list[list[float]]:
            space = self.engine.models.space()
            prompts = [space.model.as_document(text) for text in given]
            vectors = self.engine.models.embedder(space).embed(prompts, between=cancellation.check)
            rows: list[list[float]] = vectors.tolist()
            return rows

        with self._at_work(), anyio.move_on_after(LATER):
            return await stoppable(partial(to_thread.run_sync, work, limiter=self._runner.models))
        raise TimedOut(LATER)
