"""Reply of a tool."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from qmd.named_tuple import NamedTuple

MARKDOWN = "text/markdown"

FRAME = 120
"""Bytes around a document in an answer: braces, and the names of its fields."""


class Code(StrEnum):
    """The codes of errors, for programs."""

    INVALID_PARAMS = "INVALID_PARAMS"
    UNKNOWN_COLLECTION = "UNKNOWN_COLLECTION"
    NO_VECTOR_INDEX = "NO_VECTOR_INDEX"
    NOT_FOUND = "NOT_FOUND"
    AMBIGUOUS_PATH = "AMBIGUOUS_PATH"
    CONFLICT = "CONFLICT"
    NO_CONSENT = "NO_CONSENT"
    TIMEOUT = "TIMEOUT"
    DATABASE_BUSY = "DATABASE_BUSY"
    DATABASE_UNUSABLE = "DATABASE_UNUSABLE"
    CONFIG_ERROR = "CONFIG_ERROR"
    MODEL_ERROR = "MODEL_ERROR"
    INTERNAL = "INTERNAL"

    @property
    def status(self) -> int:
        """The HTTP status that says the same."""
        return _STATUS[self]


_STATUS = {
    Code.INVALID_PARAMS: 400,
    Code.UNKNOWN_COLLECTION: 400,
    Code.NO_VECTOR_INDEX: 503,
    Code.NOT_FOUND: 404,
    Code.AMBIGUOUS_PATH: 400,
    Code.CONFLICT: 409,
    Code.NO_CONSENT: 403,
    Code.TIMEOUT: 504,
    Code.DATABASE_BUSY: 503,
    # Neither goes away if the same is asked again, which 503 says.
    Code.DATABASE_UNUSABLE: 500,
    Code.CONFIG_ERROR: 500,
    Code.MODEL_ERROR: 503,
    Code.INTERNAL: 500,
}


class Resource(NamedTuple):
    """A document as a part of an answer; its type is always `text/markdown`."""

    uri: str
    name: str
    title: str
    text: str

    @property
    def size(self) -> int:
        """Bytes of its text, its names, and what JSON puts around them."""
        return sum(len(each.encode()) for each in self) + FRAME


class Reply(NamedTuple):
    """An answer.

    Attributes:
        content: texts for the model, and documents.
        structured: the same for programs, as the tool's output schema says.
        error: why it is no answer; `content` then tells a person.
        deprecated: a sentence for each deprecated thing that the call used.
    """

    content: tuple[str | Resource, ...]
    structured: Mapping[str, object] | None = None
    error: Code | None = None
    deprecated: tuple[str, ...] = ()


def refusal(code: Code, message: str) -> Reply:
    """Build the reply of an error."""
    return Reply((message,), None, code)
