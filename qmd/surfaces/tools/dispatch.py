"""The tools, at work on one index."""

from __future__ import annotations

import inspect
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread

from qmd.declaration import operation as declaration
from qmd.errors import InvalidArgument, NotFound, QmdError
from qmd.operations.documents import folder_named, get, multi_get, outline_of_document
from qmd.operations.editing import append, edit, move, titled_alike, undo
from qmd.operations.embed import embed
from qmd.operations.grep import grep
from qmd.operations.listing import documents, listing
from qmd.operations.passages import passages
from qmd.operations.put import put, remove
from qmd.operations.record_order import check_wanted, records_wanted
from qmd.operations.search import prepare, search
from qmd.operations.semantic_search import query, vector_search
from qmd.operations.similar import similar
from qmd.operations.status import status
from qmd.operations.threads import MODELS, READERS, stoppable
from qmd.operations.update import update
from qmd.operations.writable import dated, place_of
from qmd.ranking import search_log
from qmd.storage import cancellation
from qmd.storage.cancellation import CURRENT, Stop, Stopped
from qmd.surfaces import wording
from qmd.surfaces.tools import build_reply, reply_text, schemas
from qmd.surfaces.tools.arguments import InvalidArguments, of_contract, question_of, read
from qmd.surfaces.tools.build_reply import TimedOut, UnknownTool, code_of
from qmd.surfaces.tools.progress import Progress, Tell, telling
from qmd.surfaces.tools.reply import Code, Reply, Resource, refusal
from qmd.surfaces.tools.schemas.derive import arguments_of, json_name
from qmd.surfaces.tools.schemas.experiences import QUERY_EXPERIENCES, SUBMIT_EXPERIENCE
from qmd.surfaces.tools.schemas.tool import Tool
from qmd.text import globs, paths
from qmd.wording import lowest_shown_as

if TYPE_CHECKING:
    from qmd.operations.experiences import Experiences
    from qmd.operations.index import Index
    from qmd.reports import Embedded, EmbedStep, Report

Found = TypeVar("Found")
log = logging.getLogger("qmd.tools")

SOON, LATER = 10.0, 60.0
"""Seconds that a call may take: one that reads, and one that asks models."""

MOST_NAMES = 500
"""Documents that can be asked for at once by name."""

FRESH = "fresh"
"""Argument of searches that updates the index first."""

LAST = 1.0
"""Seconds for counting at the very end."""

COUNTED = 0.5
"""Seconds after an answer when what was found of experience records is counted."""


def without_fresh(tool: Tool) -> Tool:
    """Return a tool without the argument that updates the index first, which is to write."""
    properties = tool.input["properties"]
    if FRESH not in properties:
        return tool
    left = {name: each for name, each in properties.items() if name != FRESH}
    return tool._replace(input={**tool.input, "properties": left})


OF_RECORDS = (QUERY_EXPERIENCES, SUBMIT_EXPERIENCE)
"""Tools that are there unless index.yml switches experience records off."""


