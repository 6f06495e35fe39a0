"""Names of documents: virtual paths, line ranges, URIs."""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from qmd.named_tuple import NamedTuple
from qmd.patterns import pattern

SCHEME = "qmd://"

_INDEX = pattern(r"\?(?:[^?]*&)?index=(?P<index>[^&:]*)(?:&[^?:]*)?(?=(?::[0-9-]+){0,2}$)", re.S)
_RANGE = pattern(
    r"(?P<name>.+?)(?::|#L)(?P<first>[0-9]{1,9})"
    r"(?::(?P<count>[0-9]{1,9})|-L?(?P<last>[0-9]{1,9}))?",
    re.S,
)


OUTSIDE = (
    r"^$|^/|//|/$"  # absolute, or with a segment that is empty
    r"|(?:^|[/\\])\.\.?(?:[/\\]|$)"  # that climbs
    r"|^[A-Za-z]:(?:[/\\]|$)"  # of a drive
    r"|\x00"
)
"""Regular expression, for Python and DuckDB, of paths that are not below a folder.

A file may have a backslash or a line break in its name; such a path is refused only if it leaves
the folder.
"""

_UNRESERVED = pattern(r"[A-Za-z0-9._~/-]*+")
"""Names that are their own percent-encoding. Source: RFC 3986, section 2.3."""

_DRIVE = pattern(r"[A-Za-z]:[/\\]")

_NO_NAME = pattern(
    r'[\x00-\x1f<>:"|?*\\]|[. ]$'
    r"|^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])\ *(?:\.|$)",
    re.IGNORECASE,
)

LONGEST_NAME, LONGEST_PATH = 255, 4096
"""Bytes of a segment and of a path, in UTF-8. Source: NAME_MAX and PATH_MAX of Linux."""


class VirtualPath(NamedTuple):
    """Parsed `qmd://collection/path?index=name`. `path` may be empty."""

    collection: str
    path: str
    index_name: str | None = None


def normalise(name: str) -> str:
    """Normalize `//c/p`, `///c/p` and `qmd:////c/p` to `qmd://c/p`; keep other names."""
    name = name.lstrip()
    if name.lower().startswith("qmd:"):
        rest = name[4:]
        return SCHEME + rest.lstrip("/") if rest.startswith("//") else name
    if name.startswith("//"):
        return SCHEME + name.lstrip("/")
    return name


def parse_virtual(name: str) -> VirtualPath | None:
    """Parse a virtual path, or return None. Percent-encoding stays."""
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
    """Split the name of an index from a virtual path, which may have a line range."""
    found = _INDEX.search(name) if normalise(name).startswith(SCHEME) else None
    if found is None:
        return name, None
    return name[: found.start()] + name[found.end() :], decoded(found["index"]) or None


def at_home(path: str | Path) -> Path:
    """Expand a leading `~` or `~name` to the home folder, if there is one."""
    given = Path(path)
    try:
        return given.expanduser()
    except RuntimeError:
        return given


def is_below(path: str) -> bool:
    """Check that a stored path stays below the folder of its collection, by name alone."""
    if not _is_usual(path) and re.search(OUTSIDE, path):
        return False
    if len(path) <= LONGEST_NAME // 4:  # of 4 bytes at most each
        return True
    try:
        data = path.encode()
    except UnicodeEncodeError:
        return False
    return len(data) <= LONGEST_PATH and all(len(name) <= LONGEST_NAME for name in data.split(b"/"))


def _is_usual(path: str) -> bool:
    """Check quickly that a path has nothing that `OUTSIDE` looks for; most have not."""
    return not (
        path[:1] in ("", "/", ".")
        or path[-1] == "/"
        or "/." in path
        or "//" in path
        or "\\" in path
        or ":" in path
        or "\n" in path
        or "\0" in path
    )


def folders_above(path: str) -> Iterator[str]:
    """Yield the folders that a path is in, the innermost first, without the collection itself."""
    folder = path.rpartition("/")[0]
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]


def real(path: str | Path) -> str:
    """Resolve all links of a path on the disk; with `/` on every system, as roots are stored."""
    return slashed(os.path.realpath(path))


def slashed(path: str | Path) -> str:
    r"""Write a path on the disk with `/`: on Windows, `C:\notes` becomes `C:/notes`."""
    text = str(path)
    return text.replace("\\", "/") if sys.platform == "win32" else text


def is_absolute(path: str) -> bool:
    """Check that a path on the disk is absolute: it begins with `/`, or with a drive on Windows."""
    return path.startswith("/") or (sys.platform == "win32" and bool(_DRIVE.match(path)))


def is_of_windows(path: str) -> bool:
    """Check that Windows takes each segment of a stored path as the name of a file.

    It takes `con`, `nul.txt` and others for devices, `a:b` for a stream of the file `a`, and leaves
    dots and spaces at the end of a name out. Source: Microsoft, "Naming Files, Paths, and
    Namespaces".
    """
    return not any(_NO_NAME.search(part) for part in path.split("/"))


def place(root: str, path: str) -> str | None:
    """Join a stored path to the folder of its collection.

    Use this wherever a path that was stored becomes a path on the disk: an index may come from
    elsewhere, and its paths with it.

    Returns:
        None: the folder is not absolute, or the path leaves it.
    """
    if not is_absolute(root) or "\0" in root or not is_below(path):
        return None
    if sys.platform == "win32" and not is_of_windows(path):
        return None
    return f"{root.rstrip('/')}/{path}"


def uri(collection: str, path: str) -> str:
    """Build `qmd://collection/path`, each segment percent-encoded and `/` kept."""
    if _UNRESERVED.fullmatch(path) and _UNRESERVED.fullmatch(collection) and "/" not in collection:
        return f"{SCHEME}{collection}/{path}"
    from urllib.parse import quote

    return f"{SCHEME}{quote(collection, safe='')}/{quote(path)}"


def to_nfc(name: str) -> str | None:
    """Normalize a name to NFC, as keyboards write it; None if it is ASCII and cannot differ."""
    return None if name.isascii() else unicodedata.normalize("NFC", name)


def decoded(name: str) -> str:
    """Decode the percent-encoding of a name; `%2F` becomes `/`."""
    from urllib.parse import unquote

    return unquote(name)


class Range(NamedTuple):
    """A range of lines of a document: first line, counted from 1, and number of lines."""

    name: str
    first: int | None = None
    lines: int | None = None


def split_range(name: str) -> Range:
    """Split `notes/tea.md:120:40` into a name, a first line and a count.

    `:120-159`, as passages are named, and `#L120-L159`, as GitHub does, say the same.
    """
    found = _RANGE.fullmatch(name.strip())
    if found is None:
        return Range(name)
    first, count = int(found["first"]), found["count"]
    if found["last"] is not None:
        first, last = sorted((first, int(found["last"])))
        return Range(found["name"], first, last - first + 1)
    return Range(found["name"], first, int(count) if count is not None else None)
