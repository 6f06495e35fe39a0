"""JSON as text: one value a line, with its keys, and letters in place of their numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator

from qmd.ingest.readers.reading import Reading
from qmd.ingest.readers.text import decoded_text

LONG = 1000
"""Characters of a line from which on a text is written anew: it may be minified."""

FEWEST = 3
"""Characters of a text that may say something."""

_HEXADECIMAL = re.compile(r"[0-9a-fA-F]{32,}")
_ENCODED = re.compile(r"[A-Za-z0-9+/=_-]{32,}")
_IN_WORDS = re.compile(r"[a-z]{4}")


def read(data: bytes, name: str) -> Reading:
    """Read JSON, or lines of it. Text that is readable already stays as it is written."""
    text, remark = decoded_text(data)
    is_lines = name.lower().endswith((".jsonl", ".ndjson"))
    if "\\u" not in text and max(map(len, text.split("\n"))) < LONG:
        return Reading(text, remark=remark)
    lines: Iterator[str]
    try:
        if is_lines:
            lines = (json.dumps(json.loads(line), ensure_ascii=False) for line in _filled(text))
        else:
            value, wordless = json.loads(text), set[int]()
            _note_wordless(value, wordless)
            lines = _lines(value, wordless)
        return Reading("\n".join(lines) + "\n", remark=remark)
    except (ValueError, RecursionError) as error:
        note = f"not valid JSON: {str(error)[:80]}"
        return Reading(text, remark=f"{remark}; {note}" if remark else note)


def _filled(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def _lines(
    value: object, wordless: Container[int], depth: int = 0, lead: str = "", tail: str = ""
) -> Iterator[str]:
    """Yield the lines of a value.

    Args:
        wordless: identities of lists that are one line without blanks: none of their numbers says
            anything alone.
        depth: blanks before each line.
        lead: key of the value.
        tail: comma behind it.
    """
    if isinstance(value, list) and value and id(value) not in wordless:
        members = [("", each) for each in value]
        opening, closing = "[", "]"
    elif isinstance(value, dict) and value:
        members = [(f"{_written(key)}: ", each) for key, each in value.items()]
        opening, closing = "{", "}"
    else:
        yield f"{' ' * depth}{lead}{_written(value)}{tail}"
        return
    yield f"{' ' * depth}{lead}{opening}"
    for number, (key, member) in enumerate(members, 1):
        comma = "," if number < len(members) else ""
        yield from _lines(member, wordless, depth + 1, key, comma)
    yield f"{' ' * depth}{closing}{tail}"


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _note_wordless(value: object, found: set[int]) -> bool:
    """Check that a value has neither words nor names: numbers, base64, and lists of such.

    Args:
        found: gets the identities of lists for which it is so.
    """
    if isinstance(value, str):
        return len(value) < FEWEST or _is_encoded(value)
    if not isinstance(value, list | dict):
        return True
    members = value.values() if isinstance(value, dict) else value
    told = [_note_wordless(each, found) for each in members]  # of all, since each notes its own
    is_wordless = all(told)
    if is_wordless and isinstance(value, list):
        found.add(id(value))
    return is_wordless


def _is_encoded(text: str) -> bool:
    """Tell base64 and long hexadecimal numbers from words and from UUIDs."""
    if _HEXADECIMAL.fullmatch(text):
        return True
    is_uuid = len(text) == 36 and text.count("-") == 4
    if is_uuid or not _ENCODED.fullmatch(text):
        return False
    return len(_IN_WORDS.findall(text)) * 12 < len(text)
