"""Excerpts of ranked documents, as many as a budget of tokens holds.

A place is where a document matches. It grows to whole paragraphs of its section, joins places of
the same document that it touches, and is left out if most of it has been said by another one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise

from qmd.named_tuple import NamedTuple
from qmd.ranking.matcher import Matcher
from qmd.ranking.poor_lines import frontmatter_lines
from qmd.text.headings import SectionHeading, path_at
from qmd.text.tokens import cut_to_tokens, estimated_tokens
from qmd.wording import on_one_line

SECTION = 900
"""Characters up to which an excerpt grows to the bounds of its section."""

SHORT = 300
"""Characters up to which the opening of a document takes the sections that follow: the sentence
below its title is then not without the syntax, or the summary, that comes next."""

PARAGRAPH = 1500
"""Characters up to which it grows to the end of the paragraph that it would be cut in."""

SAME = 0.8
"""Share of the runs of words of an excerpt from which on it says what another one has said."""

RUN = 4
"""Words of such a run."""

ADJACENT = 0.3
"""Worth of the pairs of neighboring words of a question, and again of those without a function
word, beside that of its words. Measured: docs/decisions/030-answers-for-agents.md."""

FUNCTION_WORDS = frozenset(
    """
    a an and are as at be been by can could did do does for from had has have how i in into is it
    its me my not of on or that the there this to us was we were what when where which who why
    will with would you your
    """.split()
)
"""Words that only join others. Other stop words, as in "only once", tell something in pairs."""

LEAST_ROOM = 60
"""Tokens below which no part of an excerpt is worth its name."""

NAMED = 5
"""Places that are named of those that are left out."""

CUT = "[… cut]"

_WORDS = re.compile(r"\w+")


class Excerpted(NamedTuple):
    """A document that excerpts are taken from.

    Attributes:
        file: `collection/path`.
        context: description of its folder.
    """

    docid: str
    file: str
    title: str
    context: str | None
    lines: Sequence[str]
    headings: Sequence[SectionHeading]


class Spot(NamedTuple):
    """Lines of a document that match.

    Attributes:
        document: its number in the ranking, from 0.
        line: the first that matches, from 1.
        first, last: lines around it, from 1.
    """

    document: int
    line: int
    first: int
    last: int


class Excerpt(NamedTuple):
    """Lines of a document that answer a question, in part.

    Attributes:
        file: `collection/path`.
        line, last: first and last line, from 1.
        headings: those that it is below, the top one first.
        score: of the document, 0 to 1.
        body: the lines.
        context: description of the folder of the document.
        also: places `collection/path:line` that say nearly the same.
    """

    docid: str
    file: str
    line: int
    last: int
    title: str
    headings: tuple[str, ...]
    score: float
    body: str
    context: str | None = None
    also: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Name of the document with the range of lines, as `get` takes it."""
        lines = f"{self.line}" if self.last == self.line else f"{self.line}-{self.last}"
        return f"{on_one_line(self.file)}:{lines}"

    def told(self, number: int) -> str:
        """Write the excerpt with its place, its headings and its text."""
        way = " > ".join(" ".join(each.split()) for each in self.headings or (self.title,) if each)
        also = f" (also {', '.join(self.also)})" if self.also else ""
        return f"[{number}] {self.place} {way}{also}\n{self.body}\n"


def further(
    lines: Sequence[str], match: Matcher, taken: Iterable[Spot], document: int, most: int
) -> list[Spot]:
    """Find paragraphs with many of the words of a question, besides those that are taken.

    Args:
        most: paragraphs at most.
    """
    text = "\n".join(lines)
    starts, at = [], 0
    for line in lines:
        starts.append(at)
        at += len(line) + 1
    paragraphs: list[tuple[int, int, set[str]]] = []
    floor, last = frontmatter_lines(lines), -2
    for number, bits in match.lines_with(text, [*starts, at]):
        if number < floor:
            continue
        words = match.named(bits)
        if paragraphs and not any(not lines[n].strip() for n in range(last, number)):
            first, _, known = paragraphs[-1]
            paragraphs[-1] = first, number, known | words
        else:
            paragraphs.append((number, number, words))
        last = number
    held = [range(each.first, each.last + 1) for each in taken]
    free = [
        (len(words), Spot(document, first + 1, first + 1, end + 1))
        for first, end, words in paragraphs
        if len(words) > 1 and not any(first + 1 in lines for lines in held)
    ]
    return [spot for _, spot in sorted(free, key=lambda each: -each[0])[: max(0, most)]]


