"""Fast path of update: a fingerprint of file times and sizes, without DuckDB.

To load DuckDB and compare takes longer than to stat ten thousand files. So a comparison without
differences is saved beside the index, in `index.duckdb.compared`: the state of the index, of
index.yml and of the files. While all three are unchanged, the result is, too. The file may be
deleted at any time. It does not apply to a copy or another index, since it contains the inode and
the times of its own.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from qmd import safe_open
from qmd.errors import QmdError
from qmd.ingest.walk import FileTable, same, walk
from qmd.named_tuple import NamedTuple
from qmd.reports import Report
from qmd.settings import config, trust
from qmd.settings.environment import Place
from qmd.settings.schema import Settings
from qmd.storage.file_version import Version, is_settled, version_of
from qmd.text import kinds
from qmd.text.hashes import checksum
from qmd.types import Collection
from qmd.version import __version__

LARGEST = 1_000_000
"""Bytes of a saved fingerprint: it has 300, and 50 for each collection."""


class IndexState(NamedTuple):
    """State of the settings and the index that a comparison depends on.

    Attributes:
        qmd: its version.
        version: of the index.
        named: when the index got its name, its owner or its mode, at the latest; in nanoseconds.
        settings: digest of index.yml.
        packages: another one after one was installed: it may bring a reader.
    """

    qmd: str
    version: Version
    named: int
    settings: str
    packages: list[int]


class Folder(NamedTuple):
    """A folder without changes.

    Attributes:
        digest: of the files that were found.
        unusable: (path, reason) of those that cannot be indexed.
    """

    digest: str
    unusable: list[tuple[str, str]]


class Note(NamedTuple):
    """Saved fingerprint: the comparisons without a difference.

    Attributes:
        folders: by the names of their collections.
        space: fingerprint of the vectors that were counted.
        lacking: documents without all of them.
    """

    state: IndexState
    folders: dict[str, Folder]
    space: str
    lacking: int


class Glance(NamedTuple):
    """Comparison of folders with the saved fingerprint.

    Attributes:
        state: before anything was looked at; None: nothing can be noted of it.
        found: what was found in folders, which need not be looked at again.
        reports: of the collections, if nothing has changed; None: that has to be compared.
        lacking: documents without vectors.
    """

    state: IndexState | None = None
    found: Mapping[Collection, FileTable] = MappingProxyType({})
    reports: list[Report] | None = None
    lacking: int = 0


NONE = Glance()
"""Comparison without a saved fingerprint, and without saving one."""


def glance(
    place: Place, names: Sequence[str] = (), *, vectors_of: Callable[[Settings], str]
) -> Glance:
    """Compare the folders with the saved fingerprint.

    Args:
        vectors_of: gives the fingerprint of the vectors that settings ask for.
        names: of collections; none means all.
    """
    state = _state(place)
    noted = _noted(place)
    found: dict[Collection, FileTable] = {}
    if state is None or noted is None or noted.state != state:
        return Glance(state)
    with suppress(QmdError, OSError):  # the update will report it
        settings = config.load(place)
        chosen = sorted(c for c in settings.collections if not names or c.name in names)
        if not chosen or not {each.name for each in chosen}.issuperset(names):
            return Glance(state)
        if any(each.update_command or not trust.may_read(place, settings, each) for each in chosen):
            return Glance(state)
        for collection in chosen:
            found[collection] = walk(collection)
        space = vectors_of(settings)
        reports = [
            same(each, files, known.unusable)
            for each, files in found.items()
            if (known := noted.folders.get(each.name))
            and known.digest == _digest(files)
            and {path for path, _ in known.unusable}.issubset(files.paths)
        ]
        if len(reports) == len(chosen) and space == noted.space and _state(place) == state:
            return Glance(state, found, reports, noted.lacking)
    return Glance(state, found)


def note(
    place: Place,
    before: Glance,
    known: Mapping[str, tuple[FileTable, list[tuple[str, str]]]],
    *,
    space: str,
    lacking: int,
) -> None:
    """Save the fingerprint of a comparison without differences.

    Args:
        before: made before it.
        known: for the name of a collection what was found, and what of it cannot be indexed.
        space: fingerprint of the vectors that were counted after it.
        lacking: documents without all of them.
    """
    if before.state is None or before.state != _state(place):
        return  # another process has written in the meantime
    last = _noted(place)
    others = last.folders if last and (last.state, last.space) == (before.state, space) else {}
    folders = {name: Folder(_digest(found), bad) for name, (found, bad) in known.items()}
    text = json.dumps(Note(before.state, others | folders, space, lacking)).encode()
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with (
        suppress(OSError),  # where nothing can be written, the next one compares again
        os.fdopen(safe_open.opened(_file(place), flags), "wb") as file,
    ):
        file.write(f"{checksum(text)}\n".encode() + text)


def _file(place: Place) -> Path:
    return place.database.with_name(f"{place.database.name}.compared")


def _state(place: Place) -> IndexState | None:
    """Read the state; None if a part is missing, unreadable, or too new to tell changes."""
    try:
        version, settings = version_of(place.database), config.digest(place)
        if version is None or settings is None or not os.access(place.database, os.R_OK):
            return None
        named = os.stat(place.database).st_ctime_ns
    except (OSError, QmdError):  # its user will report it
        return None
    settled = all(map(is_settled, (version.changed, version.log, named)))
    return IndexState(__version__, version, named, settings, kinds.stamp()) if settled else None


def _noted(place: Place) -> Note | None:
    """Load the saved fingerprint; None if it is missing or invalid.

    After two writers at once, or one that was killed, the checksum does not match the text.
    """
    try:
        with os.fdopen(safe_open.opened(_file(place), os.O_RDONLY), "rb") as file:
            digest, _, text = file.read(LARGEST).partition(b"\n")
        if digest.decode() != checksum(text):
            return None
        (qmd, version, *state), folders, space, lacking = json.loads(text)
        known = {
            name: Folder(digest, [(str(path), str(why)) for path, why in dict(unusable).items()])
            for name, (digest, unusable) in dict(folders).items()
        }
        return Note(
            IndexState(qmd, Version(*version), *state), known, str(space), max(0, int(lacking))
        )
    except (OSError, ValueError, TypeError, OverflowError, RecursionError):
        return None


def _digest(files: FileTable) -> str:
    columns = ("q", files.sizes), ("q", files.mtimes), ("q", files.ctimes), ("Q", files.inodes)
    numbers = [array(kind, column).tobytes() for kind, column in columns]
    left_out = json.dumps(files.left_out).encode()
    return checksum(b"\0".join([*numbers, left_out, "\0".join(files.paths).encode()]))
