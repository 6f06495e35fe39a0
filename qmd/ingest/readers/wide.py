"""Texts in UTF-16 or UTF-32, which have NULs in them as no other text has."""

from __future__ import annotations

import codecs

_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)

_WIDEST = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)

MARKS = (codecs.BOM_UTF8, *_WIDE, *_WIDEST)
"""Byte order marks."""

ESCAPES = b"\x1b$"
"""Begin Japanese in seven bits, which looks like ASCII."""

HEAD = 4000
"""Bytes at the beginning of a text in which marks of its kind are looked for."""


def is_wide(data: bytes) -> bool:
    """Tell whether bytes with NULs among them are UTF-16 or UTF-32."""
    if data.startswith(_WIDE):
        return True
    even, odd = data[0:2000:2].count(0), data[1:2000:2].count(0)
    return min(even, odd) == 0 and max(even, odd) > min(len(data), 2000) // 2 * 0.7


def head(data: bytes) -> bytes:
    """Return the beginning of a text, in UTF-8 if it is UTF-16 or UTF-32."""
    if not data.startswith(_WIDE) and b"\0" not in data[:HEAD]:
        return data[:HEAD].removeprefix(codecs.BOM_UTF8)
    encoding = "utf-32" if data.startswith(_WIDEST) else "utf-16"
    if not data.startswith(_WIDE):
        encoding = "utf-16-be" if data[:1] == b"\0" else "utf-16-le"
    return data[: 4 * HEAD].decode(encoding, "ignore").encode(errors="ignore")
