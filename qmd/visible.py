r"""Characters that act on a terminal or hide text, written out: `\x1b`, `\u202e`.

Names, commands and texts come from untrusted files. Escape sequences move the cursor and overwrite
the output, bidirectional controls reorder it, and invisible characters hide in it.
"""

from __future__ import annotations

import re
import unicodedata

from qmd.wording import MOST_OF_VALUE, shortened

MAX_SHOWN_LENGTH = MOST_OF_VALUE
"""Characters of a value in a message, unless it has to be shown whole."""

_DECEIVING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of Unicode: control, format, surrogate, line and paragraph separator."""

_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Letters and marks without ink, though the category of each promises some."""

_INKED = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u08e2"
"""Format characters with ink: signs that enclose Arabic and Syriac numbers."""

_SHORT = {"\n": r"\n", "\t": r"\t", "\r": r"\r"}

_SCRIPTS = "\u0600-\u0dff\u1000-\u109f\u1780-\u17ff"
_EMOJI = "\u2190-\u2bff\U0001f000-\U0001faff"
_JOINERS = (
    f"(?<=[{_SCRIPTS}])([\u200c\u200d])(?=[{_SCRIPTS}])|(?<=[{_EMOJI}\ufe0f])(\u200d)(?=[{_EMOJI}])"
)
"""Joiners where spelling needs them: in words of Persian and Indic scripts, and in emoji."""


class _Signs(dict[int, str]):
    """Cached table for `str.translate`: the visible form of each character."""

    def __missing__(self, code: int) -> str:
        self[code] = shown = _written_out(chr(code))
        return shown


_ON_ONE_LINE = _Signs()
_IN_LINES = _Signs({ord("\n"): "\n", ord("\t"): "\t"})


def visible(text: str) -> str:
    """Escape characters that act on a terminal or hide text, and keep line breaks.

    Line breaks and tabs stay, and so do joiners within a word or an emoji. Applied again, it
    changes nothing.
    """
    if _is_plain(text.replace("\n", "").replace("\t", "")):
        return text
    text = text.replace("\r\n", "\n")
    if "\u200c" not in text and "\u200d" not in text:
        return text.translate(_IN_LINES)
    pieces = re.split(_JOINERS, text)  # two groups: texts stand at every third place
    return "".join(
        (piece or "") if at % 3 else piece.translate(_IN_LINES) for at, piece in enumerate(pieces)
    )


def one_line(value: object) -> str:
    r"""Write a whole value on one line.

    A value that needs no escape is unchanged. In one that does, `\` is doubled, so that
    an escape is not taken for its letters, or the other way round.
    """
    text = str(value)
    if _is_plain(text):
        return text
    escaped = text.translate(_ON_ONE_LINE)
    return escaped if escaped == text else text.replace("\\", r"\\").translate(_ON_ONE_LINE)


def shown(value: object, *, most: int = MAX_SHOWN_LENGTH) -> str:
    """Write a value on one line and shorten it in the middle if it is too long."""
    return shortened(one_line(str(value)), most)


def hidden(text: str, *, but: str = "") -> str:
    """Return the characters that `one_line` escapes, except the permitted ones."""
    return "".join(mark for mark in text if mark not in but and _ON_ONE_LINE[ord(mark)] != mark)


def _is_plain(text: str) -> bool:
    return text.isprintable() and (text.isascii() or not any(mark in text for mark in _BLANK))


def _written_out(mark: str) -> str:
    if mark.isprintable():
        deceives = mark in _BLANK
    else:
        deceives = unicodedata.category(mark) in _DECEIVING and mark not in _INKED
    if not deceives:
        return mark
    if mark in _SHORT:
        return _SHORT[mark]
    code = ord(mark)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
