"""Reader of MediaWiki pages, as wikis export them.

A conversion line by line. mwparserfromhell parses the same marks, but its text has other lines than
the file, and it is a compiled package for one format.
"""

from __future__ import annotations

import re

from qmd.ingest.readers.by_lines import lines_of, reading, row_of
from qmd.ingest.readers.reading import Reading

_HEADING = re.compile(r"(={1,6})([^=\n](?:.*[^=\n])?)\1")
_COMMENT = re.compile(r"<!--.*?(-->|$)")
_LIST = re.compile(r"([*#:;]{1,10})\s*(.*)")
_BLOCK = re.compile(r"<(syntaxhighlight|source|pre|nowiki|math)\b([^<>\n]{0,200})>", re.I)
_LANGUAGE = re.compile(r"lang\s*=\s*[\"']?([\w+#-]+)", re.I)
_NOTE = re.compile(r"<ref\b[^<>\n]{0,200}?/>|</?ref\b[^<>\n]{0,200}>", re.I)
_TAG = re.compile(r"</?[a-z][\w-]{0,30}(?:\s[^<>\n]{0,300})?/?>", re.I)
_INNER_LINK = re.compile(r"\[\[([^\[\]|\n]{1,500})(?:\|([^\[\]\n]{0,1000}))?\]\]")
_OUTER_LINK = re.compile(r"\[((?:https?|ftp|mailto):[^\s\[\]]+)(?:\s+([^\[\]\n]{1,1000}))?\]")
_BARE = re.compile(r"(?<![\w\[(])https?://[^\s\[\]<>{}|]+")
_QUOTES = re.compile(r"'{2,5}")
_SWITCH = re.compile(r"__[A-Z]{3,30}__")
_CELL = re.compile(r"\|\||!!")
_STYLE = re.compile(r"\s*(?:[\w-]{1,30}\s*=\s*(?:\"[^\"\n]*\"|'[^'\n]*'|\w+)\s*){1,20}")
_CATEGORY = re.compile(r"(?:category|kategorie|catégorie|categoría)\s*:\s*(.*)", re.I)
_FILE = re.compile(r"(?:file|image|datei|fichier|archivo|media)\s*:\s*(.*)", re.I)


def read(data: bytes, name: str) -> Reading:
    """Read a MediaWiki page; each line stays in its place."""
    page = _Page()
    lines = [page.line(line) for line in lines_of(data)]
    return reading(lines, metadata={"keywords": ", ".join(page.categories)}, links=page.links)


class _Page:
    """State from line to line."""

    def __init__(self) -> None:
        self.links: list[str] = []
        self.categories: list[str] = []
        self._end = ""  # of a block that is kept as it is, or of a comment
        self._depth = 0  # of templates that are open
        self._tables = 0

    def line(self, line: str) -> str:
        """Convert a line."""
        if self._end == "-->":
            _, closed, line = line.partition(self._end)
            if not closed:
                return ""
            self._end = ""
        elif self._end:
            return self._verbatim(line)
        if "<!--" in line:
            line = _COMMENT.sub(self._comment, line)
        if self._end:
            return self._marked(line.rstrip())
        opened = _BLOCK.search(line)
        if opened and f"</{opened[1].lower()}>" not in line.lower():
            self._end = f"</{opened[1].lower()}>"
            language = _LANGUAGE.search(opened[2])
            return f"```{language[1] if language else ''}"
        return self._marked(line.rstrip())

    def _verbatim(self, line: str) -> str:
        if self._end in line.lower():
            self._end = ""
            return "```"
        return line

    def _comment(self, found: re.Match[str]) -> str:
        if not found[1]:
            self._end = "-->"
        return ""

    def _marked(self, line: str) -> str:
        if found := _HEADING.fullmatch(line):
            return f"{'#' * len(found[1])} {self._inline(found[2]).strip()}"
        bare = line.lstrip()
        if bare.startswith("{|"):
            self._tables += 1
            return ""
        if self._tables and not self._depth and bare[:1] in ("|", "!"):
            return self._table(bare)
        if found := _LIST.fullmatch(line):
            marks, text = found[1], self._inline(found[2])
            if marks[-1] in ":;":
                return text
            return f"{'  ' * (len(marks) - 1)}{'1.' if marks[-1] == '#' else '-'} {text}"
        return self._inline(line)

    def _table(self, bare: str) -> str:
        if bare.startswith("|}"):
            self._tables -= 1
            return ""
        if bare.startswith("|-"):
            return ""
        text = self._inline(bare.lstrip("|!+"), cells=True)
        return text if bare.startswith("|+") else row_of(map(_unstyled, _CELL.split(text)))

    def _inline(self, text: str, *, cells: bool = False) -> str:
        """Convert the marks of running text."""
        text = _INNER_LINK.sub(self._inner, text)
        text = _OUTER_LINK.sub(self._outer, text)
        self.links += [found[0].rstrip(".,;") for found in _BARE.finditer(text)]
        text = _NOTE.sub(lambda m: "" if m[0].endswith("/>") or m[0][1] == "/" else " ", text)
        text = _QUOTES.sub("", _SWITCH.sub("", _TAG.sub("", text)))
        return text if cells and "{{" not in text and not self._depth else self._templates(text)

    def _templates(self, text: str) -> str:
        """Keep the values of templates, and neither their names nor those of parameters."""
        if "{{" not in text and not self._depth:
            return text
        kept = []
        for at, part in enumerate(re.split(r"(\{\{|\}\})", text)):
            if at % 2:
                self._depth = min(self._depth + 1, 50) if part == "{{" else max(self._depth - 1, 0)
                named = part == "{{"
            elif not self._depth:
                kept.append(part)
            else:
                first, *values = part.split("|")
                values = values if at and named else [first, *values]
                kept.append(" ".join(value.rpartition("=")[2].strip() for value in values))
        return " ".join("".join(kept).split())

    def _inner(self, found: re.Match[str]) -> str:
        target, text = found[1].strip(), found[2]
        if category := _CATEGORY.fullmatch(target):
            self.categories.append(category[1])
            return ""
        if file := _FILE.fullmatch(target):
            self.links.append(file[1])
            return (text or "").rpartition("|")[2]
        target = target.lstrip(":")
        self.links.append(target)
        return text or target

    def _outer(self, found: re.Match[str]) -> str:
        self.links.append(found[1])
        return found[2] or ""


def _unstyled(cell: str) -> str:
    """Return a cell without its attributes."""
    style, bar, rest = cell.partition("|")
    return rest if bar and _STYLE.fullmatch(style) else cell
