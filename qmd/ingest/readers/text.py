"""Text in another encoding than UTF-8."""

from __future__ import annotations

from qmd.ingest.readers import charsets, registry, wide
from qmd.ingest.readers.reading import Reading, Unreadable

_CONTROLS = dict.fromkeys([*range(9), *range(11, 13), *range(14, 32), 127, 0xFEFF])
"""Characters that stand in no text: all but tabs and line ends."""


def read(data: bytes, name: str) -> Reading:
    """Decode a text; the remark says from which encoding."""
    del name
    text, remark = decoded_text(data)
    return Reading(text, remark=remark)


def decoded_text(data: bytes) -> tuple[str, str | None]:
    """Decode a text, and say what is odd about its encoding.

    Raises:
        Unreadable: it is no text.
    """
    if not data.strip():
        raise Unreadable("empty file")
    if data.startswith(registry.STARTS):
        raise Unreadable(registry.NO_TEXT)
    if b"\0" in data and not wide.is_wide(data):
        raise Unreadable(registry.NO_TEXT)
    found = charsets.with_encoding(data)
    text = found.text
    strange = len(text) - len(text.translate(_CONTROLS))
    if not found.is_lossy:
        strange += text.count("\ufffd")
    if "\0" in text or strange > len(text) // 50:
        raise Unreadable(registry.NO_TEXT)
    return _plain(text), found.remark


def _plain(text: str) -> str:
    """Convert line ends to those of Unix, and remove control characters.

    Raises:
        Unreadable: nothing is left.
    """
    plain = text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROLS)
    if not plain.strip():
        raise Unreadable("empty file")
    return plain
