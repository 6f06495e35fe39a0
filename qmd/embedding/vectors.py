"""Vectors of chunks: texts and chunks without one, insertion, removal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from qmd.errors import UsageError, VectorsRemoved
from qmd.named_tuple import NamedTuple
from qmd.storage.cursor import Cursor, as_json
from qmd.storage.long_texts import with_bodies

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from qmd.models.selection import Space

DRAFT = ".draft"
"""Suffix of the fingerprint of draft vectors."""


class StoredModel(NamedTuple):
    """A model with vectors in the index."""

    model_id: int
    fingerprint: str
    name: str
    dimensions: int
    chunks: int
    embeddings: int

    @property
    def is_draft(self) -> bool:
        """True if the vectors are a draft, not in use yet."""
        return self.fingerprint.endswith(DRAFT)


class Pending(NamedTuple):
    """Counts of documents and chunks without vectors of a model.

    Attributes:
        lacking: documents without all of their vectors.
        vectors: those that are there.
    """

    documents: int
    lacking: int
    vectors: int

    @property
    def notice(self) -> str | None:
        """Notice for a user who searches now, or None."""
        if not self.lacking:
            return None
        return f"Documents that lack vectors: {self.lacking} of {self.documents}. Run 'qmd embed'."


class TextToChunk(NamedTuple):
    """A text to be chunked and embedded, with its title and path.

    Attributes:
        name: `collection/path` of one of its documents.
        matter: characters of its front matter, which is not embedded.
        labels: tags and other names of that document.
    """

    hash: str
    body: str
    title: str
    name: str
    matter: int = 0
    labels: str = ""


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


def models(cursor: Cursor) -> list[StoredModel]:
    """List the models with vectors in the index, the newest first."""
    return cursor.rows(StoredModel, "embeddings/models")


def model_id(cursor: Cursor, fingerprint: str, *, dimensions: int | None = None) -> int | None:
    """Return the number of a model in this index, or None.

    Args:
        dimensions: that its vectors have to have: an endpoint may put another model in its place.
    """

    def read(unknown: list[str]) -> dict[str, list[tuple[int, int]]]:
        return {each: cursor.run("embeddings/model", fingerprint=each) for each in unknown}

    rows = cursor.each("models", [fingerprint], read)[fingerprint]
    return rows[0][0] if rows and dimensions in (None, rows[0][1]) else None


def meet(cursor: Cursor, space: Space, dimensions: int) -> int:
    """Return the number of a model, and assign one if new. Vectors of another width are removed."""
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
    """Count documents and chunks without vectors of a model.

    Args:
        collections: of whose documents; none or None means all.
    """

    def read() -> list[tuple[Any, ...]]:
        number = model_id(cursor, fingerprint)
        return cursor.run("embeddings/pending", model_id=number, collections=_names(collections))

    def made(rows: Sequence[Sequence[Any]]) -> Pending:
        return Pending(*rows[0])

    if collections:
        return made(read())
    return cursor.fact(f"pending {fingerprint}", read, made)


def lacking(cursor: Cursor, *, model_id: int, documents: Sequence[int]) -> set[int]:
    """Return the documents, by number, whose text has no vector of a model."""
    rows = cursor.run("embeddings/lacking", model_id=model_id, documents=as_json(list(documents)))
    return {document_id for (document_id,) in rows}


def uncut(
    cursor: Cursor, *, model_id: int, collections: Sequence[str] | None
) -> list[tuple[str, int]]:
    """List (hash, bytes) of texts not chunked for a model, the last changed first."""
    return cursor.run("embeddings/uncut", model_id=model_id, collections=_names(collections))


def texts(cursor: Cursor, hashes: Sequence[str]) -> dict[str, TextToChunk]:
    """Load texts by hash, without those that no document has any more."""
    rows = cursor.rows(TextToChunk, "embeddings/texts", hashes=as_json(list(hashes)))
    return {text.hash: text for text in with_bodies(cursor, rows)}


def check_vector_space(cursor: Cursor, space: Space, number: int) -> None:
    """Refuse a model number that may belong to another space by now.

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
    """List chunks of documents without a vector."""
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


def unused(cursor: Cursor, space: str | None, *, at_work: bool) -> list[int]:
    """Find the models with unused vectors.

    Args:
        space: fingerprint of the vectors in use. Others are of no use once those are complete.
        at_work: a process makes vectors now, perhaps a draft.
    """
    is_whole = space is not None and not pending(cursor, space).lacking
    return [
        stored.model_id
        for stored in models(cursor)
        if (not at_work if stored.is_draft else is_whole and stored.fingerprint != space)
    ]


def remove(cursor: Cursor, *, model_id: int, collections: Sequence[str] | None = None) -> None:
    """Remove the chunks of a model with their vectors, and the model if none are left."""
    cursor.run("embeddings/remove_chunks", model_id=model_id, collections=_names(collections))
    cursor.run("embeddings/remove_embeddings")
    if collections is None:
        cursor.run("embeddings/forget_model", model_id=model_id)
        cursor.run("embeddings/forget_cosines", model_id=model_id)


def as_text(vector: NDArray[np.float32]) -> str:
    """Write a vector as text for a parameter that a statement casts."""
    return "[" + ",".join(map(repr, map(float, vector))) + "]"


def signs_of(vector: NDArray[np.float32]) -> str:
    """Write the sign bits of a vector as text: 1 for numbers above 0, else 0."""
    import numpy as np

    return (np.where(vector > 0, ord("1"), ord("0"))).astype(np.uint8).tobytes().decode()


def _names(collections: Sequence[str] | None) -> str | None:
    return None if not collections else as_json(list(collections))
