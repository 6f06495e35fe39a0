"""Changes to index.yml, which keep its comments and the order of its keys.

Import this where something is changed: a search has no need of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import IO, Any

from qmd import config, guarded
from qmd.config import Settings
from qmd.environment import Place
from qmd.errors import CollectionNotFound, ConfigError
from qmd.types import Collection, Context

Parsed = Any
"""A parsed index.yml, with its comments: nested mappings."""


def edit(place: Place, change: Callable[[Parsed], None]) -> Settings:
    """Change index.yml, keeping its comments and the order of its keys.

    Returns:
        What it says now.

    Raises:
        ConfigError: what is there, or would be there, cannot be read.
    """
    from ruamel.yaml.comments import CommentedMap

    try:
        place.config.parent.mkdir(parents=True, exist_ok=True)
        with guarded.locked(place.config.with_name(place.config.name + ".lock")):
            text = config.written(place.config)
            document = config.parsed(text, place.config)
            comments = ""
            if document is None:
                document, comments = CommentedMap(), _comments(text)
            config.understood(document, place)
            _name(document)
            change(document)
            settings = config.understood(document, place)
            guarded.replace(place.config.resolve(), partial(_write, comments, document))
            return settings
    except OSError as error:
        raise ConfigError(place.config, error.strerror or str(error)) from error


def _comments(text: str) -> str:
    """The comments of a file that says nothing else."""
    lines = text.splitlines()
    return "".join(f"{x}\n" for x in lines if not x.strip() or x.lstrip().startswith("#"))


def _write(comments: str, document: Parsed, file: IO[str]) -> None:
    file.write(comments)
    config.yaml().dump(document, file)


def _name(document: Parsed) -> None:
    """Write names of collections as texts that YAML takes for numbers, such as 2024."""
    for key in list(document.get("collections") or ()):
        if not isinstance(key, str):
            rename_collection(document, key, str(key))


def entry(document: Parsed, name: str) -> Parsed:
    """The lines of a collection.

    Raises:
        CollectionNotFound: there are none: another process has removed them meanwhile.
    """
    known = document.get("collections") or {}
    if name not in known:
        raise CollectionNotFound(name, known=list(known))
    return known[name]


def add_collection(document: Parsed, collection: Collection) -> None:
    """Add the lines of a collection; only what differs from the defaults."""
    lines: dict[str, object] = {"path": collection.root, "pattern": collection.mask}
    if collection.ignored:
        lines["ignore"] = list(collection.ignored)
    if collection.update_command:
        lines["update"] = collection.update_command
    if not collection.included:
        lines["includeByDefault"] = False
    if collection.respect_gitignore:
        lines["gitignore"] = True
    if collection.follow_symlinks:
        lines["follow_symlinks"] = True
    if document.get("collections") is None:
        document["collections"] = {}
    document["collections"][collection.name] = lines


def remove_collection(document: Parsed, name: str) -> None:
    """Remove the lines of a collection. See `entry`."""
    entry(document, name)
    del document["collections"][name]


def rename_collection(document: Parsed, old: object, new: str) -> None:
    """Give the lines of a collection another name, in the same place."""
    entries = document["collections"]
    place = list(entries).index(old)
    lines = entries.pop(old)
    if hasattr(entries, "insert"):
        entries.insert(place, new, lines)
    else:
        entries[new] = lines


def set_context(document: Parsed, context: Context) -> None:
    """Set or replace a context."""
    if context.collection is None:
        document["global_context"] = context.body
        return
    lines = entry(document, context.collection)
    if lines.get("context") is None:
        lines["context"] = {}
    _drop_context(lines["context"], context.prefix)
    lines["context"]["/" + context.prefix] = context.body


def remove_context(document: Parsed, collection: str | None, prefix: str) -> None:
    """Remove a context."""
    if collection is None:
        document.pop("global_context", None)
        return
    lines = entry(document, collection)
    _drop_context(lines.get("context") or {}, prefix)
    if not lines.get("context"):
        lines.pop("context", None)


def _drop_context(lines: Parsed, prefix: str) -> None:
    for key in [key for key in lines if str(key).strip("/") == prefix]:
        del lines[key]


def write_all(document: Parsed, settings: Settings) -> None:
    """Put collections and contexts into an empty document."""
    for collection in settings.collections:
        add_collection(document, collection)
    for context in settings.contexts:
        set_context(document, context)
