"""JSON as text: one value a line, with its keys, and letters in place of their numbers."""

from __future__ import annotations

import json

from qmd.ingest.readers.reading import Reading
from qmd.ingest.readers.text import decoded

LONG = 2000
"""Characters of a line from which on a text is written anew."""


def read(data: bytes, name: str) -> Reading:
    """Read JSON, or lines of it. Text that is readable already stays as it is written."""
    text, remark = decoded(data)
    is_lines = name.lower().endswith((".jsonl", ".ndjson"))
    if "\\u" not in text and (is_lines or max(map(len, text.split("\n"))) <= LONG):
        return Reading(text, remark=remark)
    try:
        if is_lines:
            lines = (json.dumps(json.loads(line), ensure_ascii=False) for line in _filled(text))
            return Reading("\n".join(lines) + "\n", remark=remark)
        found = json.dumps(json.loads(text), ensure_ascii=False, indent=1)
    except (ValueError, RecursionError) as error:
        note = f"not valid JSON: {str(error)[:80]}"
        return Reading(text, remark=f"{remark}; {note}" if remark else note)
    return Reading(found + "\n", remark=remark)


def _filled(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]
