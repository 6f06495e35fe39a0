"""Parts of keyword queries: phrases, prefixes, tokens."""

from __future__ import annotations

from typing import Any

from qmd.named_tuple import NamedTuple
from qmd.text import tokenizer as words

FIELDS = ("title", "path", "tag", "type", "lang", "after", "before")
"""Words that limit the documents of a query, before a colon."""

Element = tuple[str, int]
"""A folded word and its place within a phrase, from 0."""


class Phrase(NamedTuple):
    """Words that stand next to one another.

    Attributes:
        elements: never empty.
        spare: words to look for instead if the index has no such phrase: names that are
            made of several words. None for a phrase in quotes, which has to be there.
        forms: other forms of the name: with a hyphen, with a mark.
    """

    elements: tuple[Element, ...]
    spare: tuple[str, ...] | None = None
    forms: tuple[str, ...] = ()


class Prefix(NamedTuple):
    """Beginning of words, folded."""

    begin: str


class QueryToken(NamedTuple):
    """Word or phrase of a query.

    Attributes:
        is_excluded: documents with it are left out.
        is_phrase: it stands in quotes.
        is_optional: a document may lack the phrase: OR joins it with something else.
        written: with its minus.
    """

    text: str
    is_excluded: bool
    is_phrase: bool
    is_optional: bool = False
    written: str = ""


class Structure(NamedTuple):
    """Fields, prefixes, OR and parentheses of a query.

    Attributes:
        tokens: words and phrases.
        prefixes, fields, tests: see `query.Query`.
        text: of all that is searched, without signs.
    """

    tokens: tuple[QueryToken, ...] = ()
    prefixes: tuple[str, ...] = ()
    fields: tuple[Any, ...] = ()
    tests: tuple[Any, ...] = ()
    text: str = ""

    @property
    def is_searched(self) -> bool:
        """True if a query without words finds something: by a prefix, or by what a field says."""
        return bool(self.prefixes) or any(
            getattr(each, "operator", "") != "not" for each in (*self.fields, *self.tests)
        )


def sequence_of(text: str) -> tuple[Element, ...]:
    """Convert a text to the elements of a phrase."""
    return sequence_in(words.split(text))


def sequence_in(raw: list[str]) -> tuple[Element, ...]:
    """Convert raw words to elements of a phrase: parts of identifiers, pairs of a run."""
    elements: list[Element] = []
    place = 0
    for at, word in enumerate(raw):
        width, parts = words.folded_pieces(word)
        if words.is_joined(word) or words.is_segment(word):
            continue
        if words.is_gram(word):
            if words.is_pair(word) or at == 0 or not words.is_pair(raw[at - 1]):
                elements.append((parts[-1][0], place))
        elif len(parts) > 1:
            elements += [(folded, place + shift) for folded, shift in parts[1:]]
        else:
            elements += [(folded, place + shift) for folded, shift in parts]
        place += width
    return tuple(elements)
