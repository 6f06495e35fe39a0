"""Snippets: the lines of a document around its best match."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, islice

from qmd.named_tuple import NamedTuple
from qmd.patterns import pattern
from qmd.ranking.matcher import AT_ONCE, Matcher
from qmd.ranking.poor_lines import data_elided, frontmatter_lines, is_in_data, is_poor
from qmd.text import tokenizer

_CHUNK = pattern(r"\S+")
_PIECE = pattern(r"([^\n]{,24}\S*+)(?:\s|$)")
_AND_BREAK = (1).__add__
_NEAR = 1000
"""Characters of a chunk in which its next word is searched."""


class Snippet(NamedTuple):
    """Lines of a document.

    Attributes:
        line: the first that matches, from 1; if none does, the first that is not blank.
        first: the first that is shown, from 1.
        lines: as they stand in the document, with an ellipsis for data such as base64.
    """

    line: int
    first: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The lines, each with its number."""
        return "\n".join(f"{self.first + at}: {line}" for at, line in enumerate(self.lines))

    def shifted(self, lines: int) -> Snippet:
        """Return the snippet of a text that begins `lines` lines into its document."""
        return self._replace(line=self.line + lines, first=self.first + lines)


def whole_lines(body: str, start: int, end: int, *, most: int = 300, floor: int = 0) -> str:
    """Extend a part of a text to whole lines, if they are not long.

    Args:
        start: characters before the part.
        end: characters before what follows it.
        most: characters of the rest of a line.
        floor: characters that are never shown, at the beginning.
    """
    first = body.rfind("\n", max(floor, start - most), start) + 1
    last = body.find("\n", end, end + most)
    if not first:
        first = start if start > most else floor
    if last < 0:
        last = end if len(body) - end > most else len(body)
    return body[first:last]


def snippet(
    body: str,
    match: Matcher,
    *,
    length: int,
    choice: int | None = None,
    distinct: int | None = None,
) -> Snippet:
    """Choose the lines with the best match, and some around them.

    The window is at most `length` characters, and at least one line; a line longer than
    that is cut around its first match.

    Args:
        match: see `Matcher`.
        length: characters.
        choice: characters of the lines that match most, if what stands around them is to get the
            rest: so long a snippet and a longer one have the same.
        distinct: words that a window could match at most: the first that has them all is
            taken, and the rest of the document not looked at.
    """
    lines = body.split("\n")
    starts = _starts(lines, match)
    floor = frontmatter_lines(lines)
    size = min(length, choice or length)
    (start, end), before = _best_lines(body, lines, starts, match, floor, size, distinct)
    first_match = start
    start, end = _grown(lines, start, end, length, before)
    shown = [data_elided(line.rstrip("\r")) for line in lines[start:end]]
    if len(shown) == 1 and len(shown[0]) > length:
        shown = [cut(shown[0], match, length)]
    return Snippet(first_match + 1, start + 1, tuple(shown))


def _starts(lines: list[str], match: Matcher) -> list[int]:
    return match.compiled.line_starts(lines) if match.compiled else plainly_line_starts(lines)


def plainly_line_starts(lines: Iterable[str]) -> list[int]:
    """Return where each line starts in its text, and where one after the last would."""
    return list(accumulate(map(_AND_BREAK, map(len, lines)), initial=0))


