"""A batch of files as the Arrow tables that a commit takes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from qmd.pipeline.outlines import outlines
from qmd.pipeline.reading import EPOCH
from qmd.pipeline.tokens import Vocabulary, tokenise
from qmd.store.documents import Batch

if TYPE_CHECKING:
    from qmd.pipeline.reading import File, Parsed

NO_TIME = -1
"""Nanoseconds: no file has this time, so that the file is compared again."""


def batch(
    collection: str, parsed: Sequence[Parsed], vocabulary: Vocabulary, *, named: bool = True
) -> Batch:
    """Documents, contents, postings and new words of a batch.

    Args:
        named: whether the words of a path say something, so that a search is to find them.
    """
    files = [item.file for item in parsed]
    postings = tokenise(
        [(item.title, item.file.path if named else "", _body(item.file)) for item in parsed],
        vocabulary,
    )
    learnt = vocabulary.take_new()
    contents = {item.file.hash: item for item in parsed}
    return Batch(
        incoming=pa.table(
            {
                "number": _column(np.arange(len(files), dtype=np.uint32)),
                "seen_id": pa.array([f.change.document_id or 0 for f in files], pa.uint32()),
                "collection": pa.array([collection] * len(files), pa.string()),
                "path": pa.array([f.path for f in files], pa.string()),
                "title": pa.array([item.title for item in parsed], pa.string()),
                "hash": pa.array([f.hash for f in files], pa.string()),
                "metadata": pa.array([item.metadata for item in parsed], pa.string()),
                "dated": pa.array([_microseconds(item.dated) for item in parsed], pa.int64()),
                "modified": pa.array([_microseconds(item.modified) for item in parsed], pa.int64()),
                "lossy": pa.array([f.lossy for f in files], pa.bool_()),
                **_stats(files),
                "title_length": _column(postings.lengths[0]),
                "path_length": _column(postings.lengths[1]),
                "body_length": _column(postings.lengths[2]),
                "path_start": _column(postings.starts[1]),
                "body_start": _column(postings.starts[2]),
            }
        ),
        texts=pa.table(
            {
                "hash": pa.array(contents.keys(), pa.string()),
                "body": pa.array([i.file.text for i in contents.values()], pa.large_string()),
                "outline": outlined([(i.file.data, i.body) for i in contents.values()]),
            }
        ),
        postings=pa.table(
            {
                "term_id": _column(postings.term_id),
                "number": _column(postings.document),
                "title_frequency": _column(postings.frequencies[0]),
                "path_frequency": _column(postings.frequencies[1]),
                "body_frequency": _column(postings.frequencies[2]),
                "length": _column(postings.lengths.sum(axis=0, dtype=np.uint32)[postings.document]),
                "positions": pa.ListArray.from_arrays(
                    _column(postings.offsets), _column(postings.positions)
                ),
            }
        ),
        learnt=pa.table(
            {
                "word": pa.array([word for word, _ in learnt], pa.string()),
                "term": pa.array([term for _, (_, term) in learnt], pa.string()),
                "term_id": pa.array([term_id for _, (term_id, _) in learnt], pa.int64()),
            }
        ),
    )


def _column(numbers: npt.NDArray[Any]) -> pa.Array:
    """Numbers as Arrow, which on its own way to them would load numpy.ma to ask for masks."""
    numbers = np.ascontiguousarray(numbers)
    kind = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(numbers)])


def _body(file: File) -> str | bytes:
    """The text of a file; as bytes where these are the same."""
    text = file.text or ""
    return file.data if text.isascii() else text


def outlined(texts: Sequence[tuple[bytes, int]]) -> pa.StructArray:
    """The outlines of texts.

    Args:
        texts: each in UTF-8, with the bytes of its frontmatter.
    """
    found = outlines([data for data, _ in texts], [start for _, start in texts])
    columns = [pa.array(column, pa.string()) for column in found]
    return pa.StructArray.from_arrays(columns, names=list(found._fields))


def touched_table(files: Sequence[File]) -> pa.Table:
    """New times of files whose content is the same."""
    return pa.table(
        {
            "document_id": pa.array([f.change.document_id for f in files], pa.uint32()),
            "modified": pa.array([f.mtime_ns // 1000 for f in files], pa.int64()),
            **_stats(files),
        }
    )


def _stats(files: Sequence[File]) -> dict[str, pa.Array]:
    return {
        "size": pa.array([f.size for f in files], pa.uint64()),
        "mtime_ns": pa.array([NO_TIME if f.fresh else f.mtime_ns for f in files], pa.int64()),
        "inode": pa.array([f.inode for f in files], pa.uint64()),
        "checksum": pa.array([f.checksum for f in files], pa.string()),
    }


def _microseconds(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)
