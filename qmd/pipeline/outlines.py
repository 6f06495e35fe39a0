"""What a batch of texts points at, and how each is divided, in numpy: the rules of
`text/outline.py` at full speed.

The batch is one buffer of UTF-8, in which the few bytes are found that Markdown gives a meaning.
Blocks of code, headings and plain links (`[text](target)` on one line) are told from where these
stand; only a region with anything else in it is read by `outline.marks`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from qmd.text import outline
from qmd.text.outline import BETWEEN, NO_DEFINITIONS, Definitions, Mark

Numbers = npt.NDArray[np.integer[Any]]
Flags = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]

_NEWLINE, _TICK, _OPENING, _CLOSING, _ROUND, _HASH = b"\n`[])#"
_SPACE, _TAB, _RETURN, _ESCAPE, _PICTURE, _SLASH, _COLON, _TILDE = b" \t\r\\!/:~"

_FENCES = re.compile(rb"`{3,}+|~{3,}+")
_PADDING = b"\n" * 8
_STEP = 1 << 17
"""Bytes that are looked at together: as many as the cache of a processor holds."""


def _table(wanted: bytes) -> Flags:
    """Of each byte, whether it is wanted."""
    return np.isin(np.arange(256), list(wanted))


_BLANKS = _table(b" \t\r")
_WHITE = _table(b" \t\r\n\v\f")
_NOT_PLAIN = _table(b" \t\r\n\v\f(<\\")
_TAGGED = _table(bytes(n for n in range(256) if n >= 128 or chr(n).isalnum() or chr(n) in "_-/"))


class Outlines(NamedTuple):
    """The outlines of some texts: four texts for each, which say one thing of each mark.

    Attributes:
        kinds: a letter each. See `text/outline.py`.
        lines: numbers from 1, a blank between two.
        texts: of headings, links and tags, `BETWEEN` between two.
        targets: of links, and nothing of others, `BETWEEN` between two.
    """

    kinds: list[str]
    lines: list[str]
    texts: list[str]
    targets: list[str]


class _Found(NamedTuple):
    """Marks in columns: see `outline.Mark`. No two texts overlap, and no two targets."""

    kind: Bytes
    at: Numbers
    line: Numbers
    text: Numbers
    text_end: Numbers
    target: Numbers
    target_end: Numbers

    def only(self, wanted: Flags) -> _Found:
        """Some of them."""
        places = np.flatnonzero(wanted)
        return self if len(places) == len(wanted) else _Found._make(p[places] for p in self)


def outlines(texts: Sequence[bytes], starts: Sequence[int]) -> Outlines:
    """The outlines of texts.

    Args:
        texts: in UTF-8.
        starts: where the frontmatter of each ends.
    """
    return _Batch(texts, starts).outlines()


class _Batch:
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
            np.equal(part, _NEWLINE, out=here)
            for byte in (_TICK, _OPENING, _CLOSING, _ROUND, _HASH):
                here |= np.equal(part, byte, out=more)
        # Eight at once, since most are of no interest.
        eights = wanted.view(np.uint64)
        some = np.flatnonzero(eights != 0)
        within = np.flatnonzero(eights[some].view(np.bool_))
        self.at = (some << 3)[within >> 3] + (within & 7)
        self.byte = self.bytes.take(self.at, mode="clip")
        newline = self.byte == _NEWLINE
        self.line = np.cumsum(newline, dtype=np.int32)
        self.ends = self.at[newline]
        self.tick, self.opening, self.closing, self.hash = (
            np.flatnonzero(self.byte == byte) for byte in (_TICK, _OPENING, _CLOSING, _HASH)
        )
        self.tick_at = self.at[self.tick]

    def _start(self, line: Numbers) -> Numbers:
        """Where lines begin."""
        start: Numbers = self.ends[line - 1] + 1
        return start

    def _text_of(self, line: Numbers) -> Numbers:
        """The numbers of the texts that lines are part of."""
        text: Numbers = np.searchsorted(self.first_line, line, side="right") - 1
        return text

    def _line_of(self, at: Numbers) -> Numbers:
        """The lines on which places are."""
        line: Numbers = np.searchsorted(self.ends, at)
        return line

    def _last_lines(self) -> Numbers:
        """The last line of each text."""
        return np.append(self.first_line[1:], len(self.ends)) - 1

    def _trimmed(self, first: Numbers, last: Numbers) -> tuple[Numbers, Numbers]:
        """The bounds of parts without the blanks around them."""
        first, last = first.copy(), last.copy()
        left = np.flatnonzero(_BLANKS[self.bytes[first]] & (first < last))
        while len(left):
            first[left] += 1
            left = left[_BLANKS[self.bytes[first[left]]] & (first[left] < last[left])]
        left = np.flatnonzero(_BLANKS[self.bytes[last - 1]] & (first < last))
        while len(left):
            last[left] -= 1
            left = left[_BLANKS[self.bytes[last[left] - 1]] & (first[left] < last[left])]
        return first, last

    # -- lines ------------------------------------------------------------------

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
        text, end, stop = self._text_of(line), at + size, self.ends[line]
        bare = self._trimmed(self._start(line), at)[0] == at
        spans = bare & (np.append(self.line[self.runs], 0)[long + 1] == line)  # as in ```this```
        wanted = np.flatnonzero((line >= self.body_line[text]) & ~spans)
        line, text, size, bare = line[wanted], text[wanted], size[wanted], bare[wanted]
        alone = self._trimmed(end[wanted], stop[wanted])[0] == stop[wanted]
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
        return np.unique(self._text_of(self._line_of(places)))

    def _read(self, text: int) -> Iterator[tuple[int, int]]:
        """The first and the last line of each block of code of one text."""
        begin, last = int(self.body_line[text]), int(self._last_lines()[text])
        found = _FENCES.finditer(self.raw, int(self.ends[begin - 1]), int(self.ends[last]))
        places = np.array([each.start() for each in found], np.int64)
        opened, mark = 0, b""
        for line in np.unique(self._line_of(places)).tolist():
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
        first = np.append(_NEWLINE, self.bytes[self.ends[:-1] + 1])
        item = np.flatnonzero((first == ord("-")) | (first == ord("*")))
        after[item[self.bytes[self._start(item) + 1] == _SPACE]] = True
        after |= first == ord("|")
        heads = ~between & after
        tails = ~between & np.append(between[1:] | after[1:], True)
        return np.cumsum(heads) - 1, np.flatnonzero(heads), np.flatnonzero(tails)

    # -- headings ---------------------------------------------------------------

    def _headings(self) -> tuple[_Found, list[Mark]]:
        """All headings: plain ones, and those that were read."""
        place = self.hash[self.byte[self.hash - 1] == _NEWLINE]
        place = place[~self.apart[self.line[place]]]
        at, line = self.at[place], self.line[place]
        start = self._start(line)
        indented = np.flatnonzero(at > start)
        if len(indented):
            bare = self._trimmed(start[indented], at[indented])[0] == at[indented]
            deep = indented[~bare | (at[indented] - start[indented] > 3)]
            at, line, start = (np.delete(part, deep) for part in (at, line, start))
        level = np.ones(len(at), np.int64)
        more = np.flatnonzero(self.bytes[at + 1] == _HASH)
        while len(more):
            level[more] += 1
            more = more[(level[more] < 7) & (self.bytes[at[more] + level[more]] == _HASH)]
        after = self.bytes[at + level]
        stop = self.ends[line]
        text, end = self._trimmed(at + level, stop)
        real = (level < 7) & (_BLANKS[after] | (after == _NEWLINE)) & (text < end)
        closed = real & (self.bytes[end - 1] == _HASH)
        nothing = np.zeros(len(at), np.int64)
        kind = (level + ord("0")).astype(np.uint8)
        plain = _Found(kind, start, line, text, end, nothing, nothing).only(real & ~closed)
        read = [outline.atx(self.raw, place) for place in start[closed].tolist()]
        read += self._underlined()
        return plain, [mark for mark in read if mark is not None]

    def _underlined(self) -> list[Mark | None]:
        """Headings by a line of `=` or `-` below them."""
        line = np.flatnonzero(self.inner)
        at, end = self._start(line), self.ends[line]
        for _ in range(3):
            at = at + (self.bytes[at] == _SPACE)
        first, last, second = self.bytes[at], self.bytes[end - 1], self.bytes[at + 1]
        ruled = ((first == ord("=")) | (first == ord("-"))) & ((last == first) | _BLANKS[last])
        ruled &= (second == first) | _BLANKS[second] | (second == _NEWLINE)
        starts = self._start(line[ruled] - 1).tolist()
        ends = (end[ruled] + 1).tolist()
        return [outline.setext(self.raw, *each) for each in zip(starts, ends, strict=True)]

    # -- links and tags ------------------------------------------------------------

    def _links(self) -> tuple[_Found, list[Mark]]:
        """All links and tags: plain links, and those that were read."""
        plain, slow = self._plain()
        slow[self.region[self._strange(plain)]] = True
        defined = self._defined(slow)
        plain = plain.only(~slow[self.region[plain.line]])
        numbers = np.flatnonzero(slow)
        first, last = self.region_first[numbers], self.region_last[numbers]
        bounds = self._start(first).tolist(), (self.ends[last] + 1).tolist()
        read: list[Mark] = []
        for start, end, text in zip(*bounds, self._text_of(first).tolist(), strict=True):
            read += outline.marks(self.raw, start, end, defined.get(text, NO_DEFINITIONS))
        return plain, read

    def _plain(self) -> tuple[_Found, Flags]:
        """Plain links, and the regions in which others may be, too."""
        slow = np.zeros(len(self.region_first), np.bool_)
        after = self.bytes[self.at[self.closing] + 1]
        followed = np.flatnonzero(after == ord("("))
        followed = followed[~self.apart[self.line[self.closing[followed]]]]
        close = self.closing[followed]
        before = np.searchsorted(self.opening, close) - 1
        open_ = np.append(self.opening, 0)[before]
        nested = np.append(-1, self.closing)[followed] > open_
        line, start, middle = self.line[close], self.at[open_], self.at[close]
        end = close + 1
        end += self.byte[end] == _HASH
        picture = self.bytes[start - 1] == _PICTURE
        ticks = np.cumsum(self.byte == _TICK, dtype=np.int32)
        of_lines = np.bincount(self.line[self.tick], minlength=len(self.ends) + 1)
        before_line = np.cumsum(of_lines) - of_lines
        prior = self.bytes[start - 1]
        plain = (before >= 0) & (self.line[open_] == line) & ~nested & (self.byte[end] == _ROUND)
        plain &= (ticks[close] - ticks[open_]) % 2 == 0
        plain &= (prior != _ESCAPE) & (prior != _OPENING) & (self.bytes[middle - 1] != _ESCAPE)
        plain &= ~picture | (self.bytes[start - 2] != _ESCAPE)
        plain &= ~self._odd(of_lines)[self.region[line]]
        target, target_end = middle + 2, self.at[end]
        places = np.flatnonzero(plain)
        plain[places[self._any(_NOT_PLAIN, target[places], target_end[places])]] = False
        slow[self.region[line[~plain]]] = True
        kept = plain & ((ticks[open_] - before_line[line]) % 2 == 0) & (target < target_end)
        kind = np.where(picture, outline.IMAGE, outline.INLINE).astype(np.uint8)
        found = _Found(kind, start - picture, line, start + 1, middle, target, target_end)
        return found.only(kept), slow

    def _odd(self, ticks: Numbers) -> Flags:
        """The regions in which it does not take just counting to tell what is a code span.

        Args:
            ticks: of each line, how many there are.
        """
        odd = ticks % 2 == 1
        odd[self.line[self.runs[self.run_sizes > 1]]] = True
        odd[self.line[self.tick[self.bytes[self.tick_at - 1] == _ESCAPE]]] = True
        odd &= ~self.apart[: len(odd)]
        found = np.zeros(len(self.region_first) + 1, np.bool_)
        found[self.region[np.flatnonzero(odd[: len(self.region)])]] = True
        return found

    def _any(self, table: Flags, first: Numbers, last: Numbers) -> Flags:
        """Of parts of the buffer, whether any of its bytes is in a table."""
        sizes = np.maximum(last - first, 0)
        ends = np.cumsum(sizes)
        places = np.repeat(first - ends + sizes, sizes)
        places += np.arange(len(places))
        hits = np.flatnonzero(table.take(self.bytes.take(places, mode="clip"), mode="clip"))
        found = np.zeros(len(sizes), np.bool_)
        found[np.searchsorted(ends, hits, side="right")] = True
        return found

    def _strange(self, plain: _Found) -> Numbers:
        """The lines, some perhaps twice, with something else than plain links."""
        opening, hashes = self.at[self.opening], self.at[self.hash]
        double = opening[1:][np.diff(opening) == 1]
        tags = hashes[_WHITE[self.bytes[hashes - 1]] & _TAGGED[self.bytes[hashes + 1]]]
        urls = self._urls()
        place = np.searchsorted(plain.at, urls, side="right") - 1
        linked = np.append(plain.target_end, -1)[place] > urls
        lines = self._line_of(np.concatenate([double, tags, urls[~linked]]))
        return lines[~self.apart[lines]]

    def _urls(self) -> Numbers:
        """Where the slashes of `://` stand."""
        pairs = np.frombuffer(self.raw, np.uint16, len(self.raw) // 2)
        slashes, colon = (int.from_bytes(pair, sys.byteorder) for pair in (b"//", b":/"))
        places = 2 * np.flatnonzero((pairs == slashes) | (pairs == colon))
        places += self.bytes[places] == _COLON
        real = (self.bytes[places - 1] == _COLON) & (self.bytes[places + 1] == _SLASH)
        found: Numbers = places[real]
        return found

    def _defined(self, slow: Flags) -> dict[int, Definitions]:
        """What texts define for references. All of their regions with a bracket are to be read."""
        lines = self.line[self.closing[self.bytes[self.at[self.closing] + 1] == _COLON]]
        texts = np.unique(self._text_of(lines[~self.apart[lines]]))
        found: dict[int, Definitions] = {}
        if not len(texts):
            return found
        bracketed = np.zeros(len(slow) + 1, np.bool_)
        bracketed[self.region[self.line[self.closing]]] = True
        of_region = self._text_of(self.region_first)
        for text in texts.tolist():
            first, last = np.searchsorted(of_region, [text, text + 1])
            starts = self._start(self.region_first[first:last]).tolist()
            ends = (self.ends[self.region_last[first:last]] + 1).tolist()
            defined = outline.definitions(self.raw, list(zip(starts, ends, strict=True)))
            if defined.targets:
                found[text] = defined
                slow[first:last] |= bracketed[first:last]
        return found

    # -- outlines ------------------------------------------------------------------

    def outlines(self) -> Outlines:
        """The outlines of all texts."""
        headings, read = self._headings()
        links, more = self._links()
        read += more
        columns = np.array(read, np.int64).reshape(-1, len(Mark._fields))
        # A heading comes before the link with which it begins.
        kinds = columns[:, 0].astype(np.uint8)
        at = [2 * headings.at, 2 * links.at + 1, 2 * columns[:, 1] + (kinds > ord("6"))]
        order = np.argsort(np.concatenate(at), kind="stable")

        def ordered(*parts: Numbers) -> Numbers:
            return np.concatenate(parts)[order]

        line = ordered(headings.line, links.line, self._line_of(columns[:, 1]))
        text = self._text_of(line)
        numbers = (line - self.first_line[text] + 1).tolist()
        kind = ordered(headings.kind, links.kind, kinds).tobytes().decode("ascii")
        bounds = np.searchsorted(text, np.arange(len(self.first_line) + 1)).tolist()
        parts = list(pairwise(bounds))
        texts = self._cut(
            ordered(headings.text, links.text, columns[:, 2]),
            ordered(headings.text_end, links.text_end, columns[:, 3]),
        )
        targets = self._cut(
            ordered(headings.target, links.target, columns[:, 4]),
            ordered(headings.target_end, links.target_end, columns[:, 5]),
        )
        return Outlines(
            [kind[first:last] for first, last in parts],
            [" ".join(map(str, numbers[first:last])) for first, last in parts],
            [BETWEEN.join(texts[first:last]).decode() for first, last in parts],
            [BETWEEN.join(targets[first:last]).decode() for first, last in parts],
        )

    def _cut(self, first: Numbers, last: Numbers) -> list[bytes]:
        """Parts of the buffer."""
        raw = self.raw
        return [raw[a:b] for a, b in zip(first.tolist(), last.tolist(), strict=True)]
