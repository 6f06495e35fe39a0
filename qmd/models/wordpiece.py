"""Tokens of a BERT that takes small and capital letters for the same: WordPiece.

    text ─▸ letters without accents ─▸ words, marks ─▸ longest pieces that are in the vocabulary

Source:
    Devlin et al. 2018, BERT, and the makers' code: what it does with control characters, accents
    and ideographs.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

UNKNOWN, OPENING, CLOSING = "[UNK]", "[CLS]", "[SEP]"

LONGEST = 100
"""Characters of a word. A longer one is unknown as a whole."""

WORDS = 1 << 16
"""Words whose pieces are remembered: most of a text are few."""

_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class _Letters(dict[int, str]):
    """A table for `str.translate` from characters to their replacements, filled on demand."""

    def __missing__(self, code: int) -> str:
        found = self[code] = _letter(chr(code))
        return found


_LETTERS = _Letters()


class WordPiece:
    """A vocabulary, and how texts are cut into its pieces.

    Args:
        vocabulary: the pieces by number; one that goes on inside a word begins with ##.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self._unknown = (self._numbers[UNKNOWN],)
        self._around = self._numbers[OPENING], self._numbers[CLOSING]
        self._longest = max(map(len, vocabulary))
        self._pieces = lru_cache(maxsize=WORDS)(self._cut)

    def tokens(self, text: str) -> list[int]:
        """Split a text into pieces, and return their numbers between those of start and end.

        A piece in brackets, such as [SEP], is never taken from the text.
        """
        if not text.isascii():
            text = unicodedata.normalize("NFD", text)
        opening, closing = self._around
        numbers = [opening]
        for word in text.translate(_LETTERS).split(" "):
            if word:
                numbers += self._pieces(word)
        numbers.append(closing)
        return numbers

    def _cut(self, word: str) -> tuple[int, ...]:
        """Split a word into pieces, the longest first."""
        if len(word) > LONGEST:
            return self._unknown
        found: list[int] = []
        start = 0
        while start < len(word):
            mark = "##" if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                number = self._numbers.get(mark + word[start:end])
                if number is not None:
                    found.append(number)
                    start = end
                    break
            else:
                return self._unknown
        return tuple(found)


def _letter(character: str) -> str:
    """Return the replacement of a character.

    It is the character in lower case, nothing, a space, or the character between spaces.
    """
    code, kind = ord(character), unicodedata.category(character)
    if character in "\t\n\r" or kind in ("Zs", "Zl", "Zp"):
        return " "
    if not code or code == 0xFFFD or kind in ("Cc", "Cf", "Co", "Mn"):
        return ""
    is_mark = kind[0] == "P" or (code < 0x80 and not character.isalnum())
    if is_mark or any(first <= code <= last for first, last in _IDEOGRAPHS):
        return f" {character} "
    return character.lower()
