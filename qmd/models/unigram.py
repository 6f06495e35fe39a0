"""Tokens of a SentencePiece model: the likeliest pieces of each word.

    text ─▸ compatible characters ─▸ words ─▸ pieces with the highest sum of logarithms

Sources:
    Kudo 2018, Subword Regularization, for the search; the makers of SentencePiece for the
    characters that become a blank or nothing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

OPENING, CLOSING, UNKNOWN = "<s>", "</s>", "<unk>"

START = "\u2581"
"""Begins each word."""

PENALTY = 10.0
"""By which a character without a piece is less likely than any piece, as a logarithm."""

WORDS = 1 << 16
"""Words whose pieces are remembered: most of a text are few."""

_BLANKS = (0x09, 0x0A, 0x0C, 0x0D, 0x1680, *range(0x200B, 0x2010), 0x2028, 0x2029, 0x2581)
_GONE = (*range(0x01, 0x09), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F)
_REPLACED: dict[int, str | None] = {
    **dict.fromkeys((*_BLANKS, 0xFEFF, 0xFFFD), " "),
    **dict.fromkeys((0, *_GONE)),
}


class Unigram:
    """A vocabulary with the likelihood of each piece.

    Args:
        pieces: by number; names in angle brackets, such as `<s>`, are no text.
        scores: logarithm of the likelihood of each.
    """

    def __init__(self, pieces: Sequence[str], scores: Sequence[float]) -> None:
        numbers = {piece: number for number, piece in enumerate(pieces)}
        self._around = numbers[OPENING], numbers[CLOSING]
        self._unknown = numbers[UNKNOWN]
        for name in (OPENING, CLOSING, UNKNOWN, "<pad>", "<mask>"):
            numbers.pop(name, None)
        self._numbers = numbers
        self._scores = scores
        self._longest = max(map(len, numbers))
        self._least = min(scores) - PENALTY
        self._pieces = lru_cache(maxsize=WORDS)(self._cut)

    def tokens(self, text: str) -> list[int]:
        """Split a text into pieces, and return their numbers between those of start and end."""
        if not text.isascii():
            text = unicodedata.normalize("NFKC", text)
        opening, closing = self._around
        numbers = [opening]
        for word in text.translate(_REPLACED).split(" "):
            if word:
                numbers += self._pieces(START + word)
        numbers.append(closing)
        return numbers

    def _cut(self, word: str) -> tuple[int, ...]:
        """Return the likeliest pieces of a word; characters without one are one unknown piece."""
        best = [0.0] + [-float("inf")] * len(word)
        last = [(0, self._unknown)] * (len(word) + 1)
        for start in range(len(word)):
            before = best[start]
            if before + self._least > best[start + 1]:
                best[start + 1] = before + self._least
                last[start + 1] = start, self._unknown
            for end in range(start + 1, min(len(word), start + self._longest) + 1):
                number = self._numbers.get(word[start:end])
                if number is not None and before + self._scores[number] > best[end]:
                    best[end] = before + self._scores[number]
                    last[end] = start, number
        found: list[int] = []
        end = len(word)
        while end:
            end, number = last[end]
            if number != self._unknown or found[-1:] != [number]:
                found.append(number)
        return tuple(reversed(found))
