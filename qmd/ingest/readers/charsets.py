"""Encoding of a text: by its mark, as UTF-8, as it declares, or by the letters it would have.

Each encoding is tried with the alphabets that were written in it. The one wins in which most
characters beyond ASCII are letters of one language, with capitals where words begin and no symbols
within words. Half of the kanji and hanzi are seldom used: a text has few of these.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from qmd.ingest.readers import wide
from qmd.ingest.readers.wide import ESCAPES
from qmd.named_tuple import NamedTuple

SAMPLE = 1500
"""Bytes of words beyond ASCII by which the encoding is guessed."""

_SEARCHED = 200_000
"""Bytes in which these words are looked for."""

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SEVEN_BITS = re.compile(rb"\x1b\$[@B]")
_DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([-\w.:]+)""", re.I)
_FOREIGN = re.compile(rb"[^\s<>]{0,400}[\x80-\xff][^\s<>]{0,400}")

Alphabet = Mapping[str, float]
"""Letters beyond ASCII in lower case, with what each says for its language: 1 at most."""

_UNKNOWN = -0.5
"""Score of a letter that is not in the alphabet of a language."""


def _alphabets(text: str) -> list[Alphabet]:
    return [dict.fromkeys(letters, 1.0) for letters in text.split()]


def _graded(*grades: tuple[str, float]) -> Alphabet:
    """Give an alphabet of which some letters are more frequent than others."""
    return {letter: grade for letters, grade in grades for letter in letters}


_WESTERN = _alphabets(
    "äöüß àâçéèêëîïôùûüœæÿ áéíóúñüªº ãõáéíóúâêôàçüªº àèéìòùîç åäöéü æøåéäöóèàêü ëïéèöüáóê"
    " áàéèíïóòúüç äöõüšž"
)
_WESTERN.append(_graded(("áéíóúæöð", 1), ("ýþ", 0.7)))  # Icelandic, as Turkish would look
_CENTRAL = _alphabets("ąćęłńóśźż áčďéěíňóřšťúůýž áäčďéíľĺňóôŕšťúýž áéíóöőúüű ăâîșțşţ čćđšž äöüß")
_BALTIC = _alphabets("ąčęėįšųūž āčēģīķļņšūž äöõüšž")
_TURKISH = _alphabets("çğıöşüâî")
_RUSSIAN = _graded(("оеаинтсрвлк", 1), ("мдпуяыьгзбчй", 0.9), ("хжшюцщэфъё", 0.7))
_UKRAINIAN = _graded(("оеаинтсрвлкіу", 0.98), ("мдпяьгзбчйї", 0.88), ("хжшюцщєфґ", 0.7))
_GREEK = _graded(("αειοηυωτςνσράέήίόύώκπ", 1), ("γδλμ", 0.85), ("βζθξφχψϊϋ", 0.6))
_HEBREW = _graded(("אבגדהוזחטיךכלםמןנסעףפץצקרשת", 0.92))
_ARABIC = _graded(("".join(map(chr, range(0x621, 0x653))), 0.93))
_THAI = _graded(("กขคงจชซญดตถทธนบปผฝพฟภมยรลวศษสหอะาำิีึืุูเแโใไ่้็์ั", 0.95))

_BYTES: Mapping[str, list[Alphabet]] = {
    "cp1252": _WESTERN,
    "cp1250": _CENTRAL,
    "iso8859_2": _CENTRAL,
    "cp1257": _BALTIC,
    "cp1254": _TURKISH,
    "mac_roman": _WESTERN,
    "cp850": _WESTERN,
    "cp852": _CENTRAL,
    "cp1251": [_RUSSIAN, _UKRAINIAN],
    "koi8_u": [_RUSSIAN, _UKRAINIAN],
    "iso8859_5": [_RUSSIAN],
    "cp866": [_RUSSIAN],
    "cp1253": [_GREEK],
    "cp1255": [_HEBREW],
    "cp1256": [_ARABIC],
    "cp874": [_THAI],
}
"""Encodings of one byte a character."""

