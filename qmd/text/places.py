"""Places in a document that has no lines of its own: pages, slides, moments."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from qmd.named_tuple import NamedTuple
from qmd.text.hashes import checksum

BETWEEN = "\x1e"
"""Stands between two labels, and in none."""

LETTERS = {
    "page": "p",
    "slide": "s",
    "sheet": "t",
    "second": "m",
    "cell": "c",
    "message": "n",
    "row": "r",
}
"""Of kinds, as the index notes them."""

_NAMES = {letter: kind for kind, letter in LETTERS.items()}
_SHORT = {"page": "p. ", "second": "", "sheet": ""}
_ASKED = (
    r"(?i)(?:(?P<kind>page|pp|p|slide|sheet|s|cell|c|message|msg|m|row|r)\.?[ =]?)?(?P<label>.+)"
)
_KINDS = {
    "p": "page",
    "pp": "page",
    "s": "slide",
    "c": "cell",
    "m": "message",
    "msg": "message",
    "r": "row",
}
_MOMENT = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[.,]\d+)?"


class Places(NamedTuple):
    """Places of a text in order, column by column.

    Attributes:
        lines: on which they begin.
    """

    kinds: str
    labels: tuple[str, ...]
    lines: tuple[int, ...]

    @classmethod
    def unpacked(cls, kinds: str, labels: str, lines: str) -> Places:
        """Places as they are in the index."""
        return cls(kinds, tuple(labels.split(BETWEEN)), tuple(map(int, lines.split())))

    @classmethod
    def of(cls, found: Sequence[tuple[str, str, int]]) -> Places:
        """Build places from kinds, labels and lines."""
        return cls(
            "".join(LETTERS[kind] for kind, _, _ in found),
            tuple(" ".join(label.replace(BETWEEN, " ").split()) for _, label, _ in found),
            tuple(line for _, _, line in found),
        )

    def packed(self) -> tuple[str, str, str]:
        """Convert the places to text."""
        return self.kinds, BETWEEN.join(self.labels), " ".join(map(str, self.lines))

    @property
    def id(self) -> str:
        """Checksum of the places."""
        return checksum("\0".join(self.packed()).encode())

    def at(self, line: int) -> str | None:
        """Name the place that a line is in, as people write it."""
        number = bisect_right(self.lines, line) - 1
        return self._shown(number) if number >= 0 else None

    def lines_of(self, asked: str) -> tuple[int, int | None] | None:
        """Find a place by a name such as `p12`, `00:12:31` or `Budget`.

        Returns:
            Its first line, and how many there are, or None for all that follow; None: there is no
            such place.
        """
        number = self._found(asked.strip())
        if number is None:
            return None
        first = self.lines[number]
        following = (line for line in self.lines[number + 1 :] if line > first)
        end = next(following, None)
        return first, None if end is None else end - first

    @property
    def described(self) -> str:
        """The first and the last of them, as people write them."""
        if len(self.labels) == 1:
            return self._shown(0)
        return f"{self._shown(0)} to {self._shown(len(self.labels) - 1)}"

    def _found(self, asked: str) -> int | None:
        folded = asked.casefold()
        for number, label in enumerate(self.labels):
            if folded in (label.casefold(), self._shown(number).casefold()):
                return number
        moment = _seconds(asked)
        if moment is not None:
            return self._last_before(moment)
        match = re.fullmatch(_ASKED, asked)
        if match is None or match["kind"] is None:
            return None
        word = match["kind"].lower()
        kind = LETTERS[_KINDS.get(word, word)]
        for number, label in enumerate(self.labels):
            if self.kinds[number] == kind and label == match["label"]:
                return number
        if kind == LETTERS["row"] and match["label"].isdecimal():
            return self._block(int(match["label"]))
        return None

    def _block(self, row: int) -> int | None:
        """Find the last block of rows that begins with a row or before it."""
        rows = [n for n, kind in enumerate(self.kinds) if kind == LETTERS["row"]]
        fitting = [n for n in rows if self.labels[n].isdecimal() and int(self.labels[n]) <= row]
        return fitting[-1] if fitting else None

    def _last_before(self, moment: int) -> int | None:
        found = None
        for number, label in enumerate(self.labels):
            begins = _seconds(label) if self.kinds[number] == LETTERS["second"] else None
            if begins is not None and begins <= moment:
                found = number
        return found

    def _shown(self, number: int) -> str:
        kind = _NAMES[self.kinds[number]]
        return _SHORT.get(kind, f"{kind} ") + self.labels[number]


def _seconds(text: str) -> int | None:
    found = re.fullmatch(_MOMENT, text)
    if found is None:
        return None
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return 3600 * hours + 60 * minutes + seconds
