"""Outline columns of a text: four parallel strings, with an entry for each link, tag and heading.

`text/outline.py` has the rules. The compiled version takes a fifteenth of the time; a property
test holds both equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter, itemgetter

from qmd.named_tuple import NamedTuple
from qmd.text import further_links, hidden
from qmd.text.further_links import Link
from qmd.text.outline import AUTOLINK, BETWEEN, TAG, WIKI, outline

MARK = BETWEEN.decode()

_compiled: Callable[[bytes, int], tuple[str, str, str, str]] | None
hints: Callable[[bytes, int], int]
try:
    from qmd.ingest.compiled.outlines import hints
    from qmd.ingest.compiled.outlines import outlined as _compiled
except ImportError:
    _compiled, hints = None, hidden.hints


class Outline(NamedTuple):
    """Links, tags and headings of a text.

    Attributes:
        kinds: a letter each. See `text/outline.py`.
        lines: numbers from 1, a blank between two.
        texts: of headings, links and tags, `BETWEEN` between two.
        targets: of links, and nothing of others, `BETWEEN` between two.
    """

    kinds: str
    lines: str
    texts: str
    targets: str

    @property
    def tags(self) -> list[str]:
        """The tags, in order."""
        letter = chr(TAG)
        if letter not in self.kinds:
            return []
        pairs = zip(self.kinds, self.texts.split(MARK), strict=True)
        return [text for kind, text in pairs if kind == letter]

    def with_links(self, found: Sequence[str]) -> Outline:
        """Add links that the text does not show. Without a line, they count as in the first one."""
        if not found:
            return self
        known = set(self.targets.split(MARK))
        told = dict.fromkeys(" ".join(link.replace(MARK, " ").split()) for link in found)
        links = [link for link in told if link not in known]
        count = len(links)
        return Outline(
            self.kinds + chr(AUTOLINK) * count,
            " ".join(filter(None, [self.lines, *["1"] * count])),
            MARK.join([*([self.texts] if self.kinds else []), *[""] * count]),
            MARK.join([*([self.targets] if self.kinds else []), *links]),
        )

    def with_further(self, found: Sequence[Link], data: bytes) -> Outline:
        """Add links of other kinds than those of Markdown, each in its line."""
        if not found:
            return self
        rows: list[tuple[int, str, str, str]] = []
        if self.kinds:
            columns = map(int, self.lines.split()), self.kinds, self.texts.split(MARK)
            rows += zip(*columns, self.targets.split(MARK), strict=True)
        line, seen = 1, 0
        for each in sorted(found, key=attrgetter("at")):
            line += data.count(b"\n", seen, each.at)
            seen = each.at
            text, target = (
                part.replace(BETWEEN, b" ").decode(errors="ignore")  # cut after so many bytes
                for part in (each.text, each.target)
            )
            rows.append((line, chr(each.kind), text, target))
        rows.sort(key=itemgetter(0))
        lines, kinds, texts, targets = zip(*rows, strict=True)
        return Outline(
            "".join(kinds), " ".join(map(str, lines)), MARK.join(texts), MARK.join(targets)
        )


def document_outline(data: bytes, start: int) -> Outline:
    """Make the outline of a document, with its links in front matter and in HTML.

    What is not shown has none: comments, formulas, indented code.

    Args:
        data: in UTF-8.
        start: where its front matter ends.
    """
    may_have = hints(data, start)
    visible = hidden.shown_parts(data, start, may_have) if may_have else data
    found = outlined(visible, start)
    further: list[Link] = []
    if may_have & hidden.PROPERTIES:
        further += further_links.in_properties(data[:start])
    if may_have & hidden.HTML:
        further += further_links.in_html(visible, start)
    if chr(WIKI) in found.kinds:
        further += further_links.tags_in_brackets(visible, start)
    return found.with_further(further, data) if further else found


def outline_of_text(text: str, block: int) -> Outline:
    """Make the outline of a text; see `document_outline`.

    Args:
        block: characters of its front matter.
    """
    return document_outline(text.encode(), len(text[:block].encode()))


def outlined(data: bytes, start: int) -> Outline:
    """Make the outline of a text.

    Args:
        data: in UTF-8.
        start: where its frontmatter ends.
    """
    return Outline._make(_compiled(data, start)) if _compiled else plainly_outlined(data, start)


def plainly_outlined(data: bytes, start: int) -> Outline:
    """Make the outline of a text in plain Python."""
    data = data.replace(BETWEEN, b" ")
    lines, line, seen = [], 1, 0
    marks = outline(data, start)
    for mark in marks:
        line += data.count(b"\n", seen, mark.at)
        seen = mark.at
        lines.append(line)

    def joined(parts: list[bytes]) -> str:
        return BETWEEN.join(parts).decode()

    return Outline(
        "".join(chr(mark.kind) for mark in marks),
        " ".join(map(str, lines)),
        joined([data[mark.text : mark.text_end] for mark in marks]),
        joined([data[mark.target : mark.target_end] for mark in marks]),
    )
