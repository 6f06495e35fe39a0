"""Settings: what index.yml says.

Defaults, then index.yml, then the environment (`environment.py`), then flags.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from qmd.environment import Place, expanded
from qmd.errors import ConfigError, UsageError
from qmd.text.masks import check_mask
from qmd.types import EXPERIENCES, Collection, Context

DEFAULT_MASK = "**/*.md"
CHUNK_STRATEGIES = ("auto", "plain")

TICK = 2_000_000_000
"""Nanoseconds: how exactly a file system notes when a file was written, at worst (FAT)."""

_SEVERAL_WAYS = re.compile(r"<<|!|(?<![\w./-])[-+]?(?:0+\d|\d+_|\d{4}-\d)")
"""What not everybody who reads YAML takes for the same: merged keys and tags; numbers such as 012
and 1_000, and dates, which some take for text."""

_TWICE = re.compile('found duplicate key "(?P<key>.*?)"')


class Settings(NamedTuple):
    """What an index.yml says.

    Attributes:
        models: name of a model for a role.
        chunk_tokens: of a chunk at most; the embedding model may want fewer.
        chunk_overlap: share of a chunk that the next one repeats.
        chunk_strategy: 'auto' cuts code where its syntax does, 'plain' nothing but lines.
        query_log: whether searches are noted, in a file beside the index.
    """

    collections: tuple[Collection, ...] = ()
    contexts: tuple[Context, ...] = ()
    editor_uri: str | None = None
    models: Mapping[str, str] = MappingProxyType({})
    chunk_tokens: int = 900
    chunk_overlap: float = 0.15
    chunk_strategy: str = "auto"
    query_log: bool = True


def digest(place: Place) -> str | None:
    """SHA-256 of index.yml and of where its paths begin; None if there is none.

    A project that was copied or moved has another. One that has just been emptied is none yet: so
    it looks for a moment while it is written.
    """
    try:
        text = place.config.read_bytes()
        if not text and stamp(place) is None:
            return None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(place.config, error.strerror or str(error)) from error
    # Where no path begins at the home of a user, it is the same for all of them.
    home = place.home if place.project is None or b"~" in text else None
    begins = "\0".join(str(folder or "") for folder in (place.project, home))
    return hashlib.sha256(b"\0".join((os.fsencode(begins), text))).hexdigest()


def stamp(place: Place) -> Hashable:
    """What is another one after index.yml has changed; None if it has just been written.

    Two changes within one tick of the clock of a file system look the same.

    Raises:
        FileNotFoundError: there is none.
        ConfigError: nobody may look.
    """
    try:
        info = place.config.stat()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigError(place.config, error.strerror or str(error)) from error
    if time.time_ns() - info.st_mtime_ns < TICK:
        return None
    return info.st_mtime_ns, info.st_ctime_ns, info.st_ino, info.st_size


def is_blank(place: Place) -> bool:
    """Whether there is an index.yml with nothing in it, such as an editor leaves that was cut off.

    Raises:
        ConfigError: it cannot be read.
    """
    return not written(place.config).strip() and place.config.exists()


def load(place: Place) -> Settings:
    """Read index.yml. None at all is the same as an empty one.

    Raises:
        ConfigError: it is not YAML, or says something unknown; with the line.
    """
    text = written(place.config)
    try:
        return understood(_parsed_fast(text), place)
    except (ValueError, ConfigError):
        # Or it is no mistake at all: who also writes the file has the last word, and knows lines.
        return understood(parsed(text, place.config), place)


def _parsed_fast(text: str) -> object:
    """The document in a text, in a tenth of the time; it knows no lines.

    Raises:
        ValueError: it cannot be read, or might be meant otherwise.
    """
    import ryaml

    if _SEVERAL_WAYS.search(text):
        raise ValueError
    return ryaml.loads(text)


def understood(document: object, place: Place) -> Settings:
    """What a parsed index.yml says; nothing, if it is None.

    Raises:
        ConfigError: it says something unknown; with the line.
    """
    return _Reader(place).settings(document) if document is not None else Settings()


def yaml() -> Any:
    """What reads and writes index.yml, comments and all."""
    from ruamel.yaml import YAML

    handler = YAML()
    handler.preserve_quotes = True
    handler.width = 4096
    handler.indent(mapping=2, sequence=4, offset=2)
    return handler


def written(path: Path) -> str:
    """What is written in a file; nothing if there is none."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise ConfigError(path, "this is not UTF-8 text") from error
    except OSError as error:
        raise ConfigError(path, error.strerror or str(error)) from error


