"""Settings of an imported index: collections, contexts, models, chunk sizes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from qmd.settings import config, edit
from qmd.settings.schema import Settings
from qmd.types import EXPERIENCES, Collection, Context

if TYPE_CHECKING:
    from qmd.exchange.manifest import Manifest
    from qmd.settings.edit import Parsed
    from qmd.settings.environment import Place


class ImportedSettings:
    """Settings to write to index.yml after an import.

    Args:
        known: the collections that were imported.
        described: the contexts.
        trusting: with what it would run and use.

    Attributes:
        left_out: descriptions of commands and models that are not permitted.
    """

    def __init__(
        self,
        document: Manifest,
        known: list[Collection],
        described: list[Context],
        *,
        trusting: bool,
    ) -> None:
        self.left_out: list[str] = []
        self._contexts = [c for c in described if c.collection != EXPERIENCES]
        self._collections = []
        for collection in known:
            if not collection.root:
                continue  # it is stored in the index, and not in index.yml
            if collection.update_command and not trusting:
                self.left_out.append(f"run for '{collection.name}': {collection.update_command}")
                collection = collection._replace(update_command=None)
            self._collections.append(collection)
        self._sections: dict[str, dict[str, Any]] = {"chunk": dict(document.chunk)}
        if trusting:
            self._sections["models"] = dict(document.models)
        else:
            self.left_out += [f"use for {role}: {name}" for role, name in document.models.items()]

    def check(self, place: Place) -> None:
        """Refuse what could not be written.

        Raises:
            ConfigError: a name, a mask or a number makes no sense.
        """
        document: Parsed = {}
        for collection in self._collections:
            edit.add_collection(document, collection)
        for context in self._contexts:
            edit.set_context(document, context)
        config.understood(document | self._sections, place)

    def add(self, document: Parsed, *, before: Settings) -> None:
        """Add missing settings; existing ones do not change.

        Args:
            before: what the tables say, for a document that says nothing.
        """
        if not document:
            edit.write_all(document, before)
        there = set(document.get("collections") or {})
        for collection in self._collections:
            if collection.name not in there:
                edit.add_collection(document, collection)
        has = {(context.collection, context.prefix) for context in before.contexts}
        for context in self._contexts:
            if (context.collection, context.prefix) not in has:
                edit.set_context(document, context)
        for name, section in self._sections.items():
            if name not in document:
                self._set(document, name, section)

    def settle(self, document: Parsed, *, place: Place) -> None:
        """Make index.yml say exactly this of collections; matching lines stay as they are."""
        before = config.understood(document, place)
        there = {collection.name: collection for collection in before.collections}
        own = {collection.name for collection in self._collections}
        for name in there.keys() - own:
            del document["collections"][name]
        if not any(context.collection is None for context in self._contexts):
            document.pop("global_context", None)
        for collection in self._collections:
            old = there.get(collection.name)
            if old is not None and not folder_exists(collection) and folder_exists(old):
                collection = collection._replace(root=old.root)
            contexts = {c.prefix: c for c in self._contexts if c.collection == collection.name}
            if old != collection or contexts != {
                c.prefix: c for c in before.contexts if c.collection == collection.name
            }:
                edit.add_collection(document, collection)
                for context in contexts.values():
                    edit.set_context(document, context)
        for context in self._contexts:
            if context.collection is None:
                edit.set_context(document, context)
        for name, section in self._sections.items():
            self._set(document, name, section)

    def _set(self, document: Parsed, name: str, section: dict[str, Any]) -> None:
        """Set a section, unless it equals the default."""
        defaults = Settings()
        plain = {
            "chunk": {
                "tokens": defaults.chunk_tokens,
                "overlap": defaults.chunk_overlap,
                "strategy": defaults.chunk_strategy,
            },
            "models": {},
        }[name]
        if section == plain:
            document.pop(name, None)
        elif document.get(name) != section:
            document[name] = section


def folder_exists(collection: Collection) -> bool:
    """Check that the folder of a collection exists on this machine."""
    return Path(collection.root).is_dir()