def _best_lines(
    body: str,
    lines: list[str],
    starts: list[int],
    match: Matcher,
    floor: int,
    length: int,
    distinct: int | None,
) -> tuple[tuple[int, int], int]:
    """Find the best window of lines, and the first line that may be shown with it.

    The window has all matching lines that fit into `length` with the best ones, and no line that
    matches is shown before it: `line` of a snippet is its first that matches. Front matter, links
    alone and boilerplate of code count only where no other line matches. If no line matches at
    all, the first that is not blank is taken.

    Args:
        floor: lines of front matter.
    """
    found = _Lines(lines, match.parts_with(body, starts), match, floor)
    window = match.compiled.best_window if match.compiled else plainly_best_window
    best = window(starts, found.all(), length, distinct, found.counts, AT_ONCE)
    if best is None:
        found = found.of_poor()
        best = window(starts, found.all(), length, distinct, found.counts, AT_ONCE)
    if best is None:
        written = [at for at, line in enumerate(lines) if line.strip()]
        wordy = (at for at in written if at >= floor and not is_in_data(lines[at], match.found_in))
        first = (at for at in wordy if not is_poor(lines[at], match))
        start = next(first, next(iter(written), 0))
        return (start, start + 1), floor if start >= floor else 0
    start, end = best
    start = found.first_from(bisect_left(starts, starts[end] - length, 0, start))
    last = bisect_right(starts, starts[start] + length) - 1  # lines before it fit
    end = max(end, found.last_before(last) + 1)
    below = found.last_before(start) + 1
    return (start, end), max(below, floor if start >= floor else 0)


class _Lines:
    """Lines of a text that match, as far as they have been read.

    Args:
        parts: lines that match, in order, with the bits of their words of the query.
        floor: lines of front matter; None: each line counts.
    """

    def __init__(
        self,
        lines: Sequence[str],
        parts: Iterable[list[tuple[int, int]]],
        match: Matcher,
        floor: int | None,
    ) -> None:
        self._lines = lines
        self._parts = parts
        self._match = match
        self._floor = floor
        self._read: list[tuple[int, int]] = []
        self._counts: dict[int, bool] = {}

    def of_poor(self) -> _Lines:
        """Return the lines that have been read, where none counts, so that each does."""
        return _Lines(self._lines, [self._read], self._match, None)

    def all(self) -> Iterator[tuple[int, int]]:
        """Yield the lines, in order, with the bits of their words of the query."""
        for part in self._parts:
            self._read += part
            yield from part

    def counts(self, at: int) -> bool:
        """Check that a line is no front matter, links alone, boilerplate of code or data."""
        if self._floor is None:
            return True
        known = self._counts.get(at)
        if known is None:
            line, match = self._lines[at], self._match
            is_left_out = at < self._floor or is_poor(line, match)
            known = self._counts[at] = not (is_left_out or is_in_data(line, match.found_in))
        return known

    def first_from(self, line: int) -> int:
        """Find the first line from one on that matches and counts; there is one."""
        place = bisect_left(self._read, (line, 0))
        return next(at for at, _ in islice(self._read, place, None) if self.counts(at))

    def last_before(self, line: int) -> int:
        """Find the last line before another that matches and counts; -1 without one."""
        place = bisect_left(self._read, (line, 0))
        before = (self._read[each][0] for each in range(place - 1, -1, -1))
        return next(filter(self.counts, before), -1)


def plainly_best_window(
    starts: Sequence[int],
    matching: Iterator[tuple[int, int]],
    length: int,
    distinct: int | None,
    counts: Callable[[int], bool] | None,
    reach: int,
) -> tuple[int, int] | None:
    """Find the window with the most distinct query words, in the fewest lines; None without any.

    Lines that do not count only make a window look better than it is, so that no line has to be
    checked in a window that would not be the best one anyway.

    Args:
        starts: of each line, and where one after the last would start.
        matching: lines that match, in order, with the bits of their words of the query.
        counts: tells whether a line counts; None: each does.
        reach: characters that are looked at after a window with all words.
    """
    ahead: deque[tuple[int, int]] = deque()  # matching lines of the window
    best, most = None, (0, 0, 0)  # from its first line to the last with a new word
    coming = next(matching, None)
    count = bits = 0  # no bit of the window is missing in these
    last = starts[-1]
    while True:
        while coming and (not ahead or starts[coming[0] + 1] - starts[ahead[0][0]] <= length):
            ahead.append(coming)
            bits |= coming[1]
            count += coming[1].bit_count()
            coming = next(matching, None)
        if not ahead or starts[ahead[0][0]] > last:
            return best
        if bits.bit_count() < most[0]:
            count -= ahead.popleft()[1].bit_count()
            continue
        bits, spread = _seen(ahead)
        seen = bits.bit_count()
        value = seen, -spread, count
        if value > most:
            if counts is not None and not all(counts(at) for at, _ in ahead):
                ahead = deque(each for each in ahead if counts(each[0]))
                count = sum(found.bit_count() for _, found in ahead)
                continue
            best, most = (ahead[0][0], ahead[0][0] + spread + 1), value
            if seen == distinct:
                if not spread:
                    return best
                # The same words may be nearer to each other, but not at the other end of a book.
                last = min(last, starts[ahead[0][0]] + reach)
        count -= ahead.popleft()[1].bit_count()


