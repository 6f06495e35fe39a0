"""Reader of Org files.

A conversion line by line: orgparse gives the tree of headlines, but leaves the markup of text as it
is, and its lines cannot be traced back to those of the file.
"""

from __future__ import annotations

import re

from qmd.ingest.readers.by_lines import Paragraphs, lines_of, reading
from qmd.ingest.readers.dates import iso
from qmd.ingest.readers.reading import Reading
from qmd.text import titles

_HEADLINE = re.compile(r"(\*+)\s+(.*)")
_TAGS = re.compile(r"\s+:([\w@#%:]+):\s*$")
_PRIORITY = re.compile(r"\[#[A-Z0-9]\]\s*")
_KEYWORD = re.compile(r"\s*#\+(\w+)(?:\[[^\]\n]*\])?:\s*(.*)")
_BLOCK = re.compile(r"\s*#\+begin_(\w+)[ \t]*(\S*)", re.I)
_END = re.compile(r"\s*#\+end_(\w+)", re.I)
_DRAWER = re.compile(r"\s*:([\w-]+):\s*")
_PROPERTY = re.compile(r"\s*:([\w+-]+):\s+(.*)")
_LINK = re.compile(r"\[\[([^\[\]\n]+)\](?:\[([^\[\]\n]+)\])?\]")
_FOOTNOTE = re.compile(r"\[fn:([\w-]+)\]")
_NOTE = re.compile(r"^\[fn:([\w-]+)\]\s*")
_BEGINS = re.compile(r"(?:[-+*]|\d+[.)])\s|\||\[fn:")
_STAMP = re.compile(r"<(\d{4}-\d\d-\d\d[^<>\n]{0,40})>")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_CODE = re.compile(r"(?<![\w=~])([=~])(?=\S)([^\n]{0,499}?\S)\1(?![\w=~])")
_EMPHASIS = re.compile(
    r"(?<![^\s\-\u2013\u2014({'\"\[|>])([*/_+])(?=[^\s*/_+])([^\n*/_+]{1,500})(?<=\S)\1(?![\w*/_+`~=])"
)
_KEPT = re.compile("\0(\\d+)\0")
_PATH = re.compile(r"[/\\]|^~|^\w[\w+.-]+:|\.\w{1,8}(?:#|$)")
_TARGET = re.compile(r"<<([^<>\n]{1,200})>>")
_NAMED = re.compile(r"^\*+[ \t]+([^\n]+)|^[ \t]*#\+(?:name|target):[ \t]*([^\n]+)", re.M | re.I)
_LINKING = re.compile(r"[\[<#]|://")
_TODO = re.compile(r"(?:TODO|DONE|NEXT|WAITING)[ \t]+|\[#[A-Z0-9]\][ \t]*")
_HLINE = re.compile(r"\s*\|-[-+]*\|?\s*")
_CODE_BLOCKS = ("src", "example", "verbatim")
_HIDDEN_BLOCKS = ("export", "comment")
_LABELS = ("caption", "subtitle", "description")


def read(data: bytes, name: str) -> Reading:
    """Read an Org file; each line stays in its place."""
    written = lines_of(data)
    page = _Page(_targets("\n".join(written)))
    lines = [page.line(at, line) for at, line in enumerate(written)]
    page.paragraphs.convert(lines, page.inline)
    told = page.told
    day = _DAY.search(told.get("date", ""))
    title = titles.without_markup(page.inline(told.get("title", "")))
    if title and not any(map(str.strip, lines)):
        lines[0] = title  # a page that others link to, and no more
    return reading(
        lines,
        title=title,
        headed=False,
        date=day[0] if day else iso(told.get("date")),
        author=told.get("author"),
        language=told.get("language"),
        metadata={
            "tags": sorted(page.tags),
            "aliases": page.aliases,
            "description": told.get("description"),
            "keywords": told.get("keywords"),
            "id": told.get("id"),
            "ids": page.ids,
        },
        links=page.links,
    )


