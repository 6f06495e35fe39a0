"""Lines that have words of a query and answer nothing: front matter, links, imports, data."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from qmd.patterns import pattern

_LINKS = pattern(
    r"^\s*+\[[^\[\]]++\]:\s*+\S.*+"  # a definition: [label]: target "title"
    r"|!?\[\[[^\[\]]*+\]\]"
    r"|!?\[[^\[\]]*+\](?:\([^()]*+(?:\([^()]*+\)[^()]*+)?\)|\[[^\[\]]*+\])"
    r"|<?[a-z]{3,8}://[^\s<>]++>?"
)
_PROSE = pattern(r"[^\[:]*?[^\W\d_][^\[:]*? ")
"""Start of a line with a word that no link has: before any bracket, and no part of an address."""

_LETTER = pattern(r"[^\W\d_]")
_WORD = pattern(r"\w+")
_LEADERS = pattern(r"(?<![.…])[.…]{4,}+\s*+\d++\s*+$")
_IMPORT = pattern(
    r"\s*+(?:"
    r"import\s+(?:static\s+)?[\w.*]++(?:\s+as\s+\w++)?(?:\s*,\s*[\w.]++(?:\s+as\s+\w++)?)*+\s*+;?\s*+$"
    r"|import\s[^'\"]{0,200}+['\"]"
    r"|from\s+[\w.]++\s+import\s+[\w*(]"
    r"|#\s*(?:include|pragma)\b|#!"
    r"|using\s+(?:namespace\s+|static\s+)?[\w.:]++\s*+(?:=[^;]++)?;"
    r"|(?:pub\s+)?use\s+[\w:\\]++(?:\{[^}]*+\}|\s+as\s+\w++|\s+qw\b[^;]*+)?+\s*+;\s*+$"
    r"|(?:pub\s+)?mod\s+\w++;"
    r"|extern\s+crate\s"
    r"|package\s+[\w.]++\s*+;?\s*+$"
    r"|(?:const|let|var)\s[^=]{1,200}+=\s*require\("
    r"|require(?:_relative|_once)?\s*\(?\s*['\"]"
    r"|['\"]use strict['\"]"
    r"|<\?php\s*$"
    r")"
)
_OPENINGS = tuple(
    """
    import from using use pub mod extern package const let var require <?php 'use "use #!
    """.split()
)
"""Starts of lines that `_IMPORT` matches: nearly all lines do without the pattern."""

_RIGHTS = pattern(
    r"\W*+(?:SPDX-License-Identifier\b|All rights reserved\b|Copyright\s*(?:\(c\)|©|\d{4}))",
    re.IGNORECASE,
)
_RULE = ("---", "...")

LINE_RUN, LONGEST_RUN, STRETCH = 40, 80, 400
"""Characters of a line, of one of its words and of all of them from which on it may have data."""

_LONG_WORD = pattern(rf"\S{{{LONGEST_RUN}}}")

DENSE = 11
"""Characters of a word and its blank on the average from which on a long line may be minified."""


def frontmatter_lines(lines: Sequence[str]) -> int:
    """Count the lines of the front matter that a text begins with, rules included."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    rest = (at for at in range(1, len(lines)) if lines[at].rstrip() in _RULE)
    return next(rest, -1) + 1


def is_poor(line: str, asked: Callable[[str], object]) -> bool:
    """Check that a line is only links, an entry of a table of contents, or boilerplate of code.

    Args:
        asked: whether a word is one of the query; an import whose keyword is asked for is an
            answer.
    """
    if _is_only_links(line):
        return True
    if ("...." in line or "……" in line) and _LEADERS.search(line):
        return True
    if ("right" in line or "RIGHT" in line or "SPDX" in line) and _RIGHTS.match(line):
        return True
    if not _may_import(line) or not _IMPORT.match(line):
        return False
    first = _WORD.search(line)
    return not (first and asked(first[0]))


def _may_import(line: str) -> bool:
    begin = line.lstrip()
    if begin[:1] == "#" and begin[1:2] != "!":  # most are headings
        return "include" in begin or "pragma" in begin
    return begin.startswith(_OPENINGS)


def _is_only_links(line: str) -> bool:
    if ("]" not in line and "://" not in line) or _PROSE.match(line):
        return False
    rest = _LINKS.sub("", line)
    if "](" in rest:
        rest = _LINKS.sub("", rest)  # an image can be a link
    return len(rest) < len(line) and not _LETTER.search(rest)


def share_of_links(lines: Sequence[str]) -> float:
    """Compute the share of the lines with words that are only links, 0 to 1."""
    wordy = [line for line in lines if _LETTER.search(line)]
    return sum(map(_is_only_links, wordy)) / len(wordy) if wordy else 0.0


def data_elided(text: str) -> str:
    """Replace data, such as base64, by an ellipsis. See `text/machine_data.py`."""
    return _elided(text) if _may_have_data(text) else text


def is_in_data(line: str, found_in: Callable[[str], object]) -> bool:
    """Check that the words of the query are in data, which is not indexed.

    Args:
        found_in: tells the words of the query in a text.
    """
    words = data_elided(line)
    return words is not line and words != line and not found_in(words)


def _elided(text: str) -> str:
    from qmd.text import machine_data

    if machine_data.is_encoded(text):
        return "…"
    return machine_data.elided(text) if machine_data.may_be_in(text) else text


def _may_have_data(text: str) -> bool:
    """Check lengths: most lines do without the patterns of data."""
    length = len(text)
    if length < LINE_RUN:
        return False
    if length < STRETCH and " " in text.strip():  # of several words
        return length >= LONGEST_RUN and _has_long_word(text)
    parts = text.split()
    if len(parts) == 1:
        return "://" not in text and text.isascii()
    if _has_long_word(text):
        return True
    return len(text) >= STRETCH and (
        len(parts) < len(text) / DENSE or sum(map(text.count, "0123456789")) > len(text) / 4
    )


def _has_long_word(text: str) -> bool:
    """Check for a word of `LONGEST_RUN` characters: from blank to blank, as far as they are."""
    at = 0
    while at + LONGEST_RUN <= len(text):
        blank = text.rfind(" ", at, at + LONGEST_RUN)
        if blank < 0:
            return _LONG_WORD.search(text, at) is not None
        at = blank + 1
    return False
