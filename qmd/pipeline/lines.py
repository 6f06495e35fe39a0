"""The lines of a batch of texts, in numpy: which are frontmatter or part of a block of code, and
which regions the others make.

The batch is one buffer of UTF-8, in which the few bytes are found that Markdown gives a meaning.
Where these stand says nearly all; a text is read where it takes more than that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from qmd.text import outline
from qmd.text.outline import BETWEEN

Numbers = npt.NDArray[np.integer[Any]]
Flags = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]

NEWLINE, TICK, OPENING, ROUND, HASH, SPACE = b"\n`[)# "
_CLOSING, _RETURN, _TILDE = b"]\r~"

_FENCES = re.compile(rb"`{3,}+|~{3,}+")
_PADDING = b"\n" * 8
_STEP = 1 << 17
"""Bytes that are looked at together: as many as the cache of a processor holds."""


def once(ascending: Numbers) -> Numbers:
    """Ascending numbers, each once: np.unique loads numpy.ma, to ask for masks."""
    found: Numbers = ascending[np.diff(ascending, prepend=-1) > 0]
    return found


def byte_set(wanted: bytes) -> Flags:
    """Of each byte, whether it is wanted."""
    return np.isin(np.arange(256), list(wanted))


BLANKS = byte_set(b" \t\r")


class Batch:
    """Texts in one buffer, each after a newline, and what stands where in it.

    Lines are numbered from 1. Line 0 is nothing before the first newline.

    Attributes:
        first_line: the line with which each text begins.
        body_line: the first line of each that is not frontmatter.
        at: where the bytes stand that were looked for, in order.
        byte: which each of them is.
        line: on which it stands; a newline stands on the line that it begins.
        tick, opening, closing, hash: those of one kind, as places in these.
        tick_at: where the backticks stand.
        ends: the newline that ends each line.
        runs: the first of each run of backticks.
        run_sizes: how many there are in each.
        apart: of each line, whether it is frontmatter, or part of a block of code.
        inner: of each line, whether the one before it belongs to the same paragraph, list or table.
        region: of each line, the region that it is part of, if it is.
        region_first, region_last: of each region, its first and its last line.
    """

    def __init__(self, texts: Sequence[bytes], starts: Sequence[int]) -> None:
        raw = b"\n".join([b"", *texts, _PADDING])
        if BETWEEN in raw:
            raw = raw.replace(BETWEEN, b" ")
        self.raw = raw
        self.bytes: Bytes = np.frombuffer(raw, np.uint8)
        sizes = np.array(list(map(len, texts)), np.int64) + 1
        first = np.cumsum(sizes) - sizes + 1
        body = np.array(starts, np.int64)
        self._look()
        self.first_line = np.searchsorted(self.ends, first)
        self.body_line = np.searchsorted(self.ends, first + body) + (body > 0)
        self.runs, self.run_sizes = self._ticks()
        self.apart = self._apart()
        self.region, self.region_first, self.region_last = self._regions()

    def _look(self) -> None:
        """Find the bytes that matter."""
        wanted = np.zeros(-(-len(self.raw) // 8) * 8, np.bool_)
        also = np.empty(_STEP, np.bool_)
        for start in range(0, len(self.raw), _STEP):
            part = self.bytes[start : start + _STEP]
            here, more = wanted[start : start + len(part)], also[: len(part)]
            np.equal(part, NEWLINE, out=here)
            for byte in (TICK, OPENING, _CLOSING, ROUND, HASH):
                here |= np.equal(part, byte, out=more)
        # Eight at once, since most are of no interest.
        eights = wanted.view(np.uint64)
        some = np.flatnonzero(eights != 0)
        within = np.flatnonzero(eights[some].view(np.bool_))
        self.at = (some << 3)[within >> 3] + (within & 7)
        self.byte = self.bytes.take(self.at, mode="clip")
        newline = self.byte == NEWLINE
        self.line = np.cumsum(newline, dtype=np.int32)
        self.ends = self.at[newline]
        self.tick, self.opening, self.closing, self.hash = (
            np.flatnonzero(self.byte == byte) for byte in (TICK, OPENING, _CLOSING, HASH)
        )
        self.tick_at = self.at[self.tick]

    def start(self, line: Numbers) -> Numbers:
        """Where lines begin."""
        start: Numbers = self.ends[line - 1] + 1
        return start

    def text_of(self, line: Numbers) -> Numbers:
        """The numbers of the texts that lines are part of."""
        text: Numbers = np.searchsorted(self.first_line, line, side="right") - 1
        return text

    def line_of(self, at: Numbers) -> Numbers:
        """The lines on which places are."""
        line: Numbers = np.searchsorted(self.ends, at)
        return line

    def _last_lines(self) -> Numbers:
        """The last line of each text."""
        return np.append(self.first_line[1:], len(self.ends)) - 1

    def trimmed(self, first: Numbers, last: Numbers) -> tuple[Numbers, Numbers]:
        """The bounds of parts without the blanks around them."""
        first, last = first.copy(), last.copy()
        left = np.flatnonzero(BLANKS[self.bytes[first]] & (first < last))
        while len(left):
            first[left] += 1
            left = left[BLANKS[self.bytes[first[left]]] & (first[left] < last[left])]
        left = np.flatnonzero(BLANKS[self.bytes[last - 1]] & (first < last))
        while len(left):
            last[left] -= 1
            left = left[BLANKS[self.bytes[last[left] - 1]] & (first[left] < last[left])]
        return first, last

    def _ticks(self) -> tuple[Numbers, Numbers]:
        """See `runs` and `run_sizes`."""
        heads = np.flatnonzero(np.diff(self.tick_at, prepend=-2) != 1)
        return self.tick[heads], np.diff(heads, append=len(self.tick))

    def _apart(self) -> Flags:
        """See `apart`."""
        edges = np.zeros(len(self.ends) + 2, np.int32)
        first, last = self._fenced()
        np.add.at(edges, np.append(self.first_line, first), 1)
        np.add.at(edges, np.append(self.body_line, last + 1), -1)
        return np.cumsum(edges) > 0

    def _fenced(self) -> tuple[Numbers, Numbers]:
        """The first and the last line of each block of code.

        Where the marks of a text are backticks with nothing but blanks before, every second one
        usually ends what the one before has begun. Other texts are read.
        """
        long = np.flatnonzero(self.run_sizes >= 3)
        place, size = self.runs[long], self.run_sizes[long]
        at, line = self.at[place], self.line[place]
        text, end, stop = self.text_of(line), at + size, self.ends[line]
        bare = self.trimmed(self.start(line), at)[0] == at
        spans = bare & (np.append(self.line[self.runs], 0)[long + 1] == line)  # as in ```this```
        wanted = np.flatnonzero((line >= self.body_line[text]) & ~spans)
        line, text, size, bare = line[wanted], text[wanted], size[wanted], bare[wanted]
        alone = self.trimmed(end[wanted], stop[wanted])[0] == stop[wanted]
        second = (np.arange(len(text)) - np.searchsorted(text, text)) % 2 == 1
        ending = alone & (size >= np.append(0, size)[:-1])
        read = np.zeros(len(self.first_line), np.bool_)
        read[text[~bare | (second & ~ending)]] = True
        read[self._tilded()] = True
        told = ~read[text]
        line, text, second = line[told], text[told], second[told]
        ended = np.append(second[1:], False)
        last = np.where(ended, np.append(line[1:], 0), self._last_lines()[text])
        blocks = [block for number in np.flatnonzero(read) for block in self._read(int(number))]
        more = np.array(blocks, np.int64).reshape(-1, 2)
        return np.append(line[~second], more[:, 0]), np.append(last[~second], more[:, 1])

    def _tilded(self) -> Numbers:
        """The texts that have blocks of code between `~~~`, and perhaps others."""
        pairs = np.frombuffer(self.raw, np.uint16, len(self.raw) // 2)
        places = 2 * np.flatnonzero(pairs == _TILDE * 257)  # of three, two stand at an even place
        return self.text_of(self.line_of(places))

    def _read(self, text: int) -> Iterator[tuple[int, int]]:
        """The first and the last line of each block of code of one text."""
        begin, last = int(self.body_line[text]), int(self._last_lines()[text])
        found = _FENCES.finditer(self.raw, int(self.ends[begin - 1]), int(self.ends[last]))
        places = np.array([each.start() for each in found], np.int64)
        opened, mark = 0, b""
        for line in once(self.line_of(places)).tolist():
            start, end = int(self.ends[line - 1]) + 1, int(self.ends[line]) + 1
            opening = outline.FENCE.match(self.raw, start, end)
            closing = outline.FENCE_END.match(self.raw, start, end)
            if opened and closing and closing["mark"].startswith(mark):
                yield opened, line
                opened = 0
            elif opening and not opened:
                opened, mark = line, opening["mark"]
        if opened:
            yield opened, last

    def _regions(self) -> tuple[Numbers, Numbers, Numbers]:
        """See `inner`, `region`, `region_first` and `region_last`.

        Here most rows of tables and items of lists are regions of their own: no link reaches across
        their bounds.
        """
        sizes = np.diff(self.ends, prepend=-1) - 1
        between = self.apart[: len(self.ends)] | (sizes == 0)
        if b"\r" in self.raw:
            between |= (sizes == 1) & (self.bytes[self.ends - 1] == _RETURN)
        between[0] = True
        after = np.append(True, between[:-1])
        after[self.first_line[self.first_line < len(after)]] = True
        self.inner = ~between & ~after
        first = np.append(NEWLINE, self.bytes[self.ends[:-1] + 1])
        item = np.flatnonzero((first == ord("-")) | (first == ord("*")))
        after[item[self.bytes[self.start(item) + 1] == SPACE]] = True
        after |= first == ord("|")
        heads = ~between & after
        tails = ~between & np.append(between[1:] | after[1:], True)
        return np.cumsum(heads) - 1, np.flatnonzero(heads), np.flatnonzero(tails)
