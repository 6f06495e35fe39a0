"""Validation of index.yml, and of the names of collections."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from qmd.errors import ConfigError, UsageError
from qmd.settings.environment import Place, expand_home
from qmd.settings.schema import CHUNK_STRATEGIES, DEFAULT_MASK, ENGINES, Engine, Settings
from qmd.text.globs import check_mask, matcher
from qmd.text.paths import LONGEST_NAME, slashed
from qmd.types import EXPERIENCES, Collection, Context
from qmd.visible import hidden, one_line, shown
from qmd.wording import on_one_line

_LANGUAGES = re.compile(r"[A-Za-z]\w{1,31}(?:\+[A-Za-z]\w{1,31}){0,9}", re.A)


class SettingsReader:
    """Converter of a parsed index.yml to settings, with the line of each mistake."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def settings(self, document: object) -> Settings:
        """Convert a document.

        Raises:
            ConfigError: it says something unknown; with the line.
        """
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
        collections, contexts, readers = self._collections(top)
        tokens, overlap, strategy = self._chunk(top)
        editor = self._text(top, "editor_uri")
        if editor and "{path}" not in editor:
            self._fail(
                top, "editor_uri", "'editor_uri' needs {path}, where the name of a file goes"
            )
        return Settings(
            collections,
            contexts,
            editor,
            {str(role): model for role in models if (model := self._text(models, role))},
            tokens,
            overlap,
            strategy,
            self._flag(top, "query_log", default=True),
            readers,
            self._ocr(top),
            self._flag(top, "server", default=True),
            self._engines(top),
            self._flag(top, "experiences", default=True),
            self._keywords(top),
        )

    def _collections(
        self, top: Any
    ) -> tuple[tuple[Collection, ...], tuple[Context, ...], dict[str, dict[str, str]]]:
        """Return collections, contexts, and commands of readers by the name of a collection."""
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
        commands = {name: own for name, own in readers.items() if own}
        return tuple(collections), tuple(contexts), commands

    def _chunk(self, top: Any) -> tuple[int, float, str]:
        """Return the tokens of a chunk, the share that the next repeats, and how texts are cut."""
        chunk = self._mapping(
            top.get("chunk"), ("tokens", "overlap", "strategy"), "chunk", parent=top, key="chunk"
        )
        tokens, overlap = chunk.get("tokens", 900), chunk.get("overlap", 0.15)
        if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 16:
            self._fail(chunk, "tokens", "'tokens' has to be a whole number of at least 16")
        if not isinstance(overlap, int | float) or not 0 <= overlap < 0.9:
            self._fail(chunk, "overlap", "'overlap' has to be a number from 0 to below 0.9")
        strategy = self._text(chunk, "strategy") or "auto"
        if strategy not in CHUNK_STRATEGIES:
            self._fail(chunk, "strategy", "'strategy' has to be one of auto, plain")
        return tokens, float(overlap), strategy

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
