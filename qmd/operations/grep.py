"""Operation `grep`: lines of the stored texts that a regular expression matches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from qmd.analytics.rows import Rows
from qmd.declaration.operation import Parameter, operation
from qmd.declaration.parameters import Names, named
from qmd.errors import QueryError
from qmd.named_tuple import NamedTuple
from qmd.storage.cursor import DatabaseError, as_json
from qmd.storage.long_texts import long_text
from qmd.text import globs
from qmd.types import Clause, Filter

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.storage.cursor import Cursor

BATCH = 4_000_000
"""Bytes of texts that are in memory at once, and of one text more."""

LINES_AHEAD = 2000
"""Lines of a text in pieces that are read with one that is shown: the next ones are often near."""

_WORD = r"(?:^|[^\pL\pN_])(?:{})(?:$|[^\pL\pN_])"
_ANCHOR = re.compile(r"\\[Az]|\$")
"""Anchors that may hold in a line and not in its text, where a carriage return can follow."""

_BYTE = re.compile(r"(?<!\\)(?:\\\\)*\\C")
"""RE2's byte of a character: DuckDB raises where what it matches is no UTF-8."""

_IN_TEXT = "An answer to a model is a text of fixed shape."

Expression = Annotated[
    str,
    Parameter(
        help="Regular expression, in RE2 syntax; for one that begins with -, put -- before.",
        helps={"tool": "Regular expression (RE2: no lookaround)."},
        metavar="REGEX",
        longest=1000,
        aliases=("query", "regex"),
    ),
]

Places = Annotated[
    Names,
    Parameter(
        help="Documents or folders, such as notes/tea.md or docs/api; all without.",
        helps={"tool": "Only these documents, folders or globs."},
        metavar="[NAME]...",
        json="paths",
        kind="names",
        items=100,
        several=frozenset({"command", "python"}),
        defaults={"command": None},
        aliases=("path", "files", "file", "glob"),
    ),
]

IgnoreCase = Annotated[
    bool,
    Parameter(
        help="Match in any case.", flags=("-i", "--ignore-case"), json="ignoreCase", bare=True
    ),
]
WholeWord = Annotated[bool, Parameter(help="Match whole words.", flags=("-w", "--word-regexp"))]
Fixed = Annotated[
    bool,
    Parameter(
        help="Take REGEX as text.",
        helps={"tool": "The pattern is text."},
        flags=("-F", "--fixed-strings"),
        bare=True,
    ),
]
Inverted = Annotated[
    bool,
    Parameter(
        help="Lines that do not match.",
        flags=("-v", "--invert-match"),
        absent={"tool": "A model would get nearly all lines."},
    ),
]
Globs = Annotated[
    Names,
    Parameter(
        help="Only paths that the glob matches; may be repeated.",
        flags=("-g", "--glob"),
        metavar="GLOB",
        kind="names",
        absent={"tool": "`paths` takes globs."},
    ),
]
Only = Annotated[
    Names,
    Parameter(
        help="Only this collection; may be repeated.",
        helps={"tool": "Only these collections."},
        flags=("--collection",),
        metavar="NAME",
        json="collections",
        kind="names",
        items=100,
        complete="collections",
    ),
]
LinesBefore = Annotated[
    int,
    Parameter(
        help="Lines shown before each match.",
        flags=("-B", "--before-context"),
        least=0,
        json_most=20,
        defaults={"command": None},
        bare=True,
    ),
]
LinesAfter = Annotated[
    int,
    Parameter(
        help="Lines shown after each match.",
        flags=("-A", "--after-context"),
        least=0,
        json_most=20,
        defaults={"command": None},
        bare=True,
    ),
]
OfEach = Annotated[
    int | None,
    Parameter(
        help="Matching lines of each document at most.",
        flags=("-m", "--max-count"),
        json="maxCount",
        least=1,
    ),
]
MostLines = Annotated[
    int | None,
    Parameter(
        help="Matching lines at most.",
        helps={"tool": "Matching lines at most (default 50)."},
        flags=("--limit",),
        least=1,
        json_most=1000,
        defaults={"tool": 50},
        bare=True,
    ),
]


class Matched(NamedTuple):
    """A document with matching lines.

    Attributes:
        total: matching lines, also those that are not shown.
        lines: (number from 1, text, whether it matches), ascending; empty if only counts are
            asked for.
    """

    file: str
    total: int
    lines: Sequence[tuple[int, str, bool]]


