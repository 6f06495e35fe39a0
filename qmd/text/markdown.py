"""Markdown metadata: title and date, from the front matter and the text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import lru_cache

from qmd.patterns import pattern
from qmd.text import titles
from qmd.text.front_matter import NONE, Frontmatter, frontmatter, is_template, of_export
from qmd.text.kinds import suffix_of
from qmd.text.written_dates import parsed_date

__all__ = ["NONE", "Frontmatter", "frontmatter", "is_template", "parsed_date"]

_MARKDOWN = frozenset({".md", ".markdown", ".mdx", ".mdown", ".mkd", ".qmd", ".rmd", ".txt"})
_NOT_MARKDOWN = ("text ", "csv_rows ", "json_text ")
"""Readers whose texts are not Markdown. The view `marks` has the same."""

_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=str)
_ORG_TITLE = pattern(r"^#\+title:[ \t]*(?P<title>\S[^\r\n]*)", re.M | re.I)
_WRITTEN_TITLE = pattern(
    r"^(?P<indent>[ \t{]*)(?P<quote>[\"']?)title(?P=quote)[ \t]*:\s+"
    r"(?:&\S+\s+)?(?P<value>[^\s,}]+)",
    re.M,
)
_MOST_TITLES = 20
"""Keys of that name, at any depth, that are looked at."""

_DAY_IN_NAME = pattern(
    r"(?<!\d)(?P<year>[12]\d{3})[-_. ]?(?P<month>\d\d)[-_. ]?(?P<day>\d\d)(?:(?:\d\d){2,3})?(?!\d)"
)
"""Day in the name of a file: `2024-05-17`, `20240517`, also with the time: `202405171030`."""

_EXPORTED = pattern(r" [0-9a-f]{32}\.md$")
"""End of the name of a file that Notion exports."""

_DATE_KEYS = (
    "date",
    "created",
    "createdat",
    "createdtime",
    "datecreated",
    "creationdate",
    "published",
    "publishedat",
    "publishdate",
    "pubdate",
    "updated",
    "updatedat",
    "modified",
    "datemodified",
    "lastmodified",
    "lastmodifiedat",
    "lastmod",
    "lasteditedtime",
)
"""Keys of dates in their order, without case, blanks, `-` and `_`."""

_SEPARATORS = str.maketrans("", "", "-_ ")
_EXCALIDRAW = "excalidraw-plugin"
"""Key in the notes of Excalidraw, whose headings are those of its data."""

_SHOWN = 60
"""Characters of a value in a message."""


def is_markdown(path: str) -> bool:
    """Check that the file name is that of a Markdown file."""
    return suffix_of(path) in _MARKDOWN


def metadata_json(metadata: dict[str, object]) -> str | None:
    """Serialize metadata as JSON, or None if there is none."""
    if not metadata:
        return None
    try:
        return _JSON.encode(metadata)
    except (ValueError, TypeError):
        return json.dumps(_storable(metadata), ensure_ascii=False, default=str)


def _storable(value: object) -> object:
    """Replace values that JSON cannot hold."""
    if isinstance(value, dict):
        return {str(key): _storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def of_document(text: str, path: str) -> Frontmatter:
    """Parse the front matter of a document; a file that is not Markdown has none."""
    if not is_markdown(path):
        return NONE
    found = frontmatter(text)
    if not found.end and _EXPORTED.search(path):
        return Frontmatter(of_export(text), 0)
    return found


def has_tags(path: str, reader: str | None) -> bool:
    """Check whether `#word` is a tag in the text of a document.

    Args:
        reader: that has read the file, with its version; None: it is text.
    """
    if reader is not None and not reader.startswith(_NOT_MARKDOWN):
        return True
    return is_markdown(path)


def title(text: str, path: str, matter: Frontmatter) -> str:
    """Return the title of a file.

    `title` of the front matter; else the first heading of level 1 that has text and is no code or
    comment; else `#+TITLE:` of an org file; else the name of the file, see `titles.of_name`.
    """
    given = _value(matter.metadata, "title")
    if isinstance(given, list):
        given = next((item for item in given if isinstance(item, str)), None)
    if isinstance(given, int | float):
        given = _title_as_written(text[: matter.end], given)
    if isinstance(given, str) and given.strip() and not is_template(given):
        return " ".join(given.split())
    found = None
    if is_markdown(path) and _EXCALIDRAW not in matter.metadata:
        found = titles.first_heading(text, matter.end)
    elif path.lower().endswith(".org"):
        match = _ORG_TITLE.search(text)
        found = match["title"].rstrip() if match else None
    return found or titles.of_name(path)


def _value(metadata: Mapping[str, object], name: str) -> object:
    """Return the value of a key, however its letters are written."""
    if name in metadata:
        return metadata[name]
    return next((value for key, value in metadata.items() if key.lower() == name), None)


def _title_as_written(block: str, value: float) -> str:
    """Return a title as written in the frontmatter, where YAML reads a number or a boolean."""
    found = sorted(_WRITTEN_TITLE.finditer(block), key=lambda line: len(line["indent"]))
    for line in found[:_MOST_TITLES]:
        again = frontmatter(f"---\ntitle: {line['value']}\n---\n").metadata.get("title")
        if type(again) is type(value) and repr(again) == repr(value):
            return line["value"]
    return str(value).lower()


def dated(path: str, modified: datetime, matter: Frontmatter) -> datetime:
    """Return the date of a document in UTC: front matter, else file name, else `modified`."""
    written = next((moment for _, moment in metadata_dates(matter.metadata)), None)
    return written or day_in_name(path) or modified


def metadata_dates(metadata: Mapping[str, object]) -> Iterator[tuple[str, datetime]]:
    """Yield the keys of metadata that have dates with these in UTC, the most telling key first."""
    for key, value in _dates(metadata):
        found = parsed_date(value)
        if found is not None:
            yield key, found


def day_in_name(path: str) -> datetime | None:
    """Return the first day that stands in the name of a file."""
    for match in _DAY_IN_NAME.finditer(path.rpartition("/")[2]):
        found = parsed_date(f"{match['year']}-{match['month']}-{match['day']}")
        if found is not None:
            return found
    return None


def undated(matter: Frontmatter) -> str | None:
    """Say which date of the front matter cannot be read; None: none."""
    for key, value in _dates(matter.metadata):
        if parsed_date(value) is None:
            shown = " ".join(str(value).split())
            shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
            return f"{key} '{shown}' is not a date; write it as 2024-05-17"
    return None


@lru_cache(100)
def _date_keys(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Select the keys of dates, the most telling one first. Many files have the same keys."""
    known = {key.lower().translate(_SEPARATORS): key for key in keys}
    return tuple(known[name] for name in _DATE_KEYS if name in known)


def _dates(metadata: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield the keys and values that should be dates, the most telling key first."""
    for key in _date_keys(tuple(metadata)) if metadata else ():
        value = metadata[key]
        # `published: true` says that it is; an empty value or an empty list says nothing.
        if isinstance(value, dict):  # date: {created: …, updated: …}
            for part in _date_keys(tuple(map(str, value))):
                yield f"{key}.{part}", value.get(part)
        elif value not in (None, "", []) and not isinstance(value, bool):
            yield key, value