def grown(document: Excerpted, spot: Spot) -> Spot:
    """Extend a place to the section that it is in, or to whole paragraphs of that.

    The opening of a document takes sections that follow, up to `SHORT` characters together.
    """
    lines = document.lines
    bounds = [heading.line for heading in document.headings]
    top = max((line for line in bounds if line <= spot.line), default=1)
    under = min((line for line in bounds if line > max(spot.line, top)), default=len(lines) + 1)
    first, last = max(top, min(spot.first, spot.line)), max(spot.line, min(spot.last, under - 1))
    size = sum(len(line) + 1 for line in lines[first - 1 : last])
    while True:
        before = len(lines[first - 2]) + 1 if first > top else 0
        if before and size + before <= _room(lines[first - 2], lines[first - 1]):
            first, size = first - 1, size + before
        after = len(lines[last]) + 1 if last < under - 1 else 0
        is_more = after and size + after <= _room(lines[last - 1], lines[last])
        if is_more:
            last, size = last + 1, size + after
        elif not (before and first > top and size + before <= SECTION):
            break
    if bounds[1:2] == [under] and last == under - 1:
        last = _with_short_sections(document, first, last)
    while first < spot.line and not lines[first - 1].strip():
        first += 1
    while last > spot.line and not lines[last - 1].strip():
        last -= 1
    return spot._replace(first=first, last=last)


def _with_short_sections(document: Excerpted, first: int, last: int) -> int:
    """Return the last line of a range of whole sections, with as many more as `SHORT` allows."""
    lines = document.lines
    size = sum(len(line) + 1 for line in lines[first - 1 : last])
    ends = [each.line - 1 for each in document.headings if each.line > last + 1]
    for end in [*ends, len(lines)]:
        size += sum(len(line) + 1 for line in lines[last:end])
        if size > SHORT:
            break
        last = end
    return last


def _room(one: str, other: str) -> int:
    """Return the characters up to which an excerpt takes one of two lines that has the other."""
    return PARAGRAPH if one.strip() and other.strip() else SECTION


def ranked_places(
    documents: Sequence[tuple[Excerpted, float]],
    spots: Sequence[Spot],
    match: Matcher,
    question: str,
) -> list[Spot]:
    """Order places by the scores of their documents and by what of the question they have.

    That is its words, its pairs of neighboring words, and once more those pairs without a function
    word: "only once" tells more than either stop word. One counts the more, the fewer places have
    it. Words of the title and of the headings above a place are words of it.

    Args:
        documents: by their numbers in the ranking, with their scores.
    """
    asked = _word_pairs(question)
    words, pairs, telling = [], [], []
    for spot in spots:
        document, _ = documents[spot.document]
        way = path_at(document.headings, spot.first)
        lines = document.lines[spot.first - 1 : spot.last]
        text = "\n".join([document.title, *way, *lines])
        words.append(match.found_in(text))
        pairs.append(asked & _word_pairs(text))
        telling.append({each for each in pairs[-1] if FUNCTION_WORDS.isdisjoint(each)})
    best = max((score for _, score in documents), default=0.0) or 1.0
    values = [
        documents[spot.document][1] / best + of_words + ADJACENT * (of_pairs + of_telling)
        for spot, of_words, of_pairs, of_telling in zip(
            spots, _shares(words), _shares(pairs), _shares(telling), strict=True
        )
    ]
    return [spots[at] for at in sorted(range(len(spots)), key=lambda at: (-values[at], at))]


def _word_pairs(text: str) -> set[tuple[str, str]]:
    """Return the pairs of neighboring words of a text."""
    words = _WORDS.findall(text.lower())
    return set(pairwise(words))


def _shares(found: Sequence[Collection[object]]) -> list[float]:
    """Compute the share that each place has of all that is found, by rarity among the places."""
    counts = Counter(each for those in found for each in those)
    weights = {each: math.log(1 + len(found) / count) for each, count in counts.items()}
    most = math.fsum(weights.values()) or 1.0
    return [math.fsum(weights[each] for each in those) / most for those in found]


