"""Fields of keyword queries, such as `tag:draft`, as filters of documents."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime

from qmd.errors import QueryError, UsageError
from qmd.text import globs, kinds, tokenizer
from qmd.text.dates import DAYS, named_day
from qmd.types import Clause, Condition, Filter

LONGEST = 200
"""Characters of a value."""


def test_of_field(field: str, value: str, *, quoted: bool) -> Filter | Clause:
    """Return the filter that a field means.

    Raises:
        QueryError: the value cannot be read.
    """
    if len(value) > LONGEST:
        raise QueryError(f"{field}: has more than {LONGEST} characters.\n\nName a part of it.")
    begins = not quoted and value.endswith("*")
    value = value.rstrip("*").strip() if begins else value.strip()
    if not value:
        raise QueryError(
            f"{field}: has no value.\n\nWrite one behind the colon, or the text in quotes: "
            f'"{field}:{value}".'
        )
    match field:
        case "after":
            return Filter(since=_day(field, value))
        case "before":
            return Filter(before=_day(field, value))
        case "title":
            return Filter(title=_title(value, begins=begins, exact=quoted))
        case "path":
            return Filter(path=_path(value + "*" * begins))
        case "tag":
            return Filter(tag=re.escape(value.lstrip("#").lower()) + (".*" if begins else "(/.*)?"))
        case "type":
            return _type(value)
    return _equals(field, value)


def _day(field: str, value: str) -> datetime:
    found = named_day(value)
    if found is None:
        raise QueryError(
            f"{field}: takes a date such as {DAYS}, not '{value}'.\n\n"
            f'To search for the text, put it in quotes: "{field}:{value}".'
        )
    return found


def _path(value: str) -> str:
    try:
        return globs.under_folder(value)
    except UsageError as error:
        raise QueryError(
            f'path: {error}\n\nTo search for the text, put it in quotes: "path:{value}".'
        ) from error


def _title(value: str, *, begins: bool, exact: bool) -> str:
    """Return a regular expression for folded titles: words beside one another.

    The last word may go on, as words of a query may, unless it stands in quotes.
    """
    spelt = "".join(each if each != "_" and tokenizer.is_run(each) else " " for each in value)
    words = [_unmarked(tokenizer.fold(word)) for word in spelt.split()]
    if not words:
        raise QueryError(
            f"title: has no word in '{value}'.\n\nName a word of the title, such as title:tea."
        )
    pattern = r"[^\pL\pM\pN]+".join(map(re.escape, words))
    # Scripts without blanks have no beginnings of words.
    spaced = not any(tokenizer.is_gram(mark) for mark in words[0][:1])
    start = r"(?:^|[^\pL\pM\pN])" if spaced else ""
    return start + pattern + (r"(?:$|[^\pL\pM\pN])" if exact and spaced and not begins else "")


def _unmarked(word: str) -> str:
    """Remove all marks of letters, as DuckDB's strip_accents does: those of Hindi, too."""
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFD", word)
    bare = "".join(each for each in apart if unicodedata.category(each)[0] != "M")
    return unicodedata.normalize("NFC", bare)


def _type(value: str) -> Filter | Clause:
    """Return the test of a type: of a suffix, a kind of file, or of `type` in the front matter."""
    asked = value.lower().removeprefix(".")
    suffixes = {
        suffix
        for kind in kinds.KINDS
        if kind.name.lower() == asked
        for suffix in kind.suffixes.split()
    }
    suffixes |= {f".{asked}"}
    ends = "|".join(sorted(re.escape(each[1:]) for each in suffixes))
    return Clause("or", (Filter(path=rf"(?is:.*\.(?:{ends}))"), _equals("type", value)))


def _equals(key: str, value: str) -> Filter:
    """Return the filter for a value of the front matter, whatever its case."""
    return Filter(conditions=(Condition(f'$."{key}"', "==", value, quoted=True),))
