"""Reader of a file: by the bytes it begins with, then by its name.

A suffix says nothing of a file that begins as another kind does: a PDF named `notes.txt` is read as
a PDF. What is no text and no kind that is known is never taken for text.
"""

from __future__ import annotations

import re

from qmd.ingest.readers.wide import ESCAPES, head, is_wide
from qmd.named_tuple import NamedTuple
from qmd.text import kinds
from qmd.text.kinds import Kind

NO_TEXT = "not a text file"

_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_BINARY = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"Rar!\x1a", "a RAR archive"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x7fELF", "a program"),
    (b"OggS", "a sound or a film"),
    (b"ID3", "a sound"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
)
STARTS = (b"%PDF-", b"{\\rtf", *_ZIP, _OLE, *(start for start, _ in _BINARY))
"""Of files that are no text. Whether one of them begins a file is all that is asked of most."""

_MEMBERS = (
    (b"word/document.xml", ".docx"),
    (b"ppt/presentation.xml", ".pptx"),
    (b"xl/workbook.xml", ".xlsx"),
    (b"META-INF/container.xml", ".epub"),
)
_MIMETYPES = (
    (b"application/epub+zip", ".epub"),
    (b"application/vnd.oasis.opendocument.text", ".odt"),
    (b"application/vnd.oasis.opendocument.spreadsheet", ".ods"),
    (b"application/vnd.oasis.opendocument.presentation", ".odp"),
)
_DIRECTORY = 1 << 20
"""Bytes at the end of an archive in which the names of its members are looked for."""

_PDF_WITHIN = 1024
"""Bytes before the head of a PDF, at most. Source: ISO 32000-1, annex H, note 13."""

_ARCHIVES = frozenset({"docx", "pptx", "xlsx", "odf", "epub"})
_OFFICE = frozenset({"docx", "pptx", "xlsx"})
"""Readers of kinds that are archives."""

_BOOKMARKS = b"<!DOCTYPE NETSCAPE-Bookmark-file"

_CLOCK = re.compile(rb"\d{1,2}:\d\d")
"""Time of the day, without which a text is no transcript."""


class Choice(NamedTuple):
    """The kind of a file, or the reason why it is not read.

    Attributes:
        kind: None: it is not read, or plain text.
        problem: why it is not read, or None.
        remark: it is another kind than its name says.
    """

    kind: Kind | None = None
    problem: str | None = None
    remark: str | None = None


PLAIN = Choice()
"""Text that is indexed as it stands."""


def chosen_reader(path: str, data: bytes) -> Choice:
    """Choose the reader of a file.

    Args:
        path: its name, with or without folders.
    """
    named = kinds.kind_of(path)
    if not data or data.isspace():
        return PLAIN
    if named is not None and named.package:
        return Choice(named)
    if not data.startswith(STARTS):
        if named is not None and named.reader:
            return _named(named, path, data)
        if b"\0" in data and not is_wide(data):
            return Choice(problem=NO_TEXT)
        if path.lower().endswith(".txt") and _is_transcript(head(data)):
            return Choice(kinds.TRANSCRIPT)
        return Choice(kinds.TEXT) if b"\0" in data or ESCAPES in data else PLAIN
    if data.startswith(_OLE):
        if named is not None and named.reader in _OFFICE:
            return Choice(problem="encrypted, or of an Office from before 2007")
        return Choice(problem="a file of an Office from before 2007: save it as .docx or the like")
    is_one = _content_suffix(data)
    if is_one is None and named is not None and named.reader in _ARCHIVES:
        return Choice(named)  # which says what is wrong with it
    if is_one is None:
        what = next((what for start, what in _BINARY if data.startswith(start)), "a zip archive")
        return Choice(problem=f"{NO_TEXT} but {what}")
    kind = kinds.by_suffix().get(is_one)
    if kind is None:
        return Choice(problem=f"no reader for {is_one} files")
    same = named is not None and named.reader == kind.reader
    return Choice(kind, remark=None if same else f"read as {kind.name}, which it is")


def _named(kind: Kind, path: str, data: bytes) -> Choice:
    """Choose the reader that a name says, if nothing in the bytes speaks against it."""
    suffix = kinds.suffix_of(path)
    if suffix == ".pdf" and b"%PDF-" not in data[:_PDF_WITHIN]:
        return Choice(problem="not a PDF, in spite of its name")
    if suffix == ".rtf" and is_wide(data) and head(data).startswith(b"{\\rtf"):
        return Choice(kind)
    if kind.reader in _ARCHIVES or suffix == ".rtf":
        return Choice(problem=f"not {_article(suffix)} file, in spite of its name")
    if suffix != ".pdf" and b"\0" in data and not is_wide(data):
        return Choice(problem=NO_TEXT)
    if kind.reader == "html" and _BOOKMARKS.lower() in head(data).lower():
        return Choice(kinds.BOOKMARKS)
    return Choice(kind)


def _is_transcript(data: bytes) -> bool:
    """Tell whether a text is a chat or a transcript that a program has exported."""
    if len(_CLOCK.findall(data)) < 2:
        return False
    from qmd.ingest.readers.transcript import is_transcript

    return is_transcript(data)


def _article(suffix: str) -> str:
    return f"a{'n' if suffix[1] in 'aeiorx' else ''} {suffix[1:].upper()}"


def _content_suffix(data: bytes) -> str | None:
    """Return the suffix that the content of a file would have, if it says so."""
    if data.startswith(b"%PDF-"):
        return ".pdf"
    if data.startswith(b"{\\rtf"):
        return ".rtf"
    if not data.startswith(_ZIP):
        return None
    first = data[:256]
    for mimetype, suffix in _MIMETYPES:
        if b"mimetype" + mimetype in first:
            return suffix
    names = data[-_DIRECTORY:]
    return next((suffix for member, suffix in _MEMBERS if member in names), None)
