"""Documents by names with lines or places, and the passages that they mean.

report.pdf:p12    talk.vtt:00:12:31    notes/tea.md:120:40    notes/tea.md:120-159
notes/tea.md#Brewing
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from qmd.errors import UsageError
from qmd.quoting import line
from qmd.storage import document_lookup
from qmd.storage.cursor import Cursor, as_json
from qmd.storage.long_texts import LongText, long_text
from qmd.text import headings, paths
from qmd.types import DocumentRow, Passage
from qmd.wording import on_one_line

MOST_HEADINGS = 12
"""Headings that are named where a document has not the one that is asked for."""

LARGE_BYTES = 4_000_000
"""Bytes of a file from which on some of its lines are taken from the encoded text."""

COUNTED = 1 << 20
"""Bytes whose line ends are counted at once."""

MOST_COLONS = 3
"""Colons before and in a place: `talk.vtt:00:12:31`."""


def resolved(
    cursor: Cursor, asked: paths.Range, folder: Path | None, *, similar: bool = True
) -> tuple[DocumentRow, paths.Range]:
    """Find a document and the wanted lines; those of a suffix override options.

    Args:
        similar: look for names that are like one that nothing has.

    Raises:
        DocumentNotFound, Ambiguous: the name names none, or several.
    """
    found = find(cursor, asked, folder)
    if found is None:
        bare = paths.split_range(asked.name).name
        raise document_lookup.missing(cursor, asked.name, folder, or_else=bare, similar=similar)
    return found


def find(
    cursor: Cursor, asked: paths.Range, folder: Path | None
) -> tuple[DocumentRow, paths.Range] | None:
    """Find a document as `resolved` does; None without one.

    Raises:
        Ambiguous: the name names several.
    """
    document = document_lookup.found(cursor, asked.name, folder)
    if document is not None:
        return document, asked
    name, first, lines = paths.split_range(asked.name)
    document = None if first is None else document_lookup.found(cursor, name, folder)
    if document is None or first is None:
        return _at_heading(cursor, asked, folder) or _at_place(cursor, asked, folder)
    lines = lines if lines is not None else asked.lines
    return document, asked._replace(first=max(1, first), lines=lines)


def _at_heading(
    cursor: Cursor, asked: paths.Range, folder: Path | None
) -> tuple[DocumentRow, paths.Range] | None:
    """Find a document and the lines of a section of it, as in `notes/tea.md#Brewing`.

    Raises:
        UsageError: the document has no such heading.
    """
    name, _, heading = asked.name.strip().rpartition("#")
    if not name.strip("# ") or not heading.strip():
        return None
    document = document_lookup.found(cursor, name, folder)
    if document is None:
        return None
    known = headings_of(cursor, document)
    lines = headings.section(known, heading) or headings.section(known, paths.decoded(heading))
    if lines is None:
        there = ", ".join(on_one_line(each.text) for each in known[:MOST_HEADINGS])
        more = f" and {len(known) - MOST_HEADINGS} more" if len(known) > MOST_HEADINGS else ""
        raise UsageError(
            f"{on_one_line(document.name)} has no heading '{on_one_line(heading)}'.\n\n"
            + (f"It has: {there}{more}." if there else "It has no headings.")
        )
    first, count = lines
    if asked.lines is not None:
        count = asked.lines if count is None else min(count, asked.lines)
    return document, asked._replace(first=first, lines=count)


def headings_of(cursor: Cursor, document: DocumentRow) -> list[headings.SectionHeading]:
    """Return the headings of a document, in their order."""
    rows = cursor.run("documents/outlines", hashes=as_json([document.hash]))
    return [each for _, *stored in rows for each in headings.stored_headings(*stored)]


def _at_place(
    cursor: Cursor, asked: paths.Range, folder: Path | None
) -> tuple[DocumentRow, paths.Range] | None:
    """Find a document and the lines of a place in it.

    Places are such as `report.pdf:p12` and `talk.vtt:00:12:31`.

    Raises:
        UsageError: the document has no such place.
    """
    parts = asked.name.split(":")
    for many in range(1, min(len(parts), MOST_COLONS + 1)):
        name, place = ":".join(parts[:-many]), ":".join(parts[-many:]).strip()
        document = document_lookup.found(cursor, name, folder) if name.strip() and place else None
        if document is None:
            continue
        number = document.document_id
        places = document_lookup.places(cursor, [number]).get(number)
        if places is None:
            return None
        lines = places.lines_of(place)
        if lines is None:
            raise UsageError(
                f"{on_one_line(document.name)} has no place '{on_one_line(place)}'.\n\n"
                f"It has {places.described}."
            )
        first, count = lines
        return document, asked._replace(first=first, lines=count)
    return None


def globbed(
    cursor: Cursor, asked: paths.Range, folder: Path | None, documents: Sequence[DocumentRow]
) -> list[tuple[DocumentRow, paths.Range]]:
    """Find the documents that match a glob, and the wanted lines.

    Lines of a suffix override options, if the suffix is not part of a name.

    Raises:
        UsageError: the glob stands for too many.
    """
    found = document_lookup.matching(cursor, asked.name, documents, folder)
    name, first, lines = paths.split_range(asked.name)
    if found or first is None:
        return [(document, asked) for document in found]
    suffix = asked.name.removeprefix(name)
    lines = lines if lines is not None else asked.lines
    return [
        (document, paths.Range(document.name + suffix, max(1, first), lines))
        for document in document_lookup.matching(cursor, name, documents, folder)
    ]


def too_large(
    document: DocumentRow, context: str | None, size: int, largest: int, first: int | None = None
) -> Passage:
    """Describe a document that is too large, or its part from a line on."""
    name = on_one_line(document.name) + (f":{first}" if first else "")
    return Passage(
        docid=document.docid,
        file=document.name,
        title=document.title,
        context=context,
        uri=paths.uri(document.collection, document.path),
        first=1,
        total=0,
        body="",
        reason=f"{size} bytes, more than {largest}; use: {line('qmd', 'get', name)}",
        size=document.size,
    )


class _Lines:
    """Lines of a text.

    Attributes:
        total: number of them.
    """

    def __init__(self, body: str) -> None:
        self.body = body
        self._lines = body.split("\n")
        if self._lines and not self._lines[-1]:
            self._lines.pop()
        self.total = len(self._lines)

    def text(self, first: int, last: int) -> str:
        """Join some lines as in the file, without the line ending of the last one."""
        text = "\n".join(self._lines[first - 1 : last])
        is_ended = last < self.total or self.body.endswith("\n")
        return text.removesuffix("\r") if is_ended else text


class _EncodedLines:
    """Lines of a large text, of which few are wanted. See `_Lines`.

    Args:
        data: the text in UTF-8, or the part of it that has the wanted lines.
        before: line feeds before it.
        total: lines of the whole text; None: those of `data`.
    """

    def __init__(self, data: bytes, before: int = 0, total: int | None = None) -> None:
        self._data = data
        self._before = before
        own = data.count(b"\n") + (data[-1:] not in (b"", b"\n"))
        self.total = own if total is None else total

    @property
    def body(self) -> str:
        """The whole text."""
        return self._data.decode(errors="replace")

    def text(self, first: int, last: int) -> str:
        """See `_Lines`."""
        begin = self._start(first - 1 - self._before)
        is_ended = last < self.total or self._data.endswith(b"\n")
        end = self._start(last - self._before) - 1 if is_ended else len(self._data)
        text = self._data[begin:end].decode(errors="replace")
        return text.removesuffix("\r") if is_ended else text

    def _start(self, before: int) -> int:
        """Find where a line starts that has so many before it."""
        at = 0
        while (ended := self._data.count(b"\n", at, at + COUNTED)) < before:
            at, before = at + COUNTED, before - ended
        for _ in range(before):
            at = self._data.index(b"\n", at) + 1
        return at


class _LongLines:
    """Lines of a long text, of which only pieces with wanted lines are loaded. See `_Lines`."""

    def __init__(self, text: LongText) -> None:
        self._text = text
        self.total = text.total

    @property
    def body(self) -> str:
        """The whole text."""
        return self._text.whole()

    def text(self, first: int, last: int) -> str:
        """See `_Lines`."""
        before, pieces = self._text.of_lines(first, last)
        return _EncodedLines(pieces.encode(), before, self.total).text(first, last)


def _lines(body: str | bytes | LongText) -> _Lines | _EncodedLines | _LongLines:
    if isinstance(body, LongText):
        return _LongLines(body)
    return _Lines(body) if isinstance(body, str) else _EncodedLines(body)


def body_of(cursor: Cursor, document: DocumentRow, *, some: bool) -> str | bytes | LongText:
    """Load the text of a document.

    Args:
        some: only some of its lines are wanted: of a large text, few are loaded.
    """
    if not some:
        return document_lookup.bodies(cursor, [document.hash])[document.hash]
    if document.size > LARGE_BYTES:
        rows = cursor.run("documents/encoded", hash=document.hash)
    else:
        rows = cursor.again("documents/bodies", hashes=as_json([document.hash]))
    body: str | bytes = rows[0][-1]
    return body or long_text(cursor, document.hash) or body


def passage(
    document: DocumentRow,
    body: str | bytes | LongText,
    context: str | None,
    first: int | None,
    count: int | None,
) -> Passage:
    """Take some lines of a document.

    Args:
        body: of which few lines are wanted if it is large: see `body_of`.
        first: line to begin with, from 1; None: the first.
        count: lines at most; None: all.

    Raises:
        UsageError: there are no such lines.
    """
    lines = _lines(body)
    total = lines.total
    start = 1 if first is None else first
    if start < 1:
        raise UsageError(f"Line {start} does not exist; lines are counted from 1.")
    if count is not None and count < 1:
        raise UsageError(f"{count} lines cannot be shown; ask for at least 1.")
    if first is not None and first > total:
        many = "1 line" if total == 1 else f"{total} lines"
        name = on_one_line(document.name)
        raise UsageError(f"{name} has {many}; line {first} is past its end.")
    end = total if count is None else min(total, start - 1 + count)
    whole = start == 1 and end == total
    return Passage(
        docid=document.docid,
        file=document.name,
        title=document.title,
        context=context,
        uri=paths.uri(document.collection, document.path),
        first=start,
        total=total,
        body=lines.body if whole else lines.text(start, end),
    )
