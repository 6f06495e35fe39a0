"""Update of one collection in batches, each committed on its own.

Only the commit needs the lock of the index. A batch commits on its own, so that an interrupted run
leaves whole documents, and the next run resumes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from qmd.errors import QmdError
from qmd.ingest import batch_tables, columns, inversion, reader
from qmd.ingest import commit as documents
from qmd.ingest.batch_tables import Texts
from qmd.ingest.commit import Batch
from qmd.ingest.compare import Comparison, is_little
from qmd.ingest.folder_changes import Change
from qmd.ingest.grouping import group_few
from qmd.ingest.indexed_terms import indexed_vocabulary
from qmd.ingest.memory import keep_memory
from qmd.ingest.reader import File
from qmd.ingest.vocabulary import Vocabulary
from qmd.reports import Report
from qmd.storage.attachment import MANY, ROW_GROUP_SIZE, USUAL
from qmd.storage.cancellation import Stopped
from qmd.storage.cursor import Cursor
from qmd.storage.database import Database
from qmd.text import kinds
from qmd.text.stems import terms
from qmd.types import Collection

if TYPE_CHECKING:
    from qmd.ingest.extractor import Readers

log = logging.getLogger("qmd.ingest")

BATCH_BYTES = 24_000_000 if inversion.IS_COMPILED else 4_000_000
"""Bytes of text in a commit: about half a second with the lock held.

