"""Keyword queries: words, "phrases", -exclusions.

error handling        documents with either word, best first
"error handling"      documents with exactly this, in this order
title:tea tag:draft a OR b (a b) conf*    see `query_syntax`
error -timeout        not those with the other word; also -"exact phrase"
parse_json a.b/c-d    names match as they are written: their parts form a phrase
C++ .NET --flag       words with their marks, and below them the same without
-> !=                 documents that contain these symbols, if there is no word
"""

from __future__ import annotations

import re
from typing import Any

from qmd.errors import QueryError
from qmd.named_tuple import NamedTuple
from qmd.patterns import pattern
from qmd.ranking.query_parts import FIELDS, Phrase, QueryToken, Structure, sequence_in
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

_TOKEN = pattern(r'(?P<minus>-(?!-))?(?:"(?P<phrase>[^"]*)"|(?P<plain>[^\s"]+))')
_IN_WORDS = r"[^\x00-/:-@\[-^`{-\x7f]"
EXCLUSION = pattern(rf'(?:^|\s)-(?:"[^"]*"|(?=[^\s"]*{_IN_WORDS})[^\s"-][^\s"]*)')
"""Exclusions of a query: `-word` or `-"phrase"`; but `--force` is a word, and `->` a text."""

_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»＂", '"'))
"""Typographic quotes, which are quotes."""

MOST_TEXTS = 8
"""Texts of symbols that a query without words can have: each is looked for in all documents."""

_STRUCTURED = pattern(
    rf"(?:^|[\s(-])(?:(?:{'|'.join(FIELDS)}):\S|\()|\b(?:OR|AND)\b|(?:\w|[^\x00-\x7f])\*(?:[\s)]|$)"
)
"""Signs of a query that is more than words, phrases and exclusions."""

_SIGNS = (":", "(", "*", "OR", "AND")
"""Texts of which `_STRUCTURED` has one at least: most queries do without the pattern."""

_NEGATION = pattern(r'(?:^|\s)-[\w"]')

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


class Query(NamedTuple):
    """A parsed keyword query.

    Attributes:
        words: folded, in order, with repetitions: each counts.
        grams: of `words`, those that no longer word can stand for.
        exact: no other word stands for one that no document has.
        forms: of some words other ones, which count less: `c` of `c++`.
        accented: of `words`, those that were typed with accents, and how they are spelt.
        texts: of a query without words: symbols to look for as they stand.
        prefixes: beginnings of words, each counted as one word.
        fields: filters, and clauses of filters, all of which a document has to fulfil.
        tests: clauses with phrases, prefixes or words, as well.
    """

    words: tuple[str, ...]
    grams: frozenset[str]
    phrases: tuple[Phrase, ...]
    excluded: tuple[Phrase, ...]
    exact: bool = False
    forms: tuple[tuple[str, str], ...] = ()
    texts: tuple[str, ...] = ()
    accented: tuple[tuple[str, str], ...] = ()
    prefixes: tuple[str, ...] = ()
    fields: tuple[Any, ...] = ()
    tests: tuple[Any, ...] = ()

    @property
    def has_words(self) -> bool:
        """True unless it has nothing but fields."""
        return bool(self.words or self.phrases or self.prefixes or self.tests or self.texts)


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
    folded = [piece for raw in words.split(question) for piece, _ in words.folded_pieces(raw)[1]]
    return {word: word for word in folded if word not in STOP_WORDS}


def plain_words(text: str) -> list[str]:
    """Split any text into distinct folded words, with the parts of names and pairs of a run.

    Without stop words, unless there are no others. No mark has a meaning, so nothing is refused.
    """
    asked = list(dict.fromkeys(word for word, _ in sequence_in(words.split(text))))
    return [word for word in asked if word not in STOP_WORDS] or asked


def parse(query: str, *, exact: bool = False) -> Query:
    """Read a keyword query.

    Args:
        exact: look for words as they are written, also for those that no document has.

    Raises:
        QueryError: an odd quote, a line break, or nothing to look for.
    """
    query = straight(query)
    problem = check_lexical(query)
    if problem:
        raise QueryError(problem)
    structure = structure_of(query)
    read = _Reader(structure or Structure())
    for token in structure.tokens if structure else map(_token, _TOKEN.finditer(query)):
        read.token(token)
    return read.query()._replace(exact=exact)


def _token(found: re.Match[str]) -> QueryToken:
    is_phrase = found["phrase"] is not None
    text = found["phrase"] if is_phrase else found["plain"]
    return QueryToken(
        text, bool(found["minus"]), is_phrase, written=text if is_phrase else found[0]
    )


def structure_of(query: str) -> Structure | None:
    """Read the fields, prefixes, OR and parentheses of a query; None: it has none.

    Raises:
        QueryError: the value of a field cannot be read.
    """
    if not any(sign in query for sign in _SIGNS) or not _STRUCTURED.search(query):
        return None
    from qmd.ranking.query_syntax import structure

    return structure(query)


