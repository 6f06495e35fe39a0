"""Text in another encoding than UTF-8."""

from __future__ import annotations

import codecs
from contextlib import suppress

from qmd.ingest.readers import registry, wide
from qmd.ingest.readers.reading import Reading, Unreadable

SAMPLE = 200_000
"""Bytes in which the encoding is looked for."""

SHORT = 40
"""Bytes beyond ASCII below which a guess is none: Windows-1252 is the usual one."""

_MARKED = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_AMONG = (
    "cp1252 cp1250 cp1251 cp1253 cp1254 cp1255 cp1256 cp1257 koi8_r koi8_u iso8859_2 iso8859_5 "
    "shift_jis cp932 euc_jp iso2022_jp gb18030 big5 euc_kr cp949 cp866 cp874 tis_620 mac_roman"
).split()
_CONTROLS = dict.fromkeys([*range(9), *range(11, 13), *range(14, 32), 127, 0xFEFF])
"""Characters that stand in no text: all but tabs and line ends."""

_SHOWN = {"cp1252": "Windows-1252", "utf_16_le": "UTF-16", "utf_16_be": "UTF-16"}


def read(data: bytes, name: str) -> Reading:
    """Decode a text; the remark says from which encoding."""
    del name
    text, remark = decoded_text(data)
    return Reading(text, remark=remark)


def decoded_text(data: bytes) -> tuple[str, str | None]:
    """Decode a text, and say from which encoding if it is not UTF-8.

    Raises:
        Unreadable: it is no text.
    """
    if not data.strip():
        raise Unreadable("empty file")
    if data.startswith(registry.STARTS):
        raise Unreadable(registry.NO_TEXT)
    with suppress(UnicodeDecodeError):
        text = data.decode("utf-8-sig")
        if "\0" not in text:
            return _plain(text), None
    encoding = _encoding(data)
    try:
        text = data.decode(encoding, "strict" if encoding.startswith("utf") else "replace")
    except UnicodeDecodeError as error:
        raise Unreadable(registry.NO_TEXT) from error
    if "\0" in text or len(text) - len(text.translate(_CONTROLS)) > len(text) // 50:
        raise Unreadable(registry.NO_TEXT)
    shown = _SHOWN.get(encoding) or encoding.upper().replace("_", "-")
    return _plain(text), f"read as {shown.replace('CP125', 'Windows-125')}"


def _plain(text: str) -> str:
    """Convert line ends to those of Unix, and remove control characters.

    Raises:
        Unreadable: nothing is left.
    """
    plain = text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROLS)
    if not plain.strip():
        raise Unreadable("empty file")
    return plain


def _encoding(data: bytes) -> str:
    """Find the encoding of a text.

    Raises:
        Unreadable: it is none.
    """
    for mark, encoding in _MARKED:
        if data.startswith(mark):
            return encoding
    if b"\0" in data:
        if not wide.is_wide(data):
            raise Unreadable(registry.NO_TEXT)
        return "utf_16_be" if data[0:1] == b"\0" else "utf_16_le"
    foreign = sum(byte > 127 for byte in data[:SAMPLE])
    if foreign < SHORT and foreign * 3 < len(data):
        return "cp1252" if _fits(data, "cp1252") else "latin-1"
    from charset_normalizer import from_bytes

    best = from_bytes(data[:SAMPLE], cp_isolation=_AMONG).best()
    if best is None:
        raise Unreadable(registry.NO_TEXT)
    return best.encoding


def _fits(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True