Each = Annotated[
    Callable[[Matched], object] | None,
    Parameter(
        help="Called with each document, whose lines are then not in the result.",
        kind="callback",
        absent={"command": "Lines are written as they are found.", "tool": _IN_TEXT},
    ),
]
CountOnly = Annotated[
    bool,
    Parameter(
        help="Only count the matching lines of each document.",
        absent={"command": "-c and -l.", "tool": _IN_TEXT},
    ),
]


@dataclass(frozen=True, slots=True)
class Line:
    """A line that matches, or stands around one.

    Attributes:
        line: its number, from 1.
        is_match: False for one that is there for its neighbour.
    """

    file: str
    line: int
    text: str
    is_match: bool


@operation(
    unlisted=("fixed", "word", "maxCount", "collections", "before", "after"),
    title="Find lines (regular expression)",
    sharded=True,
    description="Lines that a regular expression matches, like grep.",
    examples=(
        ("Lines with a word, in any case", "qmd grep -i tea"),
        ("Text as it is, of a folder", "qmd grep -F 'a.b(c)' notes/journal"),
        ("How many lines of each document match", "qmd grep -c '^#' -g '*.md'"),
        ("Two lines around each match", "qmd grep -C 2 'TODO|FIXME' --collection work"),
    ),
)
def grep(
    index: Index,
    pattern: Expression,
    names: Places = None,
    *,
    ignore_case: IgnoreCase = False,
    word: WholeWord = False,
    fixed: Fixed = False,
    invert: Inverted = False,
    glob: Globs = None,
    collection: Only = None,
    before: LinesBefore = 0,
    after: LinesAfter = 0,
    max_count: OfEach = None,
    limit: MostLines = None,
    count_only: CountOnly = False,
    each: Each = None,
) -> Rows[Line]:
    """Find lines that a regular expression matches, in the texts as they are indexed.

    Expressions are those of RE2, which takes a time proportional to the text, whatever they are.

    Args:
        pattern: regular expression for one line.
        names: documents, folders or globs: `collection/path`, or below a collection.
        ignore_case: match in any case.
        word: match whole words.
        fixed: the pattern is text.
        invert: give the lines that do not match.
        glob: paths that match one of these.
        collection: names of collections; None: those that searches look into by default.
        before: lines before each match.
        after: lines after each match.
        max_count: matching lines of each document at most.
        limit: matching lines at most.
        count_only: only count.
        each: called with each document, in the order of paths; the result is then empty.

    Raises:
        QueryError: the pattern cannot be read.
        UsageError: a glob cannot be read.
        CollectionNotFound: no collection has one of the names.
    """
    line = expression(pattern, ignore_case=ignore_case, word=word, fixed=fixed)
    plain = expression(pattern, ignore_case=ignore_case, word=False, fixed=fixed)
    among = Filter(named(collection) or None, clauses=tuple(_chosen(names, glob)))

    def work(cursor: Cursor) -> list[Line]:
        narrowed = index.with_default_collections(cursor, among)
        if narrowed is None:
            return []
        found: list[Line] = []
        for matched in _matched(
            cursor,
            line,
            plain,
            narrowed,
            invert=invert,
            around=(before, after),
            most=(max_count, limit),
            count_only=count_only,
        ):
            if each is not None:
                each(matched)
            else:
                found += [Line(matched.file, *one) for one in matched.lines]
        return found

    return Rows(Line, index.read(work))


def expression(pattern: str, *, ignore_case: bool, word: bool, fixed: bool) -> str:
    """Return the regular expression for a line.

    Raises:
        QueryError: the pattern is empty, spans lines, or asks for a single byte.
    """
    if not pattern or "\n" in pattern or (not fixed and re.search(r"(?<!\\)(?:\\\\)*\\n", pattern)):
        raise QueryError(
            "The pattern is empty.\n\nGive a regular expression, such as 'tea|coffee'."
            if not pattern
            else "The pattern spans lines.\n\nEach line is matched by itself: leave out the \\n."
        )
    if not fixed and _BYTE.search(pattern):
        raise QueryError(
            "The pattern has \\C, a single byte: texts are not cut within a character.\n\n"
            "Write '.' for any character."
        )
    text = re.escape(pattern) if fixed else pattern
    text = _WORD.format(text) if word else text
    return f"(?i){text}" if ignore_case else text


def _chosen(names: Names, glob: Names) -> Iterator[Filter | Clause]:
    """Yield what paths have to fulfil: one of the names, and one of the globs."""
    for given in (named(names), named(glob)):
        paths = [Filter(path=globs.under_folder(each)) for each in given]
        if paths:
            yield Clause("or", tuple(paths))


