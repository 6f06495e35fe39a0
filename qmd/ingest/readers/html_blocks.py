"""HTML trees as Markdown blocks: one walk for pages, books and mail."""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

from qmd.ingest.readers import trees
from qmd.ingest.readers.building import Builder, cleaned

_SKIPPED = frozenset(
    "script style noscript template svg iframe object embed applet canvas audio video nav"
    " title meta link select button textarea input datalist frameset map area rp colgroup".split()
)
_BLOCKS = frozenset(
    "p div section article main header footer aside address figure figcaption form fieldset"
    " details summary center body html hgroup legend dl hr caption dir search".split()
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_HIDDEN_STYLE = re.compile(
    r"(?:display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all)", re.I
)
_HIDDEN_CLASSES = frozenset(
    "hidden d-none sr-only visually-hidden screen-reader-text headerlink".split()
)
_LANGUAGE = re.compile(r"(?:lang(?:uage)?-|sourceCode\s+|highlight-source-)([\w+#-]+)")
_FOOTNOTE = re.compile(r"\[?\d{1,4}\]?")
_BACK = frozenset(("↩", "↩\ufe0e", "↩\ufe0f", "↑", "^", "¶", "#"))
_SPACES = re.compile(r"[ \t\n\r\f]+")
_LINKS = re.compile(r"https?:|[^:]*(?:[/?#]|$)", re.I)


def blocks(out: Builder, root: trees.Element, *, targets: bool = True) -> None:
    """Add the text of a tree.

    Args:
        targets: links stand in the text with their targets; else only in `out.links`.
    """
    _Walk(out, targets).walk(root)


class _Walk:
    """One pass over a tree, without recursion.

    Text gathers in a line, which becomes a block where a block element begins or ends.
    """

    def __init__(self, out: Builder, targets: bool) -> None:
        self._out = out
        self._targets = targets
        self._line: list[str] = []
        self._lists: list[list[Any]] = []  # tag and next number
        self._mark = ""
        self._quotes = 0
        self._links: list[tuple[str, int]] = []
        self._tables: list[_Table | None] = []  # None: a table that lays out a page
        self._tight = False

    def walk(self, root: trees.Element) -> None:
        """Add all blocks."""
        events = etree.iterwalk(root, events=("start", "end"))
        for event, element in events:
            if event == "start":
                if self._start(element):
                    events.skip_subtree()
            else:
                self._end(element)
                self._line.append(element.tail or "")
        self._flush()

    def _start(self, element: Any) -> bool:
        """Open an element; true if its content is left out."""
        tag = element.tag
        if tag in _SKIPPED or _hidden(element):
            return True
        if tag == "pre":
            self._flush()
            self._preformatted(element)
            return True
        if tag in _BLOCKS or tag in _HEADINGS:
            self._flush()
        elif tag in ("ul", "ol", "menu"):
            self._flush()
            self._lists.append([tag, _number(element.get("start"))])
        elif tag == "li":
            self._flush()
            self._mark = self._next_mark()
        elif tag in ("dt", "dd"):
            self._flush()
            self._mark = "- " if tag == "dd" else ""
        elif tag == "blockquote":
            self._flush()
            self._quotes += 1
        elif tag == "table":
            self._flush()
            self._tables.append(None if _lays_out(element) else _Table())
        elif tag == "tr" and (table := self._table) is not None:
            table.row()
        elif tag in ("td", "th"):
            self._flush()
        elif tag == "br":
            self._line.append("\x00")
        elif tag == "a":
            self._links.append((element.get("href") or "", len(self._line)))
        elif tag == "img":
            self._image(element)
        elif tag == "code" and not self._links:
            self._line.append("`")
        elif tag == "annotation":  # the source of a formula, beside its rendering
            return True
        if "pagebreak" in (element.get("epub:type") or element.get("role") or ""):
            label = element.get("title") or element.get("aria-label") or element.text or ""
            if label.strip():
                self._flush()
                self._out.place("page", label.strip(" .pP"))
                return True
        self._line.append(element.text or "")
        return False

    def _end(self, element: Any) -> None:
        """Close an element."""
        tag = element.tag
        if tag in _SKIPPED or tag in ("pre", "annotation") or _hidden(element):
            return
        if tag in _HEADINGS:
            self._flush(heading=_HEADINGS[tag])
        elif tag in _BLOCKS or tag in ("dt", "dd", "li"):
            self._flush()
            if tag in ("li", "dd"):
                self._mark = ""
        elif tag in ("ul", "ol", "menu"):
            self._flush()
            if self._lists:
                self._lists.pop()
        elif tag == "blockquote":
            self._flush()
            self._quotes -= 1
        elif tag in ("td", "th"):
            if (table := self._table) is not None:
                table.cell(self._taken())
            self._flush()
        elif tag == "table":
            self._flush()
            table = self._tables.pop() if self._tables else None
            if table is not None:
                self._out.table(table.rows)
        elif tag == "a" and self._links:
            self._link(*self._links.pop())
        elif tag == "code" and not self._links:
            self._line.append("`")

    @property
    def _table(self) -> _Table | None:
        return self._tables[-1] if self._tables else None

    def _next_mark(self) -> str:
        if self._lists and self._lists[-1][0] == "ol":
            self._lists[-1][1] += 1
            return f"{self._lists[-1][1] - 1}. "
        return "- "

    def _link(self, target: str, start: int) -> None:
        target = target.strip()
        text = _SPACES.sub(" ", "".join(self._line[start:])).replace("\x00", " ")
        if target.startswith("#") or not target:
            if _FOOTNOTE.fullmatch(text.strip()):
                self._line[start:] = [f"[{text.strip(' []')}]"]
            elif text.strip() in _BACK:
                del self._line[start:]
            return
        self._out.link(target)
        if self._targets and text.strip() and _LINKS.match(target) and text.strip() != target:
            lead = text[: len(text) - len(text.lstrip())]
            address = target.replace(" ", "%20").replace(")", "%29")
            self._line[start:] = [f"{lead}[{text.strip()}]({address})"]

    def _image(self, element: Any) -> None:
        source, text = element.get("src") or "", element.get("alt") or ""
        self._out.link(source)
        if text.strip():
            self._line.append(f" {text.strip()} ")

    def _preformatted(self, element: Any) -> None:
        parts = []
        for event, inner in etree.iterwalk(element, events=("start", "end")):
            if event == "start":
                parts.append("\n" if inner.tag == "br" else inner.text or "")
            elif inner is not element:
                parts.append(inner.tail or "")
        code = "".join(parts).strip("\n")
        if self._table is not None:
            self._line.append(f" {code} ")
            return
        first = element.find("code")
        names = f"{element.get('class') or ''} " + (
            first.get("class") or "" if first is not None else ""
        )
        language = _LANGUAGE.search(names)
        self._out.code(code, language[1] if language else "")

    def _taken(self) -> str:
        """Take the line that has gathered; `<br>` breaks it."""
        text = "".join(self._line)
        self._line.clear()
        if self._links:
            self._links = [(target, 0) for target, _ in self._links]
        if not text or text.isspace():
            return ""
        text = " ".join(text.split()).replace("``", "")
        if "\x00" in text:
            return "\n".join(part.strip() for part in text.split("\x00")).strip("\n")
        return text.strip()

    def _flush(self, heading: int = 0) -> None:
        if self._table is not None and self._table.open:
            self._line.append(" ")  # blocks within a cell are one line of the table
            return
        text = self._taken()
        if not text:
            return
        mark, self._mark = self._mark, " " * len(self._mark)
        if heading:
            self._out.heading(heading, text)
            return
        depth = min(max(0, len(self._lists) - 1), 20)
        is_item = bool(mark.strip())
        if self._lists or mark:
            text = ("  " * depth + mark) + text.replace("\n", "\n" + "  " * depth + " " * len(mark))
        if self._quotes:
            text = "\n".join("> " * min(self._quotes, 10) + line for line in text.split("\n"))
        self._out.block(text, tight=is_item and self._tight)
        self._tight = bool(self._lists) or is_item


class _Table:
    """Rows of a table.

    Attributes:
        open: a row has begun.
    """

    def __init__(self) -> None:
        self.rows: list[list[str]] = []
        self.open = False

    def row(self) -> None:
        """Begin a row."""
        self.rows.append([])
        self.open = True

    def cell(self, text: str) -> None:
        """Add a cell to the row."""
        if not self.rows:
            self.row()
        self.rows[-1].append(text)


def _hidden(element: Any) -> bool:
    """Tell whether a browser shows nothing of an element."""
    if not element.attrib:
        return False
    if element.get("hidden") is not None or element.get("aria-hidden") == "true":
        return True
    if element.get("role") in ("navigation", "search"):
        return True
    if (style := element.get("style")) and _HIDDEN_STYLE.search(style):
        return True
    names = element.get("class")
    return bool(names) and not _HIDDEN_CLASSES.isdisjoint(names.split())


def _lays_out(table: Any) -> bool:
    """Tell whether a table holds a page, as in mail, and not data."""
    if table.get("role") in ("presentation", "none"):
        return True
    for inner in table.iterdescendants("table", "ul", "ol", "h1", "h2", "h3", "pre", "blockquote"):
        return inner is not None
    return not any(len(row) > 1 for row in table.iter("tr"))


def _number(text: str | None) -> int:
    return (
        int(text)
        if text and text.strip().isascii() and text.strip().isdigit() and len(text) < 9
        else 1
    )


def visible_text(element: Any) -> str:
    """Give the text below an element in one line."""
    return " ".join(cleaned("".join(element.itertext())).split())