def _seen(ahead: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Return the bits of the words of a window, and the lines after its first that they take."""
    bits, first, reached = 0, -1, -1
    for at, found in ahead:
        if first < 0:
            first = at
        if found & ~bits:
            bits, reached = bits | found, at
    return bits, reached - first


def _grown(lines: list[str], start: int, end: int, length: int, floor: int) -> tuple[int, int]:
    """Add lines after and before a window, in turn, while there is room.

    Args:
        floor: lines at the start of the text that are not added.
    """
    size = sum(len(line) + 1 for line in lines[start:end])
    while True:
        grown = False
        if end < len(lines) and size + len(lines[end]) + 1 <= length:
            size += len(lines[end]) + 1
            end += 1
            grown = True
        if start > floor and size + len(lines[start - 1]) + 1 <= length:
            start -= 1
            size += len(lines[start]) + 1
            grown = True
        if not grown:
            break
    while end - start > 1 and not lines[end - 1].strip():
        end -= 1
    while end - start > 1 and not lines[start].strip():
        start += 1
    return start, end


def _first_match(line: str, match: Matcher) -> int:
    """Find the first matching word; 0 without one."""
    first = match.first_text(line)
    for chunk in _CHUNK.finditer(line, 0, len(line) if first is None else first):
        whole = chunk[0]
        if whole.isascii() and whole.isalnum() and len(whole) <= tokenizer.LONGEST:
            if match.has(whole):  # it is one word
                return chunk.start()
            continue
        at = 0
        for word in tokenizer.split(whole, segmented=False):
            # A word is not in the chunk as it is if its characters are written decomposed.
            at = max(at, whole.find(word, at, at + _NEAR))
            if match.has(word):
                return chunk.start() + at
            if tokenizer.comes_before(word):
                continue
            at += 1 if tokenizer.is_gram(word) else len(word)
    return first or 0


def cut(line: str, match: Matcher, length: int) -> str:
    """Cut a line to `length` characters around its best match, between words if they are short.

    The best match has the most distinct words of the query, near each other.
    """
    if len(line) <= length:
        return line
    start, end = _densest(line, match, length * 3 // 4)
    at = start + _first_match(line[start:end], match)
    start = max(0, min(at - length // 4, len(line) - length))
    end = min(start + length, len(line))
    slack = length // 10
    if start:
        blank = line.find(" ", start - 1, min(start + slack, at))
        start = blank + 1 if blank >= 0 else start
    if end < len(line):
        blank = line.rfind(" ", max(end - slack, at + 1), end + 1)
        end = blank if blank >= 0 else end
    return ("…" if start else "") + line[start:end].strip() + ("…" if end < len(line) else "")


def _densest(line: str, match: Matcher, length: int) -> tuple[int, int]:
    """Find the part of a line with the most distinct words of the query, near each other."""
    pieces = _PIECE.findall(line)
    starts = _starts(pieces, match)
    text = "\n".join(pieces)
    matching = match.lines_with(text, starts)
    window = match.compiled.best_window if match.compiled else plainly_best_window
    found = window(starts, matching, length, None, None, AT_ONCE)
    if found is None:
        return 0, len(line)
    return starts[found[0]], min(starts[found[1]], len(line))
