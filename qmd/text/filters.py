"""Parser of frontmatter filters: `status = "open" and tags = urgent`."""

from __future__ import annotations

import json
import re

from qmd.errors import UsageError
from qmd.types import Condition

_CONDITION = re.compile(
    r"""\s*(?P<key>[\w-]+(?:\.[\w-]+)*|"[^".]+(?:\.[^".]+)*")"""
    r"""\s*(?P<operator>!=|<=|>=|=|<|>|~)\s*"""
    r"""(?P<value>"[^"]*"\s*|'[^']*'\s*|[^\s"'=<>][^\s"']*(?:\s+|$))(?P<and>and\b|$)""",
    re.I,
)


def parse_filter(text: str) -> tuple[Condition, ...]:
    """Parse comparisons joined by `and`. A list in the frontmatter matches by each of its items.

    A number is compared with numbers, unless it stands in quotes; all else as text.

    Raises:
        UsageError: it cannot be read.
    """
    conditions = []
    at = 0
    while at < len(text):
        found = _CONDITION.match(text, at)
        if found is None or (found["and"] and found.end() == len(text)):
            raise UsageError(
                f"The filter cannot be read from '{text[at:].strip()}' on.\n\n"
                "Write comparisons such as 'status = \"open\" and tags = urgent'; "
                "operators are = != ~ < <= > >=."
            )
        key = found["key"].strip('"')
        value = found["value"].rstrip()
        quoted = value[0] in "\"'"
        if quoted:
            value = value[1:-1]
        steps = "".join("." + json.dumps(step, ensure_ascii=False) for step in key.split("."))
        conditions.append(Condition("$" + steps, found["operator"], value, quoted))
        at = found.end()
    if not conditions:
        raise UsageError("The filter is empty. Write one such as 'status = \"open\"'.")
    return tuple(conditions)
