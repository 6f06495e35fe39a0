"""Query documents: one plain line, or typed lines.

how do we keep people          keyword and vector search, with expansion
lex: "staff turnover" -intern  keyword search
vec: why do people leave       vector search
hyde: People leave because …   vector search with a hypothetical answer
intent: human resources        steers reranking and snippets, never searches
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

from qmd.errors import QueryError
from qmd.named_tuple import NamedTuple
from qmd.ranking.query import NOTHING_TO_FIND, text_and_fields
from qmd.ranking.query import parse as parse_lexical

Kind = Literal["lex", "vec", "hyde"]

MOST = 10
"""Searches of one query document. Source: tobi/qmd (MIT)."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_TYPED = re.compile(r"\s*(lex|vec|hyde|intent|expand):(.*)", re.IGNORECASE)


class Search(NamedTuple):
    """A typed line of a query document.

    Attributes:
        text: to search for; of `vec:` and `hyde:` without its fields.
        line: that it stands on, from 1.
        fields: filters of what this search finds, such as `tag:draft`; a `lex:` line has its own.
        written: the text with its fields; None: it has none.
    """

    kind: Kind
    text: str
    line: int = 1
    fields: tuple[Any, ...] = ()
    written: str | None = None


class Question(NamedTuple):
    """A parsed query document.

    Attributes:
        searches: as they were typed; none, if the question is plain.
        plain: the question in one line, or None.
    """

    searches: tuple[Search, ...] = ()
    plain: str | None = None
    intent: str | None = None

    @property
    def document(self) -> str:
        """The question as a query document."""
        if self.plain is not None:
            return self.plain
        lines = [f"{each.kind}: {each.written or each.text}" for each in self.searches]
        return "\n".join(lines + ([f"intent: {self.intent}"] if self.intent else []))

    @property
    def texts(self) -> list[str]:
        """Texts of the query; hypothetical passages only if there is nothing else."""
        if self.plain is not None:
            return [self.plain]
        asked = [each.text for each in self.searches if each.kind != "hyde"]
        return asked or [each.text for each in self.searches]


def parse(document: str) -> Question:
    """Read a query document.

    Raises:
        QueryError: what is wrong, with the line.

    Source:
        wording of tobi/qmd (MIT), src/cli/qmd.ts, parseStructuredQuery.
    """
    if any("\ud800" <= mark <= "\udfff" for mark in document):
        raise QueryError("The query is not valid Unicode text.")
    lines = [
        (number, line.strip())
        for number, line in enumerate(_LINE_END.split(document.lstrip("\ufeff")), start=1)
        if line.strip()
    ]
    if not lines:
        raise QueryError(NOTHING_TO_FIND)
    if len(lines) == 1:
        typed = _TYPED.fullmatch(lines[0][1])
        if typed is None or typed[1].lower() == "expand":
            return _plain(lines[0][1] if typed is None else typed[2], lines[0][0])
    searches: list[Search] = []
    intent: str | None = None
    for number, line in lines:
        typed = _TYPED.fullmatch(line)
        if typed is None:
            raise QueryError(
                f"Line {number} is missing a lex:/vec:/hyde:/intent: prefix. "
                "Each line in a query document must start with one."
            )
        kind, text = typed[1].lower(), typed[2].strip()
        if kind == "expand":
            raise QueryError(
                f"Line {number} starts with expand:, but query documents cannot mix expand with "
                "typed lines. Submit a single expand query instead."
            )
        if kind == "intent":
            if intent is not None:
                raise QueryError(
                    f"Line {number}: only one intent: line is allowed per query document."
                )
            intent = text
        if not text:
            raise QueryError(f"Line {number}: {kind}: must include text.")
        if kind in ("lex", "vec", "hyde"):
            searches.append(Search(kind, text, number))  # type: ignore[arg-type]  # one of these
    return Question(_checked(searches), None, intent)


def typed(searches: Sequence[Search]) -> Question:
    """Build a query document from typed searches.

    Raises:
        QueryError: one cannot be read.
    """
    return Question(_checked(list(searches)))


def _plain(text: str, number: int) -> Question:
    if not text.strip():
        raise QueryError(f"Line {number}: expand: must include text.")
    return Question((), text.strip())


def _checked(searches: list[Search]) -> tuple[Search, ...]:
    """Validate the searches.

    Raises:
        QueryError: one cannot, or there are none, or too many.
    """
    if not searches:
        raise QueryError(
            "intent: cannot stand alone.\n\nAdd at least one lex:, vec: or hyde: line."
        )
    if len(searches) > MOST:
        raise QueryError(f"A query document has at most {MOST} searches; this one {len(searches)}.")
    return tuple(map(_read, searches))


def _read(search: Search) -> Search:
    """Check a search, and split a semantic one into its text and its fields.

    Raises:
        QueryError: it cannot be read.
    """
    try:
        if search.kind == "lex":
            parse_lexical(search.text)
            return search
        text, fields = text_and_fields(search.text)
    except QueryError as error:
        raise QueryError(f"Line {search.line} ({search.kind}): {error}") from error
    return search._replace(text=text, fields=fields, written=search.text) if fields else search