class _Page:
    """State from line to line.

    Args:
        targets: places in this file that a link may name.

    Attributes:
        ids: those of headlines.
    """

    def __init__(self, targets: set[str]) -> None:
        self.ids: list[str] = []
        self._targets = targets
        self.told: dict[str, str] = {}
        self.tags: set[str] = set()
        self.aliases: list[str] = []
        self.links: list[str] = []
        self.paragraphs = Paragraphs()
        self._block: str | None = None
        self._drawer = False
        self._headlines = 0

    def line(self, at: int, line: str) -> str:
        """Convert a line; marks within running text are converted later."""
        if self._block is not None:
            return self._within(line)
        if self._drawer:
            return self._property(at, line)
        if found := _HEADLINE.match(line):
            return self._headline(len(found[1]), found[2])
        if found := _BLOCK.match(line):
            self._block = found[1].lower()
            return f"```{found[2]}" if self._block in _CODE_BLOCKS else ""
        if found := _KEYWORD.match(line):
            return self._keyword(found[1].lower(), found[2].strip())
        if _DRAWER.fullmatch(line):
            self._drawer = True
            return ""
        bare = line.lstrip()
        if bare == "#" or bare.startswith(("# ", "#+", "CLOCK:")):
            return ""
        if bare == ":" or bare.startswith(": "):
            return f"    {_literal(bare[2:])}"
        if _HLINE.fullmatch(line):
            return "|" + " --- |" * (line.count("+") + 1)
        if bare.startswith("+ "):
            line = line.replace("+ ", "- ", 1)
        if bare:
            self.paragraphs.add(at, begins=bool(_BEGINS.match(bare)))
        return line

    def _within(self, line: str) -> str:
        kind = self._block or ""
        found = _END.match(line)
        if found and found[1].lower() == kind:
            self._block = None
            return "```" if kind in _CODE_BLOCKS else ""
        if kind in _CODE_BLOCKS:
            return line.replace(",*", "*", 1).replace(",#+", "#+", 1) if "," in line[:80] else line
        if kind in _HIDDEN_BLOCKS:
            return ""
        text = self.inline(line)
        return f"> {text.strip()}" if kind in ("quote", "verse") and text.strip() else text

    def _property(self, at: int, line: str) -> str:
        if line.strip().upper() == ":END:":
            self._drawer = False
        elif _HEADLINE.match(line):  # a drawer that is not closed ends at the next headline
            self._drawer = False
            return self.line(at, line)
        elif (found := _PROPERTY.match(line)) and not self._headlines:  # of the whole file
            key, value = found[1].lower(), found[2].strip()
            if key == "roam_aliases":
                self.aliases += [one or two for one, two in re.findall(r'"([^"]+)"|(\S+)', value)]
            self.told.setdefault(key, value)
        elif found and found[1].lower() == "id":
            self.ids.append(found[2].strip())
        return ""

    def _headline(self, level: int, text: str) -> str:
        self._headlines += 1
        if found := _TAGS.search(text):
            self.tags.update(tag for tag in found[1].split(":") if tag)
            text = text[: found.start()]
        return f"{'#' * min(level, 6)} {self.inline(_PRIORITY.sub('', text))}"

    def _keyword(self, key: str, value: str) -> str:
        if key in ("filetags", "tags"):
            self.tags.update(tag for tag in re.split(r"[:\s]+", value) if tag)
        elif key == "title" and key in self.told:
            self.told[key] += f" {value}"
        elif key == "include":
            self.links.append(value.strip('"').split('"')[0])
        else:
            self.told.setdefault(key, value)
        return self.inline(value) if key in _LABELS else ""

    def inline(self, text: str) -> str:
        """Convert the marks of running text."""
        kept: list[str] = []

        def keep(shown: str) -> str:
            kept.append(shown)
            return f"\0{len(kept) - 1}\0"

        if "[[" in text:
            text = _LINK.sub(lambda found: keep(self._link(found)), text)
        text = _NOTE.sub(r"[^\1]: ", text)
        text = _FOOTNOTE.sub(r"[^\1]", text)
        text = _STAMP.sub(r"\1", text)
        text = _plain(text.removesuffix("\\\\"))
        return _KEPT.sub(lambda found: kept[int(found[1])], text) if kept else text

    def _link(self, found: re.Match[str]) -> str:
        target, label = " ".join(found[1].split()), found[2]
        shown = _plain(label) if label else ""
        if target.startswith("id:"):
            self.links.append(target.partition("::")[0])
            return shown
        if target.startswith(("*", "#", "(")) or target.lower() in self._targets:
            return shown or target.lstrip("*#")
        target = target.removeprefix("file:").partition("::")[0]
        self.links.append(target)
        if not _PATH.search(target):
            return f"[[{target}|{shown}]]" if shown else f"[[{target}]]"
        if shown:
            return f"[{shown}]({target.replace(' ', '%20')})"
        return f"<{target}>" if ":" in target else f"[[{target}]]"


def _targets(text: str) -> set[str]:
    """Collect the places in a file that a link may name, in lower case."""
    found = _TARGET.findall(text)
    for headline, name in _NAMED.findall(text):
        if headline:
            headline = _TARGET.sub("", _TODO.sub("", _TAGS.sub("", headline)))
        found.append(headline or name)
    return {" ".join(place.split()).lower() for place in found}


def _literal(text: str) -> str:
    """Write what stands as it is, as code where Markdown would read a link or a tag in it."""
    if _LINKING.search(text) and "`" not in text:
        return f"`{text.strip()}`"
    return text


def _plain(text: str) -> str:
    """Give text without the marks of emphasis; `=code=` and `~code~` become `` `code` ``."""
    if "=" not in text and "~" not in text:
        return _EMPHASIS.sub(r"\2", text)
    pieces, at = [], 0
    for found in _CODE.finditer(text):
        pieces += [_EMPHASIS.sub(r"\2", text[at : found.start()]), f"`{found[2]}`"]
        at = found.end()
    return "".join([*pieces, _EMPHASIS.sub(r"\2", text[at:])])
