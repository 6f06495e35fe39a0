"""Keyword queries: words, "phrases", -exclusions.

error handling        documents with either word, best first
"error handling"      documents with exactly this, in this order
error -timeout        not those with the other word; also -"exact phrase"
parse_json a.b/c-d    names match as they are written: their parts form a phrase
"""

from __future__ import annotations

import re
from typing import NamedTuple

from qmd.errors import QueryError
from qmd.text import tokenizer as words

NEWLINE = (
    "Lex queries must be a single line. "
    "Remove newline characters or split into separate lex: lines."
)
UNMATCHED_QUOTE = 'Lex query has an unmatched double quote ("). Add the closing quote or remove it.'
ONLY_EXCLUSIONS = (
    "The query only says what to leave out.\n\nAdd a word to look for, such as 'error -timeout'."
)
NOTHING_TO_FIND = "The query has no words to look for."
NEGATION_IN_MEANING = (
    "Negation (-term) is not supported in vec/hyde queries. Use lex for exclusions."
)

_TOKEN = re.compile(r'(?P<minus>-(?!-))?(?:"(?P<phrase>[^"]*)"|(?P<plain>[^\s"]+))')
EXCLUSION = re.compile(r'(?:^|\s)-(?:"[^"]*"|[^\s"-][^\s"]*)')
"""Exclusions of a query: `-word` or `-"phrase"`; but `--force` is a word."""

_NEGATION = re.compile(r'(?:^|\s)-[\w"]')

STOP_WORDS = frozenset(
    """
    a about above after again against all also am an and any are as at be because been before
    being below between both but by can cannot could did do does doing down during each few for
    from further get gets got had has have having he her here hers herself him himself his how i
    if in into is it its itself just let me more most my myself no nor not of off on once only
    or other our ours ourselves out over own same she should so some such than that the their
    theirs them themselves then there these they this those through to too under until up upon
    us very was we were what when where which while who whom whose why will with within without
    would you your yours yourself yourselves s t d ll m re ve don
    """.split()
)
"""English stop words; `don`, `ll`, `s`, `t` remain of don't, we'll, it's.

A query of stop words alone searches for them.
"""

Element = tuple[str, int]
"""A folded word and its place within a phrase, from 0."""


class Phrase(NamedTuple):
    """Words that stand next to one another.

    Attributes:
        elements: never empty.
        spare: words to look for instead if the index has no such phrase: names that are
            made of several words. None for a phrase in quotes, which has to be there.
    """

    elements: tuple[Element, ...]
    spare: tuple[str, ...] | None = None


class Query(NamedTuple):
    """A parsed keyword query.

    Attributes:
        words: folded, in order, with repetitions: each counts.
        grams: of `words`, those that no longer word can stand for.
        exact: no other word stands for one that no document has.
    """

    words: tuple[str, ...]
    grams: frozenset[str]
    phrases: tuple[Phrase, ...]
    excluded: tuple[Phrase, ...]
    exact: bool = False


def check_lexical(query: str) -> str | None:
    """Return the reason for an invalid keyword query, or None.

    Source: wording of tobi/qmd (MIT), src/store.ts, validateLexQuery.
    """
    if "\n" in query or "\r" in query:
        return NEWLINE
    if query.count('"') % 2:
        return UNMATCHED_QUOTE
    return None


def check_semantic(query: str) -> str | None:
    """Return the reason for an invalid semantic query, or None.

    Source: wording of tobi/qmd (MIT), src/store.ts, validateSemanticQuery.
    """
    return NEGATION_IN_MEANING if _NEGATION.search(query) else None


def content_words(question: str) -> dict[str, str]:
    """Extract the content words of a question, folded, each standing for itself."""
    folded = [piece for raw in words.split(question) for piece, _ in words.pieces(raw)[1]]
    return {word: word for word in folded if word not in STOP_WORDS}


def plain_words(text: str) -> list[str]:
    """Split any text into distinct folded words, with the parts of names and pairs of a run.

    Without stop words, unless there are no others. No mark has a meaning, so nothing is refused.
    """
    asked = list(dict.fromkeys(word for word, _ in _sequence(words.split(text))))
    return [word for word in asked if word not in STOP_WORDS] or asked


def parse(query: str, *, exact: bool = False) -> Query:
    """Read a keyword query.

    Args:
        exact: look for words as they are written, also for those that no document has.

    Raises:
        QueryError: an odd quote, a line break, or nothing to look for.
    """
    problem = check_lexical(query)
    if problem:
        raise QueryError(problem)
    wanted: list[str] = []
    grams: set[str] = set()
    phrases: list[Phrase] = []
    excluded: list[Phrase] = []
    for token in _TOKEN.finditer(query):
        quoted = token["phrase"] is not None
        raw = words.split(token["phrase"] if quoted else token["plain"])
        sequence = _sequence(raw)
        if not sequence:
            continue
        if token["minus"]:
            excluded.append(Phrase(sequence))
        elif quoted:
            phrases.append(Phrase(sequence))
        else:
            for name in _names(raw):
                _look_for(name, wanted, grams, phrases)
    if not wanted and not phrases:
        raise QueryError(ONLY_EXCLUSIONS if excluded else NOTHING_TO_FIND)
    without_stops = [word for word in wanted if word not in STOP_WORDS]
    if without_stops or phrases:
        wanted = without_stops
    return Query(tuple(wanted), frozenset(grams), tuple(phrases), tuple(excluded), exact)


def _look_for(name: list[str], wanted: list[str], grams: set[str], phrases: list[Phrase]) -> None:
    """Add a word, the grams of a run, or a name made of several words."""
    pieces = [folded for word in name for folded, _ in words.pieces(word)[1]]
    if not pieces:
        return
    if words.is_gram(name[0]):
        wanted.extend(pieces)
        grams.update(pieces)
        return
    sequence = _sequence(name)
    if len(name) == 1:
        whole = words.fold(name[0])
        wanted.append(whole)
        if len(sequence) > 1:
            phrases.append(Phrase(sequence, spare=tuple(word for word, _ in sequence)))
    else:
        phrases.append(Phrase(sequence, spare=tuple(dict.fromkeys(pieces))))


def _names(raw: list[str]) -> list[list[str]]:
    """Group the words of one token: n-grams together, other words together."""
    names: list[list[str]] = []
    for word in raw:
        if names and words.is_gram(names[-1][0]) == words.is_gram(word):
            names[-1].append(word)
        else:
            names.append([word])
    return names


def _sequence(raw: list[str]) -> tuple[Element, ...]:
    """Convert raw words to elements of a phrase: parts of identifiers, pairs of a run."""
    elements: list[Element] = []
    place = 0
    for at, word in enumerate(raw):
        width, parts = words.pieces(word)
        if words.is_gram(word):
            follows_pair = at > 0 and len(raw[at - 1]) == 2 and words.is_gram(raw[at - 1])
            if len(word) == 2 or not follows_pair:
                elements.append((parts[-1][0], place))
        elif len(parts) > 1:
            elements += [(folded, place + shift) for folded, shift in parts[1:]]
        else:
            elements += [(folded, place + shift) for folded, shift in parts]
        place += width
    return tuple(elements)
