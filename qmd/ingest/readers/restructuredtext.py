"""Reader of reStructuredText.

A conversion line by line. docutils does not know the directives and roles of Sphinx, in which most
such files are written: it answers them with error messages in place of their text, and includes
other files.
"""

from __future__ import annotations

import re

from qmd.ingest.readers.by_lines import Paragraphs, lines_of, reading, row_of
from qmd.ingest.readers.dates import iso
from qmd.ingest.readers.reading import Reading

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1+\s*")
_DIRECTIVE = re.compile(r"(\s*)\.\.\s+(?:\|([^|\n]+)\|\s+)?([\w:+.-]+?)::(?:\s+(.*))?$")
_TARGET = re.compile(r"\s*\.\.\s+_(`[^`\n]+`|[^:\n]+|_):(?:\s+(.*))?$")
_NOTE = re.compile(r"\s*\.\.\s+\[([#*]?[\w.-]*)\](?:\s+(.*))?$")
_COMMENT = re.compile(r"\s*\.\.(?:\s|$)")
_FIELD = re.compile(r":([\w -]{1,40}):(?:\s+(.*))?$")
_OPTION = re.compile(r"\s+:([\w-]+):(?:\s+(.*))?$")
_SIMPLE_BORDER = re.compile(r"\s*=+(?:\s+=+)+\s*")
_GRID_BORDER = re.compile(r"\s*\+(?:[-=]+\+)+\s*")
_LITERAL = re.compile(r"``([^\n]{1,1000}?)``")
_ROLE = re.compile(r":[\w:+.-]{1,40}:`([^`\n]{1,500})`")
_REFERENCE = re.compile(r"(?<![`\w])`([^`\n]{1,500})`(_{0,2})(?![`\w])")
_WITH_TARGET = re.compile(r"(.*?)\s*<([^<>]+)>", re.S)
_EMPHASIS = re.compile(r"(?<![\w*\\`])(\*{1,2})(?=[^\s*])([^*\n]{1,500})(?<=\S)\1(?![\w*])")
_FOOTNOTE = re.compile(r"\[([#*]?[\w.-]*)\]_(?!\w)")
_SUBSTITUTION = re.compile(r"\|([^|\s][^|\n]{0,100}?)\|_{0,2}")
_WORD_REFERENCE = re.compile(r"\b([A-Za-z0-9](?:[\w.-]{0,60}[A-Za-z0-9])?)__?(?![\w])")
_BEGINS = re.compile(r"\s*(?:[-+*•]|[\w#]{1,3}[.)]|\|)\s")
_CODE = frozenset(
    "code code-block sourcecode parsed-literal literalinclude prompt doctest testcode ipython math"
    " graphviz productionlist highlight-block".split()
)
_HIDDEN = frozenset(
    "raw contents meta highlight default-role role index currentmodule module tabularcolumns"
    " include only-hidden sectionauthor testsetup testcleanup plot mermaid uml".split()
)
_ADMONITIONS = frozenset(
    "note warning tip hint important caution danger attention error seealso todo".split()
)


def read(data: bytes, name: str) -> Reading:
    """Read a reStructuredText file; each line stays in its place."""
    page = _Page(lines_of(data))
    page.convert()
    told = page.told
    return reading(
        page.out,
        date=iso(told.get("date")),
        author=told.get("author") or told.get("authors"),
        language=told.get("language"),
        metadata={key: told.get(key) for key in ("description", "keywords", "version", "status")},
        links=page.links,
    )


