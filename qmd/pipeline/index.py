"""Bring a collection's documents up to date with its files.

    walk ▸ compare ▸ read and hash ▸ title, frontmatter, date ▸ tokenise ▸ commit

Everything but the commit happens outside the lock of the index. A batch commits on its
own, so a run that is cut off leaves whole documents behind and the next one goes on.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from anyio import CapacityLimiter, to_thread

from qmd.pipeline import reading
from qmd.pipeline.compare import Comparison, compare
from qmd.pipeline.flow import each, flow
from qmd.pipeline.memory import SPARING, keep_memory
from qmd.pipeline.reading import File
from qmd.store import documents
from qmd.store.cursor import Cursor
from qmd.store.database import Database
from qmd.store.documents import Batch, Change
from qmd.store.gate import dictionary
from qmd.store.stemmer import Stemmer
from qmd.types import Collection, Report

if TYPE_CHECKING:
    from qmd.pipeline.tokens import Vocabulary

BATCH_BYTES = 8_000_000
"""Bytes of text that are committed at once: about a fifth of a second with the lock held."""

BATCH_FILES = 2_000

ROUNDS = 20
"""Times that what other processes changed in the meantime is compared again."""

Progress = Callable[[int, int], None]
"""Told (documents done, documents in all) of a collection."""


async def update(
    database: Database,
    collection: Collection,
    stemmer: Stemmer,
    *,
    comparison: Comparison | None = None,
    progress: Progress | None = None,
) -> Report:
    """Bring one collection up to date.

    Args:
        comparison: made just before, if there is one.
        progress: told how far it has come, after each batch.

    Raises:
        RootMissing, RootUnreadable: its folder is not there, or cannot be read. Nothing is removed.
        IndexFailure: the index is busy or cannot be written.
    """
    report = Report(collection.name, collection.mask)
    for _ in range(ROUNDS):
        if comparison is None:
            comparison = await to_thread.run_sync(compare, database, collection)
        report.skipped[:] = comparison.found.skipped
        with SPARING, ExitStack() as held:
            run = _Run(database, collection, stemmer, report, comparison, progress, held)
            settled = await run.apply(comparison.changes)
        if settled:
            break
        comparison = None
    touched = report.new + report.updated + report.renamed
    report.unchanged = max(0, len(run.found.paths) - touched - run.unusable)
    return report


class _Run:
    """One comparison, carried out.

    Args:
        held: what is held until it is done, and is let go of by who made this.
    """

    def __init__(
        self,
        database: Database,
        collection: Collection,
        stemmer: Stemmer,
        report: Report,
        comparison: Comparison,
        progress: Progress | None,
        held: ExitStack,
    ) -> None:
        self._held = held
        self._database = database
        self._collection = collection
        self._stemmer = stemmer
        self._report = report
        self.found = comparison.found
        self._began = comparison.began
        self._progress = progress
        # Two hardware threads of one core do no more together than one: a stage to a core.
        self._cores = CapacityLimiter(max(1, (os.cpu_count() or 1) // 2))
        self._met: int | None = None  # words in the index when this began
        self._indexed: set[str] = set()  # those of them that were asked for
        self.unusable = 0

    async def apply(self, changes: list[Change]) -> bool:
        """Commit the changes.

        Returns:
            Whether all were accepted; if not, compare again.
        """
        gone = [change for change in changes if change.place is None and not self._unread(change)]
        changed = [change for change in changes if change.place is not None]
        moved = {change.hash: change for change in gone}
        done, settled = 0, True
        if changed:
            async with flow() as stage:
                read = stage(self._read(each(self._batched(changed))))
                prepared = stage(self._prepared(read))
                async for files, batch in prepared:
                    accepted = await self._commit(files, batch)
                    settled &= self._count(files, accepted, moved, gone)
                    done += len(files)
                    if self._progress:
                        self._progress(done, len(changed))
        if gone:
            ids = [change.document_id for change in gone if change.document_id is not None]
            removed = await to_thread.run_sync(
                self._database.write, partial(documents.remove, document_ids=ids)
            )
            self._report.removed += len(removed)
            self._report.removed -= self._report.renamed
            settled &= len(removed) == len(ids)
        return settled

    def _unread(self, change: Change) -> bool:
        """Whether a document lies where nothing could be listed, so that nobody knows."""
        return any(
            change.path == place or (change.path.startswith(place) and place.endswith("/"))
            for place in self.found.unread
        )

    def _batched(self, changes: list[Change]) -> Iterator[list[Change]]:
        batch: list[Change] = []
        size = 0
        for change in changes:
            assert change.place is not None
            batch.append(change)
            size += self.found.sizes[change.place]
            if size >= BATCH_BYTES or len(batch) >= BATCH_FILES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    async def _read(self, batches: AsyncIterator[list[Change]]) -> AsyncGenerator[list[File], None]:
        """Each batch with the contents of its files."""
        opened = partial(
            reading.opened, found=self.found, collection=self._collection, began=self._began
        )
        async for batch in batches:
            yield await to_thread.run_sync(
                lambda batch: [opened(change) for change in batch],
                batch,
                limiter=self._cores,
            )

    async def _prepared(
        self, batches: AsyncIterator[list[File]]
    ) -> AsyncGenerator[tuple[list[File], Batch | None], None]:
        """Each batch with its documents, contents and postings as Arrow tables."""
        vocabulary: Vocabulary | None = None
        async for files in batches:
            readable = [file for file in files if file.text is not None]
            if not readable:
                yield files, None
                continue
            if vocabulary is None:
                keep_memory()
                from qmd.pipeline.tokens import Vocabulary

                vocabulary = Vocabulary(self._resolve, self._indexed)
            batch = await to_thread.run_sync(
                self._tabled, readable, vocabulary, limiter=self._cores
            )
            files = [file.spent() for file in files]
            del readable
            yield files, batch
            del files, batch  # not to be held while the next ones are awaited

    def _resolve(self, words: list[str]) -> list[tuple[int, str]]:
        """Terms of folded words: as the index knows them, else from the stemmer."""
        if not words:
            return []
        if self._met is None:
            self._held.enter_context(dictionary(self._database.path, shared=True))
            self._met = self._database.read(documents.word_count)
        if not self._met:
            return self._stemmer.terms(words)
        known = self._database.read(partial(documents.known_words, words=words))
        self._indexed.update(known)
        unknown = [word for word in words if word not in known]
        known.update(zip(unknown, self._stemmer.terms(unknown), strict=True))
        return [known[word] for word in words]

    def _tabled(self, files: list[File], vocabulary: Vocabulary) -> Batch:
        parsed = [reading.parsed(file) for file in files]
        for item in parsed:
            if item.remark:
                self._report.notes.append((item.file.path, item.remark))
        from qmd.pipeline.tables import batch

        return batch(self._collection.name, parsed, vocabulary)

    async def _commit(self, files: list[File], batch: Batch | None) -> set[str]:
        """Commit a batch, and what else its files told.

        Returns:
            The paths of the documents that were accepted.
        """
        touched = [f for f in files if f.text is None and f.hash and not f.problem]
        emptied = [
            f.change.document_id for f in files if f.empty and f.change.document_id is not None
        ]
        if batch is None and not touched and not emptied:
            return set()

        def work(cursor: Cursor) -> set[int]:
            if touched:
                from qmd.pipeline.tables import touched_table

                documents.touch(cursor, touched_table(touched))
            if emptied:
                self._report.removed += len(documents.remove(cursor, emptied))
            return documents.put(cursor, batch) if batch is not None else set()

        accepted = await to_thread.run_sync(self._database.write, work, limiter=self._cores)
        paths = [file.path for file in files if file.text is not None]
        return {paths[number] for number in accepted}

    def _count(
        self,
        files: list[File],
        accepted: set[str],
        moved: dict[str | None, Change],
        gone: list[Change],
    ) -> bool:
        """Add a batch to the report.

        Returns:
            Whether every document was accepted.
        """
        report = self._report
        settled = True
        for file in files:
            if file.problem:
                report.skipped.append((file.path, file.problem))
                self.unusable += 1
            elif file.vanished:
                self.unusable += 1
            elif file.text is None:
                continue
            elif file.path not in accepted:
                settled = False
            elif file.change.document_id is not None:
                report.updated += 1
            elif moved.pop(file.hash, None) is not None:
                report.renamed += 1
            else:
                report.new += 1
        return settled
