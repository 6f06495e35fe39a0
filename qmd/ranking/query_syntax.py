"""Fields, prefixes, OR and parentheses of keyword queries.

title:tea path:docs/api tag:draft type:pdf lang:de after:2025-03 before:7d    limit the documents
-tag:draft title:"green tea"                                                    negated, quoted
conf*                                  words that begin so, from three letters on
"green tea" OR coffee (a OR b) c       a document has to have one of those that OR joins
tea AND milk                           and both of those that AND joins

OR joins what stands right beside it. What is none of these is ordinary text: another word before
a colon (`std::vector`, `http://x`, `10:30`), a parenthesis inside of a word (`foo(bar)`) or without
its other half, OR in a text that is all in capitals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from qmd.errors import QueryError
from qmd.named_tuple import NamedTuple
from qmd.ranking import query_parts as parts_of
from qmd.ranking.query_fields import test_of_field
from qmd.ranking.query_parts import FIELDS, Phrase, Prefix, Structure, sequence_of
from qmd.text import tokenizer
from qmd.types import Clause, Filter

MOST = 100
"""Fields, words and phrases that a query may join: each is looked up by itself."""

DEEPEST = 20
"""Parentheses inside one another; more are text."""

PREFIX = 3
"""Letters from which on a prefix stands for longer words: so many find them in the index."""

_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<minus>-(?![-\s]))?(?:"
    rf'(?<![^\s(-])(?P<field>{"|".join(FIELDS)}):(?!:)(?:"(?P<given>[^"]*)"|(?P<value>[^\s"]+))'
    r'|"(?P<phrase>[^"]*)"|(?P<open>\()|(?P<plain>[^\s"]+))'
)


Operator = Literal["and", "or", "not"]

Test = Clause | Filter | Phrase | Prefix
"""Condition on a document."""


class Token(NamedTuple):
    """Part of a query.

    Attributes:
        kind: `(`, `)`, `OR`, `AND`, `phrase`, `prefix`, `plain` or the name of a field.
        text: between the quotes, or after the field.
        negated: a minus stands before it.
        quoted: the value of a field stands in quotes.
    """

    kind: str
    text: str
    negated: bool = False
    quoted: bool = False


class QueryPiece(NamedTuple):
    """Part of a query.

    Attributes:
        ranked: what is searched, each token with whether a document may lack it all the same:
            phrases that OR joins.
        test: what documents have to fulfil besides; None: nothing.
    """

    ranked: tuple[tuple[Token, bool], ...] = ()
    test: Test | None = None


def tokens_of(query: str) -> list[Token]:
    """Split a query; parentheses without their other half are text."""
    found = list(_tokens(query, grouping=True))
    depth = 0
    for each in found:
        depth += (each.kind == "(") - (each.kind == ")")
        if not 0 <= depth <= DEEPEST:
            break
    return found if depth == 0 else list(_tokens(query, grouping=False))


def _tokens(query: str, *, grouping: bool) -> Iterator[Token]:
    at = 0
    starts = True  # a parenthesis opens only where a word could begin
    while at < len(query):
        match = _TOKEN.match(query, at)
        if match is None:  # an odd quote, which is refused elsewhere
            at += 1
            continue
        at = match.end()
        negated = match["minus"] is not None
        if match["space"]:
            starts = True
            continue
        if match["open"]:
            if grouping and starts:
                yield Token("(", "", negated)
                continue
            rest = re.compile(r'[^\s"]+').match(query, match.start("open"))
            assert rest is not None
            at = rest.end()
            text = rest[0]
        else:
            text = match["plain"] or match["value"] or ""
        closing = _closing(text) if grouping else 0
        text = text[: len(text) - closing]
        quoted = match["given"] is not None
        if match["field"] and (text or quoted):
            yield Token(match["field"], match["given"] if quoted else text, negated, quoted)
        elif match["phrase"] is not None:
            yield Token("phrase", match["phrase"], negated)
        elif text in ("OR", "AND") and not negated:
            yield Token(text, text)
        elif begin := _prefix(text):
            yield Token("prefix", begin, negated)
        elif text:
            yield Token("plain", text, negated)
        yield from [Token(")", "")] * closing
        starts = False


def _prefix(text: str) -> str | None:
    """Return the beginning in a word such as `conf*`, folded; None for any other word."""
    if not text.endswith("*") or not tokenizer.is_run(text[:-1]):
        return None
    if any(map(tokenizer.is_gram, text[:-1])):
        return None
    begin = tokenizer.fold(text[:-1])
    return begin if len(begin) >= PREFIX else None


def _closing(text: str) -> int:
    """Count the parentheses at the end of a word that are not opened in it."""
    last = len(text) - len(text.rstrip(")"))
    return max(0, min(last, text.count(")") - text.count("(")))


class Parser:
    """Parser of a query with fields, prefixes, OR or parentheses.

    Raises:
        QueryError: the value of a field cannot be read.
    """

    def __init__(self, query: str) -> None:
        self._tokens = tokens_of(query)
        self._at = 0
        plain = [each for each in self._tokens if each.kind not in ("OR", "AND")]
        letters = "".join(each.text for each in plain)
        self._shouting = all(each.kind == "plain" for each in plain) and letters.isupper()

    def read(self) -> QueryPiece:
        """Read the query."""
        return _together(self._sequence())

    def _sequence(self) -> list[QueryPiece]:
        """Read parts up to the end or a closing parenthesis."""
        found: list[QueryPiece] = []
        joined = False
        while (token := self._peek()) is not None and token.kind != ")":
            if token.kind in ("OR", "AND"):
                self._at += 1
                joined = token.kind == "AND" and bool(found) and not self._shouting
                if joined:
                    found[-1] = _required(found[-1])
                continue
            piece = self._alternatives()
            found.append(_required(piece) if joined else piece)
            joined = False
        return found

    def _alternatives(self) -> QueryPiece:
        """Read what OR joins."""
        parts = [self._part()]
        while self._is_or():
            self._at += 1
            parts.append(self._part())
        if len(parts) == 1:
            return parts[0]
        tests = tuple(test for each in parts if (test := _test_of(each)) is not None)
        ranked = [token for each in parts for token, _ in each.ranked if not token.negated]
        return QueryPiece(tuple((token, True) for token in ranked), _clause("or", tests))

    def _is_or(self) -> bool:
        after = self._tokens[self._at + 1 : self._at + 2]
        token = self._peek()
        return (
            token is not None
            and token.kind == "OR"
            and not self._shouting
            and bool(after)
            and after[0].kind not in (")", "OR", "AND")
        )

    def _peek(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _part(self) -> QueryPiece:
        token = self._tokens[self._at]
        self._at += 1
        if token.kind == "(":
            inside = _together(self._sequence())
            self._at += 1  # the closing parenthesis
            return _negated(inside) if token.negated else inside
        if token.kind in FIELDS:
            test = test_of_field(token.kind, token.text, quoted=token.quoted)
            return QueryPiece((), Clause("not", (test,)) if token.negated else test)
        if token.kind == "prefix" and token.negated:
            return QueryPiece((), Clause("not", (Prefix(token.text),)))
        return QueryPiece(((token, False),))


def _together(parts: list[QueryPiece]) -> QueryPiece:
    """Join parts that stand side by side."""
    tests = tuple(each.test for each in parts if each.test is not None)
    return QueryPiece(
        tuple(token for each in parts for token in each.ranked), _clause("and", tests)
    )


def _negated(inside: QueryPiece) -> QueryPiece:
    """Leave out what matches a parenthesis."""
    test = _test_of(inside)
    return QueryPiece() if test is None else QueryPiece((), Clause("not", (test,)))


def _required(piece: QueryPiece) -> QueryPiece:
    """Make a document have what a part searches."""
    return piece._replace(test=_test_of(piece))


def _test_of(piece: QueryPiece) -> Test | None:
    """Return what a document has to fulfil to match a part; None: anything does."""
    tests = [] if piece.test is None else [piece.test]
    for token, is_optional in piece.ranked:
        test = None if is_optional else _test_of_token(token)
        if test is not None and test not in tests:
            tests.append(Clause("not", (test,)) if token.negated else test)
    return _clause("and", tuple(tests))


def _test_of_token(token: Token) -> Test | None:
    if token.kind == "prefix":
        return Prefix(token.text)
    elements = sequence_of(token.text)
    return Phrase(elements, None if token.kind == "phrase" else ()) if elements else None


def _clause(operator: Operator, tests: tuple[Test, ...]) -> Test | None:
    if len(tests) < 2:
        return tests[0] if tests else None
    return Clause(operator, tests)


def split_tests(test: Test | None) -> tuple[tuple[Test, ...], tuple[Test, ...]]:
    """Split what a document has to fulfil into tests of fields alone, and others."""
    if test is None:
        return (), ()
    each_of = test.parts if isinstance(test, Clause) and test.operator == "and" else (test,)
    fields = tuple(each for each in each_of if _is_of_fields(each))
    return fields, tuple(each for each in each_of if each not in fields)


def _leaves(test: object) -> int:
    return sum(map(_leaves, test.parts)) if isinstance(test, Clause) else 1


def _is_of_fields(test: object) -> bool:
    if isinstance(test, Clause):
        return all(map(_is_of_fields, test.parts))
    return isinstance(test, Filter)


def structure(query: str) -> Structure | None:
    """Read a query; None: it is words, phrases and exclusions alone.

    Raises:
        QueryError: the value of a field cannot be read, or it joins too much.
    """
    found = Parser(query).read()
    if _leaves(found.test) > MOST or sum(each.kind == "prefix" for each, _ in found.ranked) > MOST:
        raise QueryError(
            f"The query joins more than {MOST} words and fields.\n\nAsk for less at once."
        )
    fields, tests = split_tests(found.test)
    prefixes = tuple(each.text for each, _ in found.ranked if each.kind == "prefix")
    searched = [(each, is_optional) for each, is_optional in found.ranked if each.kind != "prefix"]
    tokens = tuple(
        parts_of.QueryToken(
            each.text, each.negated, each.kind == "phrase", is_optional, written=each.text
        )
        for each, is_optional in searched
    )
    if not (fields or tests or prefixes):
        return None
    text = " ".join(each.text for each, _ in found.ranked if not each.negated)
    return Structure(tokens, prefixes, fields, tests, text)