class Budget:
    """Excerpts within a budget.

    Args:
        documents: by their numbers in the ranking, with their scores.
        most: tokens at most.

    Attributes:
        left: places that found no room, the best first.
    """

    def __init__(self, documents: Sequence[tuple[Excerpted, float]], most: int) -> None:
        self._documents = documents
        self._most = most
        self._chosen: list[tuple[Spot, Excerpt]] = []
        self._runs: list[set[int]] = []
        self._cost = 0
        self.left: list[Excerpt] = []

    def add(self, spot: Spot) -> None:
        """Take a place, or keep it among those that are left out."""
        document, _ = self._documents[spot.document]
        joined = [each for each in self._chosen if _touches(document.lines, each[0], spot)]
        for other, _ in joined:
            first, last = min(spot.first, other.first), max(spot.last, other.last)
            spot = spot._replace(first=first, last=last)
        excerpt = self._excerpt(spot)
        if not joined and self._is_said(excerpt):
            return
        before = sum(_cost(each) for _, each in joined)
        room = self._most - self._cost + before
        if _cost(excerpt) > room:
            cut = None if joined else _cut(excerpt, room)
            if cut is None:
                self.left.append(excerpt)
                return
            excerpt = cut
        at = [self._chosen.index(each) for each in joined]
        kept = [n for n in range(len(self._chosen)) if n not in at]
        self._chosen = [self._chosen[n] for n in kept]
        self._runs = [self._runs[n] for n in kept]
        self._chosen.append((spot, excerpt))
        self._runs.append(_runs(excerpt.body))
        self._cost += _cost(excerpt) - before

    def excerpts(self) -> list[Excerpt]:
        """Return those that were taken: document by document, the best first."""
        ranked = sorted(self._chosen, key=lambda each: (each[0].document, each[0].first))
        return [excerpt for _, excerpt in ranked]

    def _excerpt(self, spot: Spot) -> Excerpt:
        document, score = self._documents[spot.document]
        body = "\n".join(line.rstrip() for line in document.lines[spot.first - 1 : spot.last])
        return Excerpt(
            document.docid,
            document.file,
            spot.first,
            spot.last,
            document.title,
            path_at(document.headings, spot.first),
            score,
            body,
            document.context,
        )

    def _is_said(self, excerpt: Excerpt) -> bool:
        """Note the place of an excerpt at one that says nearly the same, if there is one."""
        runs = _runs(excerpt.body)
        for number, known in enumerate(self._runs):
            if runs and len(runs & known) >= SAME * len(runs):
                spot, other = self._chosen[number]
                place = f"{on_one_line(excerpt.file)}:{excerpt.line}"
                noted = other._replace(also=(*other.also, place))
                if _cost(noted) - _cost(other) <= self._most - self._cost:
                    self._chosen[number] = spot, noted
                    self._cost += _cost(noted) - _cost(other)
                return True
        return False


def _touches(lines: Sequence[str], one: Spot, other: Spot) -> bool:
    """Return whether nothing but blank lines is between two places of a document."""
    if one.document != other.document:
        return False
    early, late = (one, other) if one.first <= other.first else (other, one)
    return not any(line.strip() for line in lines[early.last : late.first - 1])


def _cost(excerpt: Excerpt) -> int:
    return estimated_tokens(excerpt.told(10) + "\n")


def _cut(excerpt: Excerpt, room: int) -> Excerpt | None:
    """Cut an excerpt to so many tokens, at a line if there is one; None: it is too little."""
    over = _cost(excerpt._replace(body="")) + estimated_tokens(CUT) + 1
    if room - over < LEAST_ROOM // 2:
        return None
    text = cut_to_tokens(excerpt.body, room - over)
    whole, found, _ = text.rpartition("\n")
    kept = whole.rstrip() if found and len(whole) > len(text) // 2 else text
    last = excerpt.line + kept.count("\n")
    return excerpt._replace(last=last, body=f"{kept} {CUT}")


def _runs(text: str) -> set[int]:
    """Return the runs of words of a text, as hashes."""
    words = _WORDS.findall(text.lower())
    return {hash(tuple(words[at : at + RUN])) for at in range(max(1, len(words) - RUN + 1))}


def places_of(excerpts: Iterable[Excerpt]) -> Iterator[str]:
    """Yield the places of excerpts, as `get` takes them."""
    for each in excerpts:
        yield f"{on_one_line(each.file)}:{each.line}"
