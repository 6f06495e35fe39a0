"""Edits of index.yml that keep comments and key order.

Import this module only for a change; a search does not need it.
"""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any

from qmd import edit_lock, safe_open
from qmd.errors import CollectionNotFound, ConfigError
from qmd.settings import commented_yaml as commented
from qmd.settings import config
from qmd.settings.environment import Place
from qmd.settings.schema import Settings
from qmd.text.lines import Lines
from qmd.types import Collection, Context

Parsed = Any
"""A parsed index.yml, with its comments: nested mappings."""


NOT_EDITED = "it cannot be changed as it is written: edit it"


def edit(place: Place, change: Callable[[Parsed], None]) -> Settings:
    """Change index.yml and keep its comments and key order.

    Returns:
        Settings that the file has now.

    Raises:
        ConfigError: what is there, or would be there, cannot be read.
    """
    from ruamel.yaml.comments import CommentedMap

    try:
        place.config.parent.mkdir(parents=True, exist_ok=True)
        with edit_lock.locked(place.config.with_name(place.config.name + ".lock")):
            text = config.read_yaml_text(place.config)
            document = commented.parse_commented(text, place.config)
            if config.understood(document, place) != config.load(place):
                raise ConfigError(place.config, NOT_EDITED)  # two readers of YAML disagree
            lines = Lines(text)
            if document is None:
                document, before = CommentedMap(), ""
                lines.keep(_is_comment)
            else:
                before = _dumped(document)
            _name(document)
            change(document)
            settings = config.understood(document, place)
            for text in lines.changed(before, _dumped(document)):
                if _says(text, settings, place):
                    break
            else:
                raise ConfigError(place.config, NOT_EDITED)
            safe_open.atomic_replace(place.config.resolve(), lambda file: file.write(text))
            return settings
    except OSError as error:
        raise ConfigError(place.config, error.strerror or str(error)) from error


def _says(text: str, settings: Settings, place: Place) -> bool:
    """Check that a text parses to these settings.

    Raises:
        ConfigError: it is over a limit.
    """
    return config.understood(commented.parse_commented(text, place.config), place) == settings


def _is_comment(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _name(document: Parsed) -> None:
    """Quote collection names that YAML would read as numbers, such as 2024."""
    for key in list(document.get("collections") or ()):
        if not isinstance(key, str):
            rename_collection(document, key, str(key))


def entry(document: Parsed, name: str) -> Parsed:
    """Return the lines of a collection.

    Raises:
        CollectionNotFound: there are none: another process has just removed them.
    """
    known = document.get("collections") or {}
    if name not in known:
        raise CollectionNotFound(name, known=list(known))
    return known[name]


def add_collection(document: Parsed, collection: Collection) -> None:
    """Add a collection; only values that differ from the defaults are written."""
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
    """Remove a collection. See `entry`."""
    entry(document, name)
    _remove(document, "collections", name)


def rename_collection(document: Parsed, old: object, new: str) -> None:
    """Rename a collection in its place."""
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
    key, *others = _keys_of(lines["context"], context.prefix) or ["/" + context.prefix]
    lines["context"][key] = context.body
    for each in others:
        _remove(document, "collections", context.collection, "context", each)


def remove_context(document: Parsed, collection: str | None, prefix: str) -> None:
    """Remove a context."""
    if collection is None:
        document.pop("global_context", None)
        return
    lines = entry(document, collection)
    for key in _keys_of(lines.get("context") or {}, prefix):
        _remove(document, "collections", collection, "context", key)
    lines = entry(document, collection)
    if not lines.get("context"):
        lines.pop("context", None)


def _keys_of(contexts: Parsed, prefix: str) -> list[object]:
    """Find all keys that mean the same folder."""
    return [key for key in contexts if str(key).strip("/") == prefix]


def _remove(document: Parsed, *keys: object) -> None:
    """Remove keys and the comments directly above them.

    A parsed document has each comment at the key before it, and would lose the wrong ones:
    so it is done in the text, where that is written in lines of its own.
    """
    from ruamel.yaml.error import YAMLError

    written = _dumped(document)
    whole = commented.yaml().load(written)
    *outer, last = keys
    inner, copied = document, whole
    for key in outer:
        inner, copied = inner[key], copied[key]
    text = "" if copied.fa.flow_style() else _without(written, *copied.lc.key(last))
    del inner[last]
    if not inner and outer:  # to be written as nothing, which may have comments around it
        container = document
        for key in outer[:-1]:
            container = container[key]
        container[outer[-1]] = None
    try:
        rest = commented.yaml().load(text)
    except YAMLError:  # others refer to what is gone
        return
    if rest != document:
        return  # the text has it in other ways, and that has to do
    document.clear()
    document.update(rest)
    rest.copy_attributes(document)


def _dumped(document: Parsed) -> str:
    written = StringIO()
    handler = commented.yaml()
    mapping, offset = _indentation(document)
    handler.indent(mapping=mapping, sequence=offset + 2, offset=offset)
    handler.dump(document, written)
    return written.getvalue()


def _indentation(document: Parsed) -> tuple[int, int]:
    """Detect the indentation of mappings and of list dashes; 2 and 0 by default."""
    mapping, offset = None, None
    waiting = [document]
    while waiting and (mapping is None or offset is None):
        outer = waiting.pop(0)
        for inner in outer.values():
            place = getattr(inner, "lc", None)
            if place is None or place.col is None or inner.fa.flow_style():
                continue
            column = place.col - (outer.lc.col or 0)
            if isinstance(inner, dict):
                mapping = mapping or (column if 0 < column < 10 else None)
                waiting.append(inner)
            elif offset is None and 0 <= column < 10:
                offset = column
    return mapping or 2, 2 if offset is None else offset


def _without(text: str, line: int, column: int) -> str:
    """Remove the entry whose key is in a line (from 0), and the comments directly above it.

    Args:
        column: of the key: what belongs to it stands further right.
    """

    def is_comment(at: str) -> bool:
        return at.lstrip().startswith("#")

    def is_inside(at: str) -> bool:
        return bool(at.strip()) and len(at) - len(at.lstrip()) > column

    def is_blank(number: int) -> bool:
        return not (0 <= number < len(lines) and lines[number].strip())

    lines = text.splitlines(keepends=True)
    first, end = line, line + 1
    while end < len(lines) and (is_blank(end) or is_inside(lines[end]) or is_comment(lines[end])):
        end += 1
    while end > line + 1 and not is_inside(lines[end - 1]):
        end -= 1  # blank lines, and comments of what follows
    while first and is_comment(lines[first - 1]) and not is_inside(lines[first - 1]):
        first -= 1
    if is_blank(first - 1) and is_blank(end):
        end += 1
    return "".join(lines[:first] + lines[end:])


def write_all(document: Parsed, settings: Settings) -> None:
    """Write collections and contexts into an empty document."""
    for collection in settings.collections:
        add_collection(document, collection)
    for context in settings.contexts:
        set_context(document, context)
