"""Collections and contexts: which there are, and changes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from qmd.errors import AlreadyExists, UsageError
from qmd.operations.base import Base
from qmd.settings import config
from qmd.settings.config import Settings
from qmd.storage import catalog as collections
from qmd.storage import document_lookup
from qmd.storage.cursor import Cursor
from qmd.types import EXPERIENCES, Collection, Context

if TYPE_CHECKING:
    from qmd.settings.edit import Parsed


class Arranging(Base):
    """Knows and changes what is indexed."""

    def collection(self, name: str) -> Collection:
        """One collection.

        Raises:
            CollectionNotFound: there is none of this name.
        """

        def work(cursor: Cursor) -> Collection:
            document_lookup.check_collections(cursor, [name])
            return next(c for c in collections.collections(cursor) if c.name == name)

        return self.read(work)

    def configured(self, name: str) -> Collection:
        """One collection that index.yml has, and so can be changed.

        Raises:
            CollectionNotFound: there is none of this name.
            UsageError: it is that of the experience records.
        """
        collection = self.collection(name)
        if name == EXPERIENCES:
            raise UsageError(
                f"'{name}' is the collection of the records that agents submit. It is not in "
                "index.yml, and cannot be changed."
            )
        return collection

    def collections(self) -> list[Collection]:
        """All collections, by name."""
        return self.read(collections.collections)

    def contexts(self) -> list[Context]:
        """All contexts, the most general first."""
        return self.read(collections.contexts)

    def folders(self, names: Sequence[str] = ()) -> list[Collection]:
        """Collections of files, by name: those that can be updated.

        Args:
            names: of collections; none means all.

        Raises:
            CollectionNotFound: there is none of one of the names.
            UsageError: one has no files, but the experience records.
        """

        def read(cursor: Cursor) -> list[Collection]:
            # At once: in between, another process may give one of them another name.
            if names:
                document_lookup.check_collections(cursor, names)
            return collections.collections(cursor)

        known = self.read(read)
        if EXPERIENCES in names:
            raise UsageError(
                f"'{EXPERIENCES}' has no folder to be updated from: agents submit its records."
            )
        return [each for each in known if each.root and (not names or each.name in names)]

    def check_collections(self, names: Sequence[str]) -> None:
        """Refuse names of collections that do not exist."""
        if names:
            self.read(partial(document_lookup.check_collections, names=list(names)))

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
        """The settings as the tables have them: index.yml was lost or is kept elsewhere.

        Without commands, which an index that came from elsewhere must not bring.
        """
        if not self.place.database.exists():
            return Settings()
        known = self.database.read(collections.collections)
        described = self.database.read(collections.contexts)
        return Settings(
            tuple(each._replace(update_command=None) for each in known if each.name != EXPERIENCES),
            tuple(each for each in described if each.collection != EXPERIENCES),
        )

    def rename(self, old: str, new: str) -> None:
        """Give a collection another name; its documents keep their postings.

        Raises:
            CollectionNotFound: there is none of this name.
            AlreadyExists: there is one of the new name.
        """
        from qmd.settings import edit as editing

        config.check_name(new)
        self.configured(old)

        def edit(_: Settings, document: Parsed) -> None:
            editing.entry(document, old)
            if new in document["collections"]:
                raise AlreadyExists(f"Collection '{new}' already exists.")
            editing.rename_collection(document, old, new)

        self.change(edit)