In plain Python they take more memory.
"""

MOST_BYTES = BATCH_BYTES * 4 // 3
"""Bytes of text in a commit that fills a row group. In two commits, the second one would write what
the first one has added again, and leave free blocks: docs/decisions/045-room-in-the-file.md."""

BATCH_FILES = ROW_GROUP_SIZE
"""Files of a commit. Its rows are then a row group as they are. DuckDB adds fewer rows to the last
row group, which is written again with all its texts: see docs/decisions/045-room-in-the-file.md."""

MUCH_BYTES = 1_000_000
"""Bytes of text in a batch from which on the allocator keeps its memory: not in a server that
follows the notes of one person."""

_NO_MISTAKES = (QmdError, MemoryError, Stopped)
"""Exceptions that say nothing about the file in hand."""

ROUNDS = 20
"""Comparisons that are repeated at most because of changes by other processes."""


class Batches:
    """The update of one collection, by its comparison with the index.

    Args:
        report: counts of the update, which are increased.
        held: resources that the creator releases at the end.
        reading: readers of files that are not text.
        groups: no other collection follows: a commit of a few changes, usually the only one, also
            groups texts of a small index. Readers would read the state in between, too.
    """

    def __init__(
        self,
        database: Database,
        collection: Collection,
        report: Report,
        comparison: Comparison,
        held: ExitStack,
        reading: Readers,
        *,
        groups: bool = False,
    ) -> None:
        self._reading = reading
        self._database = database
        self._collection = collection
        self._report = report
        self._found = comparison.found
        report.skipped[:] = comparison.found.skipped
        report.left_out[:] = comparison.found.left_out
        report.kept[:] = comparison.kept
        self._is_told, self._comparison = comparison.is_told, comparison
        self._began = comparison.found.began
        self._vocabulary = indexed_vocabulary(database, held)
        self._unusable = 0
        self._renamed = 0
        changes = comparison.changes
        gone = [change for change in changes if change.place is None]
        self.changed = [each for each in changes if each.place is not None] if gone else changes
        self._gone = [change for change in gone if not self._found.is_unread(change.path)]
        self._moved = {change.hash: change for change in self._gone}
        self._groups = groups and not self._gone and is_little([comparison])

    def cut(self) -> Iterator[list[Change]]:
        """Yield the changes in batches, the remainder of a division by `BATCH_FILES` first.

        The last commit is then a full row group, so its old blocks are freed at the end of the
        file.
        """
        start, count = 0, len(self.changed)
        while start < count:
            end = start + ((count - start) % BATCH_FILES or BATCH_FILES)
            group = list(self.changed[start:end])
            places = [change.place for change in group if change.place is not None]
            for part in cut_by_bytes([self._found.sizes[place] for place in places]):
                yield group[part]
            start = end

    def read(self, batch: list[Change]) -> list[File]:
        """Read the files of a batch."""
        files = [
            reader.opened(
                change,
                self._found,
                self._collection,
                began=self._began,
                converters=self._reading.converters,
            )
            for change in batch
        ]
        if not any(file.task for file in files):
            return files
        from qmd.ingest.extracted import extracted

        reading = self._reading
        return extracted(files, reading.extractor, self._database, reading.converters)

    def parsed(self, files: list[File]) -> Texts | None:
        """Take apart the texts of a batch; None if it has none.

        A file on which this fails by a mistake in qmd becomes one with a problem, in `files` too:
        the others are indexed. So it is in `prepared`.
        """
        try:
            return _texts(files)
        except _NO_MISTAKES:
            raise
        except Exception:
            if not self._set_aside(files):
                raise
        return _texts(files)

    def prepared(self, files: list[File], made: Texts | None) -> Batch | None:
        """Prepare documents, contents and postings of a batch; None if it has no text.

        Args:
            made: of these files, by `parsed`.
        """
        try:
            return self._tables(made)
        except _NO_MISTAKES:
            raise
        except Exception:
            if not self._set_aside(files):
                raise
        return self._tables(_texts(files))

    def _set_aside(self, files: list[File]) -> bool:
        """Replace the files on which preparing fails; return whether there are any."""
        faulty = {}
        for number, file in enumerate(files):
            if file.text is None:
                continue
            try:
                scratch = Vocabulary(terms, set())
                made = batch_tables.texts_of([reader.parsed(file)])
                batch_tables.batch(self._collection.name, made, scratch)
            except _NO_MISTAKES:
                raise
            except Exception as error:
                log.debug("%s fails", file.path, exc_info=True)
                problem = f"a mistake in qmd keeps it out ({type(error).__name__}: {error})"
                faulty[number] = file.spent()._replace(text=None, problem=problem)
        for number, file in faulty.items():
            files[number] = file
        return bool(faulty)

    def _tables(self, made: Texts | None) -> Batch | None:
        if made is None:
            return None
        if sum(len(item.file.data) for item in made.parsed) >= MUCH_BYTES:
            keep_memory()
        batch = batch_tables.batch(self._collection.name, made, self._vocabulary)
        self._report.notes += [(item.file.path, item.remark) for item in made.parsed if item.remark]
        return batch

    def commit(self, files: list[File], batch: Batch | None) -> bool:
        """Commit a batch, with problems and remarks of its files.

        Returns:
            True if every document was accepted.
        """
        same = [f for f in files if f.text is None and f.hash and not f.problem]
        emptied = [
            f.change.document_id for f in files if f.empty and f.change.document_id is not None
        ]

        made = [file.made for file in files if file.made is not None]

        def work(cursor: Cursor) -> set[int]:
            if same:
                documents.touch(cursor, columns.touched(same))
            if emptied:
                gone = documents.remove(cursor, emptied)
                self._report.removed += len(gone.intersection(emptied))
            if made:
                documents.keep_readings(cursor, batch_tables.of_readings(made))
            accepted = documents.put(cursor, batch) if batch is not None else set()
            if accepted and self._groups:
                group_few(cursor)
            return accepted

        accepted = set[int]()
        if batch is not None or same or emptied or made:
            # All batches alike: a commit would join the smaller row groups of those before it.
            is_few = len(self.changed) < USUAL.row_group_size
            accepted = self._database.write(work, writing=USUAL if is_few else MANY)
        paths = [file.path for file in files if file.text is not None]
        taken = {paths[number] for number in accepted}
        if batch is not None and batch.data:
            sizes = [size for path, size in batch.data.items() if path in taken]
            self._report.data_documents += len(sizes)
            self._report.data_bytes += sum(sizes)
        return self._count(files, taken)

    def remove(self) -> bool:
        """Remove the documents whose files are gone.

        Returns:
            True if all were still there.
        """
        if not self._gone:
            return True
        ids = [change.document_id for change in self._gone if change.document_id is not None]
        removed = self._database.write(partial(documents.remove, document_ids=ids))
        removed.intersection_update(ids)  # not what was inside of these files
        self._report.removed += len(removed) - self._renamed
        return len(removed) == len(ids)

    def finish(self) -> None:
        """Add to the report what stayed as it was."""
        report = self._report
        reported = report.new + report.updated + report.renamed + self._unusable
        report.unchanged = max(0, len(self._found.paths) - reported)
        large = set(self._found.too_large)
        unread = [each for each in report.skipped if each[0] not in large]
        unread = self._comparison.unread_with(unread)
        if not self._is_told or unread != list(self._comparison.unread):
            note = partial(documents.note_left_out, collection=report.collection)
            found, kept = report.left_out, report.kept
            self._database.write(partial(note, found=found, lost=kept, unread=unread))

    def _count(self, files: list[File], accepted: set[str]) -> bool:
        """Add a batch to the report.

        Returns:
            True if every document was accepted.
        """
        report = self._report
        settled = True
        for file in files:
            if file.problem:
                report.skipped.append((file.path, file.problem))
                if not file.empty:
                    report.passing.append(report.skipped[-1])
                self._unusable += file.container is None
            elif file.vanished:
                self._unusable += 1
            elif file.text is None:
                continue
            elif file.path not in accepted:
                settled = False
            elif file.container is None:
                self._count_one(file)
        return settled

    def _count_one(self, file: File) -> None:
        """Add a file that was read to the report."""
        report = self._report
        kind = kinds.named(file.path, file.reader)
        report.kinds[kind] = report.kinds.get(kind, 0) + 1
        if file.change.document_id is not None:
            report.updated += 1
        elif self._moved.pop(file.hash, None) is not None:
            report.renamed += 1
            self._renamed += 1
        else:
            report.new += 1


def _texts(files: Sequence[File]) -> Texts | None:
    readable = [file for file in files if file.text is not None]
    return batch_tables.texts_of(list(map(reader.parsed, readable))) if readable else None


def cut_by_bytes(sizes: Sequence[int]) -> list[slice]:
    """Cut the files of a row group into batches, of which only the first one may be small.

    Each commit writes again what the one before has added to the row group, which takes time and
    leaves free blocks in the file.

    Args:
        sizes: of the files, in bytes.

    Returns:
        Places of the files of each batch.
    """
    most = BATCH_BYTES if sum(sizes) > MOST_BYTES else MOST_BYTES
    ends, size = [len(sizes)], 0
    for at in reversed(range(len(sizes))):
        size += sizes[at]
        if size > most and at + 1 < ends[-1]:
            ends.append(at + 1)
            size = sizes[at]
    return [slice(start, end) for start, end in pairwise([0, *reversed(ends)])]
