"""Text of a document as it is searched: its words, and those of its metadata, without data."""

from __future__ import annotations

from collections.abc import Callable

_kinds_of_data: Callable[[bytes], int] | None
try:
    from qmd.ingest.compiled.machine_data import kinds_of_data as _kinds_of_data
except ImportError:
    _kinds_of_data = None


def searched(text: str, data: bytes, start: int, described: str) -> tuple[str | bytes, int]:
    """Return what is searched of a text.

    Args:
        data: the text in UTF-8.
        start: bytes of its front matter.
        described: values of the metadata that are searched, too.

    Returns:
        The words; ASCII may be bytes. And how many bytes of data are left out.
    """
    body = data[start:] if start else data
    body, left_out = data_blanked(body)
    if not (start or described or left_out):
        return data if text.isascii() else text, 0
    if described:
        body = f"{described}\n".encode() + body
    return body if body.isascii() else body.decode(), left_out


def data_blanked(body: bytes) -> tuple[bytes, int]:
    """Replace data in a text by a word without a term, and blanks. See `text/machine_data.py`.

    The compiled test spares nearly all texts the search. A property test holds that it misses none.

    Returns:
        The text, in UTF-8, and how many bytes of data are left out.
    """
    kinds = None if _kinds_of_data is None else _kinds_of_data(body)
    if kinds == 0:
        return body, 0
    from qmd.text import machine_data  # most texts do without its patterns

    kinds = machine_data.EVERY if kinds is None else kinds
    text = body.decode()
    found = machine_data.spans(text, kinds)
    if not found:
        return body, 0
    left_out = sum(len(text[start:end].encode()) for start, end in found)
    return machine_data.parted(text, found).encode(), left_out
