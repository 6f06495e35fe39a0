"""Markdown metadata: frontmatter, title, date."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, date, datetime
from pathlib import PurePosixPath
from typing import NamedTuple

from qmd.text import yaml_reader

_MARKDOWN = frozenset({".md", ".markdown", ".mdx", ".mdown", ".mkd", ".qmd", ".rmd", ".txt"})
_OPENING = re.compile(r"---[ \t]*\r?\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?(?=\n|\Z)", re.M)
_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=str)
_NO_PARAGRAPH = (
    r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]|\r?$)"  # list
    r"|[>|]"  # quote, table
    r"|(?:[-*_][ \t]*){3,}\r?$"  # rule
)
# Nothing here is tried at more than one length: a line takes time in proportion to its own.
_LANDMARK = re.compile(
    r"^ {0,3}(?:"
    r"(?P<fence>`{3,}+(?![^\n]*`)|~{3,})(?P<info>[^\r\n]*)"
    r"|\#{1,6}(?![^ \t\r\n])(?P<atx>[^\r\n]*)"
    rf"|(?!{_NO_PARAGRAPH})(?P<setext>\S[^\r\n]*)\r?\n {{0,3}}(?:=+|-+)[ \t]*\r?$"
    r")",
    re.M,
)
_ORG_TITLE = re.compile(r"^#\+title:[ \t]*(?P<title>\S[^\r\n]*)", re.M | re.I)
_WRITTEN_TITLE = re.compile(
    r"^(?P<indent>[ \t{]*)(?P<quote>[\"']?)title(?P=quote)[ \t]*:\s+"
    r"(?:&\S+\s+)?(?P<value>[^\s,}]+)",
    re.M,
)
_MOST_TITLES = 20
"""Keys of that name, at any depth, that are looked at."""

_ONLY_NOTES = re.compile(r"\W*notes\W*", re.I)
_MONTH = re.compile(r"\d{4}-\d\d")
_DAY_IN_NAME = re.compile(
    r"(?<!\d)(?P<year>[12]\d{3})[-_. ]?(?P<month>\d\d)[-_. ]?(?P<day>\d\d)(?!\d)"
)
_DATE_KEYS = ("date", "created", "created_at", "published", "updated", "modified")


class Frontmatter(NamedTuple):
    """The YAML block at the start of a file.

    Attributes:
        metadata: its keys and values; empty if there is no block.
        end: characters of the text that the block takes.
        problem: why the block could not be read, or None.
    """

    metadata: dict[str, object]
    end: int
    problem: str | None = None


def is_markdown(path: str) -> bool:
    """Check that the file name is that of a Markdown file."""
    return PurePosixPath(path).suffix.lower() in _MARKDOWN


def frontmatter(text: str) -> Frontmatter:
    """Parse the frontmatter of `text`. Invalid YAML gives no metadata and a problem to report.

    What stands between two rules and is neither a mapping nor nothing is text.
    """
    if not text.startswith("---"):
        return Frontmatter({}, 0)
    block = _block(text)
    if block is None:
        return Frontmatter({}, 0)
    start, stop, end = block
    try:
        # With the line break before it, so that line numbers are those of the file.
        value = yaml_reader.read(text[start - 1 : stop], yaml_reader.FRONTMATTER)
    except yaml_reader.LimitExceeded as error:
        return Frontmatter({}, end, f"frontmatter {error}")
    except yaml_reader.YamlError as error:
        return Frontmatter({}, end, f"frontmatter is not valid YAML: {error}")
    if value is None:
        return Frontmatter({}, end)
    if not isinstance(value, dict):
        return Frontmatter({}, 0)
    return Frontmatter({str(key): item for key, item in value.items()}, end)


def _block(text: str) -> tuple[int, int, int] | None:
    """Find the start and end of the YAML, and the end of its closing rule."""
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return None
    return opening.end(), closing.start(), closing.end()


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


def title(text: str, path: str, matter: Frontmatter) -> str:
    """Return the title of a file.

    Frontmatter `title`; else the first heading outside a code fence, where one that is
    only `Notes` yields to the next; else `#+TITLE:` of an org file; else the file name
    without its last extension.
    """
    given = matter.metadata.get("title")
    if isinstance(given, int | float):
        given = _title_as_written(text[: matter.end], given)
    if isinstance(given, str) and given.strip():
        return " ".join(given.split())
    found = None
    if is_markdown(path):
        found = _first_heading(text, matter.end)
    elif path.lower().endswith(".org"):
        match = _ORG_TITLE.search(text)
        found = match["title"].rstrip() if match else None
    return found or PurePosixPath(path).stem


def _title_as_written(block: str, value: float) -> str:
    """Return a title as written in the frontmatter, where YAML reads a number or a boolean."""
    found = sorted(_WRITTEN_TITLE.finditer(block), key=lambda line: len(line["indent"]))
    for line in found[:_MOST_TITLES]:
        again = frontmatter(f"---\ntitle: {line['value']}\n---\n").metadata.get("title")
        if type(again) is type(value) and repr(again) == repr(value):
            return line["value"]
    return str(value).lower()


def _first_heading(text: str, start: int) -> str | None:
    fence = None
    weak = None
    for mark in _LANDMARK.finditer(text, start):
        if mark["fence"] is not None:
            if fence is None:
                fence = mark["fence"]
            elif mark["fence"].startswith(fence) and not mark["info"].strip():
                fence = None
        elif fence is None:
            heading = " ".join((mark["setext"] or _unclosed(mark["atx"])).split())
            if heading and not _ONLY_NOTES.fullmatch(heading):
                return heading
            weak = weak or heading
    return weak or None


def _unclosed(heading: str) -> str:
    """Strip the closing `##` of an ATX heading."""
    text = heading.strip().rstrip("#")
    return text if text.endswith((" ", "\t")) or not text else heading


def dated(path: str, modified: datetime, matter: Frontmatter) -> datetime:
    """Return the date of a document in UTC: frontmatter, else file name, else `modified`."""
    for key in _DATE_KEYS:
        value = matter.metadata.get(key)
        found = None if value is None else parsed_date(value)
        if found is not None:
            return found
    for match in _DAY_IN_NAME.finditer(path.rpartition("/")[2]):
        found = parsed_date(f"{match['year']}-{match['month']}-{match['day']}")
        if found is not None:
            return found
    return modified


def parsed_date(value: object) -> datetime | None:
    """Parse a date or time to UTC without a zone; None if it is invalid.

    Args:
        value: text in ISO 8601, also with `/`, or of a month, which stands for its first day; YAML
            takes 20250314 for a number.
    """
    if isinstance(value, datetime):
        moment = value
    elif isinstance(value, date):
        moment = datetime(value.year, value.month, value.day)
    elif isinstance(value, str) or (type(value) is int and len(str(value)) == 8):
        text = str(value).strip().replace("/", "-")
        try:
            moment = datetime.fromisoformat(f"{text}-01" if _MONTH.fullmatch(text) else text)
        except ValueError:
            return None
    else:
        return None
    try:
        return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
    except OverflowError:
        return None
