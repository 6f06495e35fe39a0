"""Status of the index: content and place."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from qmd.declaration.operation import operation
from qmd.embedding import vectors as embeddings
from qmd.embedding.vector_status import vector_status
from qmd.errors import ModelError
from qmd.named_tuple import NamedTuple
from qmd.operations import left_out
from qmd.settings import trust
from qmd.storage import catalog
from qmd.storage.catalog import Overview
from qmd.types import Kept, LeftOut

if TYPE_CHECKING:
    from qmd.operations.index import Index


class Vectors(NamedTuple):
    """The state of the vectors.

    Attributes:
        model: in use.
        lacking: documents without all of its vectors.
        stale: vectors of other models, or made with other settings.
        problem: why the model cannot be used, or None.
    """

    model: str
    vectors: int = 0
    lacking: int = 0
    stale: int = 0
    problem: str | None = None


class Status(NamedTuple):
    """The status of an index.

    Attributes:
        index: the DuckDB file.
        config: its index.yml, which need not exist.
        project: the folder of a project-local index, or None for the user's own.
        left_out: descriptions of settings in its index.yml that are not approved.
        bytes: of the DuckDB file.
        contents: different texts that documents have.
        modified: UTC, of the file that changed last.
        not_indexed: of each collection, when it was last looked at.
        kept: of each collection, folders that had lost their files when it was last looked at.
    """

    index: Path  # type: ignore[assignment]  # in the place of the method of tuples
    config: Path
    project: Path | None
    left_out: list[str]
    bytes: int
    documents: int
    contents: int
    words: int
    postings: int
    modified: datetime | None
    vectors: Vectors
    collections: list[Overview]
    not_indexed: dict[str, list[LeftOut]]
    kept: dict[str, list[Kept]]


@operation(
    title="Index status",
    forwardable=True,
    sharded=True,
    description="Collections, document counts and embedding status of the index.",
    examples=(
        ("Show what is indexed", "qmd status"),
        ("For a program", "qmd status --json"),
        ("Of another index", "qmd --index archive status"),
    ),
)
def status(index: Index) -> Status:
    """Show what is indexed."""
    place = index.place
    totals = index.totals()
    return Status(
        place.database,
        place.config,
        place.project,
        trust.left_out(place, index.settings()),
        index.size(),
        totals.documents,
        totals.contents,
        totals.words,
        totals.postings,
        totals.modified,
        vector_state(index),
        index.overview(),
        left_out.counted(index),
        index.read(catalog.kept),
    )


def vector_state(index: Index) -> Vectors:
    """Return the state of the vectors."""
    stored = index.read(embeddings.models)
    try:
        space, state = vector_status(index)
    except ModelError as error:
        problem = str(error).split("\n")[0]
        return Vectors("", stale=sum(each.embeddings for each in stored), problem=problem)
    stale = sum(each.embeddings for each in stored if each.fingerprint != space.fingerprint)
    return Vectors(space.model.name, state.vectors, state.lacking, stale)
