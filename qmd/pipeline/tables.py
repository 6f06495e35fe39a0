"""A batch of files as the Arrow tables that a commit takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from qmd.pipeline.columns import documents
from qmd.pipeline.outlines import outlines
from qmd.pipeline.tokens import tokenise
from qmd.store.documents import Batch

if TYPE_CHECKING:
    from qmd.pipeline.reading import File, Parsed
    from qmd.pipeline.vocabulary import Term, Vocabulary

_KINDS = {
    "number": pa.uint32(),
    "seen_id": pa.uint32(),
    "collection": pa.string(),
    "path": pa.string(),
    "title": pa.string(),
    "hash": pa.string(),
    "metadata": pa.string(),
    "dated": pa.int64(),
    "modified": pa.int64(),
    "lossy": pa.bool_(),
    "size": pa.uint64(),
    "mtime_ns": pa.int64(),
    "inode": pa.uint64(),
    "checksum": pa.string(),
}


def batch(
    collection: str, parsed: Sequence[Parsed], vocabulary: Vocabulary, *, named: bool = True
) -> Batch[pa.Table]:
    """Documents, contents, postings and new words of a batch.

    Args:
        named: whether the words of a path say something, so that a search is to find them.
    """
    postings = tokenise(
        [(item.title, item.file.path if named else "", _body(item.file)) for item in parsed],
        vocabulary,
    )
    learnt = vocabulary.take_new()
    contents = {item.file.hash: item for item in parsed}
    columns = documents(collection, parsed)
    return Batch(
        incoming=pa.table(
            {
                **{name: pa.array(column, _KINDS[name]) for name, column in columns.items()},
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
        learnt=_words(learnt) if learnt else None,
        documents=len(parsed),
        replaces=any(item.file.change.document_id for item in parsed),
    )


def _words(learnt: Sequence[tuple[str, Term]]) -> pa.Table:
    return pa.table(
        {
            "word": pa.array([word for word, _ in learnt], pa.string()),
            "term": pa.array([term for _, (_, term) in learnt], pa.string()),
            "term_id": pa.array([term_id for _, (term_id, _) in learnt], pa.int64()),
        }
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
