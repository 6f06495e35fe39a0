"""Reader of AsciiDoc.

A conversion line by line: there is no library for Python that is kept up; the reference is in Ruby.
"""

from __future__ import annotations

import re

from qmd.ingest.readers.by_lines import Paragraphs, lines_of, reading, row_of
from qmd.ingest.readers.dates import iso
from qmd.ingest.readers.reading import Reading

_HEADING = re.compile(r"(={1,6}|#{1,6})\s+(\S.*)")
_ATTRIBUTE = re.compile(r":(!?[\w-]+!?):(?:\s+(.*))?$")
_AUTHOR = re.compile(r"([^\W\d_][^<>\n:]{1,80}?)\s*(?:<([^<>\s]+)>)?(?:;.*)?$")
_REVISION = re.compile(r"(?:v?[\d.]+\s*,)?\s*(\d{4}-\d\d(?:-\d\d)?)\b.*")
_BLOCK_OPTIONS = re.compile(r"\[(?!\[)[^\]\n]*\]\s*|\[\[[^\]\n]*\]\]\s*")
_SOURCE = re.compile(r"\[(?:source)?(?:%[\w-]+)?,\s*([\w+#-]+)")
_DELIMITER = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|/{4,}|\+{4,}|--|`{3,})(\w*)\s*")
_TABLE = re.compile(r"[|,!]={3,}\s*")
_LIST = re.compile(r"\s*(\*{1,5}|\.{1,5}|-)\s+(\S.*)")
_TERM = re.compile(r"(\S[^\n]{0,200}?)(?:::|;;)(?:\s+(.*))?$")
_MACRO = re.compile(
    r"(?P<kind>image|include|video|audio|toc|ifdef|ifndef|ifeval|endif)::?(?P<target>[^\[\s]*)"
    r"\[(?P<text>[^\]\n]*)\]"
)
_LINK = re.compile(
    r"(?P<link>(?:link|xref|mailto):(?P<target>[^\[\s]+)|(?<![\w<(\[])https?://[^\s\[\]<>]+)"
    r"\[(?P<text>[^\]\n]*)\]"
)
_BARE = re.compile(r"(?<![\w(<:])https?://[^\s\[\]<>()]+")
_CROSS = re.compile(r"<<([^<>,\n]+)(?:,\s*([^<>\n]+))?>>")
_FOOTNOTE = re.compile(r"footnote:[\w-]*\[([^\]\n]*)\]")
_KEYS = re.compile(r"(?:kbd|btn|menu|icon|pass|stem|latexmath):[^\[\s]*\[([^\]\n]*)\]")
_REFERENCE = re.compile(r"\{([\w-]+)\}")
_EMPHASIS = re.compile(r"(?<![\w*_#\\])([*_#])(?=[^\s*_#])([^*_#\n]{1,500})(?<=\S)\1(?![\w*_#])")
_DOUBLE = re.compile(r"(\*\*|__|##)(?=\S)([^*_#\n]{1,500})(?<=\S)\1")
_ROLE = re.compile(r"\[[.\w\s-]{1,40}\](?=[#*_`])")
_MONO = re.compile(r"`\+([^`\n]{1,500}?)\+`|(?<![\w+])\+([^\s+][^+\n]{0,500}?)\+(?![\w+])")
_PASSED = re.compile(r"\+\+\+?([^+\n]{1,500})\+\+\+?")
_QUOTED = re.compile(r"([\"'])`([^`\n]{1,500})`\1")
_CALLOUT = re.compile(r"\s*(?://|#|--|;;)?\s*<(?:\d+|\.)>\s*$")
_ANCHOR = re.compile(r"\[\[[\w,. -]*\]\]|anchor:[\w-]+\[[^\]\n]*\]")
_CELL = re.compile(r"(?:^|\s)(?:\d*(?:\.\d+)?[+*])?[<^>.]*[adehlmsv]?\|")
_CODE, _HIDDEN, _QUOTE, _PLAIN = "code", "hidden", "quote", "plain"
_KINDS = {"-": _CODE, ".": _CODE, "`": _CODE, "/": _HIDDEN, "+": _HIDDEN, "_": _QUOTE}


def read(data: bytes, name: str) -> Reading:
    """Read an AsciiDoc file; each line stays in its place."""
    page = _Page()
    lines = [page.line(at, line) for at, line in enumerate(lines_of(data))]
    page.paragraphs.convert(lines, page.inline)
    told = page.told
    return reading(
        lines,
        title=told.get("doctitle"),
        date=iso(told.get("revdate")) or iso(told.get("date")),
        author=told.get("author"),
        language=told.get("lang"),
        metadata={key: told.get(key) for key in ("description", "keywords", "revnumber")},
        links=page.links,
    )


