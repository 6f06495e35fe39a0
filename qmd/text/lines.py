"""Lines of a text file, edited without changing the line ends of the others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

MARK = "\ufeff"
"""Byte order mark, which Notepad puts in front of a text."""

_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")


class Lines:
    """Lines of a file with their line ends, byte order mark and end of the last line.

    Attributes:
        texts: of the lines, without their ends.
    """

    def __init__(self, text: str) -> None:
        self._mark = MARK if text.startswith(MARK) else ""
        found = _LINE.findall(text.removeprefix(MARK))
        if not found[-1][0]:
            found.pop()  # after the last end
        self.texts: list[str] = [line for line, _ in found]
        self._ends: list[str] = [end for _, end in found]
        counted = Counter(end for end in self._ends if end)
        self._usual = counted.most_common(1)[0][0] if counted else "\n"
        self._is_closed = not self._ends or bool(self._ends[-1])

    def keep(self, is_kept: Callable[[str], bool]) -> None:
        """Keep the matching lines of the file; others are added to them later."""
        numbers = [number for number, line in enumerate(self.texts) if is_kept(line)]
        self.texts = [self.texts[number] for number in numbers]
        self._ends = [self._ends[number] for number in numbers]
        self._is_closed = True

    def changed(self, before: str, after: str) -> Iterator[str]:
        """Apply the change between two formatted versions to the lines of the file.

        Args:
            before: the file, formatted: it has the same lines at least where nothing changes, but
                for blanks. Nothing, if `after` is to be added.
            after: the same with the change.

        Yields:
            The file with the change, the closest to the original first. The caller takes the first
            that means what it should.
        """
        old, new = before.split("\n")[:-1], after.split("\n")[:-1]
        first = _alike(old, new)
        last = _alike(old[first:][::-1], new[first:][::-1])
        head, tail = (first, last) if before else (len(self.texts), 0)
        closed = self._is_closed
        fits = not before or (
            head + tail <= len(self.texts)
            and _squeezed(old[:head]) == _squeezed(self.texts[:head])
            and _squeezed(old[len(old) - tail :]) == _squeezed(self.texts[len(self.texts) - tail :])
        )
        if fits:
            stop = len(self.texts) - tail
            middle = new[first : len(new) - last]
            replaced = self._ends[head:stop][: len(middle)]
            added = [self._usual] * (len(middle) - len(replaced))
            texts = [*self.texts[:head], *middle, *self.texts[stop:]]
            ends = [*self._ends[:head], *replaced, *added, *self._ends[stop:]]
            yield self._joined(texts, ends, closed=closed)
            yield self._joined(texts, ends, closed=True)
        yield self._joined(new, [self._usual] * len(new), closed=closed)
        yield self._joined(new, [self._usual] * len(new), closed=True)

    def _joined(self, texts: list[str], ends: list[str], *, closed: bool) -> str:
        ends = [end or self._usual for end in ends]
        if ends and not closed:
            ends[-1] = ""
        return self._mark + "".join(text + end for text, end in zip(texts, ends, strict=True))


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Count the common leading lines of two texts."""
    number = 0
    for line, same in zip(one, other, strict=False):
        if line != same:
            break
        number += 1
    return number


def _squeezed(lines: Sequence[str]) -> list[str]:
    return ["".join(line.split()) for line in lines]
