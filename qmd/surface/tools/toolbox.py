"""The tools, at work on one index."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread

from qmd.errors import (
    Ambiguous,
    CollectionNotFound,
    ConfigError,
    DocumentNotFound,
    IndexFailure,
    ModelError,
    NotEmbedded,
    QmdError,
    TextTooLong,
    UsageError,
)
from qmd.pipeline.stoppable import stoppable
from qmd.store import stopping
from qmd.store.stopping import CURRENT, Stop, Stopped
from qmd.surface.tools import schemas, texts
from qmd.surface.tools.arguments import InvalidArguments, read, understood
from qmd.surface.tools.replies import Code, Reply, Resource, refusal
from qmd.surface.tools.schemas import Tool
from qmd.text import masks, paths
from qmd.types import Filter, Passage

if TYPE_CHECKING:
    from qmd.engine import Answer, Engine
    from qmd.experiences import Experiences
    from qmd.text.experience import Violation
    from qmd.text.questions import Question
    from qmd.types import Embedded, Report

Found = TypeVar("Found")
Tell = Callable[[float, float | None, str | None], None]
Progress = Callable[[float, float | None, str | None], Awaitable[None]]
"""Told (done, in all, what is being done)."""

log = logging.getLogger("qmd.tools")

READERS, MODELS = 4, 1
"""Calls at once that only read the index, and that use a model."""

SOON, LATER = 10.0, 60.0
"""Seconds that a call may take: one that reads, and one that asks models."""

HELPER = 20.0
"""Seconds for a model that expands or reranks; without it the order is that of the fusion."""

HASTY = 1024
"""Tokens between two commits of what is embedded, where there is little time."""

MOST_NAMES = 500
"""Documents that can be asked for at once by name."""

LAST = 1.0
"""Seconds for counting at the very end."""

COUNTED = 0.5
"""Seconds after an answer when what was found of experience records is counted."""


class TimedOut(QmdError):
    """It took too long."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"Timed out after {seconds:.0f} s.")