class Toolbox:
    """Answers calls of tools, for any protocol.

    Nothing is opened before the first call, or `get_ready`.

    Args:
        read_only: offer nothing that writes.
        allow_write: offer also what updates and embeds the index.
    """

    def __init__(
        self, engine: Index, *, read_only: bool = False, allow_write: bool = False
    ) -> None:
        self.engine = engine
        self._read_only = read_only
        with_records = records_wanted(engine)
        self.tools = tuple(
            tool if allow_write else without_fresh(tool)
            for tool in schemas.TOOLS
            if not (tool.writes and read_only)
            and (allow_write or not tool.optional)
            and (with_records or tool not in OF_RECORDS)
        )
        self._by_name = {tool.name: tool for tool in self.tools}
        self._readers = CapacityLimiter(READERS)
        self._models = CapacityLimiter(MODELS)
        self._calls = 0
        self._drained: anyio.Event | None = None
        self._experiences: Experiences | None = None
        self._counting: threading.Timer | None = None
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
        self, name: str, arguments: Mapping[str, Any], *, progress: Progress | None = None
    ) -> Reply:
        """Call a tool; errors become replies, too.

        Raises:
            UnknownTool: there is none of this name.
        """
        tool = self.tool(name)
        # What is wrong is told of the tool under the name that the caller has for it.
        work = partial(getattr(self, f"_{tool.name}"), tool._replace(name=name), arguments)
        if tool.optional:
            work = partial(work, progress)
        seconds = None if tool.optional else LATER if tool.asks_models else SOON
        if seconds is not None:
            seconds += self.engine.deadline  # which names the machines that are late
        replies: list[Reply] = []

        async def answer() -> None:
            replies.append(await work())

        try:
            with self._at_work(), anyio.move_on_after(seconds):
                await stoppable(answer)
            # What was written while the time ran out has been written.
            limit = seconds or 0
            busy = self.engine.database.busy_for(limit)
            return replies[0] if replies else build_reply.timed_out(tool, limit, busy)
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

        async def work() -> Resource:
            decoded = paths.decoded(name)
            return reply_text.document(await self._read(get, self.engine, decoded), numbered=True)

        with self._at_work(), anyio.fail_after(SOON):
            return await stoppable(work)

    async def look(
        self, work: Callable[..., Any], *given: Any, asks_models: bool = False, **named: Any
    ) -> Any:
        """Return what `work` finds in the index, for a page that people look at.

        Searches are not logged: to look changes nothing.

        Args:
            work: function or coroutine function, given the index first.
            asks_models: it may use a model, and takes longer.

        Raises:
            QmdError: the index cannot be read, or it takes too long.
        """
        limiter = self._models if asks_models else self._readers
        seconds = LATER if asks_models else SOON
        call = partial(work, self.engine, *given, **named)

        async def run() -> Any:
            search_log.WANTED.set(False)
            if not inspect.iscoroutinefunction(work):
                return await to_thread.run_sync(call, limiter=limiter)
            async with limiter:
                return await call()

        with self._at_work(), anyio.move_on_after(seconds):
            return await stoppable(run)
        raise TimedOut(seconds)

    async def drain(self, seconds: float) -> None:
        """Wait until all calls are answered, if that does not take too long."""
        self._drained = anyio.Event()
        with anyio.move_on_after(seconds):
            if self._calls:
                await self._drained.wait()

    def close(self) -> None:
        """Write what is left to be written, if the index is free, and let go of it."""
        if self._counting is not None:
            self._counting.cancel()
            self._counting.join(LAST)
        stop = Stop()
        limit = threading.Timer(LAST, stop.ask)
        limit.start()
        token = CURRENT.set(stop)
        try:
            self._count()
        finally:
            CURRENT.reset(token)
            limit.cancel()
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

    async def _read(self, work: Callable[..., Found], *given: Any, **named: Any) -> Found:
        """Return the result of `work`, run in a thread for reads."""
        return await to_thread.run_sync(partial(work, *given, **named), limiter=self._readers)

    # -- search ------------------------------------------------------------------

    async def _search(self, tool: Tool, given: Mapping[str, Any]) -> Reply:
        return await self._find(search, tool, given)

    async def _vsearch(self, tool: Tool, given: Mapping[str, Any]) -> Reply:
        return await self._find(vector_search, tool, given)

    async def _query(self, tool: Tool, given: Mapping[str, Any]) -> Reply:
        return await self._find(query, tool, given)

    async def _similar(self, tool: Tool, given: Mapping[str, Any]) -> Reply:
        asked = read(tool, given)
        least = asked["minScore"]
        found = await self._run(similar, asked | {"minScore": lowest_shown_as(least)})
        return build_reply.results(asked["file"], found, least)

    async def _context(self, tool: Tool, given: Mapping[str, Any]) -> Reply:
        return build_reply.excerpts(await self._run(passages, read(tool, given)))

    async def _find(
        self, function: Callable[..., Any], tool: Tool, given: Mapping[str, Any]
    ) -> Reply:
        """Answer with the results of a search."""
        asked = read(tool, given)
        question, least = question_of(asked), asked["minScore"]
        found = await self._run(function, asked | {"minScore": lowest_shown_as(least)})
        return build_reply.results(question, found, least)

    async def _run(
        self, function: Callable[..., Any], asked: Mapping[str, Any], **more: Any
    ) -> Any:
        """Run an operation: in the event loop if it is a coroutine function, else in a thread.

        Raises:
            InvalidArgument: with the name that the parameter has in JSON.
        """
        operation = declaration.of(function)
        self.engine.begin(operation)
        limiter = self._models if operation.asks_models else self._readers
        work = partial(function, self.engine, **arguments_of(operation, asked), **more)
        try:
            if not operation.is_async:
                found = await to_thread.run_sync(work, limiter=limiter)
            elif operation.writes:
                found = await work()
            else:
                async with limiter:
                    found = await work()
            return self.engine.ended(found)
        except InvalidArgument as error:
            raise error.named(json_name(operation, error.parameter)) from error

    async def _grep(self, tool: Tool, given: Mapping[str, Any]) -> Reply:
        asked = read(tool, given)
        # One more than is shown tells whether there are more.
        found = await self._run(grep, asked | {"limit": asked["limit"] + 1})
        return build_reply.lines(asked["pattern"], found, asked["limit"])

    # -- documents ---------------------------------------------------------------

    async def _get(self, tool: Tool, given: Mapping[str, Any]) -> Reply:
        asked = read(tool, given)
        if asked.get("fromLine") is not None:
            asked["fromLine"] = max(1, asked["fromLine"])
        try:
            passage = await self._run(get, asked)
        except NotFound:
            reply = await self._folder(asked["file"])
            if reply is None:
                raise
            return reply
        is_part = asked.get("fromLine") is not None or asked.get("maxLines") is not None
        if is_part or asked["full"] or not reply_text.is_long(passage):
            return Reply((reply_text.document(passage, numbered=asked["lineNumbers"]),))
        outline = await self._read(outline_of_document, self.engine, passage.file)
        return build_reply.first_part(passage, outline, numbered=asked["lineNumbers"])

    async def _folder(self, name: str) -> Reply | None:
        """List a folder that is asked for like a document; None: there is none of this name."""
        try:
            reply = await self._ls(self.tool("ls"), {"path": name})
        except QmdError:
            return None
        return reply if reply.error is None else None

    async def _ls(self, tool: Tool, given: Mapping[str, Any]) -> Reply:
        asked = read(tool, given)
        page = asked["offset"], asked["limit"]
        if asked.get("path") is None and asked.get("since") is None:
            return build_reply.collections(await self._read(self.engine.overview), *page)
        folder = ("", "")
        if asked.get("path") is not None:
            folder = await self._read(folder_named, self.engine, asked["path"])
            asked["path"] = "/".join(folder)
        found = await self._run(documents, asked)
        if asked.get("since") is not None:
            return build_reply.listed((), found, *page)
        if not found:
            return refusal(Code.NOT_FOUND, f"No documents below {asked['path']}.")
        return build_reply.listed(*listing(found, *folder), *page)

    async def _multi_get(self, tool: Tool, given: Mapping[str, Any]) -> Reply:
        asked = read(tool, given)
        given_as = asked["pattern"]
        patterns = [given_as] if isinstance(given_as, str) else given_as
        if sum(len(globs.split_mask(each)) for each in patterns) > MOST_NAMES:
            raise InvalidArguments(f'"pattern" may name at most {MOST_NAMES} documents.')
        passages = await self._run(multi_get, asked)
        told = ", ".join(patterns)
        return build_reply.documents(told, passages, numbered=asked["lineNumbers"])

    async def _status(self, tool: Tool, given: Mapping[str, Any]) -> Reply:
        facts = build_reply.facts(await self._run(status, read(tool, given)))
        return Reply((reply_text.status(facts),), facts)

    # -- experience records --------------------------------------------------------

    async def _query_experiences(self, tool: Tool, given: Mapping[str, Any]) -> Reply:
        asked, misnamed = of_contract(tool, given)
        vector = None
        try:
            experiences = await self._records()
            if await self._read(experiences.has_vectors):
                work = partial(experiences.vector, asked)
                vector = await to_thread.run_sync(work, limiter=self._models)
            found = await self._read(experiences.found, asked, misnamed, vector=vector)
        except QmdError as error:
            return build_reply.failed(error)
        if experiences.uncounted and self._counting is None and not self._read_only:
            self._counting = threading.Timer(COUNTED, self._count)
            self._counting.daemon = True
            self._counting.start()
        return build_reply.outcome(*reply_text.fitting_page(found))

    async def _submit_experience(self, tool: Tool, given: Mapping[str, Any]) -> Reply:
        try:
            experiences = await self._records()
        except QmdError as error:
            return build_reply.failed(error)
        return build_reply.outcome(await self._read(experiences.submit, *of_contract(tool, given)))

    async def _records(self) -> Experiences:
        from qmd.operations.experiences import Experiences

        await self._read(check_wanted, self.engine)
        if self._experiences is None:
            self._experiences = Experiences(self.engine)
        return self._experiences

    def _count(self) -> None:
        """Count what was found of experience records; what fails is tried again later."""
        try:
            if self._experiences is not None and not self._read_only:
                self._experiences.count()
        except (QmdError, Stopped) as error:
            log.warning("Answers were not counted: %s", error or "the index is busy")
        finally:
            self._counting = None

    # -- upkeep --------------------------------------------------------------------

    async def _update(
        self, tool: Tool, given: Mapping[str, Any], progress: Progress | None
    ) -> Reply:
        asked = read(tool, given)

        async def work(tell: Tell) -> Sequence[Report]:
            def told(name: str, done: int, total: int) -> None:
                tell(done, total, name)

            reports: Sequence[Report] = await self._run(update, asked, progress=told)
            return reports

        return build_reply.updated(await telling(progress, work))

    async def _embed(
        self, tool: Tool, given: Mapping[str, Any], progress: Progress | None
    ) -> Reply:
        asked = read(tool, given)

        async def work(tell: Tell) -> Embedded:
            def told(step: EmbedStep) -> None:
                tell(step.bytes, step.total_bytes, wording.embedded(step))

            report: Embedded = await self._run(embed, asked, detail=told)
            return report

        return build_reply.embedded(await telling(progress, work))

    # -- writing -----------------------------------------------------------------------

    async def _put(self, tool: Tool, given: Mapping[str, Any], _: Progress | None) -> Reply:
        asked = read(tool, given)
        if asked.get("expected") is None and (alike := await self._alike(asked)):
            return refusal(Code.CONFLICT, build_reply.like_others(asked["name"], alike))
        return build_reply.stored(await self._run(put, asked))

    async def _alike(self, asked: Mapping[str, Any]) -> list[str]:
        """Find documents with the title of one that would be new."""
        place = partial(place_of, self.engine, dated(asked["name"]), asked.get("collection"))
        return await self._read(
            titled_alike, self.engine, await self._read(place), asked["text"], asked.get("title")
        )

    async def _append(self, tool: Tool, given: Mapping[str, Any], _: Progress | None) -> Reply:
        return build_reply.changed(await self._run(append, read(tool, given)))

    async def _edit(self, tool: Tool, given: Mapping[str, Any], _: Progress | None) -> Reply:
        return build_reply.changed(await self._run(edit, read(tool, given)))

    async def _move(self, tool: Tool, given: Mapping[str, Any], _: Progress | None) -> Reply:
        return build_reply.changed(await self._run(move, read(tool, given)))

    async def _undo(self, tool: Tool, given: Mapping[str, Any], _: Progress | None) -> Reply:
        return build_reply.changed(await self._run(undo, read(tool, given)))

    async def _remove(self, tool: Tool, given: Mapping[str, Any], _: Progress | None) -> Reply:
        file = await self._run(remove, read(tool, given))
        return Reply((f"Removed {file}.",), {"file": file})

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
            return await stoppable(partial(to_thread.run_sync, work, limiter=self._models))
        raise TimedOut(LATER)
