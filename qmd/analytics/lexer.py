"""Lexer of SQL text, by DuckDB's tokenizer: statement end, parameters, EXPLAIN."""

from __future__ import annotations

import re

import _duckdb

from qmd.errors import SqlError
from qmd.named_tuple import NamedTuple

NO_QUERY = 'There is no query.\n\nTry: qmd sql "from documents limit 5"'

_SPACES = " \t\n\f\r\u200b\u202f\u205f\u2060\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
"""Characters that the parser reads as spaces; the tokenizer knows those of ASCII only."""

_BEGINNINGS = ("select", "from", "with", "values", "describe", "show", "summarize", "table", "(")

_LONGEST = 32
"""Bytes of a token that are examined: no keyword is longer."""

_TOKEN = re.compile(r"\w+|.", re.S)
_PARAMETER = re.compile(rb"\$([\w\x80-\xff]+)")


class _Token(NamedTuple):
    """A token; `start` is in bytes."""

    text: str
    start: int


def is_ended(text: str) -> bool:
    """Check that a text ends with a `;` outside of strings and comments."""
    found = tokens(text)
    return bool(found) and found[-1].text == ";"


def tokens(text: str) -> list[_Token]:
    """List the tokens of a text up to the first invalid one, without comments."""
    data = text.encode()
    starts = [start for start, _ in _duckdb.tokenize(text)]
    words = (data[start : start + _LONGEST].decode(errors="replace") for start in starts)
    return [
        _Token(_TOKEN.match(word)[0], start)  # type: ignore[index]
        for word, start in zip(words, starts, strict=True)
    ]


def parameters(text: str) -> frozenset[str]:
    """List the names or numbers of parameters, in lower case as DuckDB compares them."""
    data = text.encode()
    places = (token.start for token in tokens(text) if token.text == "$")
    named = (_PARAMETER.match(data, place) for place in places)
    return frozenset(found[1].decode().lower() for found in named if found)


def only_statement(text: str) -> str:
    """Return the only statement of a text.

    Raises:
        SqlError: there is none, or several.
    """
    data = text.encode()
    parts = [0]
    for token in tokens(text):
        if token.text == ";":
            parts += [token.start, token.start + 1]
    parts.append(len(data))
    pieces = [data[parts[at] : parts[at + 1]].decode() for at in range(0, len(parts), 2)]
    statements = [piece for piece in pieces if tokens(piece.strip(_SPACES))]
    if not statements:
        raise SqlError(NO_QUERY)
    if len(statements) > 1:
        raise SqlError("One query runs at a time. Leave out what comes after the first ';'.")
    return statements[0]


def has_options(query: str) -> bool:
    """Check that options follow EXPLAIN, which may be in parentheses."""
    first, second = ([token.text.lower() for token in tokens(query)] + ["", ""])[:2]
    return (first == "(" and second not in _BEGINNINGS) or first == "verbose"


def after_explain(query: str, token: _Token) -> str:
    """Return the query that follows EXPLAIN.

    Args:
        token: the last word of it.

    Raises:
        SqlError: nothing does.
    """
    rest = query.encode()[token.start + len(token.text.encode()) :].decode()
    if not tokens(rest):
        raise SqlError("EXPLAIN what? Put a query behind it.")
    return rest
