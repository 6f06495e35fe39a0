"""Names and texts of documents that are put without a file."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Sequence
from pathlib import PurePosixPath

from qmd.errors import UsageError
from qmd.text.front_matter import Frontmatter, frontmatter
from qmd.text.labels import TAGS
from qmd.text.paths import is_below
from qmd.visible import one_line

LARGEST = 16_000_000
"""Bytes of a text in UTF-8."""

LONGEST_PART, LONGEST_NAME = 240, 1000
"""Bytes of a part of a name, and of all of it."""

SUFFIXES = (".md", ".markdown", ".txt")
"""Suffixes of texts; a name with another one gets `.md`."""

_SAME = {"title": ("title",), "tags": TAGS}
"""Keys of the front matter that say the same, in small letters."""

_NOT_IN_YAML = re.compile(r"[\x7f-\x9f\u2028\u2029\ufffe\uffff]")
_KEY = re.compile(
    r"(?:\"(?P<double>[^\"\n]*)\"|'(?P<single>[^'\n]*)'|(?P<plain>[^\s\"'][^\n]*?))"
    r"[ \t]*:(?=[ \t\r]|$)"
)
_GOES_ON = re.compile(r"[ \t#]|-(?:[ \t\r]|$)|\r?$")
"""Beginning of a line that belongs to the key before it."""

_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def document_path(name: str) -> str:
    """Make the path of a document of its name, with a suffix.

    Raises:
        UsageError: it leads out of its collection, is hidden, too long, or has control characters.
    """
    path = name if PurePosixPath(name).suffix.lower() in SUFFIXES else f"{name}.md"
    parts = path.split("/")
    if (
        not name.strip()
        or name.endswith("/")
        or _UNSEEN.search(name)
        or "\\" in name
        or not is_below(path)
        or any(not part or part.startswith(".") or part != part.strip() for part in parts)
    ):
        raise UsageError(
            f"'{one_line(name[:200])}' cannot be the name of a document.\n\n"
            "A name is a path such as 'ideas/tea': relative, without '..', '\\', parts that begin "
            "with '.' or with blanks at their ends, and control characters."
        )
    sizes = [len(part.encode()) for part in parts]
    if max(sizes) > LONGEST_PART or sum(sizes) + len(sizes) > LONGEST_NAME:
        raise UsageError(
            f"The name of a document has at most {LONGEST_NAME} bytes, and each part of it "
            f"{LONGEST_PART}.\n\nChoose a shorter one than '{one_line(name[:40])}…'."
        )
    return path


def with_metadata(text: str, *, title: str | None = None, tags: Sequence[str] = ()) -> str:
    """Check a text, and give it a title and tags in its front matter.

    Raises:
        UsageError: it is empty, too large or no text, or has front matter of another kind.
    """
    if not text.strip():
        raise UsageError("The text is empty: nothing was stored.")
    if "\0" in text or re.search("[\ud800-\udfff]", text):
        raise UsageError("This is no text: it has NUL characters, or halves of characters.")
    text = _with_fields(text, title, tags) if title or tags else text
    if len(text.encode()) > LARGEST:
        raise UsageError(f"The text is too large: the limit is {LARGEST // 1_000_000} MB.")
    return text


def _with_fields(text: str, title: str | None, tags: Sequence[str]) -> str:
    fields = {"title": title, "tags": [tag for tag in tags if tag.strip()]}
    given = {key: value for key, value in fields.items() if value}
    if not given:
        return text
    lines = [f"{key}: {_quoted(value)}" for key, value in given.items()]
    before = frontmatter(text)
    end = before.block
    below = text.lstrip()
    if not end and below.startswith("---") and frontmatter(below).block:
        # Below a new block this one would count as its second part, with the keys it has.
        text, before = below, frontmatter(below)
        end = before.block
    if not end:
        return "\n".join(["---", *lines, "---", "", text])
    rule, *rest = text[:end].split("\n")
    keys = {key for name in given for key in _SAME[name]}
    whole = "\n".join([rule, *lines, *_without(rest, keys)]) + text[end:]
    after = frontmatter(whole)
    if not text.startswith("---") or (
        not before.problem and (after.problem or _others(after, keys) != _others(before, keys))
    ):
        raise UsageError(
            "The text has front matter that is not YAML with a line for each key.\n\n"
            "Put title and tags there."
        )
    return whole


def _others(matter: Frontmatter, keys: Container[str]) -> dict[str, str]:
    """Return what front matter says besides some keys; the values can be compared."""
    return {key: repr(value) for key, value in matter.metadata.items() if key.lower() not in keys}


def _quoted(value: object) -> str:
    """Write a value as JSON, which is YAML but for some characters, and needs no other quotes."""
    written = json.dumps(value, ensure_ascii=False)
    return _NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


def _without(lines: Sequence[str], keys: Container[str]) -> list[str]:
    """Leave out top keys of YAML, with the lines of their values."""
    kept: list[str] = []
    is_left_out = False
    for line in lines:
        if not _GOES_ON.match(line):
            found = _KEY.match(line)
            key = (found["double"] or found["single"] or found["plain"] or "") if found else ""
            is_left_out = key.lower() in keys
        if not is_left_out:
            kept.append(line)
    return kept
