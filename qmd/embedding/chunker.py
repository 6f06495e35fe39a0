"""Chunker: splits a text into the chunks that are embedded.

    candidate splits ──the best in the window before each end──▸ chunks ──tokens──▸ split again

Headings, rules and paragraphs are good splits, positions inside a code block are no candidates, and
no grapheme is ever split. Only the windows are examined, so the time is linear in the length of the
text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from qmd.named_tuple import NamedTuple

if TYPE_CHECKING:
    import regex

DECAY = 0.7
"""Share of its score that a split loses at the far end of the window.

Source: tobi/qmd (MIT), src/store.ts, findBestCutoff; the scores below: BREAK_PATTERNS.
"""

TOKENS = 900
OVERLAP = 0.15
WINDOW = 200
"""Tokens of a chunk; share of them that the next one repeats; tokens before the end of a chunk in
which a split is looked for. Source: tobi/qmd (MIT), src/store.ts, CHUNK_SIZE_TOKENS."""

_BREAK = re.compile(
    r"\n(?=(?:"
    r"(?P<heading>\#{1,6}+(?!\#))"
    r"|(?P<fence>\ {0,3}(?:`{3}|~{3}))"
    r"|(?P<rule>(?:---|\*\*\*|___)[^\S\n]{0,40}\n)"
    r"|(?P<blank>(?<!\n\n)(?<!\n\r\n)\r?\n)"
    r"|(?P<item>(?:[-*+]|\d{1,9}[.)])\s)"
    r")?)",
    re.X,
)
_AHEAD = 48
"""Characters after a newline that `_BREAK` may read."""

_SCORES = {"fence": 80, "rule": 60, "blank": 20, "item": 5, None: 1}

_FENCE = r" {0,3}(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)"
_FIRST_FENCE = re.compile(_FENCE)
_LATER_FENCE = re.compile("\n" + _FENCE)

_REACH = 32
"""Characters before a split in which a grapheme boundary is looked for first."""

_SAMPLE, _SAMPLES = 2_000, 8
"""Characters of a sample of a long text, and how many tell its characters per token."""

_MARGIN = 0.9
"""Target share of the token limit, since no text is uniform.

