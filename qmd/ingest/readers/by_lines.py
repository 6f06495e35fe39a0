"""Readings of text formats whose lines stay where they are: a hit leads to its line in the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from qmd.ingest.readers import trees
from qmd.ingest.readers.building import MOST_CHARACTERS, cleaned, single_spaced
from qmd.ingest.readers.reading import Reading, Unreadable
from qmd.text import titles

_WITHIN = "\v"
"""Stands for a line break within a paragraph: white space, but no end of a line."""

_LONGEST_RUN = 200
_RULE = re.compile(r"(?:---+|\+\+\++)\s*")


def lines_of(data: bytes) -> list[str]:
    """Give the lines of a text file.

    Raises:
        Unreadable: there is no text in it.
    """
    if not data.strip():
        raise Unreadable("no text" if data else "empty file")
    return [cleaned(line).replace("\n", " ") for line in trees.text_of(data).split("\n")]


def reading(
    lines: Sequence[str],
    *,
    title: str | None = None,
    headed: bool = True,
    date: str | None = None,
    author: str | None = None,
    language: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    links: Iterable[str] = (),
) -> Reading:
    """Give a reading of lines, each in the place of the line that it was made of.

    Args:
        headed: the first heading of level 1 is the title of a file that gives itself none.
    """
    text = "\n".join(lines)
    if _RULE.fullmatch(lines[0]):  # would open front matter
        text = text[len(lines[0]) :]
    if not text.strip() and not title:
        raise Unreadable("no text")
    return Reading(
        text=text[:MOST_CHARACTERS],
        title=single_spaced(title or "") or (titles.first_heading(text, 0) if headed else None),
        date=date,
        author=single_spaced(author or "") or None,
        language=single_spaced(language or "") or None,
        metadata={key: value for key, value in (metadata or {}).items() if value},
        links=tuple(dict.fromkeys(link for link in links if link)),
    )


def row_of(cells: Iterable[str]) -> str:
    """Give a row of a Markdown table."""
    return f"| {' | '.join(single_spaced(cell) for cell in cells)} |"


class Paragraphs:
    """Lines of running text, whose marks may begin on one line and end on another."""

    def __init__(self) -> None:
        self._runs: list[list[int]] = []

    def add(self, at: int, *, begins: bool = False) -> None:
        """Note that a line is running text.

        Args:
            at: its number, from 0.
            begins: a new paragraph or item begins with it.
        """
        run = self._runs[-1] if self._runs else None
        if begins or run is None or run[-1] != at - 1 or len(run) >= _LONGEST_RUN:
            self._runs.append([at])
        else:
            run.append(at)

    def convert(self, lines: list[str], inline: Callable[[str], str]) -> None:
        """Convert the marks in all these lines, and leave each line in its place."""
        for run in self._runs:
            text = inline(_WITHIN.join(lines[at] for at in run))
            parts = text.split(_WITHIN, len(run) - 1)
            parts += [""] * (len(run) - len(parts))  # a line break within a mark is gone
            for at, part in zip(run, parts, strict=True):
                lines[at] = part.replace(_WITHIN, " ")
