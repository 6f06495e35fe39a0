"""Open index: its settings, its database and its models, as operations use them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from qmd.errors import ConfigEmptied, IndexNotWritable, UsageError
from qmd.quoting import command
from qmd.ranking import search_log
from qmd.ranking.postings_loader import Holder
from qmd.ranking.scale import WORDS
from qmd.ranking.vector_indexes import VectorIndexes
from qmd.settings import config
from qmd.settings.environment import Machine, Place
from qmd.settings.schema import Settings
from qmd.storage import catalog, overlaps
from qmd.storage.cursor import Cursor
from qmd.storage.database import Database
from qmd.storage.earlier_state import OutOfReach
from qmd.types import EXPERIENCES, Collection, Context, DocumentRow, Filter

if TYPE_CHECKING:
    from qmd.analytics.heading import Heading
    from qmd.analytics.sandbox import Limits, SearchRow
    from qmd.analytics.sandbox_workers import Worker, Workers
    from qmd.analytics.search_calls import Parameters
    from qmd.analytics.statement_check import CheckedStatement
    from qmd.declaration.operation import Operation
    from qmd.ingest.extractor import Extractor, Readers
    from qmd.models.loader import Models
    from qmd.settings.edit import Parsed
    from qmd.storage import maintenance
    from qmd.storage.catalog import Overview

Found = TypeVar("Found")


class StaleTables(OutOfReach):
    """Tables that were made from an earlier index.yml, of which no earlier state is of use."""


class Index:
    """Open index with its settings and models.

    Args:
        machine: what the environment says of models.
        warm: keep the index attached between reads, for a process that reads more than once.
        stays: make what takes minutes and is of use later, for a server.
        workers: processes for queries in SQL; made at the first query if None.

    Attributes:
        log: log of searches; None keeps none, whatever index.yml says.
        holder: postings in memory.
        deadline: seconds to wait for other machines, on top of what an answer takes here.
        makes_sidecars: `update` and `embed` save postings and vectors for others to map.
        tried_share: share of keywords to search with, in place of that in index.yml.
    """

    deadline = 0.0
    makes_sidecars = True

    log: search_log.Log | None
    tried_share: float | None = None
    _share: tuple[Hashable, float] = None, WORDS
    _mirrored: tuple[Hashable, str | None] = None, None

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
        self._machine = machine
        self._models: Models | None = None
        self.database = Database(place.database, warm=warm, patience=patience, saves=not stays)
        self.holder = Holder(self.database)
        if warm:
            self.database.missed = self.holder.missed
            from qmd.ranking import matcher  # of no use to most commands

            matcher.load_compiled()
        self.log = search_log.Log(place.database)
        self._workers = workers
        self._making = threading.Lock()
        self._extractor: Extractor | None = None
        self.vector_indexes = VectorIndexes(self.database, place.database, stays=stays)
        self._stays = stays

    @property
    def models(self) -> Models:
        """Models, which are loaded when they are used."""
        with self._making:
            if self._models is None:
                from qmd.models.loader import Models

                self._models = Models(self._approved, self._machine, self.place.config.parent)
            return self._models

    def close(self, patience: float | None = None) -> None:
        """Let go of the index and of the models.

        Args:
            patience: seconds to wait for those who use the index; None for as long as they do.
        """
        if self.database.is_inherited:
            return  # it is for the process that opened it
        self.vector_indexes.close()
        if self._workers is not None:
            self._workers.close()
        self.end_readers()
        self.holder.close()
        if self.holder.is_reader:
            patience = 0.0  # for what this thread itself reads
        with self._making:
            models = self._models
        if models is not None:
            models.close()
        self.database.close(patience)

    def readers(self, collection: Collection) -> Readers:
        """Give what reads the files of a collection that are not text."""
        from qmd.ingest.extractor import Extractor, Readers

        if self._extractor is None:
            self._extractor = Extractor(self.place.database)
        settings = self.settings()
        if not collection.converted and not settings.ocr:
            return Readers(self._extractor)
        from qmd.ingest.converters import converters

        return Readers(self._extractor, converters(self.place, settings, collection))

    def end_readers(self) -> None:
        """End the processes that read files."""
        if self._extractor is not None:
            self._extractor.close()

    def load_postings(self, *, later: bool = False) -> None:
        """Read postings into memory in the background, in a process that stays.

        Args:
            later: after the first search, if the index is small; else do nothing yet.
        """
        if self._stays:
            start = self.holder.prepare_later if later else self.holder.prepare
            start()

    @property
    def workers(self) -> Workers:
        """Processes that run queries in SQL."""
        from qmd.analytics.sandbox_workers import Workers

        with self._making:
            if self._workers is None:
                self._workers = Workers()
            return self._workers

    # -- settings and reads --------------------------------------------------------------

    def settings(self) -> Settings:
        """Load the settings in index.yml."""
        return config.load(self.place)

    def keyword_share(self) -> float:
        """Return the share of keywords in the score of a hybrid search."""
        if self.tried_share is not None:
            return self.tried_share
        try:
            stamp = config.stamp(self.place)
        except FileNotFoundError:
            return WORDS
        known, share = self._share
        if stamp is None or stamp != known:
            said = self.settings().keywords
            share = WORDS if said is None else said
            self._share = stamp, share
        return share

    def _approved(self) -> Settings:
        """Load the settings, without models of a project that are not approved."""
        from qmd.settings import trust

        return trust.approved(self.place, self.settings())

    def sync(self) -> None:
        """Make the tables say what index.yml says.

        Raises:
            ConfigError: it cannot be read, or was emptied; nothing is changed.
        """
        digest = config.digest(self.place)
        if digest is None:
            return
        settings = self.settings()

        def work(cursor: Cursor) -> None:
            nonlocal digest, settings
            # While this waited for its turn, another process may have changed both.
            while (now := config.digest(self.place)) not in (digest, None):
                digest, settings = now, self.settings()
            assert digest is not None
            if catalog.config_digest(cursor) != digest:
                self._refuse_twice(catalog.collections(cursor), settings.collections)
                if not settings.collections:
                    self.refuse_loss(catalog.collections(cursor))
                catalog.mirror(cursor, settings.collections, settings.contexts, digest)
                search_log.keep(cursor, on=settings.query_log)
                catalog.allow_records(cursor, on=settings.experiences)

        self.database.write(work)

    def _refuse_twice(self, known: Sequence[Collection], now: Sequence[Collection]) -> None:
        """Refuse a collection of index.yml with the name of one that is stored in the index.

        Raises:
            UsageError: a collection of index.yml has such a name.
        """
        stored = {each.name for each in known if not each.root}
        if both := [each.name for each in now if each.name in stored]:
            raise UsageError(
                f"'{both[0]}' is stored in the index, and {self.place.config} has a collection "
                "of the same name.\n\nGive that one another name."
            )

    def refuse_loss(self, known: Sequence[Collection]) -> None:
        """Refuse an empty index.yml for an index that has collections with folders.

        Raises:
            ConfigEmptied: index.yml is empty, and the index has collections.
        """
        names = [collection.name for collection in known if collection.root]
        if names and config.is_blank(self.place):
            raise ConfigEmptied(self.place.config, names)

    def read(
        self,
        work: Callable[[Cursor], Found],
        *,
        key: Hashable | None = None,
        small: bool = False,
    ) -> Found:
        """Return the result of `work`, with the tables synchronized with index.yml.

        Args:
            key: of the result in memory, which stays valid until the index changes.
            small: see `Database.read`.
        """
        try:
            stamp = config.stamp(self.place)
        except FileNotFoundError:  # the tables have the settings
            return self.database.remembered(key, work) if key else self.database.read(work)
        known, digest = self._mirrored
        is_known = stamp is not None and stamp == known
        if not is_known:
            digest = config.digest(self.place)

        def checked(cursor: Cursor) -> Found:
            # Again each time: in the place of an index another may have been put.
            if catalog.config_digest(cursor) != digest:
                raise StaleTables
            return work(cursor)

        try:
            if key and is_known:
                return self.database.remembered(key, checked)
            found = self.database.read(checked, small=small)
        except StaleTables:
            try:
                self.sync()
            except IndexNotWritable:
                return self.database.read(work)  # with the settings it has
            found = self.database.read(work)
        self._mirrored = stamp, digest
        return found

    def forget_settings(self) -> None:
        """Compare the tables with index.yml again at the next read."""
        self._mirrored = None, None

    def described(self, cursor: Cursor) -> list[Context]:
        """All contexts, the most general first."""
        return self.database.remembered("contexts", catalog.contexts, cursor=cursor)

    def with_default_collections(self, cursor: Cursor, among: Filter) -> Filter | None:
        """Add the default collections to a filter without names; None if there are none.

        The names of all collections are left out: no document is in any other. Those of them that
        have the same files are noted, too.

        Raises:
            CollectionNotFound: one that it names does not exist.
        """
        known = self.database.remembered("collections", catalog.collections, cursor=cursor)
        if among.collections is not None:
            catalog.check_collections(cursor, among.collections)
            if {collection.name for collection in known} <= set(among.collections):
                among = among._replace(collections=None)  # to list all documents takes long
        elif not all(collection.included for collection in known):
            included = tuple(c.name for c in known if c.included)
            if not included:
                return None
            among = among._replace(collections=included)
        twice = overlaps.among(overlaps.overlaps(known), among.collections)
        return among._replace(overlaps=twice)

    def context_of(self, cursor: Cursor, document: DocumentRow) -> str | None:
        """Find the context of a document."""
        return catalog.matching(self.described(cursor), document.collection, document.path)

    # -- collections and contexts --------------------------------------------------------

    def collection(self, name: str) -> Collection:
        """One collection.

        Raises:
            CollectionNotFound: no collection has this name.
        """

        def work(cursor: Cursor) -> Collection:
            catalog.check_collections(cursor, [name])
            return next(c for c in catalog.collections(cursor) if c.name == name)

        return self.read(work)

    def configured(self, name: str) -> Collection:
        """One collection that index.yml has, and so can be changed.

        Raises:
            CollectionNotFound: no collection has this name.
            UsageError: it is that of the experience records, or is stored in the index.
        """
        collection = self.collection(name)
        if name == EXPERIENCES:
            raise UsageError(
                f"'{name}' is the collection of the records that agents submit. It is not in "
                "index.yml, and cannot be changed."
            )
        if not collection.root:
            raise UsageError(
                f"'{name}' is stored in the index. It is not in index.yml, and cannot be changed; "
                "it goes with its last document.\n\n"
                f"List its documents with {command('qmd', 'ls', name)}, and remove each with "
                "'qmd remove'."
            )
        return collection

    def collections(self) -> list[Collection]:
        """All collections, by name."""
        return self.read(catalog.collections)

    def contexts(self) -> list[Context]:
        """All contexts, the most general first."""
        return self.read(catalog.contexts)

    def folders(self, names: Sequence[str] = ()) -> list[Collection]:
        """List the collections with folders, by name: those that can be updated.

        Args:
            names: of collections; none means all.

        Raises:
            CollectionNotFound: no collection has one of the names.
            UsageError: one has no files, but the experience records.
        """

        def read(cursor: Cursor) -> list[Collection]:
            # At once: in between, another process may give one of them another name.
            if names:
                catalog.check_collections(cursor, names)
            return catalog.collections(cursor)

        known = self.read(read)
        if EXPERIENCES in names:
            raise UsageError(
                f"'{EXPERIENCES}' has no folder to be updated from: agents submit its records."
            )
        if stored := [each.name for each in known if not each.root and each.name in names]:
            raise UsageError(f"'{stored[0]}' is stored in the index: it has no folder.")
        return [each for each in known if each.root and (not names or each.name in names)]

    def check_collections(self, names: Sequence[str]) -> None:
        """Refuse names of collections that do not exist."""
        if names:
            self.read(partial(catalog.check_collections, names=list(names)))

    def change(self, edit: Callable[[Settings, Parsed], None]) -> None:
        """Change index.yml and the tables with it.

        What qmd writes itself needs no approval, unless something else there still does.

        Args:
            edit: is given the settings and the document to change.
        """
        from qmd.settings import edit as editing
        from qmd.settings import trust

        is_there, recorded = self.place.config.exists(), self.recorded_settings()
        trusted = False

        def change(document: Parsed) -> None:
            nonlocal trusted
            if not document:
                self.refuse_loss(recorded.collections)
                editing.write_all(document, Settings() if is_there else recorded)
            before = config.understood(document, self.place)
            trusted = trust.is_trusted(self.place, before)
            edit(before, document)

        self.database.write(lambda _: None)  # an index that cannot follow stops it here
        settings = editing.edit(self.place, change)
        if trusted:
            trust.approve(self.place, settings)
        self.sync()

    def recorded_settings(self) -> Settings:
        """Load the settings from the index, for when index.yml is lost or elsewhere.

        Without commands, which an index that came from elsewhere must not bring.
        """
        if not self.place.database.exists():
            return Settings()
        known = self.database.read(catalog.collections)
        described = self.database.read(catalog.contexts)
        return Settings(
            tuple(each._replace(update_command=None) for each in known if each.root),
            tuple(each for each in described if each.collection != EXPERIENCES),
        )

    def overview(self) -> list[Overview]:
        """Each collection with what is indexed of it."""
        return list(self.read(catalog.overview, key="overview"))

    def during(self, operation: Operation) -> AbstractContextManager[None]:
        """Return the context of an operation; one that this kind of index lacks is refused."""
        return nullcontext()

    def ended(self, result: Found) -> Found:
        """Return the result of an operation, marked if it lacks something; within `during`."""
        return result

    def over_shards(
        self,
        worker: Worker,
        request: CheckedStatement,
        parameters: Parameters,
        found: list[SearchRow],
        limits: Limits,
    ) -> tuple[tuple[Heading, ...], int] | None:
        """Run a query in SQL over shards; None: this index is one file."""
        return None

    def size(self) -> int:
        """Return the bytes of the index."""
        return self.place.database.stat().st_size

    def totals(self) -> maintenance.Totals:
        """Count the content of the index."""
        from qmd.storage import maintenance

        return self.read(maintenance.totals, key="totals")
