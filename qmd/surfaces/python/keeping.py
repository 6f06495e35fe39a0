"""Verbs that keep an index: collections, contexts, updates, vectors, Parquet."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from qmd.analytics.rows import Rows
from qmd.operations.threads import stoppable
from qmd.storage.catalog import Overview
from qmd.surfaces.python import given
from qmd.surfaces.python.base import Base
from qmd.surfaces.python.given import Names
from qmd.types import Context, Embedded, Report

if TYPE_CHECKING:
    from qmd.exchange.exporter import Exported
    from qmd.exchange.importer import Imported
    from qmd.operations.cleanup import Cleaned
    from qmd.types import Collection

log = logging.getLogger("qmd")


class Keeping(Base):
    """Changes an index, or what is beside it."""

    # -- Parquet -------------------------------------------------------------------

    async def export(
        self,
        folder: str | os.PathLike[str],
        *,
        collection: Names = None,
        filter: str | None = None,
        tables: Names = None,
        vectors: bool = True,
        parted: bool = False,
        force: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Exported:
        """Write the index to a folder as Parquet, or bring an earlier export there up to date.

        Args:
            collection, filter: documents; see `search`. Without any, everything.
            tables: names; None: all.
            parted: documents by collection, in folders of their own.
            force: replace whatever the folder has in it.
            progress: told (files done, files in all), in another thread.

        Raises:
            CollectionNotFound: there is none of one of the names.
            ExchangeError: the folder has something else in it, or cannot be written.
            JobRunning: another process exports this index.
        """
        from qmd.exchange.exporter import Wish

        among = given.among(collection, None, None, filter)
        wish = Wish(among, filter, given.names(tables, "tables"), vectors, parted)
        given.function(progress, "progress")
        export = partial(self._engine.export, wish=wish, force=force, progress=progress)
        return await self._run(export, given.file(folder, "folder"))

    async def import_(
        self,
        folder: str | os.PathLike[str],
        *,
        replace: bool = False,
        trusting: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Imported:
        """Make this index that of an export, with vectors and scores; a new one with its numbers.

        Args:
            replace: an index that has documents.
            trusting: take over the update commands and the models of the export.
            progress: told (steps done, steps in all), in another thread.

        Raises:
            ExchangeError: the export cannot be used, or the index has documents.
            JobRunning: another process imports into this index.
        """
        given.function(progress, "progress")
        take = partial(self._engine.import_, replace=replace, trusting=trusting, progress=progress)
        return await self._run(take, given.file(folder, "folder"))

    # -- collections and contexts --------------------------------------------------

    async def collections(self) -> Rows[Overview]:
        """Each collection with what is indexed of it."""
        return Rows(Overview, await self._run(self._engine.overview))

    async def add_collection(
        self, path: str | os.PathLike[str], *, name: str | None = None, mask: str = "documents"
    ) -> Report:
        """Register a folder and index it.

        If indexing fails, the folder stays registered, a note of the error says so, and the same
        call goes on. The report tells of what is no error, such as a folder that is missing.

        Args:
            name: else that of the folder.
            mask: which files; a comma list of globs and of documents, code, data, all.

        Raises:
            UsageError: there is no such folder, it cannot be read, or the name or mask is none.
            AlreadyExists: the name is taken, or the folder is registered under another.
        """
        from qmd.operations import collections as curation

        add = partial(
            curation.add_collection,
            name=given.text_or_none(name, "name"),
            mask=given.text(mask, "mask"),
        )
        added = await self._run(add, self._engine, given.file(path, "path"))
        try:
            report = (await self.update(added.name))[0]
            if report.failure is None:
                await self._run(curation.end_adding, self._engine, added)
        except BaseException as error:
            error.add_note(curation.state_of(self._engine, added.name))
            raise
        return report

    async def remove_collection(self, name: str) -> None:
        """Forget a collection. Its files stay where they are.

        Raises:
            CollectionNotFound: there is none of this name.
        """
        from qmd.operations import collections as curation

        await self._run(curation.remove_collection, self._engine, given.text(name, "name"))

    async def contexts(self) -> Rows[Context]:
        """All texts that describe folders, the most general first."""
        return Rows(Context, await self._run(self._engine.contexts))

    async def add_context(self, path: str | os.PathLike[str], text: str) -> None:
        """Describe a folder; results from there carry the text.

        Args:
            path: `/` for all, `qmd://collection/folder`, or a folder.

        Raises:
            UsageError: the text is empty, or the folder in no collection.
            CollectionNotFound: there is none of this name.
        """
        from qmd.operations import collections as curation

        where, text = _where(path), given.text(text, "text")
        await self._run(curation.add_context, self._engine, where, text)

    async def remove_context(self, path: str | os.PathLike[str]) -> None:
        """Take the description of a folder away.

        Raises:
            ContextNotFound: it has none.
        """
        from qmd.operations import collections as curation

        await self._run(curation.remove_context, self._engine, _where(path))

    # -- upkeep --------------------------------------------------------------------

    async def update(
        self,
        collection: Names = None,
        *,
        pull: bool = False,
        progress: Callable[[str, int, int], object] | None = None,
    ) -> Rows[Report]:
        """Index what has changed.

        Args:
            pull: run `git pull --ff-only` first in collections that git follows.
            progress: told (collection, files done, files in all).

        Returns:
            A report for each collection. One that could not be updated says so in `failure`, and
            does not stop the others.

        Raises:
            CollectionNotFound: there is none of one of the names.
            IndexFailure: the index is busy or cannot be written.
        """
        from qmd.ingest.hooks import Hooks

        def telling(each: Collection) -> Callable[[int, int], None]:
            def tell(done: int, total: int) -> None:
                if progress is not None:
                    progress(each.name, done, total)

            return tell

        async def work() -> list[Report]:
            hooks = Hooks(self._engine.place, self._engine.settings, pull=pull, told=log.warning)
            return await self._engine.update(names, progress=telling, before=hooks.run)

        names = given.names(collection)
        given.function(progress, "progress")
        self._check()
        return Rows(Report, await stoppable(work))

    async def embed(
        self,
        collection: Names = None,
        *,
        force: bool = False,
        within: float | None = None,
        batch_tokens: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Embedded:
        """Give documents the vectors that they lack. What is done stays, also after a cancellation.

        Args:
            force: make those anew that are there.
            within: seconds after which to stop.
            batch_tokens: tokens between two commits.
            progress: told (bytes done, bytes in all).

        Raises:
            CollectionNotFound: there is none of one of the names.
            ModelError: the model cannot run here, or does not work at all.
            JobRunning: another process is at it.
        """
        self._check()
        work = partial(
            self._engine.embed,
            given.names(collection),
            force=force,
            within=given.number_or_none(within, "within"),
            batch_tokens=given.whole_or_none(batch_tokens, "batch_tokens"),
            progress=given.function(progress, "progress"),
        )
        return await stoppable(work)

    async def cleanup(self, *, dry_run: bool = False) -> Cleaned:
        """Remove what nothing needs any more, and make the file of the index small.

        Args:
            dry_run: only say what would be removed.
        """
        from qmd.operations.cleanup import clean

        return await self._run(clean, self._engine, dry_run=dry_run)


def _where(path: str | os.PathLike[str]) -> str:
    """The place of a context. `qmd://` is no path, of which two slashes are one."""
    given.file(path, "path")
    return os.fspath(path)