def _matched(
    cursor: Cursor,
    line: str,
    plain: str,
    among: Filter,
    *,
    invert: bool,
    around: tuple[int, int],
    most: tuple[int | None, int | None],
    count_only: bool,
) -> Iterator[Matched]:
    """Yield the documents with matching lines, by path; few texts are in memory at once.

    Args:
        plain: the expression for a line without the edges of words.
    """
    from qmd.ranking.postings import allowed

    # A text with such a line matches as a whole, too; some others do as well.
    whole = None if invert or _ANCHOR.search(plain) else f"(?m){plain}"

    def run(ids: str | None, *, numbered: bool) -> list[Found]:
        asked = {"pattern": line, "whole": whole, "inverted": invert, "numbered": numbered}
        return cursor.rows(Found, "grep/lines", **asked, ids=ids)

    try:
        found = run(allowed(cursor, among), numbered=False)
    except DatabaseError as error:
        raise _unreadable(line, error) from error
    left = most[1]
    if count_only:
        yield from (Matched(each.file, each.matches, ()) for each in found)
        return
    for part in _batches(found):
        rows = run(as_json([each.document_id for each in part]), numbered=True)
        texts = dict(
            cursor.run("documents/bodies", hashes=as_json(list({each.hash for each in rows})))
        )
        for each in rows:
            most_here = each.matches if left is None else left
            kept = each.lines[: min(most[0] or each.matches, most_here)]
            left = None if left is None else left - len(kept)
            text = _Lines(texts[each.hash]) if each.size else _LongLines(cursor, each.hash)
            yield Matched(each.file, each.matches, list(_around(text, kept, *around)))
            if left == 0:
                return


class Found(NamedTuple):
    """A row of grep/lines."""

    document_id: int
    collection: str
    path: str
    hash: str
    size: int
    matches: int
    lines: Sequence[int]

    @property
    def file(self) -> str:
        """`collection/path`."""
        return f"{self.collection}/{self.path}"


def _batches(found: Sequence[Found]) -> Iterator[list[Found]]:
    """Group documents whose texts are in memory together."""
    part: list[Found] = []
    size = 0
    for each in found:
        part.append(each)
        size += each.size or BATCH  # of one in pieces, all lines that match are numbered at once
        if size >= BATCH:
            yield part
            part, size = [], 0
    if part:
        yield part


class _Lines:
    """Lines of a text, by their numbers from 1."""

    def __init__(self, text: str, before: int = 0) -> None:
        self._before = before
        self._lines = text.removesuffix("\n").split("\n")
        self.total = before + len(self._lines)

    def __getitem__(self, number: int) -> str:
        return self._lines[number - self._before - 1].removesuffix("\r")

    def __contains__(self, number: int) -> bool:
        return self._before < number <= self.total


class _LongLines:
    """Lines of a text that is stored in pieces, of which a few are in memory."""

    def __init__(self, cursor: Cursor, hashed: str) -> None:
        text = long_text(cursor, hashed)
        assert text is not None
        self._text = text
        self._some: _Lines | None = None
        self.total = text.total

    def __getitem__(self, number: int) -> str:
        some = self._some
        if some is None or number not in some:
            before, text = self._text.of_lines(number, number + LINES_AHEAD)
            some = self._some = _Lines(text, before)  # whole lines
        return some[number]


def parts(index: Index, line: str, texts: Sequence[str]) -> list[list[str]]:
    """Return the parts of lines that a regular expression matches."""
    rows = index.read(lambda cursor: cursor.run("grep/parts", pattern=line, lines=as_json(texts)))
    return [found for (found,) in rows]


def _around(
    text: _Lines | _LongLines, lines: Sequence[int], before: int, after: int
) -> Iterator[tuple[int, str, bool]]:
    """Yield lines with those around them, each once."""
    matching, shown = set(lines), 0
    for line in lines:
        for number in range(max(shown + 1, line - before), min(line + after, text.total) + 1):
            yield number, text[number], number in matching
            shown = number


def _unreadable(line: str, error: Exception) -> Exception:
    """Return the error for a pattern that RE2 does not take."""
    reason = str(error).partition("\n")[0].removeprefix("Invalid Input Error: ")
    if "Invalid Input" not in str(error):
        return error
    return QueryError(
        f"The regular expression cannot be read: {reason}\n\n"
        "It is in RE2 syntax, which has no lookaround and no backreferences "
        "(https://github.com/google/re2/wiki/Syntax). To search for the text as it is, add -F."
    )