def parsed(text: str, path: Path) -> Any:
    """The document in the text of a file; None if there is none."""
    if not text:
        return None
    from ruamel.yaml.error import YAMLError

    try:
        _check_keys(text, path)
        return yaml().load(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        twice = _TWICE.match(problem)
        if twice:
            problem = f"duplicate key '{twice['key']}': keep one of the two"
        raise ConfigError(path, str(problem), line=mark.line + 1 if mark else None) from error
    except RecursionError as error:
        raise ConfigError(path, "this is nested too deeply") from error
    except (LookupError, ValueError) as error:  # a value that is not what its tag says
        raise ConfigError(path, f"this cannot be read: {error}") from error


def _check_keys(text: str, path: Path) -> None:
    """Refuse a list or a mapping as a key: each one inside of another doubles the time of reading.

    Raises:
        ConfigError: there is one; with the line.
    """
    from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

    waiting, seen = [yaml().compose(text)], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:  # a name of YAML stands for the same again
            continue
        seen.add(id(node))
        if isinstance(node, SequenceNode):
            waiting += node.value
        elif isinstance(node, MappingNode):
            for key, value in node.value:
                if not isinstance(key, ScalarNode):
                    raise ConfigError(path, "a key has to be text", line=key.start_mark.line + 1)
                waiting.append(value)


class _Reader:
    """Turns a parsed index.yml into settings; knows the line of every mistake."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def settings(self, document: object) -> Settings:
        known = ("global_context", "editor_uri", "query_log", "models", "chunk", "collections")
        top = self._mapping(document, known, "index.yml", parent=None, key=None)
        models = self._mapping(
            top.get("models"), ("embed", "rerank", "generate"), "models", parent=top, key="models"
        )
        chunk = self._mapping(
            top.get("chunk"), ("tokens", "overlap", "strategy"), "chunk", parent=top, key="chunk"
        )
        contexts = []
        whole = self._text(top, "global_context")
        if whole:
            contexts.append(Context(None, "", whole))
        collections = []
        entries = self._mapping(
            top.get("collections"), None, "collections", parent=top, key="collections"
        )
        for name, entry in entries.items():
            collection, described = self._collection(entries, name, entry)
            collections.append(collection)
            contexts += described
        tokens, overlap = chunk.get("tokens", 900), chunk.get("overlap", 0.15)
        if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 16:
            self._fail(chunk, "tokens", "'tokens' has to be a whole number of at least 16")
        if not isinstance(overlap, int | float) or not 0 <= overlap < 0.9:
            self._fail(chunk, "overlap", "'overlap' has to be a number from 0 to below 0.9")
        strategy = self._text(chunk, "strategy") or "auto"
        if strategy not in CHUNK_STRATEGIES:
            self._fail(chunk, "strategy", "'strategy' has to be one of auto, plain")
        editor = self._text(top, "editor_uri")
        if editor and "{path}" not in editor:
            self._fail(
                top, "editor_uri", "'editor_uri' needs {path}, where the name of a file goes"
            )
        return Settings(
            tuple(collections),
            tuple(contexts),
            editor,
            {str(role): model for role in models if (model := self._text(models, role))},
            tokens,
            float(overlap),
            strategy,
            self._flag(top, "query_log", default=True),
        )

    def _collection(
        self,
        entries: Any,
        key: object,
        entry: object,
    ) -> tuple[Collection, list[Context]]:
        known = (
            "path",
            "pattern",
            "ignore",
            "update",
            "includeByDefault",
            "context",
            "gitignore",
            "follow_symlinks",
        )
        name = str(key)
        here = self._mapping(entry, known, f"collection '{name}'", parent=entries, key=key)
        with self._failing(entries, key):
            check_name(name)
        path = here.get("path")
        if path is None or path == "":
            mapping, at = (here, "path") if "path" in here else (entries, key)
            self._fail(mapping, at, f"collection '{name}' needs a path")
        if not isinstance(path, str):
            self._fail(here, "path", f"'path' has to be text; for a folder of that name: '{path}'")
        self._text(here, "path")
        mask = self._text(here, "pattern") or DEFAULT_MASK
        with self._failing(here, "pattern"):
            check_mask(mask)
        described = self._mapping(
            here.get("context"), None, f"context of '{name}'", parent=here, key="context"
        )
        home = self._place.home or Path.home()
        with self._failing(here, "path"):
            root = (self._place.project or home) / expanded(path, home)
        return (
            Collection(
                name,
                os.path.normpath(root),
                mask,
                self._texts(here, "ignore"),
                self._text(here, "update"),
                self._flag(here, "includeByDefault", default=True),
                self._flag(here, "follow_symlinks", default=False),
                self._flag(here, "gitignore", default=False),
            ),
            [
                Context(name, str(prefix).strip("/"), self._text(described, prefix) or "")
                for prefix in described
            ],
        )

    def _mapping(
        self,
        value: object,
        known: tuple[str, ...] | None,
        what: str,
        *,
        parent: Any,
        key: object,
    ) -> Any:
        if value is None:
            return {}
        if not isinstance(value, dict):
            self._fail(parent, key, f"{what} has to be a list of 'key: value' lines")
        for name in value:
            if known is not None and name not in known:
                self._fail(
                    value, name, f"unknown key '{name}' in {what}. Known: {', '.join(known)}."
                )
        return value

    def _text(self, mapping: Any, key: str) -> str | None:
        value = mapping.get(key)
        if value is None:
            return None
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            self._fail(mapping, key, f"'{key}' has to be text")
        if "\0" in str(value):
            self._fail(mapping, key, f"'{key}' has a NUL in it")
        return str(value)

    def _texts(self, mapping: Any, key: str) -> tuple[str, ...]:
        value = mapping.get(key)
        if value is None:
            return ()
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            self._fail(mapping, key, f"'{key}' has to be text or a list of text")
        return tuple(str(text) for text in texts if text)

    def _flag(self, mapping: Any, key: str, *, default: bool) -> bool:
        value = mapping.get(key, default)
        if not isinstance(value, bool):
            self._fail(mapping, key, f"'{key}' has to be true or false")
        return bool(value)

    @contextmanager
    def _failing(self, mapping: Any, key: object) -> Iterator[None]:
        """Tells of a usage error as a mistake in the file."""
        try:
            yield
        except UsageError as error:
            self._fail(mapping, key, str(error).split("\n")[0])

    def _fail(self, mapping: Any, key: object, problem: str) -> NoReturn:
        position = getattr(mapping, "lc", None)
        line = None
        if position is not None:
            line = (position.data or {}).get(key, [position.line])[0] + 1
        raise ConfigError(self._place.config, problem, line=line)


def check_name(name: str) -> None:
    """Refuse a collection name that could not be written in a path, or is not to be had.

    Raises:
        UsageError: it is empty, has a `/`, `:` or a line break, begins with `.`, `#` or `-`, or
            is that of the experience records.
    """
    if not name or name[0] in ".#-" or any(mark in name for mark in "/:?\n\r\t\0"):
        raise UsageError(
            f"'{name}' cannot be the name of a collection.\n\n"
            "A name is a word such as 'notes': no '/', ':' or '?', and no '.', '#' or '-' in front."
        )
    if name == EXPERIENCES:
        raise UsageError(
            f"The name '{name}' is kept for the records that agents submit: choose another for "
            "this collection."
        )
