"""Result of a reader: the text of one file as Markdown, and what the file says of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

PlaceKind = Literal["page", "slide", "sheet", "second", "cell", "message", "row"]


@dataclass(frozen=True, slots=True)
class NamedPart:
    """Named part of a document that has no lines of its own.

    Attributes:
        kind: unit in which the format counts.
        label: name of the part as a person writes it: `12`, `00:12:31`, `Budget`.
        line: 1-based line of the text at which the part begins.
    """

    kind: PlaceKind
    label: str
    line: int


@dataclass(frozen=True, slots=True)
class EmbeddedFile:
    """File inside a file, to be read as a document of its own.

    Attributes:
        name: relative path below the file that holds it.
    """

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Reading:
    """Text of one file, and what the file says of itself.

    Attributes:
        text: Markdown; never markup, scripts, base64 or cue times.
        title: title that the file gives itself, or None.
        date: date that the file gives itself, as ISO 8601, or None.
        language: BCP 47 tag, or None.
        metadata: further properties, as JSON values.
        links: targets, as they are written in the file.
        places: parts of the text in ascending order of lines.
        remark: one line about what could not be read, or None.
    """

    text: str
    title: str | None = None
    date: str | None = None
    author: str | None = None
    language: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    links: Sequence[str] = ()
    places: Sequence[NamedPart] = ()
    attachments: Sequence[EmbeddedFile] = ()
    remark: str | None = None


class Unreadable(Exception):
    """File that its reader cannot read; the message is the reason, in one line.

    Examples of messages: `encrypted PDF`, `damaged zip archive`, `no text on pages 1-12`.
    """


class Reader(Protocol):
    """Function that reads one kind of file."""

    def __call__(self, data: bytes, name: str) -> Reading:
        """Read a file.

        Args:
            data: content of the file.
            name: file name without its folder.

        Raises:
            Unreadable: there is no text in it, or it is damaged or encrypted.
        """
        ...


def restored(said: dict[str, Any], text: str) -> Reading:
    """Restore a reading from what was kept of it.

    Args:
        said: its fields, without the text.
    """
    places = [NamedPart(each["kind"], each["label"], each["line"]) for each in said["places"]]
    return Reading(**said | {"text": text, "places": places})