With less there are more chunks, with more too many have to be split again; both cost time.
"""

_PART = 2 / 3
"""Largest share of a chunk in a part of it: two equal parts are better than one and a rest."""


class Break(NamedTuple):
    """A candidate split: the text at `position` starts the next chunk.

    Attributes:
        position: characters before it.
        score: from 1 (end of a line) to 100 (a top heading).
    """

    position: int
    score: int


class Fence(NamedTuple):
    """A code block: from the newline before it to the end of its closing fence."""

    start: int
    end: int


class Sizes(NamedTuple):
    """Sizes of chunks, in characters.

    Attributes:
        size: of a piece, at most.
        overlap: characters that a piece repeats of the one before.
        window: characters before the end of a piece in which a place to cut is looked for.
    """

    size: int = 3600
    overlap: int = 540
    window: int = 800


class Piece(NamedTuple):
    """A part of a text, in characters."""

    position: int
    length: int

    @property
    def end(self) -> int:
        """Position after the last character."""
        return self.position + self.length


class TokenPiece(NamedTuple):
    """A part of a text that fits the model's token limit.

    Attributes:
        position: characters before it.
        length: characters.
        line: on which it begins, from 1.
        tokens: as counted.
    """

    position: int
    length: int
    line: int
    tokens: int


_DEFAULT = Sizes()


def breaks(text: str) -> list[Break]:
    """List all candidate splits, in order: the newline before each line, scored by that line."""
    return list(_breaks(text, 0, len(text)))


def _breaks(text: str, first: int, last: int) -> Iterator[Break]:
    """Yield the candidate splits between two positions, both included."""
    for found in _BREAK.finditer(text, first, last + 1 + _AHEAD):
        position, kind = found.start(), found.lastgroup
        if position > last:
            return
        score = 110 - 10 * len(found[kind]) if kind == "heading" else _SCORES[kind]
        yield Break(position, score)


def fences(text: str) -> list[Fence]:
    """List the code blocks between ``` or ~~~, in order. An unclosed one goes to the end.

    Source: CommonMark 0.31.2, 4.5: up to 3 spaces before the mark, no backtick after an opening
    ```, and the closing mark is of the same character, at least as long, and alone on its line.
    """
    found = []
    opening, start = "", 0
    first = _FIRST_FENCE.match(text)
    for line in chain([first] if first else [], _LATER_FENCE.finditer(text)):
        mark, info = line["mark"], line["info"]
        if not opening:
            if mark[0] == "~" or "`" not in info:
                opening, start = mark, line.start()
        elif mark.startswith(opening) and not info.strip():
            found.append(Fence(start, line.end("mark")))
            opening = ""
    if opening:
        found.append(Fence(start, len(text)))
    return found


def inside(position: int, fenced: Sequence[Fence]) -> bool:
    """Check that a position is strictly inside a code block; the blocks are sorted."""
    before = bisect_left(fenced, (position,)) - 1
    return before >= 0 and position < fenced[before].end


def merged(a: Sequence[Break], b: Sequence[Break]) -> list[Break]:
    """Merge two sorted lists of splits; at equal positions the higher score stays."""
    best: dict[int, int] = {}
    for position, score in chain(a, b):
        best[position] = max(score, best.get(position, score))
    return [Break(*place) for place in sorted(best.items())]


def cutoff(
    places: Sequence[Break], target: int, window: int = 800, fenced: Sequence[Fence] = ()
) -> int:
    """Choose the best split in the window before `target`; without any, `target`.

    Strong breaks win, and near ones over far: a break loses `DECAY` times the square of its
    distance, as a share of the window. Of equals the earlier wins.

    Args:
        places: in order.
    """
    best, highest = target, 0.0
    for position, score in places:
        distance = target - position
        if score <= highest or not 0 <= distance <= window or inside(position, fenced):
            continue
        worth = score * (1 - DECAY * (distance / window) ** 2) if distance else score
        if worth > highest:
            best, highest = position, worth
    return best


def chunks(text: str, sizes: Sizes = _DEFAULT, extra: Sequence[Break] = ()) -> list[Piece]:
    """Split a text into chunks that together cover it.

    A piece is only longer than `sizes.size` where a grapheme would be split otherwise.

    Args:
        sizes: an overlap of a whole piece or more is none.
        extra: more places to cut, in order, as of `syntax_breaks`.
    """
    return list(_pieces(text, Piece(0, len(text)), sizes, fences(text), extra))


def _pieces(
    text: str, whole: Piece, sizes: Sizes, fenced: Sequence[Fence], extra: Sequence[Break]
) -> Iterator[Piece]:
    """Yield the chunks of a part of a text that starts and ends with a whole grapheme."""
    size, overlap, window = max(1, sizes.size), sizes.overlap, sizes.window
    start = end = whole.position
    while (target := start + size) < whole.end:
        low = max(end + 1, target - window)
        places: Sequence[Break] = list(_breaks(text, low, target))
        more = extra[bisect_left(extra, (low,)) : bisect_left(extra, (target + 1,))]
        if more:
            places = merged(places, more)
        end = _whole(text, cutoff(places, target, window, fenced), end)
        yield Piece(start, end - start)
        if end == whole.end:  # which a grapheme may reach to
            return
        back = end - overlap
        # A piece that would not get past the one before it begins without an overlap.
        back = _whole(text, back, start) if start < back < end else end
        start = back if back + size > end else end
    if start < whole.end or not whole.length:
        yield Piece(start, whole.end - start)


def _whole(text: str, at: int, floor: int) -> int:
    """Find the last grapheme boundary up to `at`, or the next one after it if none is past `floor`.

    Args:
        floor: where a grapheme ends, before `at`.
    """
    around = text[at - 1 : at + 1]
    if around.isascii() or around[-1] == "\n":
        if around != "\r\n":
            return at
        return at - 1 if at - 1 > floor else at + 1
    grapheme = _grapheme()
    # What stands before `floor` is left out: in a row of flags each would look back to the first.
    near = text[floor : at + 1]
    for low in (max(0, len(near) - _REACH), 0):
        # The last end is only that of what is looked at.
        ends = [found.end() for found in grapheme.finditer(near, low)][:-1]
        if ends:
            return floor + ends[-1]
    reach = _REACH
    while True:
        near = text[floor : at + reach]
        end = next(grapheme.finditer(near)).end()
        if end < len(near) or floor + end == len(text):
            return floor + end
        reach *= 8


@cache
def _grapheme() -> regex.Pattern[str]:
    """Compile the pattern of grapheme clusters (Unicode, UAX 29) on first use."""
    import regex

    return regex.compile(r"\X")


def _samples(text: str) -> list[str]:
    """Take samples from all over a text to estimate its tokens; all of a short text."""
    if len(text) <= _SAMPLE * _SAMPLES:
        return [text]
    starts = [(len(text) - _SAMPLE) * at // (_SAMPLES - 1) for at in range(_SAMPLES)]
    return [text[start : start + _SAMPLE] for start in starts]


def token_chunks(
    text: str,
    count: Callable[[Sequence[str]], list[int]],
    *,
    tokens: int = TOKENS,
    overlap: float = OVERLAP,
    window: int | None = None,
    extra: Sequence[Break] = (),
) -> list[TokenPiece]:
    """Split a text into chunks within the token limit, in order, none of them blank.

    Each character that is not blank is in one of them. Only a single grapheme may have more than
    `tokens`. Where what a model puts around a text leaves no room, all of it is one piece.

    Args:
        count: the tokens of each text, with those that a model puts around it. With the usual
            overlap, what is counted is about twice as long as `text`.
        tokens: of a piece, at most.
        overlap: share of a piece that the next one repeats, from 0 to below 1.
        window: tokens before the end of a piece in which a place to cut is looked for.
        extra: more places to cut, in order, as of `syntax_breaks`.
    """
    if not text or text.isspace():
        return []
    whole, samples = Piece(0, len(text)), _samples(text)
    *sampled, around = count([*samples, ""])
    within = sum(sampled) - around * len(samples)
    expected = around + within * len(text) // sum(map(len, samples))
    room = tokens - around
    fenced = fences(text)
    if window is None:
        window = tokens * WINDOW // TOKENS

    def parts(piece: Piece, has: int) -> list[Piece]:
        """Return the piece itself if it is within the token limit, else its parts."""
        if has <= tokens or room <= 0:
            return [piece]
        size = int(piece.length * min(_PART, _MARGIN * room / (has - around)))
        sizes = Sizes(size, int(size * overlap), size * window // tokens)
        found = _pieces(text, piece, sizes, fenced, extra)
        return [part for part in found if not text[part.position : part.end].isspace()]

    counted = {whole: expected} if samples == [text] else {}
    pieces = parts(whole, expected)
    while fresh := [piece for piece in pieces if piece not in counted]:
        texts = [text[piece.position : piece.end] for piece in fresh]
        counted.update(zip(fresh, count(texts), strict=True))
        # What a piece has in common with the next one is left to that.
        limits = [*(piece.position for piece in pieces[1:]), len(text)]
        pieces = [
            part
            for piece, limit in zip(pieces, limits, strict=True)
            for part in parts(piece, counted[piece])
            if part.position < limit
        ]
    found = []
    line, at, reached = 1, 0, 0
    for piece in pieces:
        if piece.end > reached:
            line += text.count("\n", at, piece.position)
            at, reached = piece.position, piece.end
            found.append(TokenPiece(*piece, line, counted[piece]))
    return found
