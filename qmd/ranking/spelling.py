"""Words of the index that are written much like a word that no document has.

A word is replaced only where that is plausible:

- It has `SHORTEST` letters or more and nothing but letters: of a short word too many others are
  near, and a number, a version or an identifier with another digit is another thing.
- It is not among the 20,000 words that the vocabulary of the included model has whole: `food` is
  spelt right, and that no document has it is the answer.
- It differs in one letter, or from `LONG` letters on in two; two letters that changed places are
  one error (Damerau). Nine in ten misspellings are that near. Source: Damerau, CACM 7(3), 1964;
  the limits by length are about those of Lucene and of Algolia.
- At most one of the errors is in the first letters, where people seldom make one. Source: Pollock
  and Zamora, CACM 27(4), 1984.
- The rest of the choice is a noisy channel: an error costs as much as `ERROR` powers of ten of
  documents, so that a misspelling in one text does not win over the word itself in a thousand.
- Where the nearest is a stop word, such as `which` for `wich`, there is nothing to look for.
- A blank that was left out is an error, too: `greentea` stands for `green tea` if more documents
  have these two side by side than have the nearest word. An apostrophe is left out without one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from math import log10
from pathlib import Path
from typing import TYPE_CHECKING

from qmd.models.registry import MINILM
from qmd.named_tuple import NamedTuple
from qmd.ranking.query import STOP_WORDS

if TYPE_CHECKING:
    from qmd.ranking.postings import Postings
    from qmd.storage.cursor import Cursor
from qmd.text.tokenizer import is_alphabetic, is_folded

SHORTEST, LONG = 4, 8
"""Letters from which on a word is replaced, and from which on it may have two errors."""

ERROR = 2.0
"""Cost of one error, in powers of ten of documents."""

SLIP = 0.8
"""Part of an error that a doubled letter is, or two that changed places: the most frequent ones."""

FIRST = 0.5
"""Errors that another first letter counts for, in addition."""

CLOSE = 0.3
"""Distance from the nearest word, in powers of ten, up to which others are looked for, too."""

MOST = 3
"""Words that stand for one."""

LOOKED_AT = 40
"""Words with the fewest errors, of which the documents are counted."""

SHORTEST_PART = 2
"""Letters of each of two words between which a blank was left out."""

CONTRACTED = ("t", "s", "d", "m", "re", "ve", "ll")
"""Ends of English words after an apostrophe."""

_MARGIN = 0.05
"""By so much repeated letters may lower the similarity of Jaro. With it, one in forty of words
with two random errors is missed."""

Respell = Callable[[str], tuple["Alike", ...]]
"""Gives the words that stand for one that no document has, the nearest first; none: nothing is
near."""


class Alike(NamedTuple):
    """A word of the index.

    Attributes:
        cost: of the errors between it and the word of the query.
    """

    word: str
    term_id: int
    cost: float


def plausible_words(cursor: Cursor, postings: Postings, asked: str) -> tuple[Alike, ...]:
    """Return the words of the index that a word most plausibly means, the best first."""
    if len(asked) < SHORTEST or not is_alphabetic(asked) or _is_known(asked):
        return ()

    def read(words: list[str]) -> dict[str, tuple[Alike, ...]]:
        return {word: _nearest(cursor, postings, word) for word in words}

    return cursor.each("respelled", [asked], read, size=lambda found: 1 + len(found))[asked]


def divisions(word: str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of words from which a blank or an apostrophe may have been left out."""
    if len(word) < SHORTEST or not is_alphabetic(word):
        return
    is_known = _is_known(word)
    for at in range(1, len(word)):
        parts = word[:at], word[at:]
        if parts[1] in CONTRACTED or (not is_known and len(min(parts, key=len)) >= SHORTEST_PART):
            yield parts


@cache
def _vocabulary() -> bytes:
    """Read the vocabulary of the included model, a word or a part of one on each line."""
    return Path(MINILM.uri, "vocabulary.txt").read_bytes()


def _is_known(word: str) -> bool:
    """Check that the included model knows a word, and so that it is spelt right."""
    return f"\n{word}\n".encode() in _vocabulary()


def _nearest(cursor: Cursor, postings: Postings, asked: str) -> tuple[Alike, ...]:
    errors = 1 if len(asked) < LONG else 2
    # The similarity of a word with so many letters of another kind.
    least = (2 * (len(asked) - errors) / len(asked) + 1) / 3 - _MARGIN
    rows = cursor.run("words/alike", asked=asked, errors=errors, least=least)
    met = []
    for word, term_id in rows:
        cost = (
            distance(asked, word, most=errors) if is_alphabetic(word) and is_folded(word) else None
        )
        if cost is not None:
            met.append(Alike(word, term_id, cost + (FIRST if word[0] != asked[0] else 0)))
    met.sort(key=lambda each: (each.cost, each.word))
    return _likeliest(met[:LOOKED_AT], postings.documents([each.term_id for each in met]))


def _likeliest(met: list[Alike], documents: Mapping[int, int]) -> tuple[Alike, ...]:
    """Choose the likeliest words, one for each term."""
    likely: dict[int, tuple[float, Alike]] = {}
    for each in met:
        if documents[each.term_id]:
            worth = log10(documents[each.term_id]) - ERROR * each.cost
            likely.setdefault(each.term_id, (worth, each))
    best = sorted(likely.values(), key=lambda pair: (-pair[0], pair[1].word))[:MOST]
    if not best or best[0][1].word in STOP_WORDS:
        return ()
    return tuple(
        each for worth, each in best if worth >= best[0][0] - CLOSE and each.word not in STOP_WORDS
    )


def distance(one: str, other: str, *, most: int) -> float | None:
    """Compute the cost of the fewest errors between two words; None: there are more than `most`.

    A letter too many, one too few, another one, or two that changed places is an error (optimal
    string alignment).
    """
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    # One letter before the difference is kept: it may be what is doubled.
    start = max(0, start - 1)
    one, other = one[start : len(one) - end], other[start : len(other) - end]
    if abs(len(one) - len(other)) > most:
        return None
    before: list[tuple[int, float]] = []
    last = [(count, float(count)) for count in range(len(other) + 1)]
    for at, letter in enumerate(one, 1):
        row = [(at, float(at))]
        for to, wanted in enumerate(other, 1):
            slip = SLIP if at > 1 and letter == one[at - 2] else 1.0
            missed = SLIP if to > 1 and wanted == other[to - 2] else 1.0
            choices = [_plus(last[to], slip), _plus(row[to - 1], missed)]
            choices.append(last[to - 1] if letter == wanted else _plus(last[to - 1], 1.0))
            if at > 1 and to > 1 and letter == other[to - 2] and one[at - 2] == wanted:
                choices.append(_plus(before[to - 2], SLIP))
            row.append(min(choices))
        if min(row)[0] > most and min(last)[0] > most:
            return None
        before, last = last, row
    count, cost = last[-1]
    return cost if count <= most else None


def _plus(so_far: tuple[int, float], cost: float) -> tuple[int, float]:
    """Add one error."""
    return so_far[0] + 1, so_far[1] + cost