class UnknownTool(QmdError):
    """No tool has this name."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"Unknown tool: {name}. Known: {', '.join(known)}.")
        self.name = name


class Toolbox:
    """Answers calls of tools, for any protocol.

    Nothing is opened before the first call.

    Args:
        read_only: offer nothing that writes.
        allow_write: offer also what updates and embeds the index.
    """

    def __init__(
        self, engine: Engine, *, read_only: bool = False, allow_write: bool = False
    ) -> None:
        self.engine = engine
        self._read_only = read_only
        self.tools = tuple(
            tool
            for tool in schemas.TOOLS
            if not (tool.writes and read_only) and (allow_write or not tool.optional)
        )
        self._by_name = {tool.name: tool for tool in self.tools}
        self._readers = CapacityLimiter(READERS)
        self._models = CapacityLimiter(MODELS)
        self._calls = 0
        self._drained: anyio.Event | None = None
        self._experiences: Experiences | None = None
        self._counting: threading.Timer | None = None

    # -- calls -------------------------------------------------------------------

    def tool(self, name: str) -> Tool:
        """The tool of a name, with or without the prefix.

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
        """What a tool answers. What goes wrong is a reply, too.

        Raises:
            UnknownTool: there is none of this name.
        """
        tool = self.tool(name)
        # What is wrong is told of the tool under the name that the caller has for it.
        work = partial(getattr(self, f"_{tool.name}"), tool._replace(name=name), arguments)
        if tool.optional:
            work = partial(work, progress)
        seconds = None if tool.optional else LATER if tool.asks_models else SOON
        replies: list[Reply] = []

        async def answer() -> None:
            replies.append(await work())

        try:
            with self._at_work(), anyio.move_on_after(seconds):
                await stoppable(answer)
            # What was written while the time ran out has been written.
            return replies[0] if replies else _timed_out(tool, seconds)
        except QmdError as error:
            return refusal(code_of(error), str(error))
        except Exception:
            log.exception("%s failed", name)
            return refusal(Code.INTERNAL, f"Internal error in {name}. See the server log.")

    async def resource(self, name: str) -> Resource:
        """A document by what follows `qmd://`, its lines numbered.

        Raises:
            QmdError: there is none, or several, or the index cannot be read.
        """

        async def work() -> Resource:
            decoded = paths.decoded(name)
            return texts.document(await self._read(self.engine.get, decoded), numbered=True)

        with self._at_work(), anyio.fail_after(SOON):
            return await stoppable(work)

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
        """Whether a model is in memory."""
        return self.engine.models.loaded

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """Counts as a call that a drain waits for."""
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1
            if not self._calls and self._drained is not None:
                self._drained.set()

    async def _read(self, work: Callable[..., Found], *given: Any, **named: Any) -> Found:
        """What `work` finds, in a thread of those that read."""
        return await to_thread.run_sync(partial(work, *given, **named), limiter=self._readers)

    # -- search ------------------------------------------------------------------

    async def _search(self, tool: Tool, given: Mapping[str, Any]) -> Reply:
        asked = read(tool, given)
        answer = await self._read(
            self.engine.search,
            asked["query"],
            among=_among(asked),
            limit=asked["limit"],
            min_score=asked["minScore"],
            length=texts.SNIPPET,
        )
        return _results(asked["query"], answer)

    async def _vsearch(self, tool: Tool, given: Mapping[str, Any]) -> Reply:
        asked = read(tool, given)
        answer = await to_thread.run_sync(
            partial(
                self.engine.vector_search,
                asked["query"],
                among=_among(asked),
                limit=asked["limit"],
                min_score=asked["minScore"],
                length=texts.SNIPPET,
            ),
            limiter=self._models,
        )
        return _results(asked["query"], answer)

    async def _query(self, tool: Tool, given: Mapping[str, Any]) -> Reply:
        from qmd.pipeline.hybrid import Recipe

        asked = read(tool, given)
        question, shown = _question(asked)
        helping = await self._read(self.engine.models.help_at_once)
        async with self._models:
            answer = await self.engine.query(
                question,
                among=_among(asked),
                limit=asked["limit"],
                recipe=Recipe(candidates=asked["candidateLimit"], timeout=HELPER),
                expand=helping and "query" in asked,
                rerank=helping and asked["rerank"],
                length=texts.SNIPPET,
                intent=asked.get("intent"),
            )
        kept = [each for each in answer.results if each.score >= asked["minScore"]]
        return _results(shown, answer._replace(results=kept))

    # -- documents ---------------------------------------------------------------

    async def _get(self, tool: Tool, given: Mapping[str, Any]) -> Reply:
        asked = read(tool, given)
        first = asked.get("fromLine")
        passage = await self._read(
            self.engine.get,
            asked["file"],
            first=max(1, first) if first is not None else None,
            count=asked.get("maxLines"),
        )
        return Reply((texts.document(passage, numbered=asked["lineNumbers"]),))

    async def _multi_get(self, tool: Tool, given: Mapping[str, Any]) -> Reply:
        asked = read(tool, given)
        if len(masks.split_mask(asked["pattern"])) > MOST_NAMES:
            raise InvalidArguments(f'"pattern" may name at most {MOST_NAMES} documents.')
        passages = await self._read(
            self.engine.multi_get,
            asked["pattern"],
            count=asked.get("maxLines"),
            largest=asked["maxBytes"],
        )
        return _documents(asked["pattern"], passages, numbered=asked["lineNumbers"])

    async def _status(self, tool: Tool, given: Mapping[str, Any]) -> Reply:
        read(tool, given)
        facts = await self._read(self._facts)
        return Reply((texts.status(facts),), facts)

    def _facts(self) -> dict[str, Any]:
        documents = self.engine.totals().documents
        try:
            _, pending = self.engine.vectors()
            lacking, vectors = pending.lacking, pending.vectors
        except ModelError:  # not here: then nothing has vectors of it
            lacking, vectors = documents, 0
        return {
            "totalDocuments": documents,
            "needsEmbedding": lacking,
            "hasVectorIndex": vectors > 0,
            "collections": [
                {
                    "name": each.name,
                    "path": each.root or f"{paths.SCHEME}{each.name}",
                    "pattern": each.mask,
                    "documents": each.documents,
                    "lastUpdated": texts.moment(each.modified),
                }
                for each in self.engine.overview()
            ],
        }

    # -- experience records --------------------------------------------------------

    async def _query_experiences(self, tool: Tool, given: Mapping[str, Any]) -> Reply:
        experiences = await self._records()
        asked, misnamed = _of_contract(tool, given)
        vector = None
        try:
            if await self._read(experiences.has_vectors):
                work = partial(experiences.vector, asked)
                vector = await to_thread.run_sync(work, limiter=self._models)
            found = await self._read(experiences.found, asked, misnamed, vector=vector)
        except QmdError as error:
            return _failed(error)
        if experiences.uncounted and self._counting is None and not self._read_only:
            self._counting = threading.Timer(COUNTED, self._count)
            self._counting.daemon = True
            self._counting.start()
        return _outcome(*texts.fitting_page(found))

    async def _submit_experience(self, tool: Tool, given: Mapping[str, Any]) -> Reply:
        experiences = await self._records()
        return _outcome(await self._read(experiences.submit, *_of_contract(tool, given)))

    async def _records(self) -> Experiences:
        from qmd.experiences import Experiences

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
        from qmd.pipeline.hooks import Hooks

        asked = read(tool, given)
        engine = self.engine
        settings = await self._read(engine.settings)
        hooks = Hooks(engine.place, settings, pull=False, told=log.warning)

        async def work(tell: Tell) -> list[Report]:
            return await engine.update(
                asked.get("collections", []),
                progress=lambda each: lambda done, total: tell(done, total, each.name),
                before=hooks.run,
            )

        reports = await _telling(progress, work)
        rows = [
            {
                "name": report.collection,
                "new": report.new,
                "updated": report.updated,
                "unchanged": report.unchanged,
                "renamed": report.renamed,
                "removed": report.removed,
                "skipped": len(report.skipped),
                **({"failure": report.failure} if report.failure else {}),
            }
            for report in reports
        ]
        lines = [
            f"{row['name']}: "
            + (
                f"not updated: {row['failure']}"
                if "failure" in row
                else f"{row['new']} new, {row['updated']} updated, {row['unchanged']} unchanged, "
                f"{row['renamed']} renamed, {row['removed']} removed, {row['skipped']} skipped"
            )
            for row in rows
        ]
        return Reply(("\n".join(lines) or "No collections yet.",), {"collections": rows})

    async def _embed(
        self, tool: Tool, given: Mapping[str, Any], progress: Progress | None
    ) -> Reply:
        asked = read(tool, given)
        seconds = asked.get("maxSeconds")

        async def work(tell: Tell) -> Embedded:
            return await self.engine.embed(
                asked.get("collections", []),
                batch_tokens=HASTY if seconds else None,
                within=seconds,
                something=True,
                progress=lambda done, total: tell(done, total, "bytes of text"),
            )

        done = await _telling(progress, work)
        facts = {
            "chunks": done.chunks,
            "documents": done.documents,
            "lacking": done.lacking,
            "failed": len(done.failed),
            "stopped": done.stopped,
        }
        text = f"{done.chunks} passages embedded; documents that lack vectors: {done.lacking}."
        return Reply((text,), facts)

    async def embed_texts(self, given: Sequence[str]) -> list[list[float]]:
        """Vectors of texts, as documents are embedded.

        Raises:
            QmdError: the model cannot run here, does not take them, or takes too long.
        """

        def work() -> list[list[float]]:
            space = self.engine.models.space()
            prompts = [space.model.as_document(text) for text in given]
            vectors = self.engine.models.embedder(space).embed(prompts, between=stopping.check)
            rows: list[list[float]] = vectors.tolist()
            return rows

        with self._at_work(), anyio.move_on_after(LATER):
            return await stoppable(partial(to_thread.run_sync, work, limiter=self._models))
        raise TimedOut(LATER)


