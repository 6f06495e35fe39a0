"""Snippets of large texts: they are searched piece by piece, and long ones are read so, too.

As one Python string with its lines, a text of 60 MB takes 1.5 GB.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from qmd.named_tuple import NamedTuple
from qmd.ranking import snippets
from qmd.ranking.matcher import Matcher
from qmd.ranking.poor_lines import is_poor
from qmd.ranking.snippets import Snippet
from qmd.types import Text

if TYPE_CHECKING:
    from qmd.storage.cursor import Cursor

PIECE = 500_000
"""Bytes of a piece, about: it ends with a line."""

RULE = b"---"
"""Start of a line with which no piece begins: it could be taken for front matter."""


def large(cursor: Cursor) -> Mapping[int, Text]:
    """Return the documents whose texts are large, by number, with no text."""

    def read(_: list[str]) -> dict[str, dict[int, Text]]:
        return {"large": cursor.fact("large", partial(cursor.run, "search/large"), _without_texts)}

    return cursor.each("once", ["large"], read)["large"]


def _without_texts(rows: Sequence[Sequence[Any]]) -> dict[int, Text]:
    found = {}
    for number, collection, path, title, hashed, matter in rows:
        found[number] = Text(number, collection, path, title, hashed, "", matter)
    return found


class Encoded(NamedTuple):
    """A text as UTF-8, in parts that are loaded when they are asked for.

    Attributes:
        size: bytes of all parts.
    """

    size: int
    parts: Iterable[bytes]


def encoded(cursor: Cursor, hashed: str) -> Encoded | None:
    """Load a text as UTF-8; None if it has gone."""
    from qmd.storage.long_texts import long_text

    long = long_text(cursor, hashed)
    if long is not None:
        return Encoded(long.bytes, (part.encode() for part in long.parts()))
    rows = cursor.run("documents/encoded", hash=hashed)
    return Encoded(len(rows[0][0]), rows[0]) if rows else None


class TextPiece(NamedTuple):
    """Some lines of a text, and the number of lines before them."""

    before: int
    text: str


def pieces(parts: Iterable[bytes], matter: int = 0) -> Iterator[TextPiece]:
    """Cut a text into pieces of whole lines. A longer line is cut, too.

    Args:
        parts: of the text in UTF-8, wherever they end.
        matter: characters at the beginning that are left out.
    """
    lines = 0
    for data in _cut(parts):
        text = data.decode(errors="replace")
        found = text.count("\n")
        if matter < len(text):
            yield TextPiece(lines + text.count("\n", 0, matter), text[matter:])
        matter = max(0, matter - len(text))
        lines += found


def _cut(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Cut a text that comes in parts, at places that do not depend on them."""
    held = b""
    for part in parts:
        held, start = held + part, 0
        while len(held) - start >= PIECE + len(RULE):
            end = _end(held, start)
            yield held[start:end]
            start = end
        held = held[start:]
    while held:
        end = _end(held, 0)
        yield held[:end]
        held = held[end:]


def _end(data: bytes, start: int) -> int:
    """Find the end of a piece: after a line, or else after a character."""
    end = start + PIECE
    if end >= len(data):
        return len(data)
    while (line := data.rfind(b"\n", start, end) + 1) > start:
        if not data.startswith(RULE, line):
            return line
        end = line - 1
    end = start + PIECE
    while end > start + 1 and data[end] & 0xC0 == 0x80:  # within a character
        end -= 1
    return end


def large_snippet(
    parts: Iterable[TextPiece],
    match: Matcher,
    *,
    length: int,
    choice: int | None = None,
    distinct: int | None = None,
) -> Snippet:
    """Choose the lines with the best match in a text that comes in pieces.

    It is the snippet of the first piece whose snippet has the most words of the query.

    Args:
        length, choice, distinct: see `snippets.snippet`.
    """
    best: Snippet | None = None
    most = (False, -1)
    for before, text in parts:
        found = snippets.snippet(text, match, length=length, choice=choice, distinct=distinct)
        line = found.lines[found.line - found.first] if found.lines else ""
        words = len(match.found_in("\n".join(found.lines)))
        value = words > 0 and not is_poor(line, match), words
        if best is None or value > most:
            best, most = found.shifted(before), value
        if value == (True, distinct):
            break
    return best or snippets.snippet("", match, length=length)
