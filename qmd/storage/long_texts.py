"""Long texts: stored in pieces, which are read one after the other.

A text in one value is in memory several times when it is read or written: as DuckDB's value, as a
vector of it, and as the string of Python. See docs/decisions/041-long-texts.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from qmd.named_tuple import NamedTuple
from qmd.storage.statements import filled

if TYPE_CHECKING:
    from typing import Any, Protocol

    from qmd.storage.arrow import Relation
    from qmd.storage.cursor import Cursor

    class _Stored(Protocol):
        """A row with a text and its hash."""

        @property
        def hash(self) -> str | None:
            """Hash of the text."""

        @property
        def body(self) -> str | None:
            """The text; empty if it is a long one."""

        def _replace(self, *, body: str) -> Any: ...


Row = TypeVar("Row", bound="_Stored")

LIMIT = 4_000_000
"""Bytes of a text in UTF-8 from which on it is long."""

PIECE = 5_000
"""Bytes of a piece at most. DuckDB writes 2,048 rows at once, and often reads as many for one; from
4,096 bytes on, a text has blocks of its own, and most are read alone."""

TOGETHER = 128
"""Pieces that are read at once: 640 kB."""

WRITTEN = 256
"""Pieces that are written by one statement."""


class PieceSize(NamedTuple):
    """A piece of a long text, without the text.

    Attributes:
        number: 0, 1, 2 … within the text.
        lines: line feeds in it.
        bytes: in UTF-8.
    """

    number: int
    lines: int
    characters: int
    bytes: int


class LongText:
    """A text that is stored in pieces.

    Args:
        sizes: of all pieces, in order; there is one at least.

    Attributes:
        bytes: of the whole text, in UTF-8.
    """

    def __init__(self, cursor: Cursor, hashed: str, sizes: Sequence[PieceSize]) -> None:
        self._cursor = cursor
        self._hash = hashed
        self._sizes = sizes
        self.bytes = sum(size.bytes for size in sizes)

    @property
    def total(self) -> int:
        """Number of its lines."""
        last = self._sizes[-1].number
        is_ended = self._some(last, last).endswith("\n")
        return sum(size.lines for size in self._sizes) + (not is_ended)

    def whole(self) -> str:
        """Load the text."""
        return "".join(self.parts())

    def parts(self) -> Iterator[str]:
        """Load the text piece by piece, some at once."""
        for first in range(0, len(self._sizes), TOGETHER):
            yield self._some(first, first + TOGETHER - 1)

    def of_lines(self, first: int, last: int) -> tuple[int, str]:
        """Load the pieces that have some lines.

        Args:
            first, last: lines, from 1; the last may be behind the end of the text.

        Returns:
            Number of line feeds before them, and the pieces as one text.
        """
        before = ended = 0
        numbers: list[int] = []
        for size in self._sizes:
            if ended >= last:
                break
            if ended + size.lines >= first - 1:
                numbers.append(size.number)
            else:
                before += size.lines
            ended += size.lines
        return before, self._some(numbers[0], numbers[-1]) if numbers else ""

    def _some(self, first: int, last: int) -> str:
        rows = self._cursor.run("documents/pieces", hash=self._hash, first=first, last=last)
        return "".join([text for _, text in rows])


def long_text(cursor: Cursor, hashed: str) -> LongText | None:
    """Find a text that is stored in pieces; None if it is not."""
    sizes = cursor.rows(PieceSize, "documents/piece_sizes", hash=hashed)
    return LongText(cursor, hashed, sizes) if sizes else None


def filled_bodies(cursor: Cursor, found: Mapping[str, str]) -> dict[str, str]:
    """Load long texts whole, in place of their empty bodies.

    Args:
        found: bodies by hash.
    """
    return {hashed: body or whole_text(cursor, hashed) for hashed, body in found.items()}


def with_bodies(cursor: Cursor, rows: Sequence[Row]) -> list[Row]:
    """Load long texts whole, in place of the empty bodies of rows."""
    return [
        row._replace(body=whole_text(cursor, row.hash or "")) if row.body == "" else row
        for row in rows
    ]


def whole_text(cursor: Cursor, hashed: str) -> str:
    """Load a long text whole; empty if it has gone."""
    text = long_text(cursor, hashed)
    return text.whole() if text is not None else ""


def is_long_text(data: bytes) -> bool:
    """Return whether a text, in UTF-8, is stored in pieces."""
    return len(data) > LIMIT


def cut_in_pieces(data: bytes) -> Iterator[bytes]:
    """Cut a text in UTF-8 into pieces of whole lines. A longer line is cut, too."""
    start = 0
    while start < len(data):
        end = _end(data, start)
        yield data[start:end]
        start = end


def _end(data: bytes, start: int) -> int:
    """Find the end of a piece: after a line, or else after a character."""
    end = start + PIECE
    if end >= len(data):
        return len(data)
    line = data.rfind(b"\n", start, end) + 1
    if line > start:
        return line
    while end > start + 1 and data[end] & 0xC0 == 0x80:  # within a character
        end -= 1
    return end


def add_text_pieces(cursor: Cursor, hashed: str, data: bytes) -> None:
    """Store a long text in pieces. Its row of `content` is not changed."""
    cursor.connection.execute(filled("store/buffer_row_groups", groups=1))  # five take 50 MB
    pieces, number = cut_in_pieces(data), 0
    while some := list(islice(pieces, WRITTEN)):
        with cursor.staged(pieces=_rows(hashed, number, some)):
            cursor.run("documents/add_pieces")
        number += len(some)


def add_wanted(cursor: Cursor, texts: list[tuple[str, bytes]]) -> None:
    """Store the long texts of accepted documents, before their rows of `content`.

    Args:
        texts: hash and text in UTF-8, no hash twice; each is taken out, to free its memory.
    """
    while texts:
        hashed, data = texts.pop()
        if cursor.one("documents/is_wanted", hash=hashed):
            add_text_pieces(cursor, hashed, data)


def cut_stored(cursor: Cursor) -> None:
    """Cut the long texts that are stored in one piece: of an earlier version, or imported."""
    for (hashed,) in cursor.run("documents/uncut", limit=LIMIT):
        [(data,)] = cursor.run("documents/encoded", hash=hashed)
        add_text_pieces(cursor, hashed, data)
        cursor.run("documents/empty_body", hash=hashed)


def _rows(hashed: str, number: int, pieces: Sequence[bytes]) -> Relation:
    from qmd.storage.arrow import Relation, numbers, texts

    return Relation(
        hash=texts([hashed] * len(pieces)),
        number=numbers("uint32", range(number, number + len(pieces))),
        lines=numbers("uint32", [piece.count(b"\n") for piece in pieces]),
        characters=numbers("uint32", [len(piece.decode()) for piece in pieces]),
        bytes=numbers("uint32", map(len, pieces)),
        text=texts(pieces),
    )
