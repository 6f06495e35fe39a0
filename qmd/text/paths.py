"""Names of documents: virtual paths, ranges, URIs."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import NamedTuple

SCHEME = "qmd://"

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_INDEX = re.compile(r"\?(?:[^?]*&)?index=(?P<index>[^&:]*)(?:&[^?:]*)?(?=(?::[0-9]+){0,2}$)", re.S)
_RANGE = re.compile(r"(?P<name>.+?):(?P<first>[0-9]{1,9})(?::(?P<count>[0-9]{1,9}))?", re.S)


OUTSIDE = (
    r"^$|^/|//|/$"  # absolute, or with a segment that is empty
    r"|(?:^|[/\\])\.\.?(?:[/\\]|$)"  # that climbs
    r"|^[A-Za-z]:(?:[/\\]|$)"  # of a drive
    r"|\x00"
)
"""Regular expression, for Python and DuckDB, of what is no path below a folder. A file may have a
backslash or a line break in its name; such a path is none only if it leaves the folder."""

LONGEST_NAME, LONGEST_PATH = 255, 4096
"""Bytes of a segment and of a path, in UTF-8. Source: NAME_MAX and PATH_MAX of Linux."""


class VirtualPath(NamedTuple):
    """`qmd://collection/path?index=name`, taken apart. `path` may be empty."""

    collection: str
    path: str
    index_name: str | None = None


def normalise(name: str) -> str:
    """`//c/p`, `///c/p` and `qmd:////c/p` as `qmd://c/p`; anything else as it is."""
    name = name.lstrip()
    if name.lower().startswith("qmd:"):
        rest = name[4:]
        return SCHEME + rest.lstrip("/") if rest.startswith("//") else name
    if name.startswith("//"):
        return SCHEME + name.lstrip("/")
    return name


def parse_virtual(name: str) -> VirtualPath | None:
    """A virtual path, or None if `name` is none. Percent signs stay as they are."""
    normal = normalise(name)
    if not normal.startswith(SCHEME):
        return None
    path, _, query = normal[len(SCHEME) :].partition("?")
    collection, _, inside = path.partition("/")
    if not collection:
        return None
    index = None
    for pair in query.split("&"):
        key, _, value = pair.partition("=")
        if key == "index" and value:
            index = decoded(value)
    return VirtualPath(collection, inside, index)


def of_index(name: str) -> tuple[str, str | None]:
    """A virtual path, perhaps with a range, without the index that it names, and that name."""
    found = _INDEX.search(name) if normalise(name).startswith(SCHEME) else None
    if found is None:
        return name, None
    return name[: found.start()] + name[found.end() :], decoded(found["index"]) or None


def at_home(path: str | Path) -> Path:
    """A path with the home that a `~` or `~name` in front stands for, if anybody has the name."""
    given = Path(path)
    try:
        return given.expanduser()
    except RuntimeError:
        return given


def is_below(path: str) -> bool:
    """Tell whether a stored path lies below the folder that it is of, whatever is there."""
    if re.search(OUTSIDE, path):
        return False
    if len(path) <= LONGEST_NAME // 4:  # of 4 bytes at most each
        return True
    try:
        data = path.encode()
    except UnicodeEncodeError:
        return False
    return len(data) <= LONGEST_PATH and all(len(name) <= LONGEST_NAME for name in data.split(b"/"))


def place(root: str, path: str) -> str | None:
    """Join a stored path to the folder of its collection.

    Use this wherever a path that was stored becomes a path on the disk: an index may come from
    elsewhere, and its paths with it.

    Returns:
        None: the folder is not absolute, or the path leaves it.
    """
    if not root.startswith("/") or "\0" in root or not is_below(path):
        return None
    return f"{root.rstrip('/')}/{path}"


def uri(collection: str, path: str) -> str:
    """`qmd://collection/path`, each segment percent-encoded and `/` kept."""
    from urllib.parse import quote

    return f"{SCHEME}{quote(collection, safe='')}/{quote(path)}"


def composed(name: str) -> str | None:
    """A name in NFC, as most keyboards write it; None: it is ASCII, and cannot differ."""
    return None if name.isascii() else unicodedata.normalize("NFC", name)


def decoded(name: str) -> str:
    """A name with its percent-encoding undone; `%2F` is a `/`."""
    from urllib.parse import unquote

    return unquote(name)


def on_one_line(name: str) -> str:
    """A name as people and lists of files show it; `get` knows it by this, too.

    Characters that break a line or give orders to a terminal are percent-encoded, and, if there
    are such, `%` as well.
    """
    if not _CONTROL.search(name):
        return name
    from urllib.parse import quote

    return re.sub(f"%|{_CONTROL.pattern}", lambda mark: quote(mark[0]), name)


class Range(NamedTuple):
    """A part of a document: from a line, counted from 1, and how many."""

    name: str
    first: int | None = None
    lines: int | None = None


def split_range(name: str) -> Range:
    """`notes/tea.md:120:40` as a name, a first line and a count."""
    found = _RANGE.fullmatch(name.strip())
    if found is None:
        return Range(name)
    count = found["count"]
    return Range(found["name"], int(found["first"]), int(count) if count is not None else None)
