"""The headings, links and tags of a batch of texts, in numpy.

Headings and plain links (`[text](target)` on one line) are told from where the bytes stand that
Markdown gives a meaning; only a region with anything else in it is read by `outline.marks`.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from qmd.pipeline.lines import (
    BLANKS,
    HASH,
    NEWLINE,
    OPENING,
    ROUND,
    SPACE,
    TICK,
    Batch,
    Bytes,
    Flags,
    Numbers,
    byte_set,
    once,
)
from qmd.text import outline
from qmd.text.outline import NO_DEFINITIONS, Definitions, Mark

_ESCAPE, _PICTURE, _SLASH, _COLON = b"\\!/:"

_WHITE = byte_set(b" \t\r\n\v\f")
_NOT_PLAIN = byte_set(b" \t\r\n\v\f(<\\")
_TAGGED = byte_set(bytes(n for n in range(256) if n >= 128 or chr(n).isalnum() or chr(n) in "_-/"))


class Marks(NamedTuple):
    """Marks in columns: see `outline.Mark`. No two texts overlap, and no two targets."""

    kind: Bytes
    at: Numbers
    line: Numbers
    text: Numbers
    text_end: Numbers
    target: Numbers
    target_end: Numbers

    def only(self, wanted: Flags) -> Marks:
        """Some of them."""
        places = np.flatnonzero(wanted)
        return self if len(places) == len(wanted) else Marks._make(p[places] for p in self)


# -- headings ------------------------------------------------------------------


def headings(batch: Batch) -> tuple[Marks, list[Mark]]:
    """All headings: plain ones, and those that were read."""
    place = batch.hash[batch.byte[batch.hash - 1] == NEWLINE]
    place = place[~batch.apart[batch.line[place]]]
    at, line = batch.at[place], batch.line[place]
    start = batch.start(line)
    indented = np.flatnonzero(at > start)
    if len(indented):
        first, last = start[indented], at[indented]
        for _ in range(3):
            first = first + ((first < last) & (batch.bytes[first] == SPACE))
        deep = indented[first < last]
        at, line, start = (np.delete(part, deep) for part in (at, line, start))
    level = np.ones(len(at), np.int64)
    more = np.flatnonzero(batch.bytes[at + 1] == HASH)
    while len(more):
        level[more] += 1
        more = more[(level[more] < 7) & (batch.bytes[at[more] + level[more]] == HASH)]
    after = batch.bytes[at + level]
    stop = batch.ends[line]
    text, end = batch.trimmed(at + level, stop)
    real = (level < 7) & (BLANKS[after] | (after == NEWLINE)) & (text < end)
    closed = real & (batch.bytes[end - 1] == HASH)
    nothing = np.zeros(len(at), np.int64)
    kind = (level + ord("0")).astype(np.uint8)
    plain = Marks(kind, start, line, text, end, nothing, nothing).only(real & ~closed)
    read = [outline.atx(batch.raw, place) for place in start[closed].tolist()]
    read += _underlined(batch)
    return plain, [mark for mark in read if mark is not None]


def _underlined(batch: Batch) -> list[Mark | None]:
    """Headings by a line of `=` or `-` below them."""
    line = np.flatnonzero(batch.inner)
    at, end = batch.start(line), batch.ends[line]
    for _ in range(3):
        at = at + (batch.bytes[at] == SPACE)
    first, last, second = batch.bytes[at], batch.bytes[end - 1], batch.bytes[at + 1]
    ruled = ((first == ord("=")) | (first == ord("-"))) & ((last == first) | BLANKS[last])
    ruled &= (second == first) | BLANKS[second] | (second == NEWLINE)
    starts = batch.start(line[ruled] - 1).tolist()
    ends = (end[ruled] + 1).tolist()
    return [outline.setext(batch.raw, *each) for each in zip(starts, ends, strict=True)]


# -- links and tags ------------------------------------------------------------


def links(batch: Batch) -> tuple[Marks, list[Mark]]:
    """All links and tags: plain links, and those that were read."""
    plain, slow = _plain(batch)
    slow[batch.region[_strange(batch, plain)]] = True
    defined = _defined(batch, slow)
    plain = plain.only(~slow[batch.region[plain.line]])
    numbers = np.flatnonzero(slow)
    first, last = batch.region_first[numbers], batch.region_last[numbers]
    bounds = batch.start(first).tolist(), (batch.ends[last] + 1).tolist()
    read: list[Mark] = []
    for start, end, text in zip(*bounds, batch.text_of(first).tolist(), strict=True):
        read += outline.marks(batch.raw, start, end, defined.get(text, NO_DEFINITIONS))
    return plain, read


def _plain(batch: Batch) -> tuple[Marks, Flags]:
    """Plain links, and the regions in which others may be, too."""
    slow = np.zeros(len(batch.region_first), np.bool_)
    after = batch.bytes[batch.at[batch.closing] + 1]
    followed = np.flatnonzero(after == ord("("))
    followed = followed[~batch.apart[batch.line[batch.closing[followed]]]]
    close = batch.closing[followed]
    before = np.searchsorted(batch.opening, close) - 1
    open_ = np.append(batch.opening, 0)[before]
    nested = np.append(-1, batch.closing)[followed] > open_
    line, start, middle = batch.line[close], batch.at[open_], batch.at[close]
    end = close + 1
    end += batch.byte[end] == HASH
    picture = batch.bytes[start - 1] == _PICTURE
    ticks = np.cumsum(batch.byte == TICK, dtype=np.int32)
    of_lines = np.bincount(batch.line[batch.tick], minlength=len(batch.ends) + 1)
    before_line = np.cumsum(of_lines) - of_lines
    prior = batch.bytes[start - 1]
    plain = (before >= 0) & (batch.line[open_] == line) & ~nested & (batch.byte[end] == ROUND)
    plain &= (ticks[close] - ticks[open_]) % 2 == 0
    plain &= (prior != _ESCAPE) & (prior != OPENING) & (batch.bytes[middle - 1] != _ESCAPE)
    plain &= ~picture | (batch.bytes[start - 2] != _ESCAPE)
    plain &= ~_odd(batch, of_lines)[batch.region[line]]
    target, target_end = middle + 2, batch.at[end]
    places = np.flatnonzero(plain)
    plain[places[_any(batch, _NOT_PLAIN, target[places], target_end[places])]] = False
    slow[batch.region[line[~plain]]] = True
    kept = plain & ((ticks[open_] - before_line[line]) % 2 == 0) & (target < target_end)
    kind = np.where(picture, outline.IMAGE, outline.INLINE).astype(np.uint8)
    found = Marks(kind, start - picture, line, start + 1, middle, target, target_end)
    return found.only(kept), slow


def _odd(batch: Batch, ticks: Numbers) -> Flags:
    """The regions in which it does not take just counting to tell what is a code span.

    Args:
        ticks: of each line, how many there are.
    """
    odd = ticks % 2 == 1
    odd[batch.line[batch.runs[batch.run_sizes > 1]]] = True
    odd[batch.line[batch.tick[batch.bytes[batch.tick_at - 1] == _ESCAPE]]] = True
    odd &= ~batch.apart[: len(odd)]
    found = np.zeros(len(batch.region_first) + 1, np.bool_)
    found[batch.region[np.flatnonzero(odd[: len(batch.region)])]] = True
    return found


def _any(batch: Batch, table: Flags, first: Numbers, last: Numbers) -> Flags:
    """Of parts of the buffer, whether any of its bytes is in a table."""
    sizes = np.maximum(last - first, 0)
    ends = np.cumsum(sizes)
    places = np.repeat(first - ends + sizes, sizes)
    places += np.arange(len(places))
    hits = np.flatnonzero(table.take(batch.bytes.take(places, mode="clip"), mode="clip"))
    found = np.zeros(len(sizes), np.bool_)
    found[np.searchsorted(ends, hits, side="right")] = True
    return found


def _strange(batch: Batch, plain: Marks) -> Numbers:
    """The lines, some perhaps twice, with something else than plain links."""
    opening, hashes = batch.at[batch.opening], batch.at[batch.hash]
    double = opening[1:][np.diff(opening) == 1]
    tags = hashes[_WHITE[batch.bytes[hashes - 1]] & _TAGGED[batch.bytes[hashes + 1]]]
    urls = _urls(batch)
    place = np.searchsorted(plain.at, urls, side="right") - 1
    linked = np.append(plain.target_end, -1)[place] > urls
    lines = batch.line_of(np.concatenate([double, tags, urls[~linked]]))
    return lines[~batch.apart[lines]]


def _urls(batch: Batch) -> Numbers:
    """Where the slashes of `://` stand."""
    pairs = np.frombuffer(batch.raw, np.uint16, len(batch.raw) // 2)
    slashes, colon = (int.from_bytes(pair, sys.byteorder) for pair in (b"//", b":/"))
    places = 2 * np.flatnonzero((pairs == slashes) | (pairs == colon))
    places += batch.bytes[places] == _COLON
    real = (batch.bytes[places - 1] == _COLON) & (batch.bytes[places + 1] == _SLASH)
    found: Numbers = places[real]
    return found


def _defined(batch: Batch, slow: Flags) -> dict[int, Definitions]:
    """What texts define for references. All of their regions with a bracket are to be read."""
    lines = batch.line[batch.closing[batch.bytes[batch.at[batch.closing] + 1] == _COLON]]
    texts = once(batch.text_of(lines[~batch.apart[lines]]))
    found: dict[int, Definitions] = {}
    if not len(texts):
        return found
    bracketed = np.zeros(len(slow) + 1, np.bool_)
    bracketed[batch.region[batch.line[batch.closing]]] = True
    of_region = batch.text_of(batch.region_first)
    for text in texts.tolist():
        first, last = np.searchsorted(of_region, [text, text + 1])
        starts = batch.start(batch.region_first[first:last]).tolist()
        ends = (batch.ends[batch.region_last[first:last]] + 1).tolist()
        defined = outline.definitions(batch.raw, list(zip(starts, ends, strict=True)))
        if defined.targets:
            found[text] = defined
            slow[first:last] |= bracketed[first:last]
    return found