_PAIRS = {
    "cp932": "euc_jp",
    "euc_jp": "euc_jp",
    "gb18030": "gb2312",
    "big5": "big5",
    "cp949": "euc_kr",
}
"""Encodings of two, each with the one whose first byte tells frequent characters."""

_FREQUENT = {"euc_jp": (0xB0, 0xD0), "gb2312": (0xB0, 0xD8), "big5": (0xA4, 0xC9)}
"""First bytes of frequent characters. Source: JIS X 0208 and GB 2312, level 1; Big5, level 1."""

_USUAL = {"cp1252": 0.06, "iso8859_5": -0.02, "cp1257": -0.01, "mac_roman": -0.04, "cp850": -0.05}
_USUAL |= {"cp852": -0.09}
"""Bonus of an encoding that is more common, or less, than others with the same letters."""

_MARKS = frozenset("’‘“”„«»–—…•·©®°§€£№¡¿‹›\xa0´ªº½¼²³×±")
_IN_WORDS = "’·"
_OTHER_SCRIPTS = "\u0370"
"""The first letter that is not Latin."""

_SHOWN = {"utf-32-le": "UTF-32", "utf-32-be": "UTF-32", "iso2022_jp": "ISO-2022-JP"}
_SHOWN |= {"utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "koi8_u": "KOI8-R", "cp932": "Shift-JIS"}
_SHOWN |= {"mac_roman": "Mac Roman", "iso8859_2": "ISO-8859-2", "iso8859_5": "ISO-8859-5"}


class Decoded(NamedTuple):
    """A text with its encoding.

    Attributes:
        encoding: as Python calls it.
        is_declared: the text names it.
        is_lossy: U+FFFD stands for what is invalid.
    """

    text: str
    encoding: str = "utf-8"
    is_declared: bool = False
    is_lossy: bool = False

    @property
    def remark(self) -> str | None:
        """Problem with the encoding, in words."""
        if self.encoding == "utf-8":
            return "invalid UTF-8 was replaced" if self.is_lossy else None
        shown = _SHOWN.get(self.encoding) or self.encoding.upper().replace("_", "-")
        return f"read as {shown.replace('CP125', 'Windows-125')}"


def with_encoding(data: bytes, *, declared: bool = False) -> Decoded:
    """Decode a text.

    Args:
        declared: the head of the text may name its encoding.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return Decoded(data[len(mark) :].decode(encoding, "replace"), encoding)
    if b"\x00" in data[:8192] and wide.is_wide(data):
        encoding = "utf-16-be" if data[:1] == b"\x00" else "utf-16-le"
        return Decoded(data.decode(encoding, "replace"), encoding)
    named = _DECLARED.search(data[:65536]) if declared else None
    told = named[1].decode("ascii").lower() if named else ""
    if ESCAPES not in data or not (told.startswith("iso-2022") or _SEVEN_BITS.search(data)):
        try:
            return Decoded(data.decode("utf-8"))
        except UnicodeDecodeError:
            text = data.decode("utf-8", "replace")
            if is_mostly_utf8(data, text):
                return Decoded(text, is_lossy=True)
    if told:
        try:
            return Decoded(data.decode(told, "replace"), told, True)
        except (LookupError, ValueError):
            pass
    encoding = guessed_encoding(data)
    return Decoded(data.decode(encoding, "replace"), encoding)


def is_mostly_utf8(data: bytes, text: str) -> bool:
    """Tell UTF-8 with a few invalid bytes from another encoding.

    Args:
        text: the same with U+FFFD for what is invalid.
    """
    wrong = text.count("\ufffd")
    valid = len(text) - len(data.translate(None, bytes(range(128, 256)))) - wrong
    return wrong * 4 <= valid


def guessed_encoding(data: bytes) -> str:
    """Guess the encoding of a text that is not UTF-8, and has no mark."""
    data = data[:_SEARCHED]
    if _SEVEN_BITS.search(data):
        return "iso2022_jp"
    sample = _sample(data)
    found = {
        encoding: _likelihood(sample.decode(encoding, "replace"), alphabets)
        + _USUAL.get(encoding, 0)
        for encoding, alphabets in _BYTES.items()
    }
    for encoding, graded in _PAIRS.items():
        found[encoding] = _likelihood_of_pairs(sample.decode(encoding, "replace"), graded)
    return max(found, key=lambda encoding: found[encoding])


def _sample(data: bytes) -> bytes:
    """Take words that have characters beyond ASCII."""
    words, size = [], 0
    for word in _FOREIGN.finditer(data):
        words.append(word[0])
        size += len(word[0])
        if size > SAMPLE:
            break
    return b" ".join(words)


def _likelihood(text: str, alphabets: list[Alphabet]) -> float:
    """Grade a text, at 1 where all is written as in the language of one alphabet."""
    letters, others, wrong = _structure(text)
    size = letters.total() + others
    if not size:
        return 0.0
    known = max(
        sum(count * alphabet.get(letter, _UNKNOWN) for letter, count in letters.items())
        for alphabet in alphabets
    )
    return (known + others - wrong) / size


def _structure(text: str) -> tuple[Counter[str], int, float]:
    """Count letters beyond ASCII, in lower case, and other characters, and add up what is odd."""
    letters, others, wrong = Counter[str](), 0, 0.0
    before = " "
    for letter, after in zip(text, f"{text[1:]} ", strict=True):
        if letter < "\x80":
            wrong += 2 * (letter.isupper() and before >= "\x80" and before.islower())
        elif (letter.isalpha() or _is_vowel_sign(letter)) and letter not in "ªº":
            small = letter.lower()
            letters[small] += 1
            if small != letter:
                wrong += 2 if before.islower() else 0.2
            if letter >= _OTHER_SCRIPTS and (_is_latin(before) or _is_latin(after)):
                wrong += 1.5
        else:
            others += 1
            wrong += _oddness(letter, is_inside=before.isalpha() and after.isalpha())
        before = letter
    return letters, others, wrong


def _is_vowel_sign(letter: str) -> bool:
    return "\u0e00" < letter < "\u0e5c" or "\u064b" <= letter < "\u0653"


def _is_latin(letter: str) -> bool:
    return letter.isascii() and letter.isalpha()


def _oddness(symbol: str, *, is_inside: bool) -> float:
    """Grade a symbol; those within words are odd, and more so control characters."""
    if symbol in _MARKS:
        return 1.5 if is_inside and symbol not in _IN_WORDS else 0.1
    if symbol < "\xa0" or symbol == "\ufffd" or not symbol.isprintable():
        return 5
    return 3 if is_inside else 1.8


def _likelihood_of_pairs(text: str, graded: str) -> float:
    """Grade a text as Chinese, Japanese or Korean, at .9 where all is frequent."""
    size, sum_ = 0, 0.0
    for before, letter, after in zip(f" {text}", text, f"{text[1:]} ", strict=False):
        if letter >= "\x80":
            size += 1
            sum_ += _frequency(letter, graded) - 0.4 * (_is_latin(before) or _is_latin(after))
    return sum_ / size if size else 0.0


@lru_cache(10_000)
def _frequency(letter: str, graded: str) -> float:
    if letter == "\ufffd":
        return -4
    if "\u3000" <= letter < "\u3040" or "\uff00" <= letter < "\uff60" or letter in _MARKS:
        return 0.6
    if "\u3040" <= letter < "\u3100":  # hiragana and katakana
        return 1 if graded == "euc_jp" else -0.5
    if "\uff60" <= letter < "\uffa0":  # katakana of half a width
        return -0.7
    try:
        first, *rest = letter.encode(graded)
    except UnicodeEncodeError:
        return -1
    if len(rest) != 1:  # rare syllables have eight bytes
        return -0.5
    if graded == "euc_kr":
        return 0.96 if "\uac00" <= letter < "\ud7a4" else -0.5
    low, high = _FREQUENT[graded]
    return 0.9 if low <= first < high else 0.0
