"""Documents to embed, and what an index has of them afterwards."""

from __future__ import annotations

import numpy as np
import pytest

from qmd.embedding.vector_status import vector_status
from tests.library import drawn

LONG = 20
"""Seconds after which something that has to happen is taken for stuck."""

SMALL = "chunk: {tokens: 20, overlap: 0}"
"""Settings: a chunk has 18 words at most."""


def write_many(library, count, *, first=0):
    """Documents of ten words each, all different."""
    for number in range(first, first + count):
        library.write(f"{number:03}.md", f"# Note {number}\n\none two three four five six seven.")
    library.update()


def lacking(library):
    """Documents that lack vectors."""
    _, state = vector_status(library.engine)
    return state.lacking


def texts(library):
    """The text of each chunk that has a vector, by chunk_id."""
    rows = library.ask(
        "select chunk_id, body[position + 1 : position + length] from chunks "
        "join embeddings using (chunk_id) join content using (hash) order by chunk_id"
    )
    return dict(rows)


def vectors(library):
    """The vector of each chunk, by chunk_id."""
    rows = library.ask("select chunk_id, vector from embeddings")
    return {chunk_id: np.array(vector, np.float32) for chunk_id, vector in rows}


def assert_whole(library):
    """Every document has its vectors, and each is that of its text."""
    assert lacking(library) == 0
    assert library.problems() == []
    made, expected = vectors(library), texts(library)
    assert set(made) == set(expected)
    for chunk_id, text in expected.items():
        assert made[chunk_id] == pytest.approx(drawn(text, 16), abs=1e-6)


def counted(report):
    """The numbers of a report that say how far it came."""
    return report.chunks, report.documents, report.lacking, len(report.failed)
