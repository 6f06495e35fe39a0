"""What all verbs stand on: the settings, and reads of tables that say what the settings say."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from qmd.errors import ConfigEmptied, IndexNotWritable
from qmd.models.loader import Models
from qmd.ranking import search_log
from qmd.ranking.postings_loader import Holder
from qmd.settings import config
from qmd.settings.config import Settings
from qmd.settings.environment import Place
from qmd.storage import catalog, document_lookup
from qmd.storage.cursor import Cursor
from qmd.storage.database import Database
from qmd.storage.stemmer import Stemmer
from qmd.types import EXPERIENCES, Collection, Context, Document, Filter

Found = TypeVar("Found")


class Stale(Exception):
    """index.yml has changed since the tables were made from it."""


class Base:
    """An index and its settings.

    Attributes:
        log: of searches; None: they are not noted, whatever index.yml says.
        holder: of postings in memory.
    """

    place: Place
    models: Models
    database: Database
    stemmer: Stemmer
    log: search_log.Log | None
    holder: Holder
    _stays: bool
    _mirrored: tuple[Hashable, str | None] = None, None

    def settings(self) -> Settings:
        """What index.yml says now."""
        return config.load(self.place)

    def _approved(self) -> Settings:
        """The same, without models that a project wants and nobody approved."""
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
                if not settings.collections:
                    self.refuse_loss(catalog.collections(cursor))
                catalog.mirror(cursor, settings.collections, settings.contexts, digest)
                search_log.keep(cursor, on=settings.query_log)

        self.database.write(work)

    def refuse_loss(self, known: Sequence[Collection]) -> None:
        """Let no index.yml that is empty take from an index what it has.

        Raises:
            ConfigEmptied: it would.
        """
        names = [collection.name for collection in known if collection.name != EXPERIENCES]
        if names and config.is_blank(self.place):
            raise ConfigEmptied(self.place.config, names)

    def read(self, work: Callable[[Cursor], Found], *, key: Hashable | None = None) -> Found:
        """What `work` finds, with the tables as index.yml says.

        Args:
            key: what is asked, if the answer may come from memory while nobody writes.
        """
        try:
            stamp = config.stamp(self.place)
        except FileNotFoundError:
            return self.database.read(work)
        known, digest = self._mirrored
        is_known = stamp is not None and stamp == known
        if not is_known:
            digest = config.digest(self.place)

        def checked(cursor: Cursor) -> Found:
            # Again each time: in the place of an index another may have been put.
            if catalog.config_digest(cursor) != digest:
                raise Stale
            return work(cursor)

        try:
            if key and is_known:
                return self.database.remembered(key, checked)
            found = self.database.read(checked)
        except Stale:
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
        """The filter, without names with the collections that searches look into; None: none does.

        Raises:
            CollectionNotFound: one that it names does not exist.
        """
        if among.collections is not None:
            document_lookup.check_collections(cursor, among.collections)
            return among
        known = self.database.remembered("collections", catalog.collections, cursor=cursor)
        if all(collection.included for collection in known):
            return among
        included = tuple(c.name for c in known if c.included)
        return among._replace(collections=included) if included else None

    def context_of(self, cursor: Cursor, document: Document) -> str | None:
        return catalog.matching(self.described(cursor), document.collection, document.path)
