"""Text of a reading under construction: Markdown blocks, places, links and limits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from qmd.ingest.readers.reading import EmbeddedFile, NamedPart, PlaceKind, Reading, Unreadable
from qmd.text import titles

MOST_CHARACTERS = 50_000_000
"""Characters of one text. A file of some kilobytes may ask for terabytes of repeated cells."""

MOST_PLACES = 100_000

_LINE_BREAKS = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u200b\u2060\ufeff\ufffe\uffff\ud800-\udfff]"
)
_LIKE_HEADING = re.compile(r"^(#{1,6}(?:\s|$))", re.M)
_BACKTICKS = re.compile("`{3,}")
_RULE = re.compile(r"(?:---+|\+\+\++|\.\.\.)[ \t]*")


class Full(Exception):
    """The text has reached its limit."""


def cleaned(text: str) -> str:
    """Give a text without control characters, soft hyphens and other invisible characters."""
    if not text.isascii() or "\r" in text or not text.isprintable():
        text = _LINE_BREAKS.sub("\n", text)
        text = _INVISIBLE.sub("", text).replace("\xa0", " ")
    return text


def single_spaced(text: str) -> str:
    """Give a text with each run of white space as one space."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()
    return " ".join(cleaned(text).split())


def fenced(code: str, language: str = "") -> str:
    """Give program text as a fenced block."""
    longest = max((len(run) for run in _BACKTICKS.findall(code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"


class Builder:
    """Markdown text that grows block by block.

    Attributes:
        kind: name of the format, for messages.
        links: targets that have been met.
        remark: what could not be read, or None.
    """

    def __init__(self, kind: str, *, most: int | None = None) -> None:
        self.kind = kind
        self.links: list[str] = []
        self.attachments: list[EmbeddedFile] = []
        self.remark: str | None = None
        self._heading: str | None = None
        self._most = MOST_CHARACTERS if most is None else most
        self._parts: list[str] = []
        self._size = 0
        self._lines = 0
        self._places: list[NamedPart] = []
        self._pending: tuple[PlaceKind, str] | None = None

    @property
    def empty(self) -> bool:
        """There is no text yet."""
        return not self._parts

    @contextmanager
    def filling(self) -> Iterator[None]:
        """Turn errors of libraries into `Unreadable`, or into a remark once there is text.

        Libraries raise all kinds of exceptions on damaged files. This is the one place where they
        are caught.
        """
        try:
            yield
        except Unreadable as reason:
            if self.empty:
                raise
            self.remark = f"{reason}: only a part of it could be read"
        except Full:
            self.remark = f"only the first {self._most // 1_000_000} million characters were read"
        except Exception as error:
            if self.empty:
                raise Unreadable(f"damaged {self.kind}") from error
            self.damaged()

    def damaged(self) -> None:
        """Remark that a part of the file could not be read."""
        self.remark = self.remark or f"damaged {self.kind}: only a part of it could be read"

    def block(self, text: str, *, tight: bool = False) -> None:
        """Add a paragraph.

        Args:
            tight: no blank line stands between it and the block before.
        """
        text = cleaned(text).strip("\n").rstrip()
        if not text or text.isspace():
            return
        if "#" in text:
            text = _LIKE_HEADING.sub(r"\\\1", text)
        self._add(text, tight)

    def markdown(self, text: str) -> None:
        """Add text that is Markdown already."""
        text = cleaned(text).strip("\n").rstrip()
        if not text:
            return
        if self._heading is None:
            self._heading = titles.first_heading(text, 0)
        self._add(text, False)

    def code(self, text: str, language: str = "") -> None:
        """Add program text."""
        text = cleaned(text).strip("\n").rstrip()
        if text:
            self._add(fenced(text, language), False)

    def heading(self, level: int, text: str) -> None:
        """Add a heading."""
        text = single_spaced(text).strip("# ")
        if not text:
            return
        level = min(max(level, 1), 6)
        if level == 1 and self._heading is None:
            self._heading = text
        self._add(f"{'#' * level} {text}", False)

    def item(self, text: str, *, depth: int = 0, mark: str = "-", tight: bool = True) -> None:
        """Add an item of a list."""
        self.block(f"{'  ' * min(depth, 20)}{mark} {text}" if text.strip() else "", tight=tight)

    def table(self, rows: Iterable[list[str]]) -> None:
        """Add a table, one line a row; the first row is its head."""
        first = True
        for row in rows:
            cells = [single_spaced(cell).replace("|", "\\|") if cell else "" for cell in row]
            if not any(cells):
                continue
            self._add(f"| {' | '.join(cells)} |", not first)
            if first:
                self._add("|" + " --- |" * len(cells), True)
            first = False

    def place(self, kind: PlaceKind, label: str) -> None:
        """Begin a part: the next block is its first."""
        self._pending = (kind, single_spaced(label))

    def link(self, target: str | None) -> None:
        """Note the target of a link."""
        target = single_spaced(target or "")
        if (
            target
            and not target.lower().startswith(("data:", "javascript:"))
            and len(target) < 4096
        ):
            self.links.append(target)

    def reading(
        self,
        *,
        title: str | None = None,
        date: str | None = None,
        author: str | None = None,
        language: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Reading:
        """Give the text with what the file says of itself.

        Raises:
            Unreadable: there is no text.
        """
        if self.empty and not self.attachments:
            raise Unreadable("no text")
        self._parts.append("")
        return Reading(
            text="\n".join(self._parts),
            title=single_spaced(title or "") or self._heading,
            date=date,
            author=single_spaced(author or "") or None,
            language=single_spaced(language or "") or None,
            metadata={key: value for key, value in (metadata or {}).items() if value},
            links=tuple(dict.fromkeys(self.links)),
            places=tuple(self._places),
            attachments=tuple(self.attachments),
            remark=self.remark,
        )

    def _add(self, text: str, tight: bool) -> None:
        if not self._parts and _RULE.fullmatch(text.partition("\n")[0]):
            # A rule on the first line opens front matter, which this text has none of.
            text = text.partition("\n")[2].lstrip("\n")
            if not text:
                return
        if self._parts and not tight:
            self._parts.append("")
            self._lines += 1
        if self._pending is not None:
            if len(self._places) < MOST_PLACES:
                self._places.append(NamedPart(*self._pending, self._lines + 1))
            self._pending = None
        room = self._most - self._size
        self._parts.append(text[:room])
        self._lines += 1 + text.count("\n")
        self._size += len(text) + 1
        if len(text) > room:
            raise Full
