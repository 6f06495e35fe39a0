"""Sources of a build that are no folder: a prefix of an object store, and Parquet.

Their texts are copied into a folder beside the shards, which is indexed like any other. What has
not changed is not copied again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from qmd.cluster.store import BLOCK, filesystem, is_url, reaching
from qmd.errors import UsageError
from qmd.visible import hidden, shown

PARQUET = ".parquet"
"""End of the name of a Parquet file, or of a folder of them, as Spark writes it."""

BATCH = 1024
"""Rows that are read at once."""

STAGED = "source"
"""Folder beside the shards with the texts of such a source."""


def is_staged(source: str) -> bool:
    """Return whether a source has to be copied into a folder before it is indexed."""
    return is_url(source) or _is_parquet(source)


def _is_parquet(source: str) -> bool:
    return source.partition("?")[0].rstrip("/").endswith(PARQUET)


def name_of(source: str) -> str:
    """Return the name of a collection for a source."""
    last = PurePosixPath(source.partition("?")[0].rstrip("/")).name
    return last.removesuffix(PARQUET)


def stage(source: str, folder: Path, progress: Callable[[int, int], object]) -> None:
    """Copy a source into a folder, and remove there what the source has no more.

    Args:
        progress: called with (texts copied or found as before, in all); 0 if that is not known.

    Raises:
        UsageError: the Parquet has other columns, or a path leads out of the folder.
        ClusterFailure: the source cannot be reached.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with reaching(source):
        if _is_parquet(source):
            there = _stage_parquet(source, folder, progress)
        else:
            there = _stage_objects(source, folder, progress)
    for file in sorted(folder.rglob("*"), reverse=True):
        if file.is_dir():
            if not any(file.iterdir()):
                file.rmdir()
        elif str(file.relative_to(folder)) not in there:
            file.unlink()


def _stage_objects(url: str, folder: Path, progress: Callable[[int, int], object]) -> set[str]:
    from pyarrow import fs

    system, prefix = filesystem(url)
    found = system.get_file_info(fs.FileSelector(prefix, recursive=True))
    objects = [each for each in found if each.type == fs.FileType.File]
    there = set()
    for number, each in enumerate(objects):
        path = _relative(each.path.removeprefix(prefix).lstrip("/"))
        target = folder / path
        stamp = each.mtime_ns or 0
        known = target.stat() if target.is_file() else None
        if known is None or (known.st_size, known.st_mtime_ns) != (each.size, stamp):
            target.parent.mkdir(parents=True, exist_ok=True)
            part = folder / ".part"
            with system.open_input_stream(each.path) as stream, part.open("wb") as file:
                while block := stream.read(BLOCK):
                    file.write(block)
            os.utime(part, ns=(stamp, stamp))
            part.replace(target)
        there.add(path)
        progress(number + 1, len(objects))
    return there


def _stage_parquet(source: str, folder: Path, progress: Callable[[int, int], object]) -> set[str]:
    there: set[str] = set()
    for path, text, metadata in _rows(source):
        name = _relative(path if PurePosixPath(path).suffix else f"{path}.md")
        if name in there:
            raise UsageError(f"{shown(source)} has the path {shown(path)} twice.")
        there.add(name)
        data = (_front_matter(metadata) + text).encode("utf-8", "replace")
        target = folder / name
        if not target.is_file() or target.read_bytes() != data:
            target.parent.mkdir(parents=True, exist_ok=True)
            part = folder / ".part"
            part.write_bytes(data)
            part.replace(target)
        progress(len(there), 0)
    return there


def _rows(source: str) -> Iterator[tuple[str, str, Any]]:
    """Read the rows of Parquet, a batch at a time.

    Raises:
        UsageError: it has other columns.
    """
    from pyarrow import parquet  # not its data sets, which DuckDB would load from then on

    for system, path in _files_of(source):
        with system.open_input_file(path) as stream:
            file = parquet.ParquetFile(stream)
            names = set(file.schema_arrow.names)
            if lacking := [name for name in ("path", "text") if name not in names]:
                raise UsageError(
                    f"{shown(source)} has no column '{lacking[0]}'.\n\n"
                    "A source of Parquet has the columns path and text, and may have metadata: a "
                    "struct, a map, or JSON."
                )
            columns = [name for name in ("path", "text", "metadata") if name in names]
            for batch in file.iter_batches(batch_size=BATCH, columns=columns):
                yield from _checked_rows(source, batch.to_pylist())


def _files_of(source: str) -> list[tuple[Any, str]]:
    """List the files of a source of Parquet, each with its file system.

    Raises:
        UsageError: there are none.
    """
    from pyarrow import fs

    system, path = filesystem(source) if is_url(source) else (fs.LocalFileSystem(), source)
    if system.get_file_info(path).type == fs.FileType.File:
        return [(system, path)]
    found = system.get_file_info(fs.FileSelector(path, recursive=True))
    paths = sorted(each.path for each in found if each.path.endswith(PARQUET) and each.is_file)
    if not paths:
        raise UsageError(f"{shown(source)} has no files that end in {PARQUET}.")
    return [(system, each) for each in paths]


def _checked_rows(source: str, rows: list[dict[str, Any]]) -> Iterator[tuple[str, str, Any]]:
    for row in rows:
        path, text = row["path"], row["text"]
        if path is None or text is None:
            continue
        if not isinstance(path, str) or not isinstance(text, str):
            raise UsageError(f"{shown(source)}: path and text have to be text.")
        yield path, text, row.get("metadata")


def _front_matter(metadata: Any) -> str:
    """Write metadata as front matter, whose values are JSON, which is YAML."""
    if isinstance(metadata, str):
        try:
            metadata = json.loads(metadata)
        except ValueError:
            metadata = {"metadata": metadata}
    if isinstance(metadata, list):  # a map of Arrow
        metadata = dict(metadata)
    if not isinstance(metadata, dict):
        return ""
    lines = [
        f"{json.dumps(str(key), ensure_ascii=False)}: {_yaml(value)}"
        for key, value in metadata.items()
        if value is not None
    ]
    return "\n".join(["---", *lines, "---", "", ""]) if lines else ""


def _yaml(value: Any) -> str:
    from datetime import date, datetime

    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str) and _is_date(value):
        return value  # quoted, it would be no date
    return json.dumps(value, ensure_ascii=False, default=str)


def _is_date(text: str) -> bool:
    return len(text) == 10 and text[4] == text[7] == "-" and text.replace("-", "").isdigit()


def _relative(path: str) -> str:
    """Return a path below a folder.

    Raises:
        UsageError: it leads out of the folder, or has characters that cannot be seen.
    """
    pure = PurePosixPath(path.removeprefix("./"))
    if pure.is_absolute() or ".." in pure.parts or not pure.parts or hidden(path):
        raise UsageError(f"A text of the source has the path {shown(path)}, which is none in it.")
    return str(pure)
