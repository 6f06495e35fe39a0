"""Settings in index.yml: reading and validation.

Defaults, then index.yml, then the environment (`environment.py`), then flags.
"""

from __future__ import annotations

import codecs
import os
import re
import time
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from qmd.errors import ConfigError, UsageError
from qmd.settings.environment import Place, expand_home
from qmd.text import hashes, yaml_reader
from qmd.text.globs import check_mask, matcher
from qmd.text.paths import LONGEST_NAME, slashed
from qmd.types import EXPERIENCES, Collection, Context
from qmd.visible import hidden, one_line, shown
from qmd.wording import on_one_line

DEFAULT_MASK = "**/*.md"
"""Of a collection whose lines in index.yml have no pattern."""

NEW_MASK = "documents"
"""Of a collection that is added: all kinds of documents that have readers."""

CHUNK_STRATEGIES = ("auto", "plain")

ENGINES = ("shards", "ray")
"""Engines that search an index of shards."""

MAX_SETTINGS_BYTES = 1 << 20
"""Bytes of a settings file. Its characters have a limit of their own."""

CLOCK_TICK_NS = 2_000_000_000
"""Nanoseconds of a file system's clock tick, at worst (FAT)."""

_SEVERAL_WAYS = re.compile(r"<<|!|(?<![\w./-])[-+]?(?:0+\d|\d+_|\d{4}-\d)")
"""YAML that parsers read differently: merged keys, tags, dates, and numbers such as 012 and
1_000."""


_LANGUAGES = re.compile(r"[A-Za-z]\w{1,31}(?:\+[A-Za-z]\w{1,31}){0,9}", re.A)


class Engine(NamedTuple):
    """Index of shards that is searched in the place of the index file.

    Attributes:
        name: 'shards' opens them in this process, 'ray' has actors of a cluster hold them.
        source: folder with their manifest.
        address: of the cluster; 'local' starts Ray on this machine. None: RAY_ADDRESS.
        deadline: seconds for the shards to answer.
        allow_partial: searches go on without shards that do not answer until then.
    """

    name: str
    source: str
    address: str | None = None
    deadline: float = 30.0
    allow_partial: bool = False


class Settings(NamedTuple):
    """Content of an index.yml.

    Attributes:
        models: name of a model for a role.
        chunk_tokens: of a chunk at most; the embedding model may want fewer.
        chunk_overlap: share of a chunk that the next one repeats.
        chunk_strategy: 'auto' cuts code where its syntax does, 'plain' nothing but lines.
        query_log: whether searches are noted, in a file beside the index.
        readers: for the name of a collection, or '' for all, the commands that convert files to
            Markdown, by the globs of their names.
        ocr: languages in which Tesseract reads pages without text; '': it does not.
        server: whether a running server carries commands out for other processes.
        engines: indexes of shards, by the name of the engine.
        experiences: whether agents may submit and find experience records.
        keywords: share of keywords in the score of a hybrid search; None: the usual one.
    """

    collections: tuple[Collection, ...] = ()
    contexts: tuple[Context, ...] = ()
    editor_uri: str | None = None
    models: Mapping[str, str] = MappingProxyType({})
    chunk_tokens: int = 900
    chunk_overlap: float = 0.15
    chunk_strategy: str = "auto"
    query_log: bool = True
    readers: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    ocr: str = ""
    server: bool = True
    engines: Mapping[str, Engine] = MappingProxyType({})
    experiences: bool = True
    keywords: float | None = None


def digest(place: Place) -> str | None:
    """Hash index.yml and the base folder of its paths (SHA-256); None without a file.

    A project that was copied or moved has another. One that has just been emptied is none yet: so
    it looks for a moment while it is written.
    """
    try:
        text = content(place.config)
        if not text and stamp(place) is None:
            return None
    except FileNotFoundError:
        return None
    # Where no path begins at the home of a user, it is the same for all of them.
    home = place.home if place.project is None or b"~" in text else None
    begins = "\0".join(str(folder or "") for folder in (place.project, home))
    return hashes.short_digest(b"\0".join((os.fsencode(begins), text)))


def stamp(place: Place) -> Hashable:
    """Return a stamp that changes with index.yml; None if the file is too new to tell.

    Two changes within one tick of the clock of a file system look the same.

    Raises:
        FileNotFoundError: there is none.
        ConfigError: the user must not read the folder.
    """
    try:
        info = place.config.stat()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigError(place.config, error.strerror or str(error)) from error
    if time.time_ns() - info.st_mtime_ns < CLOCK_TICK_NS:
        return None
    return info.st_mtime_ns, info.st_ctime_ns, info.st_ino, info.st_size


