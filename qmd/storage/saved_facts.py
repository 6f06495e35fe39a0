"""Facts about a whole index, saved beside it for processes that end after one command.

Some results depend on all documents, such as their mean length, or on settings that each command
reads. A server keeps them in memory; a command would count them each time. They are saved in
`index.duckdb.facts` with the state of the index file, and used while that is unchanged. The file
may be deleted at any time. It does not apply to a copy or another index, since it contains the
inode and the times of its own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from qmd import safe_open
from qmd.storage.file_version import Version, is_settled, version_of
from qmd.text import hashes
from qmd.version import __version__

Fact = TypeVar("Fact")

FORM = 3
"""Form of the facts. One that has other columns, or another meaning, gets the next number."""

LARGEST_FACT = 100_000
"""Bytes of a fact that is saved. To read more of them takes as long as the statement."""

LARGEST = 1_000_000
"""Bytes of the file."""


def facts_path(index: Path) -> Path:
    """Return the path of the saved facts of an index."""
    return index.with_name(f"{index.name}.facts")


_OF_OTHERS = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)
"""Exceptions over a fact of another form, which another program has written."""


class SavedFacts:
    """Facts about one state of an index.

    Args:
        index: the index file, which is attached for reading now.
        version: of that file.
    """

    def __init__(self, index: Path, version: Version) -> None:
        self.version = version
        self.index = index
        self._state = self._current()
        state, self._earlier = self._loaded()
        self._known = self._earlier if state == self._state else {}
        self._new: dict[str, object] = {}

    def has(self, name: str) -> bool:
        """Return whether a fact is in the file."""
        return name in self._known

    def known(self, name: str, made: Callable[[Any], Fact]) -> Fact | None:
        """Return a fact from the file; None if it is not there. See `get`."""
        with suppress(*_OF_OTHERS):
            return made(self._known[name])
        return None

    def earlier(self, name: str, made: Callable[[Any], Fact]) -> Fact | None:
        """Return a fact from the file, also of an earlier state of the index. See `known`."""
        with suppress(*_OF_OTHERS):
            return made(self._earlier[name])
        return None

    def note(self, name: str, fact: object) -> None:
        """Set a fact that the caller has found in this state, while the index is attached."""
        if self._state is None:
            self._state = self._current()  # no write can have the same time any more
        self._new[name] = fact

    def get(self, name: str, read: Callable[[], object], made: Callable[[Any], Fact]) -> Fact:
        """Return a fact from the file; `read` counts it if it is not there.

        Args:
            read: returns a value of what JSON has, and times.
            made: makes the fact of such a value, in which a tuple may have become a list, and a
                time its text.
        """
        if name in self._known:
            with suppress(*_OF_OTHERS):
                return made(self._known[name])  # or else another program has written it
        found = read()
        self._new[name] = found
        return made(found)

    def save(self) -> None:
        """Save what has been counted, if the index has not changed since and can be told apart."""
        if not self._new or self._state is None or self._state != self._current():
            return
        new = {
            name: fact for name, fact in self._new.items() if len(_as_json(fact)) <= LARGEST_FACT
        }
        text = _as_json({"state": self._state, "facts": self._known | new}).encode()
        if not new or len(text) > LARGEST:
            return
        self._known, self._new = self._known | new, {}
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        with (
            suppress(OSError),  # where nothing can be written, the next command counts again
            os.fdopen(safe_open.opened(facts_path(self.index), flags), "wb") as file,
        ):
            file.write(f"{_checksum(text)}\n".encode() + text)

    def _current(self) -> list[object] | None:
        """Return the state of the index file; None if the next change might not be seen."""
        try:
            named = os.stat(self.index).st_ctime_ns
        except OSError:
            return None
        version = version_of(self.index)
        if version != self.version or not all(
            map(is_settled, (version.changed, version.log, named))
        ):
            return None
        return [FORM, __version__, *version, named]

    def _loaded(self) -> tuple[list[object], dict[str, Any]]:
        """Load a state and its facts; none if the file is missing, damaged or of another version.

        After two writers at once, or one that was killed, the checksum does not match the text.
        """
        try:
            path = facts_path(self.index)
            with os.fdopen(safe_open.opened(path, os.O_RDONLY), "rb") as file:
                digest, _, text = file.read(LARGEST + 100).partition(b"\n")
            if digest.decode() == _checksum(text):
                saved = json.loads(text)
                if saved["state"][:2] == [FORM, __version__]:
                    return saved["state"], dict(saved["facts"])
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            pass
        return [], {}


def _checksum(text: bytes) -> str:
    return hashes.damage_digest(text)


def _as_json(value: object) -> str:
    return json.dumps(value, default=datetime.isoformat)