def text_and_fields(question: str) -> tuple[str, tuple[Any, ...]]:
    """Split a semantic query into the text to embed and its fields, such as `tag:draft`.

    Raises:
        QueryError: it excludes words, has nothing to look for, or a value cannot be read.
    """
    structure = structure_of(question) if question.count('"') % 2 == 0 else None
    if structure is None or not structure.fields:
        problem = check_semantic(question)
        text, fields = question, ()
    else:
        excludes = any(token.is_excluded for token in structure.tokens)
        problem = NEGATION_IN_MEANING if excludes else None
        text, fields = structure.text, structure.fields
    if problem or not text.strip():
        raise QueryError(problem or NOTHING_TO_FIND)
    return text, fields


def straight(query: str) -> str:
    """Replace typographic quotes by straight ones, if they are pairs."""
    if query.isascii():
        return query
    straightened = query.translate(_QUOTES)
    return query if straightened.count('"') % 2 else straightened


class _Reader:
    """Parts of a query, as its tokens are read."""

    def __init__(self, structure: Structure) -> None:
        self._structure = structure
        self._words: list[str] = []
        self._grams: set[str] = set()
        self._phrases: list[Phrase] = []
        self._excluded: list[Phrase] = []
        self._forms: dict[tuple[str, str], None] = {}
        self._texts: dict[str, None] = {}
        self._accented: dict[str, str] = {}

    def query(self) -> Query:
        """Return the query.

        Raises:
            QueryError: there is nothing to look for.
        """
        wanted = self._words
        texts = tuple(self._texts)[:MOST_TEXTS]
        _, prefixes, fields, tests, _ = self._structure
        finds = bool(self._phrases) or self._structure.is_searched
        leaves_out = bool(self._excluded or fields or tests)
        if wanted or self._phrases:
            texts = ()
        elif not finds and (leaves_out or not texts):
            raise QueryError(ONLY_EXCLUSIONS if leaves_out else NOTHING_TO_FIND)
        without_stops = [word for word in wanted if word not in STOP_WORDS]
        if without_stops or finds:
            wanted = without_stops
        forms = tuple((word, other) for word, other in self._forms if word in wanted)
        return Query(
            tuple(wanted),
            frozenset(self._grams),
            tuple(self._phrases),
            tuple(self._excluded),
            forms=forms,
            texts=texts,
            prefixes=prefixes,
            fields=fields,
            tests=tests,
            accented=tuple(self._accented.items()),
        )

    def token(self, token: QueryToken) -> None:
        """Read a word, a name, a phrase in quotes, or what is excluded."""
        raw = words.split(token.text)
        sequence = sequence_in(raw)
        if not sequence:
            if text := token.written.strip():
                self._texts[text] = None
        elif token.is_excluded:
            self._excluded.append(Phrase(sequence))
        elif token.is_phrase:
            self._phrases.append(Phrase(sequence, () if token.is_optional else None))
        else:
            self._plain(raw)

    def _plain(self, raw: list[str]) -> None:
        """Read words between blanks: one word, or a name made of several."""
        before = [word for word in raw if words.comes_before(word)]
        symbols = [word for word in before if words.is_symbol(word)]
        self._words += symbols
        names = _names([word for word in raw if not words.comes_before(word)])
        segments = [words.fold(word) for word in before if words.is_segment(word)]
        self._words += segments
        self._grams.update(segments)
        others = [w for w in map(words.fold, before) if w not in symbols and w not in segments]
        if len(names) == 1 and len(names[0]) == 1 and others:
            whole = words.fold(names[0][0])
            self._words.append(others[0])
            self._forms[others[0], whole] = None
            return
        is_pair = len(names) == 1 and len(names[0]) == 2
        forms = [word for word in others if is_pair or not words.is_joined(word)]
        for name in names:
            self._name(name, tuple(forms))

    def _name(self, name: list[str], forms: tuple[str, ...]) -> None:
        """Read a word, the grams of a run, or a name made of several words."""
        pieces = [folded for word in name for folded, _ in words.folded_pieces(word)[1]]
        if not pieces:
            return
        if words.is_gram(name[0]):
            if any(map(words.is_thai, name)):  # one character is less than a syllable
                pieces = [pair for pair, _ in sequence_in(name)]
            self._words += pieces
            self._grams.update(pieces)
            return
        sequence = sequence_in(name)
        if len(name) > 1:
            spare = tuple(dict.fromkeys(pieces))
            self._phrases.append(Phrase(sequence, spare, forms))
            return
        whole = words.fold(name[0])
        self._words.append(whole)
        if len(sequence) > 1:
            self._phrases.append(Phrase(sequence, spare=tuple(word for word, _ in sequence)))
        if (spelt := words.accented(name[0])) is not None:
            self._accented[whole] = spelt
        respelt = words.respelt(name[0])
        others = words.bare(whole) if respelt is None else (respelt,)
        for other in others:
            self._forms[whole, other] = None


def _names(raw: list[str]) -> list[list[str]]:
    """Group the words of one token: n-grams together, other words together."""
    names: list[list[str]] = []
    for word in raw:
        if names and words.is_gram(names[-1][0]) == words.is_gram(word):
            names[-1].append(word)
        else:
            names.append([word])
    return names
