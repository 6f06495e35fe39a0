"""Manifest of an export (manifest.json): tables, files, digests."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any

from qmd import safe_open
from qmd.errors import ExportDamaged, ExportTooNew, ExportUnreadable, NotAnExport
from qmd.exchange.parquet import FileColumn
from qmd.named_tuple import NamedTuple
from qmd.safe_open import NotRegularFile
from qmd.text.paths import is_below
from qmd.version import __version__
from qmd.wording import on_one_line

NAME = "manifest.json"

FORMAT = "qmd export"
"""Mark of our export folders."""

MAX_MANIFEST_BYTES = 1 << 26
"""Bytes of a manifest at most."""

VERSION = 1
"""Version of the format. A later one is refused; earlier ones must remain readable."""


class ManifestFile(NamedTuple):
    """A Parquet file.

    Attributes:
        path: below the folder, with /.
        sha256: of its bytes, 64 hex digits.
        digest: of its rows, unchanged while they are.
        collection: that all rows are of, if no column says so.
    """

    path: str
    rows: int
    bytes: int
    sha256: str
    digest: str
    collection: str | None


class ManifestTable(NamedTuple):
    """A table, or the selected part of it.

    Attributes:
        columns: of each file, but for the collection of those that are of one.
    """

    name: str
    meaning: str
    columns: tuple[FileColumn, ...]
    files: tuple[ManifestFile, ...]

    @property
    def rows(self) -> int:
        """Rows of all files."""
        return sum(file.rows for file in self.files)

    @property
    def bytes(self) -> int:
        """Bytes of all files."""
        return sum(file.bytes for file in self.files)


class Manifest(NamedTuple):
    """Content of an export.

    Attributes:
        schema: version of the last migration of the index.
        name: of the index.
        exported: the moment of the state that was exported, ISO 8601, UTC.
        selection: options of the export; empty: everything.
        models: that index.yml chooses, by what they do.
        chunk: how index.yml has texts cut.
    """

    qmd_version: str
    schema: int
    name: str
    exported: str
    selection: Mapping[str, object]
    models: Mapping[str, str]
    chunk: Mapping[str, Any]
    parts: tuple[ManifestTable, ...]

    @property
    def files(self) -> Iterator[ManifestFile]:
        """Files of all tables."""
        for part in self.parts:
            yield from part.files


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write a manifest into the folder of its export."""
    tables = [
        {
            "name": part.name,
            "meaning": part.meaning,
            "rows": part.rows,
            "bytes": part.bytes,
            "columns": [column._asdict() for column in part.columns],
            "files": [
                {key: value for key, value in file._asdict().items() if value is not None}
                for file in part.files
            ],
        }
        for part in manifest.parts
    ]
    document = {
        "format": FORMAT,
        "format_version": VERSION,
        "qmd_version": manifest.qmd_version,
        "schema_version": manifest.schema,
        "index": manifest.name,
        "exported": manifest.exported,
        "selection": manifest.selection,
        "settings": {"models": dict(manifest.models), "chunk": dict(manifest.chunk)},
        "tables": tables,
    }
    text = json.dumps(document, ensure_ascii=False, indent=2)
    (folder / NAME).write_text(text + "\n", encoding="utf-8")


def open_member(folder: Path, name: str) -> BufferedReader:
    """Open a file of an export.

    Raises:
        FileNotFoundError: there is none.
        NotRegularFile: it is a device, a pipe or a folder, or a link that leads out of the folder.
        OSError: it cannot be opened.
    """
    path = folder / name
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(folder)):
        raise NotRegularFile(path)
    return os.fdopen(safe_open.opened(real, os.O_RDONLY), "rb")


def _text(folder: Path) -> str:
    """Read the text of a folder's manifest.

    Raises:
        OSError: it cannot be read.
        ValueError: it is not UTF-8, or too large to be one.
    """
    with open_member(folder, NAME) as file:
        data = file.read(MAX_MANIFEST_BYTES + 1)
    if len(data) > MAX_MANIFEST_BYTES:
        raise ValueError(f"it has more than {MAX_MANIFEST_BYTES:,} bytes")
    return data.decode("utf-8")


def is_export_folder(folder: Path) -> bool:
    """Check that a folder is an export, of any version."""
    try:
        document = json.loads(_text(folder))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("format") == FORMAT


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a folder.

    Raises:
        NotAnExport: it has no manifest.
        ExportUnreadable: the system does not read it.
        ExportTooNew: a later qmd has written it.
        ExportDamaged: it cannot be understood.
    """
    try:
        document = json.loads(_text(folder))
    except (FileNotFoundError, NotADirectoryError):
        raise NotAnExport(folder) from None
    except OSError as error:
        raise ExportUnreadable(folder, NAME, error.strerror or str(error)) from error
    except (ValueError, RecursionError) as error:
        raise ExportDamaged(folder, NAME, f"this is not JSON: {error}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise NotAnExport(folder)
    try:
        found = _checked(document["format_version"], int)
        if found > VERSION:
            written_by = str(document.get("qmd_version"))
            raise ExportTooNew(
                folder, "format", found, known=VERSION, written_by=written_by, this=__version__
            )
        return _understood(document)
    except (KeyError, TypeError, ValueError) as error:
        raise ExportDamaged(folder, NAME, f"it does not say what it has to: {error}") from error


def _understood(document: dict[str, Any]) -> Manifest:
    """Convert a parsed document to a manifest.

    Raises:
        KeyError, TypeError, ValueError: something is missing, or of the wrong kind.
    """
    settings = _checked(document["settings"], dict)
    return Manifest(
        _checked(document["qmd_version"], str),
        _checked(document["schema_version"], int),
        _checked(document["index"], str),
        _checked(document["exported"], str),
        _checked(document["selection"], dict),
        {role: _checked(name, str) for role, name in _checked(settings["models"], dict).items()},
        _checked(settings["chunk"], dict),
        tuple(_part(_checked(part, dict)) for part in document["tables"]),
    )


def _part(part: dict[str, Any]) -> ManifestTable:
    return ManifestTable(
        _checked(part["name"], str),
        _checked(part["meaning"], str),
        tuple(
            FileColumn(*(_checked(column[key], str) for key in FileColumn._fields))
            for column in part["columns"]
        ),
        tuple(_file(_checked(file, dict)) for file in part["files"]),
    )


def _file(file: dict[str, Any]) -> ManifestFile:
    path = _checked(file["path"], str)
    if not is_below(path):
        raise ValueError(f"'{on_one_line(path)}' lies outside of the folder")
    collection = file.get("collection")
    return ManifestFile(
        path,
        _checked(file["rows"], int),
        _checked(file["bytes"], int),
        _checked(file["sha256"], str),
        _checked(file["digest"], str),
        None if collection is None else _checked(collection, str),
    )


def _checked(value: Any, kind: type) -> Any:
    """Return a value if it has the expected type."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"{value!r:.100} where a {kind.__name__} has to be")
    if isinstance(value, str):
        value.encode()  # JSON can name halves of a character, which is a ValueError
    return value
