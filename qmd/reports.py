"""Reports of updates and of embedding, apart from the types that searches need."""

from __future__ import annotations

from dataclasses import dataclass, field

from qmd.named_tuple import NamedTuple
from qmd.types import Kept, LeftOut


@dataclass(slots=True)
class Report:
    """Counts of one update of a collection.

    Attributes:
        skipped: (path, reason) of files that could not be indexed.
        notes: (path, remark) of files that were indexed all the same.
        failure: why the collection could not be updated at all.
        passing: (path, reason) of those of `skipped` that may be read the next time.
        kinds: how many of each kind were read.
        left_out: files that the mask does not take, or that are too large.
        kept: folders that have lost their files all at once.
        data_documents: that were read and have data, such as base64, which is not searched.
        data_bytes: of that data.
    """

    collection: str
    mask: str
    new: int = 0
    updated: int = 0
    unchanged: int = 0
    renamed: int = 0
    removed: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    failure: str | None = None
    passing: list[tuple[str, str]] = field(default_factory=list)
    kinds: dict[str, int] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    data_documents: int = 0
    data_bytes: int = 0


class EmbedStep(NamedTuple):
    """Progress of embedding: what is committed, and all there is to do.

    Attributes:
        bytes, total_bytes: of the texts; passages overlap, and so the total may grow a little.
        documents, total_documents: documents with equal texts count once.
        passages: that have a vector.
        file: `collection/path` of the document in hand; None at the start.
    """

    bytes: int
    total_bytes: int
    documents: int
    total_documents: int
    passages: int
    file: str | None

    @property
    def total_passages(self) -> int:
        """Estimate of the passages in all, from those so far; 0 without any."""
        return round(self.passages * self.total_bytes / self.bytes) if self.bytes else 0


@dataclass(slots=True)
class Embedded:
    """Counts and duration of one embedding run.

    Attributes:
        chunks: that got a vector.
        bytes: of their texts.
        documents: of the collections that were asked for.
        lacking: of them, still without all of their vectors.
        failed: (`collection/path:line`, reason) of chunks that got none.
        foreign: chunks in a language that the model does not know.
        stopped: the time was over before all was done.
        draft: the vectors are a draft of a rebuild, not in use yet.
        notice: what to know about the model, or None.
        data_documents: that were cut into chunks and have data, such as base64, which is not
            embedded.
        data_bytes: of that data.
    """

    model: str
    chunks: int = 0
    tokens: int = 0
    bytes: int = 0
    seconds: float = 0.0
    documents: int = 0
    lacking: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    foreign: int = 0
    stopped: bool = False
    draft: bool = False
    notice: str | None = None
    data_documents: int = 0
    data_bytes: int = 0
