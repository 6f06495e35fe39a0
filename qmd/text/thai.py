"""Characters and words of Thai, which is written without spaces between words.

A word is cut by budoux, a linear model over the six letters around a place. It cuts names and
foreign words differently from text to text, so pairs of characters are indexed besides: measured
in docs/relevance.md, together with what else was tried.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import budoux

_NIKHAHIT_AA, SARA_AM = "\u0e4d\u0e32", "\u0e33"
"""The vowel of `น้ำ` in two characters, as folding writes it, and in one."""

CHARACTER = re.compile(f"(?s:.)(?:[\u0e31{SARA_AM}-\u0e3a\u0e47-\u0e4e]|(?<=\u0e4d)\u0e32)*")
"""Character with the vowels and tones of Thai above and below it, and the vowel of `น้ำ`."""

SHORTEST = 3
"""Characters of a word that is indexed beside its pairs; one of two is a pair."""


def parts(run: str, *, with_words: bool = True) -> list[str]:
    """Cut a run with Thai letters into overlapping pairs, a long word before its first pair.

    Args:
        with_words: or only pairs, which takes a tenth of the time.
    """
    run = run.replace(_NIKHAHIT_AA, SARA_AM)
    characters = CHARACTER.findall(run)
    pairs = ["".join(characters[at : at + 2]) for at in range(len(characters))]
    if not with_words or len(characters) < SHORTEST:
        return pairs
    words = _long_words(run)
    made: list[str] = []
    place = 0
    for character, pair in zip(characters, pairs, strict=True):
        while words and words[-1][0] <= place:
            made.append(words.pop()[1])
        made.append(pair)
        place += len(character)
    return made


def _long_words(run: str) -> list[tuple[int, str]]:
    """Return the long words of a run with their places, the last one first."""
    found: list[tuple[int, str]] = []
    place = 0
    for word in _parser().parse(run):
        if len(CHARACTER.findall(word)) >= SHORTEST:
            found.append((place, word))
        place += len(word)
    return found[::-1]


@cache
def _parser() -> budoux.Parser:
    """Load budoux and its model of Thai: 10 ms, and only where there are Thai letters."""
    import budoux

    return budoux.load_default_thai_parser()
