"""Embedding pipeline: texts to chunks, chunks to vectors, committed in batches.

    texts without chunks ─▸ chunk ─▸ commit chunks ─┐
                                                    ├─▸ batch ─▸ model ─▸ commit vectors
    chunks without vectors ─────────────────────────┘

Chunks are committed before their vectors: an interrupted run resumes from there. A rebuild writes
draft vectors beside the old ones, and publishes them at the end.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import anyio
from anyio import from_thread, to_thread

from qmd.embedding import chunk_groups, chunker, cosines, drafts
from qmd.embedding import vectors as embeddings
from qmd.embedding.passages import Passages, Wordy, wordy
from qmd.embedding.vectors import Chunk
from qmd.errors import ModelError
from qmd.named_tuple import NamedTuple
from qmd.reports import Embedded, EmbedStep
from qmd.stages import each, flow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qmd.models.protocols import Embedder
    from qmd.models.selection import Space
    from qmd.storage.cursor import Cursor
    from qmd.storage.database import Database

BATCH_TOKENS = 16_384
"""Tokens between two commits: a few seconds of work on a small processor."""

FIRST_TOKENS = 512
"""Tokens of the first commit: the user sees that it works. Each further one may have twice as many,
up to `BATCH_TOKENS`."""

SOON, HASTY = 60.0, 1024
"""Seconds that are little time, and tokens between two commits then: less is lost at its end."""

PROBE = "1"
"""Text that any working model embeds: it tells whether a failure was the text's or the model's."""

Progress = Callable[[int, int], None]
"""Callback with (bytes done, bytes in all)."""

Value = TypeVar("Value")

_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class PromptedChunk(NamedTuple):
    """A chunk with the text that the model gets.

    Attributes:
        prompt: as the model wants it.
        name: `collection/path` of a document that has it.
        size: bytes.
    """

    chunk_id: int
    prompt: str
    tokens: int
    name: str
    line: int
    size: int


class VectorBatch(NamedTuple):
    """Chunks with their vectors: (chunks, dimensions).

    Attributes:
        failed: passages that the model would not take, each with the reason.
    """

    passages: list[PromptedChunk]
    vectors: NDArray[np.float32] | None
    failed: list[tuple[PromptedChunk, str]]


async def embed(
    database: Database,
    embedder: Embedder,
    space: Space,
    *,
    collections: Sequence[str] = (),
    force: bool = False,
    batch_tokens: int | None = None,
    within: float | None = None,
    something: bool = False,
    progress: Progress | None = None,
    detail: Callable[[EmbedStep], None] | None = None,
) -> Embedded:
    """Compute a vector of one model for every chunk of every document.

    Args:
        collections: only documents of these; none means all.
        force: also those that have one, which they keep until all are made.
        batch_tokens: tokens between two commits; None: as many as there is time for.
        within: seconds after which to stop.
        something: do not stop before something is committed, so that who calls again and
            again comes to the end.
        progress: callback after each commit.
        detail: callback at the start and after each commit.

    Raises:
        ModelError: the model does not work at all.
        IndexFailure: the index is busy or cannot be written.
    """
    began = time.monotonic()
    report = Embedded(space.model.name)
    if batch_tokens is None:
        batch_tokens = HASTY if within is not None and within < SOON else BATCH_TOKENS
    pending = partial(embeddings.pending, fingerprint=space.fingerprint)
    anew = force and bool((await to_thread.run_sync(database.read, pending)).vectors)
    made = drafts.draft(space) if anew else space
    run = _Run(database, embedder, made, list(collections) or None, batch_tokens)
    until = math.inf if within is None else anyio.current_time() + within
    with anyio.CancelScope(deadline=math.inf if something else until) as limited:
        await run.begin(check=force)
        if detail:
            detail(run.step(report, None))
        async with flow() as stage:
            batches = stage(run.embedded(stage(run.batched(stage(run.passages())))))
            async for batch in batches:
                if batch.vectors is not None:
                    await run.commit(batch)
                    limited.deadline = until
                report.chunks += len(batch.passages)
                report.tokens += sum(passage.tokens for passage in batch.passages)
                report.bytes += sum(passage.size for passage in batch.passages)
                report.failed += [(f"{p.name}:{p.line}", why) for p, why in batch.failed]
                if progress:
                    progress(report.bytes, max(run.total, report.bytes))
                if detail:
                    detail(run.step(report, batch))
    report.stopped = limited.cancelled_caught
    report.foreign = run.foreign
    report.data_documents, report.data_bytes = run.data_documents, run.data_bytes
    report.draft = anew and report.stopped
    if anew and not report.stopped:
        work = partial(drafts.put_in_place, space=space, dimensions=run.dimensions)
        await to_thread.run_sync(database.write, work)
    if report.chunks:
        await to_thread.run_sync(cosines.measure_again, database, space, run.ask)
    report.seconds = time.monotonic() - began
    state = await to_thread.run_sync(database.read, partial(pending, collections=collections))
    report.documents, report.lacking = state.documents, state.lacking
    if not report.stopped and not (await to_thread.run_sync(database.read, pending)).lacking:
        await to_thread.run_sync(database.write, partial(_supersede, space=space))
    return report


class _Run:
    """One embedding run."""

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        space: Space,
        collections: list[str] | None,
        batch_tokens: int,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._space = space
        self._collections = collections
        self._batch_tokens = batch_tokens
        self._model_id = 0
        self._left: list[Chunk] = []
        self._uncut: list[tuple[str, int]] = []
        self._passages = Passages(space, embedder.limit)
        self.dimensions = 0
        self.total = 0
        self.documents = 0
        self.foreign = 0
        self.data_documents = self.data_bytes = 0
        self._seen: dict[str, None] = {}

    async def begin(self, *, check: bool) -> None:
        """Prepare the run: count the texts and chunks without vectors.

        Args:
            check: whether the model works, first.
        """
        self.dimensions = await to_thread.run_sync(partial(self._width, anew=check))
        meet = partial(embeddings.meet, space=self._space, dimensions=self.dimensions)
        self._model_id = await to_thread.run_sync(self._database.write, meet)

        def look(cursor: Cursor) -> tuple[list[Chunk], list[tuple[str, int]]]:
            number, names = self._model_id, self._collections
            return (
                embeddings.unembedded(cursor, model_id=number, collections=names),
                embeddings.uncut(cursor, model_id=number, collections=names),
            )

        self._left, self._uncut = await to_thread.run_sync(self._database.read, look)
        self.total = sum(chunk.length for chunk in self._left)
        self.total += sum(size for _, size in self._uncut)
        self.documents = len(
            {chunk.hash for chunk in self._left} | {each[0] for each in self._uncut}
        )

    def step(self, report: Embedded, batch: VectorBatch | None) -> EmbedStep:
        """Describe how far the run is, after a batch or before the first."""
        passages = [*batch.passages, *(each for each, _ in batch.failed)] if batch else []
        self._seen |= {each.name: None for each in passages}
        at = next(reversed(self._seen), None)
        total = max(self.total, report.bytes)
        is_over = bool(batch) and report.bytes >= total
        done = len(self._seen) - (0 if is_over or at is None else 1)  # the last is in hand
        return EmbedStep(report.bytes, total, done, self.documents, report.chunks, at)

    def _width(self, *, anew: bool) -> int:
        """Return the dimensions of the vectors; ask the model if they are unknown or `anew`."""
        known = None if anew else self._embedder.dimensions
        return known or self._vectors([PROBE]).shape[1]

    async def passages(self) -> AsyncGenerator[list[PromptedChunk], None]:
        """Yield chunks left without a vector, then those of texts that are chunked now."""
        async for chunks in each(chunk_groups.by_text(self._left)):
            hashes = list(dict.fromkeys(chunk.hash for chunk in chunks))
            texts = await self._texts(hashes)
            yield [self._passage(texts[c.hash], c) for c in chunks if c.hash in texts]
        async for hashes in each(chunk_groups.grouped(self._uncut)):
            texts = await self._texts(hashes)
            cut = await to_thread.run_sync(self._cut, [texts[h] for h in hashes if h in texts])
            chunks = await to_thread.run_sync(self._keep, cut)
            yield [self._passage(texts[chunk.hash], chunk) for chunk in chunks]

    async def _texts(self, hashes: list[str]) -> dict[str, Wordy]:
        work = partial(embeddings.texts, hashes=hashes)
        texts = await to_thread.run_sync(self._database.read, work)
        return await to_thread.run_sync(
            lambda: {hash_: wordy(text) for hash_, text in texts.items()}
        )

    def _cut(self, texts: list[Wordy]) -> list[tuple[Wordy, list[chunker.TokenPiece]]]:
        """Split texts into chunks within the model's token limit."""
        for text in texts:
            size = text.data_bytes
            self.data_documents += bool(size)
            self.data_bytes += size
            self.total -= size
        return [(text, self._passages.pieces(text, self._count)) for text in texts]

    def _count(self, prompts: list[str]) -> list[int]:
        from_thread.check_cancelled()
        return self._embedder.count(prompts)

    def _keep(self, cut: list[tuple[Wordy, list[chunker.TokenPiece]]]) -> list[Chunk]:
        """Commit chunks, and return those that no other process has committed before."""
        rows = [
            (text.hash, seq, *piece) for text, pieces in cut for seq, piece in enumerate(pieces)
        ]
        if not rows:
            return []
        added = self._write(
            partial(
                embeddings.add_chunks, model_id=self._model_id, cut=chunk_groups.chunk_table(rows)
            )
        )
        return [
            Chunk(added[hash_, seq], hash_, *piece)
            for hash_, seq, *piece in rows
            if (hash_, seq) in added
        ]

    def _passage(self, text: Wordy, chunk: Chunk) -> PromptedChunk:
        body, prompt = self._passages.prompt_of(text, chunk)
        self.foreign += self._space.model.languages == "en" and bool(_CJK.search(body))
        size = len(body.encode())
        return PromptedChunk(chunk.chunk_id, prompt, chunk.tokens, text.name, chunk.line, size)

    def ask(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of questions."""
        return self._embedder.embed([self._space.model.as_query(text) for text in questions])

    async def batched(
        self, groups: AsyncIterator[list[PromptedChunk]]
    ) -> AsyncGenerator[list[PromptedChunk], None]:
        """Group chunks into batches of about the same number of tokens."""
        batch: list[PromptedChunk] = []
        size, most = 0, min(FIRST_TOKENS, self._batch_tokens)
        async for passages in groups:
            for passage in passages:
                batch.append(passage)
                size += passage.tokens
                if size >= most:
                    yield batch
                    batch, size = [], 0
                    most = min(2 * most, self._batch_tokens)
        if batch:
            yield batch

    async def embedded(
        self, batches: AsyncIterator[list[PromptedChunk]]
    ) -> AsyncGenerator[VectorBatch, None]:
        """Yield each batch with its vectors."""
        async for passages in batches:
            yield await to_thread.run_sync(self._embed, passages)

    def _embed(self, passages: list[PromptedChunk]) -> VectorBatch:
        """Embed equal texts once; if the model refuses the batch, embed one by one."""
        prompts = list(dict.fromkeys(passage.prompt for passage in passages))
        try:
            rows = self._vectors(prompts)
        except ModelError:
            return self._one_by_one(passages)
        place = {prompt: at for at, prompt in enumerate(prompts)}
        return VectorBatch(passages, rows[[place[p.prompt] for p in passages]], [])

    def _one_by_one(self, passages: list[PromptedChunk]) -> VectorBatch:
        import numpy as np

        done: list[PromptedChunk] = []
        rows = []
        failed: list[tuple[PromptedChunk, str]] = []
        for passage in passages:
            try:
                rows.append(self._vectors([passage.prompt]))
                done.append(passage)
            except ModelError as error:
                self._vectors([self._space.model.as_document(PROBE)])
                failed.append((passage, str(error).split("\n")[0]))
        return VectorBatch(done, np.concatenate(rows) if rows else None, failed)

    def _vectors(self, prompts: list[str]) -> NDArray[np.float32]:
        return self._embedder.embed(prompts, between=from_thread.check_cancelled)

    async def commit(self, batch: VectorBatch) -> None:
        """Commit the vectors of a batch."""
        assert batch.vectors is not None
        await to_thread.run_sync(
            self._write,
            partial(
                embeddings.add,
                model_id=self._model_id,
                chunk_ids=[passage.chunk_id for passage in batch.passages],
                vectors=batch.vectors,
            ),
        )

    def _write(self, work: Callable[[Cursor], Value]) -> Value:
        """Run a write, unless another process has removed the model."""

        def checked(cursor: Cursor) -> Value:
            embeddings.check_vector_space(cursor, self._space, self._model_id)
            return work(cursor)

        return self._database.write(checked)


def _supersede(cursor: Cursor, space: Space) -> None:
    """Remove the vectors of this model that were made with other settings."""
    needed = (space.fingerprint, drafts.draft(space).fingerprint)
    for stored in embeddings.models(cursor):
        if stored.name == space.model.name and stored.fingerprint not in needed:
            embeddings.remove(cursor, model_id=stored.model_id)
