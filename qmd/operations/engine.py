"""One index, every verb.

Verbs that only look something up are plain functions, ready for a worker thread; what is a
pipeline, or asks models, is asynchronous. The command line and the servers are thin layers over
this.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from qmd.models.loader import Models
from qmd.operations.arranging import Arranging
from qmd.operations.documents import LARGEST_OF_SEVERAL, Reading
from qmd.operations.search import NONE_INCLUDED, UNLIMITED, Answer
from qmd.operations.sql import Asking
from qmd.ranking.postings_loader import Holder
from qmd.ranking.search_log import Log
from qmd.settings import config
from qmd.settings.environment import Machine, Place
from qmd.storage import document_lookup
from qmd.storage.database import Database
from qmd.storage.stemmer import Stemmer
from qmd.types import ALL, Collection, Report

if TYPE_CHECKING:
    from qmd.analytics.sandbox_workers import Workers
    from qmd.exchange.exporter import Exported, Wish
    from qmd.exchange.importer import Imported
    from qmd.ingest.compare import Comparison
    from qmd.ingest.extractor import Extractor, Readers
    from qmd.ingest.walk import Found
    from qmd.ranking.hnsw import Shortcut
    from qmd.ranking.vector_matrix import Matrix
    from qmd.types import Embedded

__all__ = ["ALL", "LARGEST_OF_SEVERAL", "NONE_INCLUDED", "UNLIMITED", "Answer", "Engine"]


class Engine(Asking, Reading, Arranging):
    """An index and its settings.

    Args:
        machine: what the environment says of models.
        warm: for a process that reads more than once: keep the index attached between reads.
        stays: for a server: what takes minutes to make and is of use later may be made.
        workers: processes for queries in SQL; made when the first is asked.
    """

    def __init__(
        self,
        place: Place,
        machine: Machine = Machine(),  # noqa: B008  # a named tuple
        *,
        warm: bool = False,
        stays: bool = False,
        patience: float = 30.0,
        workers: Workers | None = None,
    ) -> None:
        self.place = place
        self.models = Models(self._approved, machine, place.config.parent)
        self.database = Database(place.database, warm=warm, patience=patience)
        self.holder = Holder(self.database)
        if warm:
            self.database.missed = self.holder.missed
        self.stemmer = Stemmer()
        self.log = Log(place.database)
        self._workers = workers
        self._stays = stays
        self._matrix: Matrix | None = None
        self._shortcut: tuple[str, Shortcut] | None = None
        self._making = threading.Lock()
        self._extractor: Extractor | None = None

    def close(self, patience: float | None = None) -> None:
        """Let go of the index and of the models.

        Args:
            patience: seconds to wait for those who use the index; None for as long as they do.
        """
        if self.database.is_inherited:
            return  # it is for the process that opened it
        with self._making:
            if self._shortcut is not None:
                self._shortcut[1].close()
                self._shortcut = None
            self._matrix = None
        if self._workers is not None:
            self._workers.close()
        self._end_readers()
        self.holder.close()
        if self.holder.is_reader:
            patience = 0.0  # for what this thread itself reads
        self.models.close()
        self.database.close(patience)

    # -- upkeep ----------------------------------------------------------------

    def compare(
        self,
        names: Sequence[str] = (),
        found: Mapping[Collection, Found] = MappingProxyType({}),
    ) -> dict[str, Comparison]:
        """Collections beside their folders, by name; without those whose folder is missing or must
        not be read, or whose mask makes no sense.

        Args:
            names: of collections; none means all.
            found: in folders that were looked at just before.

        Raises:
            CollectionNotFound: there is none of one of the names.
        """
        from qmd.errors import CannotUpdate, CollectionNotFound, UsageError
        from qmd.ingest.compare import compare

        compared = {}
        for collection in self.folders(names):
            with suppress(CollectionNotFound, CannotUpdate, UsageError):  # told of by the update
                self._check_approved(collection)
                compared[collection.name] = compare(
                    self.database, collection, found.get(collection), self._readers(collection)
                )
        return compared

    def may_read(self, collection: Collection) -> bool:
        """Whether the folder of a collection may be read: nobody approved one that is outside of
        the project.
        """
        if self.place.project is None:
            return True
        from qmd.settings import trust

        return trust.may_read(self.place, self.settings(), collection)

    def _check_approved(self, collection: Collection) -> None:
        """Refuse to read a folder that may not be.

        Raises:
            NotApproved: it is one.
        """
        if not self.may_read(collection):
            from qmd.errors import NotApproved

            raise NotApproved(collection.name, collection.root)

    def _readers(self, collection: Collection) -> Readers:
        """What reads the files of a collection that are no text."""
        from qmd.ingest.extractor import Extractor, Readers

        if self._extractor is None:
            self._extractor = Extractor(self.place.database)
        if not collection.converted:
            return Readers(self._extractor)
        from qmd.ingest.converters import converters

        return Readers(self._extractor, converters(self.place, self.settings(), collection))

    def _end_readers(self) -> None:
        if self._extractor is not None:
            self._extractor.close()

    def update_at_once(
        self,
        names: Sequence[str],
        compared: Mapping[str, Comparison],
        *,
        begun: Callable[[Collection], None],
        told: Callable[[Collection, Report], None],
    ) -> tuple[list[Report], list[str]]:
        """Carry out what was just compared, in this thread: for a few small changes.

        Args:
            names: of collections; none means all.
            compared: of each of them, how it differs.
            begun: is told of each collection before anything is done.
            told: is given each report as it is ready.

        Returns:
            A report for each collection that is still there, as a failure of one does not stop the
            others; and if some is not, though none was named, those that have come meanwhile.
        """
        from qmd.errors import CannotUpdate, CollectionNotFound
        from qmd.storage import maintenance

        reports, others = [], list[str]()
        for comparison in compared.values():
            collection = comparison.collection
            begun(collection)
            report = comparison.nothing_changed
            if report is None:
                from qmd.ingest.at_once import carry_out

                try:
                    readers = self._readers(collection)
                    report = carry_out(self.database, comparison, self.stemmer, readers)
                except (CollectionNotFound, CannotUpdate) as error:
                    if isinstance(error, CollectionNotFound) and not names:
                        # It was removed, or has another name by now.
                        now = [each.name for each in self.folders()]
                        others = [name for name in now if name not in compared]
                        continue
                    report = Report(collection.name, collection.mask, failure=str(error))
            reports.append(report)
            told(collection, report)
        self._end_readers()
        if any(comparison.changes for comparison in compared.values()):
            maintenance.merge(self.database)
        return reports, others

    async def update(
        self,
        names: Sequence[str] = (),
        *,
        compared: Mapping[str, Comparison] = MappingProxyType({}),
        progress: Callable[[Collection], Callable[[int, int], None]] | None = None,
        before: Callable[[Collection], Awaitable[None]] | None = None,
        told: Callable[[Collection, Report], None] | None = None,
    ) -> list[Report]:
        """Bring collections up to date with their files.

        Args:
            names: of collections; none means all.
            compared: made just before, where nothing has to be done first.
            progress: gives for a collection a function that is told (done, in all).
            before: is awaited before a collection is indexed; an error it raises is the
                failure of this collection.
            told: is given each report as it is ready.

        Returns:
            A report for each collection that is there in the end; a failure of one does not
            stop the others.
        """
        from anyio import to_thread

        from qmd.errors import CollectionNotFound, IndexFailure, QmdError
        from qmd.ingest import pipeline
        from qmd.ingest.backfill import fill
        from qmd.storage import maintenance

        chosen = await to_thread.run_sync(self.folders, names)
        reports = []
        for collection in chosen:
            comparison = compared.get(collection.name)
            try:
                if before is not None:
                    await before(collection)
                    # Which may have changed index.yml.
                    [fresh] = await to_thread.run_sync(self.folders, [collection.name])
                    collection, comparison = fresh, comparison if fresh == collection else None
                self._check_approved(collection)
                report = await pipeline.update(
                    self.database,
                    collection,
                    self.stemmer,
                    self._readers(collection),
                    comparison=comparison,
                    progress=progress(collection) if progress else None,
                )
            except IndexFailure:
                raise
            except QmdError as error:
                if isinstance(error, CollectionNotFound) and not names:
                    # It was removed, or has another name by now.
                    now = await to_thread.run_sync(self.folders)
                    chosen += [each for each in now if each not in chosen]
                    continue
                report = Report(collection.name, collection.mask, failure=str(error))
            reports.append(report)
            if told is not None:
                told(collection, report)
        await to_thread.run_sync(self._end_readers)
        await to_thread.run_sync(fill, self.database)
        await to_thread.run_sync(maintenance.merge, self.database)
        return reports

    def has_arrears(self) -> bool:
        """Whether an update has something to do even if no file has changed."""
        from qmd.ingest import commit

        return self.database.read(commit.lack_outlines)

    async def embed(
        self,
        names: Sequence[str] = (),
        *,
        force: bool = False,
        batch_tokens: int | None = None,
        within: float | None = None,
        something: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Embedded:
        """Give all documents their vectors.

        Args:
            names: of collections; none means all.
            force: make those anew that are there, which stay until all are made; what was made
                before an interruption is gone on with.
            batch_tokens: tokens between two commits; None: as many as there is time for.
            within: seconds after which to stop.
            something: do not stop before something is committed, so that who calls again and
                again comes to the end.
            progress: told (bytes done, bytes in all).

        Raises:
            ModelError: the model cannot run here, or does not work at all.
            JobRunning: another process is at it.
        """
        from anyio import to_thread

        from qmd.embedding import pipeline as embed
        from qmd.errors import IndexFailure
        from qmd.storage import maintenance
        from qmd.storage.file_lock import errand

        await to_thread.run_sync(self._check, names)
        if config.is_blank(self.place):  # it may have chosen another model
            self._refuse_loss(await to_thread.run_sync(self.collections))
        space = await to_thread.run_sync(self.models.space)
        with errand(self.place.database, "embed"):
            report = await embed.embed(
                self.database,
                await to_thread.run_sync(self.models.embedder, space),
                space,
                collections=names,
                force=force,
                batch_tokens=batch_tokens,
                within=within,
                something=something,
                progress=progress,
            )
        if report.chunks and within is None:
            merge = partial(maintenance.merge, self.database, at_leisure=True)
            with suppress(IndexFailure):  # the vectors are there; another time will do
                await to_thread.run_sync(merge)
        return report

    # -- other places ----------------------------------------------------------

    def export(
        self,
        folder: Path,
        *,
        wish: Wish | None = None,
        force: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Exported:
        """Write the index to a folder as Parquet, or bring an earlier export there up to date.

        Args:
            wish: what to export; None: everything.
            force: replace whatever the folder has in it.
            progress: told (files done, files in all).

        Raises:
            CollectionNotFound: one of the wish does not exist.
            FolderTaken: the folder has something else in it.
            ExportFailed: it cannot be written.
            JobRunning: another process exports this index.
        """
        from qmd.exchange import exporter as export

        wanted = wish or export.Wish()
        names = list(wanted.among.collections or ())
        self.read(partial(document_lookup.check_collections, names=names))
        return export.export(
            self.database,
            self.place,
            self.settings(),
            folder,
            wish=wanted,
            force=force,
            progress=progress,
        )

    def import_(
        self,
        folder: Path,
        *,
        replace: bool = False,
        trusting: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Imported:
        """Make this index that of an export, with vectors and scores; a new one with its numbers.

        Args:
            replace: an index that has documents.
            trusting: take over the update commands and the models of the export.
            progress: told (steps done, steps in all).

        Raises:
            ExchangeError: the export cannot be used, or the index has documents.
            JobRunning: another process imports into this index.
        """
        from qmd.exchange import importer

        imported = importer.import_(
            self.database,
            self.place,
            folder,
            recorded=self._as_recorded,
            replace=replace,
            trusting=trusting,
            progress=progress,
        )
        self._mirrored = None, None
        self.sync()
        return imported
