"""Bring a collection's documents up to date with its files.

    walk ▸ compare ▸ read and hash ▸ title, frontmatter, date ▸ tokenise ▸ commit

Everything but the commit happens outside the lock of the index. A batch commits on its
own, so a run that is cut off leaves whole documents behind and the next one goes on.
"""

from __future__ import annotations

import codecs
import gc
import os
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from anyio import CapacityLimiter, to_thread

from qmd.pipeline.compare import Comparison, compare
from qmd.pipeline.flow import each, flow
from qmd.store import documents
from qmd.store.cursor import Cursor
from qmd.store.database import Database
from qmd.store.documents import Batch, Change
from qmd.store.gate import dictionary
from qmd.store.stemmer import Stemmer
from qmd.text import markdown
from qmd.text.identity import checksum, content_hash
from qmd.types import Collection, Report

if TYPE_CHECKING:
    from qmd.pipeline.tokens import Vocabulary

BATCH_BYTES = 4_000_000
"""Bytes of text that are committed at once: about a tenth of a second with the lock held."""

BATCH_FILES = 2_000

FRESH_NS = 50_000_000
"""Nanoseconds. A file changed so shortly before the walk may change again within the same
tick of the file system's clock: its time is not trusted, and it is compared again."""

ROUNDS = 20
"""Times that what other processes changed in the meantime is compared again."""

EPOCH = datetime(1970, 1, 1)

Progress = Callable[[int, int], None]
"""Told (documents done, documents in all) of a collection."""


class File(NamedTuple):
    """A changed file, read.

    Attributes:
        fresh: it changed so shortly before it was found that it may change again unnoticed.
        text: None if it cannot be indexed, for `problem`, or has not really changed.
        data: the text in UTF-8.
    """

    change: Change
    path: str
    size: int
    mtime_ns: int
    inode: int
    checksum: str = ""
    hash: str = ""
    text: str | None = None
    data: bytes = b""
    lossy: bool = False
    problem: str | None = None
    empty: bool = False
    vanished: bool = False
    fresh: bool = False


class Parsed(NamedTuple):
    """A file with what it says of itself.

    Attributes:
        remark: what is odd about it, though it is indexed.
        body: bytes of its frontmatter.
    """

    file: File
    title: str
    metadata: str | None
    dated: datetime
    modified: datetime
    remark: str | None
    body: int = 0


def keep_memory() -> None:
    """Let the allocator keep what it gives back: big arrays come and go with each batch.

    By default glibc returns each to the system, and the next one costs its page faults
    again: a tenth of the time of indexing. Elsewhere there is nothing to be set.
    """
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        trim_threshold, mmap_threshold = -1, -3  # malloc.h
        mallopt(mmap_threshold, 1 << 28)
        mallopt(trim_threshold, 1 << 28)


class _Sparing:
    """While it is entered, Python looks for cycles of objects a hundredth as often: a batch makes
    many objects and no cycles, and looking took a fifteenth of the time of indexing."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._entered = 0
        self._before = gc.get_threshold()

    def __enter__(self) -> None:
        with self._turn:
            if not self._entered:
                self._before = gc.get_threshold()
                gc.set_threshold(100 * self._before[0], *self._before[1:])
            self._entered += 1

    def __exit__(self, *_: object) -> None:
        with self._turn:
            self._entered -= 1
            if not self._entered:
                gc.set_threshold(*self._before)


SPARING = _Sparing()


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
        RootMissing: its folder is not there. Nothing is removed.
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
            change.path == place
            or (change.path.startswith(place) and place.endswith("/"))
            or place == ""
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
        async for batch in batches:
            yield await to_thread.run_sync(
                lambda batch: [self._opened(change) for change in batch],
                batch,
                limiter=self._cores,
            )

    def _opened(self, change: Change) -> File:
        """Read one file; what cannot be read is a file with a problem."""
        place = change.place
        assert place is not None
        mtime_ns = self.found.mtimes[place]
        known = partial(
            File,
            change,
            change.path,
            self.found.sizes[place],
            mtime_ns,
            self.found.inodes[place],
            fresh=mtime_ns > self._began - FRESH_NS,
        )
        follow = self._collection.follow_symlinks
        flags = os.O_RDONLY | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
        try:
            descriptor = os.open(os.path.join(self._collection.root, change.path), flags)  # noqa: PTH118
            try:
                data = _content(descriptor, self.found.sizes[place])
            finally:
                os.close(descriptor)
        except FileNotFoundError:
            return known(vanished=True)
        except OSError as error:
            return known(problem=(error.strerror or str(error)).lower())
        digest = checksum(data)
        if digest == change.checksum and change.hash is not None:
            return known(checksum=digest, hash=change.hash)
        if b"\0" in data:
            return known(problem="not a text file", empty=True)
        try:
            text, lossy = data.decode("utf-8-sig"), False
        except UnicodeDecodeError:
            text, lossy = data.decode("utf-8-sig", errors="replace"), True
        if not text or text.isspace():
            return known(problem="empty", empty=True)
        data = text.encode() if lossy else data.removeprefix(codecs.BOM_UTF8)
        return known(checksum=digest, hash=content_hash(data), text=text, data=data, lossy=lossy)

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
            yield files, batch

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
        parsed = [_parsed(file) for file in files]
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


def _content(descriptor: int, expected: int) -> bytes:
    """All bytes of an open file, of which about `expected` are there."""
    pieces = []
    while piece := os.read(descriptor, expected + 1):
        pieces.append(piece)
    return b"".join(pieces)


def _parsed(file: File) -> Parsed:
    text = file.text
    assert text is not None
    matter = markdown.frontmatter(text)
    modified = EPOCH + timedelta(microseconds=file.mtime_ns // 1000)
    remark = matter.problem or ("invalid UTF-8 was replaced" if file.lossy else None)
    return Parsed(
        file,
        markdown.title(text, file.path, matter),
        markdown.metadata_json(matter.metadata),
        markdown.dated(file.path, modified, matter),
        modified,
        remark,
        matter.end if text.isascii() else len(text[: matter.end].encode()),
    )
