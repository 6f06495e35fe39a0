"""Groups of texts and chunks that are handled together, and their table for a commit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from qmd.embedding.vectors import Chunk

if TYPE_CHECKING:
    import pyarrow as pa

GROUP_TEXTS, GROUP_BYTES = 64, 1_000_000
"""Texts, and bytes of them, that are chunked together."""

FIRST_BYTES = 20_000
"""Bytes of the first texts that are chunked together; further ones have twice as many each."""


def chunk_table(rows: Sequence[tuple[str | int, ...]]) -> pa.Table:
    """Build the Arrow table of chunks for a commit."""
    import pyarrow as pa

    names = ("hash", "seq", "position", "length", "line", "tokens")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    numbers = {name: pa.array(columns[name], pa.uint32()) for name in names[1:]}
    return pa.table(
        {
            "number": pa.array(range(len(rows)), pa.uint32()),
            "hash": pa.array(columns["hash"], pa.string()),
            **numbers,
        }
    )


def by_text(chunks: list[Chunk]) -> Iterator[list[Chunk]]:
    """Group chunks, sorted by text, so that each group needs few texts."""
    group: list[Chunk] = []
    seen: set[str] = set()
    for chunk in chunks:
        if len(seen) == GROUP_TEXTS and chunk.hash not in seen:
            yield group
            group, seen = [], set()
        group.append(chunk)
        seen.add(chunk.hash)
    if group:
        yield group


def grouped(texts: list[tuple[str, int]]) -> Iterator[list[str]]:
    """Group hashes of texts that are read together."""
    group: list[str] = []
    size, most = 0, FIRST_BYTES
    for hash_, bytes_ in texts:
        group.append(hash_)
        size += bytes_
        if size >= most or len(group) >= GROUP_TEXTS:
            yield group
            group, size, most = [], 0, min(2 * most, GROUP_BYTES)
    if group:
        yield group
