"""Search results on a terminal: at most six lines each, folded at words around the match."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set

from qmd.named_tuple import NamedTuple
from qmd.text.display_width import columns_of, cut_before, cut_to, folded_rows
from qmd.types import Result
from qmd.visible import shown, visible
from qmd.wording import on_one_line

LINES = 6
"""Lines of a result at most, those that name it included."""

HEAD = 2
"""Lines that name a result."""

NARROWEST = 20
"""Columns that a terminal is taken to have at least."""

SHORTEST_NAME = 12
"""Columns that the name of a file has at least."""

_NUMBERED = re.compile(r"(\d+): (.*)")


class Row(NamedTuple):
    """A row of a snippet.

    Attributes:
        number: of the source line, with a colon; blanks where the row continues one.
        text: with `…` where the line goes on and is not shown.
    """

    number: str
    text: str


def shortened_name(name: str, rest: int, columns: int) -> str:
    """Cut the name of a file so that a line has room for `rest` columns besides."""
    return cut_before(shown(on_one_line(name)), max(SHORTEST_NAME, columns - rest))


def title_and_context(result: Result, columns: int) -> tuple[str, str]:
    """Return title and context of a result, which have one line together."""
    room = max(NARROWEST, columns) - len("Title: ")
    title = cut_to(shown(" ".join(result.title.splitlines())), room)
    room -= columns_of(title) + len("  Context: ")
    if not result.context or room < SHORTEST_NAME:
        return title, ""
    return title, cut_to(shown(" ".join(result.context.splitlines())), room)


def rows(
    snippet: str,
    found_in: Callable[[str], Set[str]] | None,
    *,
    columns: int,
    most: int = LINES - HEAD,
) -> list[Row]:
    """Fold a snippet, and choose the rows with the most words that were looked for.

    Args:
        snippet: lines with their numbers.
        found_in: gives the words of a text that were looked for.
        columns: of the terminal.
        most: rows.
    """
    found = [_NUMBERED.fullmatch(line) for line in snippet.split("\n")]
    lines = [
        (each[1], visible(each[2]).expandtabs(4)) for each in found if each and each[2].strip()
    ]
    margin = max((len(number) for number, _ in lines), default=0) + 2
    width = max(NARROWEST, columns) - margin - 2  # room for two `…`
    parts = [
        (at, number, part)
        for at, (number, text) in enumerate(lines)
        for part in folded_rows(text, width)
    ]
    start = _best(parts, found_in, most) if found_in else 0
    end = min(start + most, len(parts))
    chosen = []
    for at in range(start, end):
        line, number, part = parts[at]
        begins = at == 0 or parts[at - 1][0] != line
        goes_on = at + 1 < len(parts) and parts[at + 1][0] == line
        before = "" if begins or at > start or part.startswith("…") else "…"
        after = "…" if goes_on and at + 1 == end and not part.endswith("…") else ""
        label = f"{number}:" if begins or at == start else ""
        chosen.append(Row(f"{label:<{margin}}", f"{before}{part}{after}"))
    return chosen


def _best(
    parts: Sequence[tuple[int, str, str]], found_in: Callable[[str], Set[str]], most: int
) -> int:
    """Return the first of `most` rows with the most distinct words that were looked for.

    Args:
        parts: source line, its number and the text of each row.
    """
    words = [found_in(part) for _, _, part in parts]

    def value(start: int) -> tuple[int, int, int]:
        window = words[start : start + most]
        first = next((at for at, each in enumerate(window) if each), most)
        # The row before the first with such a word tells what it is about, if it is of its line.
        at = start + first
        lead = 1 if 0 < at < len(parts) and parts[at - 1][0] == parts[at][0] else 0
        return len(set[str]().union(*window)), -abs(first - lead), -start

    return max(range(max(1, len(parts) - most + 1)), key=value)