def _among(asked: Mapping[str, Any]) -> Filter:
    """The collections that may answer: those of both parameters."""
    one, several = asked.get("collection"), asked.get("collections", [])
    names = tuple(dict.fromkeys([*([one] if one else []), *several]))
    return Filter(names or None)


def _question(asked: Mapping[str, Any]) -> tuple[str | Question, str]:
    """What is asked, and how to call it.

    Raises:
        InvalidArguments: nothing is asked, or the same in two ways.
    """
    plain, searches = asked.get("query"), asked.get("searches")
    if (plain is None) == (searches is None):
        raise InvalidArguments(
            'Give either "query" or "searches"' + (", not both." if plain else ".")
        )
    if plain is not None:
        return plain, plain
    from qmd.text import questions

    assert searches is not None
    typed = [questions.Search(each["type"], each["query"], n) for n, each in enumerate(searches, 1)]
    first = next((s for kind in ("lex", "vec") for s in typed if s.kind == kind), typed[0])
    return questions.typed(typed), first.text


def _results(question: str, answer: Answer) -> Reply:
    results = [texts.record(each) for each in answer.results]
    kept = texts.fitting(results)
    notes = [answer.notice] if answer.notice else []
    if len(kept) < len(results):
        notes.append(f"{len(results) - len(kept)} more found; the answer is full.")
    return Reply((texts.summary(question, kept), *notes), {"results": kept})