def is_blank(place: Place) -> bool:
    """Check for an empty index.yml, such as an interrupted editor leaves.

    Raises:
        ConfigError: it cannot be read.
    """
    return not read_yaml_text(place.config).strip("\ufeff \t\r\n") and place.config.exists()


def may_have_engine(place: Place) -> bool:
    """Return whether index.yml may name an engine, without parsing it."""
    try:
        return b"engine" in content(place.config)
    except FileNotFoundError:
        return False


def load(place: Place) -> Settings:
    """Read index.yml. A missing file is the same as an empty one.

    Raises:
        ConfigError: it is not YAML, or says something unknown; with the line, unless it is large.
    """
    text = read_yaml_text(place.config)
    try:
        return understood(_parsed_fast(text), place)
    except (ValueError, ConfigError) as error:
        if isinstance(error, ConfigError) and yaml_reader.is_slow(text):
            raise
        from qmd.settings.commented_yaml import parse_commented

        # Or it is no mistake: ruamel.yaml, which also writes the file, decides, and knows lines.
        return understood(parse_commented(text, place.config), place)


def _parsed_fast(text: str) -> object:
    """Parse a text in a tenth of the time, without line numbers.

    Raises:
        ValueError: it cannot be read, or might be meant otherwise.
    """
    if _SEVERAL_WAYS.search(text):
        raise ValueError
    return yaml_reader.read(text, yaml_reader.SETTINGS)


def understood(document: object, place: Place) -> Settings:
    """Convert a parsed index.yml to settings; empty ones for None.

    Raises:
        ConfigError: it says something unknown; with the line.
    """
    return _Reader(place).settings(document) if document is not None else Settings()


