"""Vectors of chunks: what has none, adding them, and the nearest to a query."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Container, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from qmd.errors import UsageError, VectorsRemoved
from qmd.store.cursor import Cursor, as_json
from qmd.types import Nearest

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from qmd.models.choice import Space
    from qmd.store.shortcut import Shortcut

TWO_STAGES = 2_000_000
"""Vectors from which on their signs are compared first: up to a million, comparing all takes no
longer. Measured: docs/models.md."""

CANDIDATES, CANDIDATE_SHARE = 400, 0.004
"""Chunks that are compared in full after their signs, at least, and as a share of all."""

PASSAGES = 20_000
"""Chunks whose documents are remembered while the index stays attached."""

DEPTH = 100
"""Chunks to find at first, at least."""


DRAFT = ".draft"
"""What the fingerprint of vectors that are made anew ends with."""


class Stored(NamedTuple):
    """A model whose vectors are in the index."""

    model_id: int
    fingerprint: str
    name: str
    dimensions: int
    chunks: int
    embeddings: int

    @property
    def is_draft(self) -> bool:
        """Whether they are made anew, and not in use yet."""
        return self.fingerprint.endswith(DRAFT)


class Pending(NamedTuple):
    """How much has no vectors of a model yet.

    Attributes:
        lacking: documents without all of their vectors.
        vectors: those that are there.
    """

    documents: int
    lacking: int
    vectors: int

    @property
    def notice(self) -> str | None:
        """What a user should know who searches now, or None."""
        if not self.lacking:
            return None
        return f"Documents that lack vectors: {self.lacking} of {self.documents}. Run 'qmd embed'."


class Text(NamedTuple):
    """A text to be cut and embedded, with what is said of it.

    Attributes:
        name: `collection/path` of one of its documents.
    """

    hash: str
    body: str
    title: str
    name: str


class Chunk(NamedTuple):
    """A chunk without a vector.

    Attributes:
        position: characters before it.
        line: its first, from 1.
    """

    chunk_id: int
    hash: str
    position: int
    length: int
    line: int
    tokens: int


def models(cursor: Cursor) -> list[Stored]:
    """The models whose vectors are here, the one that came last first."""
    return cursor.rows(Stored, "embeddings/models")


def model_id(cursor: Cursor, fingerprint: str, *, dimensions: int | None = None) -> int | None:
    """The number of a model in this index, or None.

    Args:
        dimensions: that its vectors have to have: an endpoint may put another model in its place.
    """

    def read(unknown: list[str]) -> dict[str, list[tuple[int, int]]]:
        return {each: cursor.run("embeddings/model", fingerprint=each) for each in unknown}

    rows = cursor.each("models", [fingerprint], read)[fingerprint]
    return rows[0][0] if rows and dimensions in (None, rows[0][1]) else None


def meet(cursor: Cursor, space: Space, dimensions: int) -> int:
    """The number of a model, given now if it had none; what it made of another width is removed."""
    known = model_id(cursor, space.fingerprint, dimensions=dimensions)
    if known is not None:
        return known
    outgrown = model_id(cursor, space.fingerprint)
    if outgrown is not None:
        remove(cursor, model_id=outgrown)
    number = cursor.one("embeddings/next_model")
    if number is None:
        raise UsageError("The index has vectors of 255 models.\n\nRemove some with 'qmd cleanup'.")
    cursor.run(
        "embeddings/add_model",
        model_id=number,
        fingerprint=space.fingerprint,
        name=space.model.name,
        dimensions=dimensions,
        chunk_tokens=space.tokens,
        chunk_overlap=space.overlap,
    )
    return int(number)


def pending(cursor: Cursor, fingerprint: str, collections: Sequence[str] | None = None) -> Pending:
    """How much has no vectors of a model yet.

    Args:
        collections: of whose documents; none or None means all.
    """
    number = model_id(cursor, fingerprint)
    return cursor.rows(
        Pending, "embeddings/pending", model_id=number, collections=_names(collections)
    )[0]


def lacking(cursor: Cursor, *, model_id: int, documents: Sequence[int]) -> set[int]:
    """Those of some documents, by number, whose text has no vector of a model."""
    rows = cursor.run("embeddings/lacking", model_id=model_id, documents=as_json(list(documents)))
    return {document_id for (document_id,) in rows}


def uncut(
    cursor: Cursor, *, model_id: int, collections: Sequence[str] | None
) -> list[tuple[str, int]]:
    """(hash, bytes) of texts that have not been cut for a model, those changed last first."""
    return cursor.run("embeddings/uncut", model_id=model_id, collections=_names(collections))


def texts(cursor: Cursor, hashes: Sequence[str]) -> dict[str, Text]:
    """Texts by hash; one that no document has any more is left out."""
    rows = cursor.rows(Text, "embeddings/texts", hashes=as_json(list(hashes)))
    return {text.hash: text for text in rows}


def check(cursor: Cursor, space: Space, number: int) -> None:
    """Refuse to write under a number that is no longer this space's, but maybe another's.

    Raises:
        VectorsRemoved: another process has removed what was made of it.
    """
    if model_id(cursor, space.fingerprint) != number:
        raise VectorsRemoved(space.model.name)


def add_chunks(cursor: Cursor, *, model_id: int, cut: pa.Table) -> dict[tuple[str, int], int]:
    """Add chunks of texts that have none yet.

    Args:
        cut: number (0, 1, 2 …), hash, seq, position, length, line, tokens.

    Returns:
        The chunk_id of each that was added, by (hash, seq).
    """
    with cursor.staged(cut=cut):
        rows = cursor.run("embeddings/add_chunks", model_id=model_id)
    cursor.run("embeddings/count_up", count=cut.num_rows)
    return {(text, seq): chunk_id for text, seq, chunk_id in rows}


def unembedded(cursor: Cursor, *, model_id: int, collections: Sequence[str] | None) -> list[Chunk]:
    """Chunks of documents that have no vector yet."""
    return cursor.rows(
        Chunk, "embeddings/unembedded", model_id=model_id, collections=_names(collections)
    )


def add(
    cursor: Cursor, *, model_id: int, chunk_ids: Sequence[int], vectors: NDArray[np.float32]
) -> None:
    """Add vectors of length 1: (chunks, dimensions)."""
    import numpy as np
    import pyarrow as pa

    count, width = vectors.shape
    offsets = np.arange(0, count * width + 1, width, dtype=np.int32)
    signs = [signs_of(vector) for vector in vectors]
    made = pa.table(
        {
            "chunk_id": pa.array(chunk_ids, pa.uint32()),
            "vector": pa.ListArray.from_arrays(
                pa.array(offsets), pa.array(np.ascontiguousarray(vectors).reshape(-1))
            ),
            "signs": pa.array(signs, pa.string()),
        }
    )
    with cursor.staged(made=made):
        cursor.run("embeddings/add_embeddings", model_id=model_id)


def remove(cursor: Cursor, *, model_id: int, collections: Sequence[str] | None = None) -> None:
    """Remove the chunks of a model with their vectors; the model too, if none are left."""
    cursor.run("embeddings/remove_chunks", model_id=model_id, collections=_names(collections))
    cursor.run("embeddings/remove_embeddings")
    if collections is None:
        cursor.run("embeddings/forget_model", model_id=model_id)


def nearest(
    cursor: Cursor,
    vector: NDArray[np.float32],
    *,
    model_id: int,
    vectors: int,
    documents: str | None,
    limit: int,
    per_file: int = 1,
    two_stages: int = TWO_STAGES,
    shortcut: Shortcut | None = None,
) -> list[Nearest]:
    """The documents with the chunks nearest to a vector, best first.

    Args:
        vector: of length 1: (dimensions,).
        vectors: that the model has in this index.
        documents: JSON array of the document_id that may answer; None: all.
        limit: chunks at most.
        per_file: chunks of one document at most.
        two_stages: vectors to compare from which on their signs come first.
        shortcut: to the nearest of all, if it is up to date.
    """
    chunks, compared, allowed = None, vectors, None
    if documents is not None:
        allowed = frozenset[int](json.loads(documents))
        [(chunks, compared)] = cursor.run(
            "search/chunks_of", model_id=model_id, documents=documents
        )
    text = as_text(vector)
    most = max(DEPTH, compared)
    depth = min(max(DEPTH, 4 * limit * per_file), most)
    while True:
        among = chunks
        near = None
        if shortcut is not None and chunks is None and 4 * depth < compared:
            near = shortcut.nearest(text, 2 * depth)
        if near is not None:
            among = cursor.one(
                "search/chunks_after",
                model_id=model_id,
                after=near.last,
                known=as_json(near.chunk_ids),
            )
        elif compared > max(two_stages, 4 * depth):
            among = cursor.one(
                "search/by_signs",
                model_id=model_id,
                chunks=chunks,
                signs=signs_of(vector),
                candidates=max(CANDIDATES, 4 * depth, int(CANDIDATE_SHARE * compared)),
            )
        scores = cursor.run(
            "search/nearest", model_id=model_id, chunks=among, vector=text, depth=depth
        )
        found = _placed(cursor, scores, among=allowed, limit=limit, per_file=per_file)
        # And no other is as near as the last.
        is_full = bool(found) and len(found) >= limit and scores[-1][1] < found[-1].score
        if is_full or depth >= compared:
            return found
        # Twice as many as would do if those that follow have as many documents.
        depth = min(depth * 2 * limit // max(1, len(found)), most)


def _placed(
    cursor: Cursor,
    scores: Sequence[tuple[int, float]],
    *,
    among: Container[int] | None,
    limit: int,
    per_file: int,
) -> list[Nearest]:
    """The first passages of chunks and their scores, in every document that has the chunk's text.

    Args:
        scores: (chunk_id, cosine), best first.
        among: documents that may answer: others may have the same text; None: all.
    """

    def read(unknown: list[int]) -> dict[int, list[_Place]]:
        places: dict[int, list[_Place]] = {chunk_id: [] for chunk_id in unknown}
        for chunk_id, *place in cursor.again("search/passages", chunks=as_json(unknown)):
            places[chunk_id].append(_Place(*place))
        return places

    places = cursor.each(
        "passages",
        (chunk_id for chunk_id, _ in scores),
        read,
        most=PASSAGES,
        size=lambda found: 1 + len(found),
    )
    found: list[tuple[float, _Place]] = []
    taken = Counter[int]()
    for score, equal in groupby(scores, key=lambda row: row[1]):
        if len(found) >= limit:
            break
        for place in sorted(place for chunk_id, _ in equal for place in places[chunk_id]):
            if among is not None and place.document_id not in among:
                continue
            if taken[place.document_id] < per_file:
                taken[place.document_id] += 1
                found.append((score, place))
    return [
        Nearest(place.document_id, score, place.position, place.length, place.line)
        for score, place in found[:limit]
    ]


class _Place(NamedTuple):
    """Where a chunk stands. They compare as documents do that are equally near."""

    collection: str
    path: str
    seq: int
    document_id: int
    position: int
    length: int
    line: int


def as_text(vector: NDArray[np.float32]) -> str:
    """A vector for a parameter that a statement casts."""
    return "[" + ",".join(map(repr, map(float, vector))) + "]"


def signs_of(vector: NDArray[np.float32]) -> str:
    """For each number whether it is above 0: text of 0 and 1."""
    import numpy as np

    return (np.where(vector > 0, ord("1"), ord("0"))).astype(np.uint8).tobytes().decode()


def _names(collections: Sequence[str] | None) -> str | None:
    return None if not collections else as_json(list(collections))