class _Page:
    """Lines of a file, and what has been made of them."""

    def __init__(self, lines: list[str]) -> None:
        self.told: dict[str, str] = {}
        self.links: list[str] = []
        self._lines = lines
        self.out = [""] * len(lines)
        self._levels: list[str] = []
        self._targets: dict[str, str] = {}
        self._substitutions: dict[str, str] = {}
        self._at = 0
        self._paragraphs = Paragraphs()

    def convert(self) -> None:
        """Convert all lines."""
        for line in self._lines:  # a target may stand after its references
            if (found := _TARGET.match(line)) and found[2]:
                self._targets[found[1].strip("`").lower()] = found[2].strip()
                self.links.append(found[2].strip())
            elif (found := _DIRECTIVE.match(line)) and found[2] and found[3] == "replace":
                self._substitutions[found[2]] = found[4] or ""
        started = False
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if not started and (field := _FIELD.match(line)):
                self.told.setdefault(field[1].lower(), field[2] or "")
                self._at += 1
                continue
            if self._heading():
                continue
            started = started or (bool(line.strip()) and not _COMMENT.match(line))
            self._line(line)
        self._paragraphs.convert(self.out, self._inline)

    def _line(self, line: str) -> None:
        if found := _TARGET.match(line):
            self._at += 1
        elif found := _NOTE.match(line):
            self._put(f"[^{found[1].lstrip('#*')}]: {self._inline(found[2] or '')}")
            self._dedent(_indent(line))
        elif found := _DIRECTIVE.match(line):
            self._directive(len(found[1]), found[3].lower(), found[4] or "", bool(found[2]))
        elif _COMMENT.match(line):
            self._at += 1
            following = self._lines[self._at : self._at + 1]
            if line.strip() != ".." or (following and following[0].strip()):
                self._skip_body(_indent(line))
        elif _SIMPLE_BORDER.fullmatch(line):
            self._simple_table(line)
        elif _GRID_BORDER.fullmatch(line):
            self._put("|" + " --- |" * (line.count("+") - 1) if "=" in line else "")
        elif line.rstrip().endswith("::"):
            indent = _indent(line)
            text = line.rstrip()
            self._running("" if text.strip() == "::" else text[:-1])
            self._literal(indent)
        else:
            bare = line.lstrip()
            is_line_block = bare.startswith("| ") and not bare.rstrip().endswith("|")
            self._running(bare[2:] if is_line_block else line)

    def _running(self, line: str) -> None:
        if line.strip():
            self._paragraphs.add(self._at, begins=bool(_BEGINS.match(line)))
        self._put(line)

    def _put(self, text: str) -> None:
        self.out[self._at] = text
        self._at += 1

    def _heading(self) -> bool:
        """Convert a title with its adornment, if one stands here."""
        at, lines = self._at, self._lines
        over = _ADORNMENT.fullmatch(lines[at])
        title = at + 1 if over else at
        if title + 1 >= len(lines) or not lines[title].strip():
            return False
        under = _ADORNMENT.fullmatch(lines[title + 1])
        text = lines[title].strip()
        if under is None or len(lines[title + 1].strip()) < min(len(text), 4):
            return False
        if (over and over[1] != under[1]) or _ADORNMENT.fullmatch(lines[title]):
            return False
        if not over and lines[title][0] in " \t":
            return False
        style = under[1] * (2 if over else 1)
        if style not in self._levels:
            self._levels.append(style)
        level = min(self._levels.index(style) + 1, 6)
        self.out[title] = f"{'#' * level} {self._inline(text)}"
        self._at = title + 2
        return True

    def _directive(self, indent: int, name: str, argument: str, substitution: bool) -> None:
        if substitution:
            self._at += 1
            return
        short = name.rpartition(":")[2]
        if short in _HIDDEN:
            self._at += 1
            self._skip_body(indent)
            return
        shown = self._inline(argument)
        if short in _ADMONITIONS:
            shown = f"{short.capitalize()}: {shown}".rstrip(" :") + (":" if not shown else "")
        elif short in _CODE or short == "toctree":
            shown = ""
        elif short in ("image", "figure"):
            self.links.append(argument.strip())
            shown = ""
        elif ":" in name or short.startswith(("auto", "function", "class", "method")):
            shown = f"`{argument.strip()}`" if argument.strip() else ""
        self._put(shown)
        self._options()
        if short in _CODE:
            self._literal(indent)
        elif short == "toctree":
            self._contents(indent)
        elif short not in ("list-table", "csv-table", "table"):
            self._dedent(indent)

    def _options(self) -> None:
        while self._at < len(self._lines) and (found := _OPTION.match(self._lines[self._at])):
            self._put(self._inline(found[2] or "") if found[1] in ("alt", "caption") else "")

    def _body(self, indent: int) -> int:
        """Give the line after those that are indented further, or blank."""
        at = self._at
        while at < len(self._lines):
            line = self._lines[at]
            if line.strip() and _indent(line) <= indent:
                break
            at += 1
        return at

    def _skip_body(self, indent: int) -> None:
        self._at = self._body(indent)

    def _literal(self, indent: int) -> None:
        """Keep what is indented as program text."""
        end = self._body(indent)
        lines = self._lines[self._at : end]
        least = min((_indent(line) for line in lines if line.strip()), default=0)
        for line in lines:
            self._put(f"    {line[least:]}" if line.strip() else "")

    def _contents(self, indent: int) -> None:
        for line in self._lines[self._at : self._body(indent)]:
            text = line.strip()
            found = _WITH_TARGET.fullmatch(text)
            target = found[2] if found else text
            if target:
                self.links.append(target)
            self._put(f"- [{found[1] if found else target}]({target})" if text else "")

    def _dedent(self, indent: int) -> None:
        """Move what is indented to the margin, to be converted as text."""
        end = self._body(indent)
        lines = self._lines[self._at : end]
        least = min((_indent(line) for line in lines if line.strip()), default=0)
        if least > indent:
            self._lines[self._at : end] = [" " * indent + line[least:] for line in lines]

    def _simple_table(self, border: str) -> None:
        starts = [found.start() for found in re.finditer(r"=+", border)]
        self._at += 1
        head = True
        while self._at < len(self._lines) and self._lines[self._at].strip():
            line = self._lines[self._at]
            if _SIMPLE_BORDER.fullmatch(line):
                self._put("|" + " --- |" * len(starts) if head else "")
                head = False
                continue
            ends = [*starts[1:], None]
            cells = [line[a:b] for a, b in zip(starts, ends, strict=True)]
            self._put(self._inline(row_of(cells)))

    def _inline(self, text: str) -> str:
        if "|" in text and self._substitutions:
            text = _SUBSTITUTION.sub(lambda m: self._substitutions.get(m[1], m[0]), text)
        pieces = _LITERAL.split(text)
        for at in range(0, len(pieces), 2):
            pieces[at] = self._marks(pieces[at])
        for at in range(1, len(pieces), 2):
            pieces[at] = f"`{pieces[at]}`"
        return "".join(pieces)

    def _marks(self, text: str) -> str:
        if "`" in text:
            text = _ROLE.sub(_role, text)
            text = _REFERENCE.sub(self._reference, text)
        if "_" in text:
            text = _FOOTNOTE.sub(lambda m: f"[^{m[1].lstrip('#*')}]", text)
            text = _WORD_REFERENCE.sub(self._word, text)
        if "*" in text:
            text = _EMPHASIS.sub(r"\2", text)
        return text

    def _reference(self, found: re.Match[str]) -> str:
        text = found[1]
        if not found[2]:
            return text
        if target := _WITH_TARGET.fullmatch(text):
            self.links.append(target[2].rstrip("_"))
            return f"[{target[1]}]({target[2].rstrip('_')})" if target[1] else f"<{target[2]}>"
        address = self._targets.get(text.lower())
        return f"[{text}]({address})" if address else text

    def _word(self, found: re.Match[str]) -> str:
        address = self._targets.get(found[1].lower())
        return f"[{found[1]}]({address})" if address else found[0]


def _role(found: re.Match[str]) -> str:
    """Give the text of an interpreted text, such as `` :ref:`text <label>` ``."""
    text = found[1]
    if target := _WITH_TARGET.fullmatch(text):
        return target[1] or target[2]
    return text.lstrip("~!")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