def content(path: Path) -> bytes:
    """Read the bytes of a settings file.

    Raises:
        FileNotFoundError: there is none.
        ConfigError: it cannot be read, or is too large.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_SETTINGS_BYTES + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigError(path, error.strerror or str(error)) from error
    if len(data) > MAX_SETTINGS_BYTES:
        raise ConfigError(
            path,
            f"the file has more than {MAX_SETTINGS_BYTES:,} bytes, which is the limit: shorten it",
        )
    return data


def read_yaml_text(path: Path) -> str:
    """Read the text of a settings file, with its line ends and byte order mark.

    Returns:
        Nothing, if there is no file.

    Raises:
        ConfigError: it is not UTF-8, cannot be read, or is too large.
    """
    try:
        data = content(path)
    except FileNotFoundError:
        return ""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        raise ConfigError(
            path,
            f"this is {'UTF-16' if wide else 'not UTF-8 text'}. Save the file as UTF-8; "
            "nothing in it was changed",
        ) from error


class _Reader:
    """Converter of a parsed index.yml to settings, with the line of each mistake."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def settings(self, document: object) -> Settings:
        known = (
            "global_context",
            "editor_uri",
            "query_log",
            "models",
            "chunk",
            "readers",
            "ocr",
            "server",
            "engine",
            "experiences",
            "ranking",
            "collections",
        )
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
        readers = {"": self._readers(top, "readers of index.yml")}
        entries = self._mapping(
            top.get("collections"), None, "collections", parent=top, key="collections"
        )
        for name, entry in entries.items():
            collection, described = self._collection(entries, name, entry)
            readers[collection.name] = own = self._readers(entry, f"readers of '{name}'")
            converted = tuple(sorted({*own, *readers[""]}))
            collections.append(collection._replace(converted=converted))
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
            {name: commands for name, commands in readers.items() if commands},
            self._ocr(top),
            self._flag(top, "server", default=True),
            self._engines(top),
            self._flag(top, "experiences", default=True),
            self._keywords(top),
        )

    def _keywords(self, top: Any) -> float | None:
        """Share of keywords in the score of a hybrid search."""
        ranking = self._mapping(
            top.get("ranking"), ("keywords",), "ranking", parent=top, key="ranking"
        )
        share = ranking.get("keywords")
        if share is None:
            return None
        if not isinstance(share, int | float) or isinstance(share, bool) or not 0 < share < 1:
            self._fail(ranking, "keywords", "'keywords' has to be a number between 0 and 1")
        return float(share)

    def _ocr(self, top: Any) -> str:
        """Languages in which pictures are read, as Tesseract names them."""
        if top.get("ocr") in (None, False):
            return ""
        languages = "eng" if top["ocr"] is True else self._text(top, "ocr") or ""
        if not _LANGUAGES.fullmatch(languages):
            self._fail(top, "ocr", "'ocr' has to be true, or languages of Tesseract: 'deu+eng'")
        return languages

    def _engines(self, top: Any) -> dict[str, Engine]:
        """Indexes of shards, by the name of the engine."""
        given = self._mapping(top.get("engine"), ENGINES, "engine", parent=top, key="engine")
        known = ("from", "address", "deadline", "allow_partial")
        found = {}
        for name, entry in given.items():
            here = self._mapping(entry, known, f"engine '{name}'", parent=given, key=name)
            source = self._text(here, "from")
            if not source:
                self._fail(given, name, f"engine '{name}' needs 'from': the folder of its shards")
            deadline = here.get("deadline", Engine("", "").deadline)
            is_number = isinstance(deadline, int | float) and not isinstance(deadline, bool)
            if not is_number or not 0 < deadline <= 3600:
                self._fail(here, "deadline", "'deadline' has to be seconds, up to 3600")
            home = self._place.home or Path.home()
            with self._failing(here, "from"):
                folder = (self._place.project or home) / expand_home(source, home)
            where = source if "://" in source else os.path.normpath(folder)
            found[str(name)] = Engine(
                str(name),
                where,
                self._text(here, "address"),
                float(deadline),
                self._flag(here, "allow_partial", default=False),
            )
        return found

    def _readers(self, mapping: Any, what: str) -> dict[str, str]:
        """Commands that convert files, by the globs of their names."""
        given = (mapping or {}).get("readers")
        commands = self._mapping(given, None, what, parent=mapping, key="readers")
        found = {}
        for glob in commands:
            command = self._text(commands, glob)
            if not command or "{path}" not in command:
                self._fail(commands, glob, f"the command for '{glob}' needs {{path}}")
            if hidden(command, but="\n\t"):
                self._fail(commands, glob, f"the command for '{glob}' has invisible characters")
            with self._failing(commands, glob):
                check_mask(str(glob))
                matcher([str(glob)])
            found[str(glob)] = command
        return found

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
            "readers",
            "writable",
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
            root = (self._place.project or home) / expand_home(path, home)
        return (
            Collection(
                name,
                slashed(os.path.normpath(root)),
                mask,
                self._texts(here, "ignore"),
                self._text(here, "update"),
                self._flag(here, "includeByDefault", default=True),
                self._flag(here, "follow_symlinks", default=False),
                self._flag(here, "gitignore", default=False),
                writable=self._flag(here, "writable", default=False),
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
        """Report a usage error as a mistake in the file, with its line."""
        try:
            yield
        except UsageError as error:
            self._fail(mapping, key, str(error).split("\n")[0])

    def _fail(self, mapping: Any, key: object, problem: str) -> NoReturn:
        position = getattr(mapping, "lc", None)
        line = None
        if position is not None:
            line = (position.data or {}).get(key, [position.line])[0] + 1
        raise ConfigError(self._place.config, one_line(problem), line=line)


def check_name(name: str) -> None:
    r"""Refuse a collection name that is reserved or cannot be part of a path.

    Raises:
        UsageError: it is empty, has a `/`, `\`, `:`, `?` or a control character, begins with `.`,
            `#` or `-`, is longer than the name of a file, or is that of the experience records.
    """
    forbidden = on_one_line(name) != name or any(mark in name for mark in "/\\:?")
    if not name or name[0] in ".#-" or forbidden:
        raise UsageError(
            f"'{shown(name)}' cannot be the name of a collection.\n\n"
            "A name is a word such as 'notes': no '/', '\\', ':' or '?', and no '.', '#' or '-' in "
            "front."
        )
    if len(name.encode(errors="replace")) > LONGEST_NAME:
        raise UsageError(
            f"'{shown(name[:40])}…' cannot be the name of a collection: it has more than "
            f"{LONGEST_NAME} bytes.\n\nChoose a shorter one."
        )
    if name == EXPERIENCES:
        raise UsageError(
            f"The name '{name}' is kept for the records that agents submit: choose another for "
            "this collection."
        )
