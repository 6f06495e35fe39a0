"""Sentences of an answer, the passages that they cite, and whether these say the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qmd.named_tuple import NamedTuple
from qmd.text import tokenizer

CITED = re.compile(r"\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]")
"""One number of a passage or several, as [2] or [1, 3]."""

SHARED = 0.6
"""Share of the words of a sentence, of four letters or more, that a passage has in common with it
from which on it says the same."""

_END = re.compile(r"(?<=[.!?…])((?:\s*\[[\d,;\s]+\])*)\s+(?=\S)|(?<=[。！？])|\n+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_SHORTEST = 4


class CitedSentence(NamedTuple):
    """A sentence of an answer.

    Attributes:
        text: without its citations.
        citations: numbers of passages, from 1.
    """

    text: str
    citations: tuple[int, ...]


def sentences(answer: str) -> list[CitedSentence]:
    """Split an answer into sentences. A citation belongs to the sentence before it."""
    found = []
    for part in _parts(answer):
        numbers = [int(each) for group in CITED.findall(part) for each in re.findall(r"\d+", group)]
        text = re.sub(r"\s+([.!?,;])", r"\1", CITED.sub("", part)).strip()
        if text.strip("-*# ."):
            found.append(CitedSentence(text, tuple(dict.fromkeys(numbers))))
        elif found and numbers:
            last = found[-1]
            found[-1] = last._replace(citations=tuple(dict.fromkeys([*last.citations, *numbers])))
    return found


def _parts(answer: str) -> Iterator[str]:
    begin = 0
    for each in _END.finditer(answer):
        yield answer[begin : each.end(1) if each[1] else each.start()]
        begin = each.end()
    yield answer[begin:]


def has_numbers(sentence: str, passage: str) -> bool:
    """Return whether a passage has all numbers of a sentence."""
    there = set(_NUMBER.findall(passage))
    return all(number in there for number in _NUMBER.findall(sentence))


def shared_words(sentence: str, passage: str) -> float:
    """Return the share of the longer words of a sentence that a passage has, from 0 to 1.

    A word counts as there if a word of the passage begins like it.
    """
    words = {
        word
        for word in tokenizer.split(sentence.lower(), segmented=False)
        if len(word) >= _SHORTEST
    }
    if not words:
        return 1.0
    there = " ".join(["", *tokenizer.split(passage.lower(), segmented=False)])
    begins = {word[: max(_SHORTEST, len(word) - 3)] for word in words}
    return sum(f" {each}" in there for each in begins) / len(begins)