def _documents(pattern: str, passages: Sequence[Passage], *, numbered: bool) -> Reply:
    """Several documents: those that are missing, those left out, the others."""
    missing = [each for each in passages if each.reason and not each.docid]
    if len(missing) == len(passages):
        return refusal(Code.NOT_FOUND, _none_matched(pattern, missing))
    left_out = [
        texts.skipped(each.file, each.size) for each in passages if each.reason and each.docid
    ]
    found: list[Resource] = []
    room = texts.MOST_BYTES - sum(len(each.encode()) for each in left_out)
    for passage in passages:
        if passage.reason:
            continue
        resource = texts.document(passage, numbered=numbered, rest=True)
        size = len(resource.text.encode())
        if size > room:
            left_out.append(texts.full(passage.file))
            continue
        found.append(resource)
        room -= size
    return Reply((*(each.reason or "" for each in missing), *left_out, *found))


def _none_matched(pattern: str, missing: Sequence[Passage]) -> str:
    """That nothing was found; with what is like it, where names were given."""
    hints = [each.reason for each in missing if each.reason and "\n" in each.reason]
    return "\n\n".join([f"No files matched pattern: {pattern}", *hints])


def _of_contract(tool: Tool, given: Mapping[str, Any]) -> tuple[dict[str, Any], list[Violation]]:
    """What is given for experience records, and what has no name there; their contract checks
    the values."""
    from qmd.text.experience import Violation

    asked, faults = understood(tool, given)
    return asked, [Violation(fault.parameter, fault.text) for fault in faults]


def _failed(error: QmdError) -> Reply:
    from qmd.experiences import failed

    return _outcome(failed(error))


def _timed_out(tool: Tool, seconds: float | None) -> Reply:
    if tool in (schemas.QUERY_EXPERIENCES, schemas.SUBMIT_EXPERIENCE):
        from qmd.experiences import timed_out

        return _outcome(timed_out(seconds or 0))
    return refusal(Code.TIMEOUT, str(TimedOut(seconds or 0)))


def _outcome(outcome: dict[str, object], *notes: str) -> Reply:
    """The object of the contract for experience records as a reply."""
    error = outcome.get("error")
    code = None
    if isinstance(error, Mapping):
        code = _OF_CONTRACT.get(str(error["code"]), Code.INVALID_PARAMS)
    return Reply((json.dumps(outcome, ensure_ascii=False), *notes), outcome, code)


async def _telling(progress: Progress | None, work: Callable[[Tell], Awaitable[Found]]) -> Found:
    """What `work` gives; what it tells is passed on without waiting, or left out."""
    if progress is None:
        return await work(lambda done, total, doing: None)
    latest, told = anyio.create_memory_object_stream[tuple[float, float | None, str | None]](1)
    outcome: list[Found] = []
    failure: QmdError | None = None

    async def pass_on() -> None:
        with told:
            async for done, total, doing in told:
                await progress(done, total, doing)

    def tell(done: float, total: float | None, doing: str | None) -> None:
        with suppress(anyio.WouldBlock):
            latest.send_nowait((done, total, doing))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pass_on)
        with latest:
            try:
                outcome.append(await work(tell))
            except QmdError as error:  # not as a part of a group
                failure = error
    if failure is not None:
        raise failure
    return outcome[0]


_OF_CONTRACT = {"DATABASE_ERROR": Code.DATABASE_BUSY, "TIMEOUT": Code.TIMEOUT}


def code_of(error: QmdError) -> Code:
    """What programs are told of an error."""
    for kind, code in (
        (CollectionNotFound, Code.UNKNOWN_COLLECTION),
        (DocumentNotFound, Code.NOT_FOUND),
        (Ambiguous, Code.AMBIGUOUS_PATH),
        (NotEmbedded, Code.NO_VECTOR_INDEX),
        (TextTooLong, Code.INVALID_PARAMS),
        (TimedOut, Code.TIMEOUT),
        (ConfigError, Code.DATABASE_BUSY),  # nothing can be answered until it is mended
        (ModelError, Code.NO_VECTOR_INDEX),
        (IndexFailure, Code.DATABASE_BUSY),
    ):
        if isinstance(error, kind):
            return code
    return Code.INVALID_PARAMS if isinstance(error, UsageError) else Code.INTERNAL