class _Page:
    """State from line to line."""

    def __init__(self) -> None:
        self.told: dict[str, str] = {}
        self.links: list[str] = []
        self.paragraphs = Paragraphs()
        self._open: list[tuple[str, str]] = []  # delimiter and kind
        self._language = ""
        self._table = False
        self._head = 0  # lines of the header that have been read

    def line(self, at: int, line: str) -> str:
        """Convert a line; marks within running text are converted later."""
        bare = line.rstrip()
        if self._open and self._open[-1][1] in (_CODE, _HIDDEN):
            return self._verbatim(bare)
        if _TABLE.fullmatch(bare):
            self._table = not self._table
            return ""
        if found := _DELIMITER.fullmatch(bare):
            return self._delimiter(found[1], found[2])
        if bare.startswith("//"):
            return ""
        if self._head == 1 and bare and not bare.startswith(":"):
            self._head = 2
            if _REVISION.fullmatch(bare) is None and (found := _AUTHOR.fullmatch(bare)):
                self.told.setdefault("author", found[1].strip())
                return ""
        if self._head == 2 and (found := _REVISION.fullmatch(bare)):
            self.told.setdefault("revdate", found[1])
            self._head = 3
            return ""
        if self._head and not bare:
            self._head = 9
        return self._quoted(self._text(at, bare))

    def _text(self, at: int, bare: str) -> str:
        if found := _HEADING.fullmatch(bare):
            text = self.inline(found[2].rstrip("= "))
            if len(found[1]) == 1 and "doctitle" not in self.told:
                self.told["doctitle"] = text
                self._head = 1
            return f"{'#' * len(found[1])} {text}"
        if found := _ATTRIBUTE.fullmatch(bare):
            self.told[found[1].strip("!")] = found[2] or ""
            return ""
        if _BLOCK_OPTIONS.fullmatch(bare):
            source = _SOURCE.match(bare)
            self._language = source[1] if source else ""
            return ""
        if self._table and "|" in bare:
            cells = _CELL.split(bare)
            return self.inline(row_of(cells[1:] if not cells[0].strip() else cells))
        if bare in ("+", "'''", "<<<", "---", "***"):
            return ""
        if found := _LIST.fullmatch(bare):
            mark = "1." if found[1][0] == "." else "-"
            return f"{'  ' * (len(found[1]) - 1)}{mark} {self.inline(found[2])}"
        if bare.startswith(".") and bare[1:2].isalnum():
            return self.inline(bare[1:])
        if "::" in bare and "://" not in bare and "[" not in bare and (found := _TERM.match(bare)):
            return f"{self.inline(found[1])}: {self.inline(found[2] or '')}".rstrip(" ")
        if bare:
            self.paragraphs.add(at)
        return bare

    def _verbatim(self, bare: str) -> str:
        mark, kind = self._open[-1]
        if bare == mark:
            self._open.pop()
            return "```" if kind == _CODE else ""
        if kind == _HIDDEN:
            return ""
        return _CALLOUT.sub("", bare) if bare.endswith(">") else bare

    def _delimiter(self, mark: str, language: str) -> str:
        if self._open and self._open[-1][0] == mark:
            self._open.pop()
            return ""
        kind = _PLAIN if mark == "--" else _KINDS.get(mark[0], _PLAIN)
        if len(self._open) < 50:
            self._open.append((mark, kind))
        language, self._language = language or self._language, ""
        return f"```{language}" if kind == _CODE else ""

    def _quoted(self, text: str) -> str:
        quotes = any(kind == _QUOTE for _, kind in self._open)
        return f"> {text}" if quotes and text.strip() else text

    def inline(self, text: str) -> str:
        """Convert the marks of running text."""
        if "{" in text:
            text = _REFERENCE.sub(lambda m: self.told.get(m[1].lower(), m[0]), text)[:100_000]
        if "::" in text or ":[" in text or "[" in text:
            text = _MACRO.sub(self._macro, text)
            text = _FOOTNOTE.sub(r" (\1)", text)
            text = _KEYS.sub(r"\1", text)
            text = _ANCHOR.sub("", text)
            text = _LINK.sub(self._link, text)
            text = _ROLE.sub("", text)
        for found in _BARE.finditer(text):
            self.links.append(found[0].rstrip(".,;"))
        text = _CROSS.sub(lambda m: m[2] or m[1].strip("#"), text)
        text = _QUOTED.sub(r"\1\2\1", text)
        text = _PASSED.sub(r"\1", text)
        text = _MONO.sub(lambda m: f"`{m[1] or m[2]}`", text)
        pieces = text.split("`")
        for at in range(0, len(pieces), 2):
            pieces[at] = _EMPHASIS.sub(r"\2", _DOUBLE.sub(r"\2", pieces[at]))
        return "`".join(pieces).removesuffix(" +")

    def _macro(self, found: re.Match[str]) -> str:
        if found["kind"] in ("image", "include", "video", "audio"):
            self.links.append(found["target"])
        return found["text"].split(",")[0].strip('"') if found["kind"] == "image" else ""

    def _link(self, found: re.Match[str]) -> str:
        target = found["target"] or found["link"]
        text = found["text"].split(",")[0].strip('"^') or target
        if found["link"].startswith("mailto:"):
            return text
        self.links.append(target)
        return f"[{text}]({target})"
