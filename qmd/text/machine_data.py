r"""Data in a text, such as base64, minified code and tables of digits: there are no words in it.

It is neither indexed nor embedded; a document shows it all the same. These are data:

- a data URI in base64 with 40 characters or more behind the comma, the lines of a PEM block and of
  uuencoded files, and the mappings of a source map;
- a run of more than 128 characters of base64, hexadecimal or percent encoding, unless it is made of
  words (`a-slug-of-words`, `CamelCase`, a path) or of small letters alone;
- 3 lines or more, one after the other, of one such run of 40 characters or more each;
- a stretch without any word in which digits are the most: 400 characters in one line (numbers of an
  array, the path of an SVG) or of long hexadecimal numbers, 1,500 in several lines (a table). Lists
  of numbers that name something, with one in a line (ISBN, telephone, order), are none;
- lines of a hex dump;
- in a line of 1,000 characters or more, parts with many marks of several kinds and hardly a blank:
  minified code and JSON. Addresses and tags of HTML do not count.

The figures come from real files: minified JavaScript, CSS, JSON, SVG and notebooks on one side,
pages with lists of identifiers, addresses and tables on the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from qmd.patterns import pattern

Span = tuple[int, int]
"""Characters before a part of a text, and before what follows it."""

RUNS, NUMBERS, DUMPS, MINIFIED = 1, 2, 4, 8
EVERY = RUNS | NUMBERS | DUMPS | MINIFIED
"""Kinds of data: encoded runs and lines, stretches of numbers, hex dumps, minified parts."""

LONGEST_RUN = 128
"""Characters of a run without blanks that may be data only by what is around it: SHA-512 has so
many hexadecimal digits."""

LINE_RUN, LINES = 40, 3
"""Characters of a run that is a line of encoded data, and lines of them."""

STRETCH, TABLE = 400, 1500
"""Characters of a stretch of numbers in one line and in several."""

DIGITS, FEWEST = 0.45, 100
"""Digits of such a stretch: their share of what is not blank, and their number at least. Chess
games have a share of less than 0.4."""

LONG_LINE, WINDOW = 1000, 256
"""Characters of a line that may be minified, and of its parts that are judged apart."""

BLANKS, SPACED, MARKS, KINDS = 0.08, 2, 0.14, 4
"""Of a minified part: share of blanks at most; blanks behind a mark at most; share of marks and
kinds of them at least. Prose has more blanks, and lists of names have one behind each mark."""

WORDS = 0.45
"""Share of a run that is in words from which on it is no data; that of base64 is 0.15."""

PLACE = "_"
"""Word that has a position and no term."""

_PEM = pattern(
    r"^-----BEGIN ([A-Z0-9 ]{1,64}+)-----[ \t]*\r?\n((?:(?!-----)[^\n]*\n)++)-----END \1-----", re.M
)
_UU = pattern(r"^begin [0-7]{3,4} [^\n]{1,200}+\n((?:[ -`]{1,62}+\r?\n)++)end[ \t\r]*+$", re.M)
_MAPPINGS = pattern(rf'"mappings"[ \t\n]{{0,9}}:[ \t\n]{{0,9}}"([A-Za-z0-9+/,;]{{{LINE_RUN},}}+)')
_ENCODED = r"A-Za-z0-9+/=_%\\-"
_URI = pattern(
    rf"data:[a-zA-Z0-9=;/.+-]{{0,128}}?;base64,[{_ENCODED}]{{{LINE_RUN},}}+[^\s\"'()<>]*+"
)
_RUN = pattern(rf"(?<![{_ENCODED}])[{_ENCODED}]{{{LONGEST_RUN + 1},}}+")
_KEY = pattern(r"(?:(?:[A-Z]?[a-z]{2,24}+|[A-Z]{2,24}+)[/=_-])*+")
_LINE = pattern(rf"^[ \t>\"'*#]*+([{_ENCODED}]{{{LINE_RUN},}}+)[\"',;) \t\r]*+$", re.M)
_LAST_LINE = pattern(r"[ \t>\"'*#]*+[A-Za-z0-9+/_-]{1,127}+={0,2}[\"',;) \t\r]*+$", re.M)
_HEXADECIMAL = pattern(r"[0-9a-fA-F]++")
_IN_WORDS = pattern(r"(?<![a-z])[A-Z]?[a-z]{3,24}+(?![a-z])|(?<![A-Za-z])[A-Z]{3,24}+(?![A-Za-z])")
_WORD = pattern(
    r"[^\x00-\x7f]|_"
    r"|(?<![A-Za-z0-9])"
    r"(?!(?:0?[xXuU])?(?:[0-9a-f]{2}|[0-9A-F]{2}|[a-fA-F]*+[0-9][0-9a-fA-F]*+)(?![A-Za-z0-9_]))"
    r"(?=[0-9]*+(?:(?:[zZ][mM]|[A-Za-z])[0-9]++)*+(?![zZ][mM](?![A-Za-z0-9]))[A-Za-z]{2})"
    r"[A-Za-z0-9]++"
)
"""Character outside of ASCII, or a word: not a hexadecimal number, nor one with single letters, or
with the two that close and begin a path of an SVG."""

_FRACTION = pattern(r"(?<![\d.])\d*\.\d++(?![.\d])|\d[eE][-+]?\d")
_UUID = pattern(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_CODE = pattern(r"(?<![A-Za-z0-9.])[A-Z][0-9]{2,8}+(?![A-Za-z0-9.])")
_NUMBER = pattern(r"[A-Za-z0-9]++")
_LONG_HEX = pattern(r"(?<![0-9a-zA-Z])[0-9a-fA-F]{32,128}+(?![0-9a-zA-Z])")
_DUMP = pattern(
    r"(?:^[0-9a-fA-F]{6,16}:?[ \t]{1,4}(?:[0-9a-fA-F]{2,8}[ \t-]{1,3}){4,16}"
    r"[^\n]{0,80}(?:\n|\Z)){4,}+",
    re.M,
)
_ADDRESS = pattern(r"[a-z]{3,8}://[^\s\"'<>()\]]++|\]\([^()\s]*+\)|</?[a-zA-Z][^<>\n]{0,200}+>")
_SPACED = pattern(r"[,;:{}()=|>\]] ")
_MARK = pattern(r"[!-/:-@\[-^`{-~]")
_LETTER_OR_DIGIT = pattern(r"[^\W_]")
_BREAK = pattern(r"[^\n]+")


def spans(text: str, kinds: int = EVERY) -> list[Span]:
    """Find the data in a text, in order, in time proportional to its length.

    Args:
        kinds: that the text may have.
    """
    found: list[Span] = []
    if kinds & RUNS:
        found += [*_uris(text), *_keys(text), *_runs(text), *_lines(text)]
        found += [each.span(1) for pattern in (_UU, _MAPPINGS) for each in pattern.finditer(text)]
    if kinds & NUMBERS:
        found += _numbers(text)
    if kinds & DUMPS:
        found += (each.span() for each in _DUMP.finditer(text))
    if kinds & MINIFIED:
        found += _minified(text)
    return _merged(text, sorted(found)) if found else []


def blanked(text: str, found: Sequence[Span] | None = None) -> str:
    """Replace data in a text by as many blanks; lines stay where they are.

    Args:
        found: the data, if it is known.
    """
    found = spans(text) if found is None else found
    return _replaced(text, found, _blanks)


def parted(text: str, found: Sequence[Span]) -> str:
    """Replace data as `blanked` does, and leave a position there, so that no phrase reaches across.

    Args:
        found: the data.
    """
    return _replaced(text, found, lambda data: _blanks(data).replace("   ", f" {PLACE} ", 1))


def elided(text: str) -> str:
    """Replace data in a text by an ellipsis; lines keep their numbers."""
    return _replaced(text, spans(text), lambda data: "…" + "\n" * data.count("\n"))


def may_be_in(text: str) -> bool:
    """Return whether a text may have data: of one line, by a quick check of what data has."""
    return (
        "\n" in text
        or len(text) >= LONG_LINE
        or ";base64," in text
        or '"mappings"' in text
        or max(map(len, text.split()), default=0) > LONGEST_RUN
        or (len(text) >= STRETCH and sum(map(text.count, "0123456789")) >= FEWEST)
    )


def is_encoded(line: str) -> bool:
    """Check that a line is nothing but encoded data."""
    found = _LINE.match(line)
    return found is not None and not _is_of_words(found[1])


def _blanks(data: str) -> str:
    return _BREAK.sub(lambda line: " " * len(line[0]), data)


def _replaced(text: str, found: Sequence[Span], by: Callable[[str], str]) -> str:
    if not found:
        return text
    parts, at = [], 0
    for start, end in found:
        parts += [text[at:start], by(text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


def _merged(text: str, found: list[Span]) -> list[Span]:
    """Unite spans that overlap, or with nothing but a few marks and blanks between."""
    merged = [found[0]]
    for start, end in found[1:]:
        last = merged[-1][1]
        if start <= last or (
            start - last <= LINE_RUN and not _LETTER_OR_DIGIT.search(text, last, start)
        ):
            merged[-1] = merged[-1][0], max(last, end)
        else:
            merged.append((start, end))
    return merged


def _uris(text: str) -> Iterator[Span]:
    if ";base64," in text:
        yield from (found.span() for found in _URI.finditer(text))


def _keys(text: str) -> Iterator[Span]:
    """Find what is in PEM blocks, but for their headers."""
    if "-----BEGIN " not in text:
        return
    for found in _PEM.finditer(text):
        at = found.start(2)
        for line in found[2].splitlines(keepends=True):
            if ":" not in line and not line.isspace():
                yield at, at + len(line.rstrip())
            at += len(line)


def _runs(text: str) -> Iterator[Span]:
    for run in _RUN.finditer(text):
        start = _KEY.match(text, run.start(), run.end()).end()  # type: ignore[union-attr]
        if run.end() - start > LONGEST_RUN and not _is_of_words(text[start : run.end()]):
            yield start, run.end()


def _is_of_words(run: str) -> bool:
    """Check that a run is made of words, or one of small letters, or a rule such as in a table."""
    if (run.isalpha() and run.islower()) or sum(map(str.isalnum, run)) * 2 < len(run):
        return True
    return sum(len(word) for word in _IN_WORDS.findall(run)) >= WORDS * len(run)


def _lines(text: str) -> Iterator[Span]:
    """Find lines of encoded data. Hexadecimal ones are judged as numbers."""
    block: list[Span] = []
    reached = 0
    for line in _LINE.finditer(text):
        run = line[1]
        if _is_of_words(run) or _HEXADECIMAL.fullmatch(run):
            continue
        if block and line.start() != reached + 1:
            yield from _block(text, block)
            block = []
        block.append(line.span(1))
        reached = line.end()
    yield from _block(text, block)


def _block(text: str, block: list[Span]) -> Iterator[Span]:
    """Yield lines of encoded data that follow one another, and the rest in a line below."""
    if not block:
        return
    end = text.find("\n", block[-1][1])
    rest = _LAST_LINE.match(text, end + 1) if end >= 0 else None
    if rest is not None and (rest[0].isspace() or rest[0].strip().isalpha()):
        rest = None  # a word, such as END
    if len(block) + (rest is not None) >= LINES:
        yield block[0][0], rest.end() if rest else block[-1][1]


def _numbers(text: str) -> Iterator[Span]:
    """Find stretches of numbers without a word between."""
    if sum(map(text.count, "0123456789")) < FEWEST:
        return
    at = 0
    for word in _WORD.finditer(text):
        if word.start() - at >= STRETCH:
            yield from _stretch(text, at, word.start())
        at = word.end()
    if len(text) - at >= STRETCH:
        yield from _stretch(text, at, len(text))


def _stretch(text: str, start: int, end: int) -> Iterator[Span]:
    part = text[start:end]
    first = _LETTER_OR_DIGIT.search(part)
    if first is None:
        return
    start += first.start()
    part = part[first.start() :].rstrip(" \t\r\n\"'`|*_-([{<#")
    filled = "".join(part.split())
    if sum(map(filled.count, "0123456789")) < max(FEWEST, DIGITS * len(filled)):
        return
    in_long = sum(map(len, _LONG_HEX.findall(part)))
    is_short = "\n" in part and in_long < len(filled) / 2
    if len(part) >= (TABLE if is_short else STRETCH) and not _names_things(part):
        yield start, start + len(part)


def _names_things(part: str) -> bool:
    """Check that most numbers may name something: codes such as C1034, one ISBN in a line."""
    if 2 * len(_CODE.findall(part)) > len(_NUMBER.findall(part)):
        return True
    lines = [line for line in part.split("\n") if _LETTER_OR_DIGIT.search(line)]
    naming = sum(map(_is_a_name, lines))
    return naming * 2 > len(lines)


def _is_a_name(line: str) -> bool:
    if len(line) > LINE_RUN or _FRACTION.search(line):
        return _UUID.search(line) is not None
    fields = re.split(r"[\s,;|]+", line.strip(" \t\r,;|\"'-*"))
    starts_so = line.strip(" \t\"'-*")[:1] in ("+", "(", "0")
    return sum(map(str.isdigit, line)) >= 6 and (len(fields) <= 3 or starts_so)


def _minified(text: str) -> Iterator[Span]:
    """Find the parts of long lines that are minified."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if end - start >= LONG_LINE:
            yield from _minified_line(text, start, end)
        start = end + 1


def _minified_line(text: str, start: int, end: int) -> Iterator[Span]:
    line = text[start:end]
    judged = _ADDRESS.sub(lambda found: "\0" * len(found[0]), line)
    for at in range(0, len(line), WINDOW):
        first = min(at, len(line) - WINDOW)
        part = line[first : first + WINDOW]
        if part.count(" ") > BLANKS * WINDOW or len(_SPACED.findall(part)) > SPACED:
            continue
        if _is_minified(judged[first : first + WINDOW]):
            yield start + at, min(end, start + at + WINDOW)


def _is_minified(part: str) -> bool:
    """Check the marks of a part, in which NUL stands for addresses and tags."""
    size = len(part) - part.count("\0")
    if size < WINDOW / 2 or part.count(" ") > BLANKS * size:
        return False
    if not part.isascii() and sum(not each.isascii() for each in part) > size / 10:
        return False
    marks = _MARK.findall(part)
    return len(marks) >= MARKS * size and len(set(marks)) >= KINDS
