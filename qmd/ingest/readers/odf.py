"""Reader of OpenDocument files: text (ODT), spreadsheets (ODS), presentations (ODP)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qmd.ingest.readers import trees
from qmd.ingest.readers.building import Builder
from qmd.ingest.readers.dates import iso
from qmd.ingest.readers.office import given_title
from qmd.ingest.readers.packages import Package
from qmd.ingest.readers.reading import Reading, Unreadable

_MOST_SPACES = 100
_WIDEST_GAP = 20
_MOST_REPEATS = 100
"""Times that a cell or row with text is written where a sheet repeats it."""

_LEFT_OUT = frozenset(
    "tracked-changes sequence-decls forms hidden-text hidden-paragraph annotation-end title desc"
    " table-of-content alphabetical-index user-index illustration-index table-index ruby-text"
    " bibliography".split()
)
_CODE = ("preformatted", "source", "code")


def read(data: bytes, name: str) -> Reading:
    """Read an OpenDocument file: headings, lists, tables, notes; sheet by sheet, slide by slide."""
    out = Builder("OpenDocument")
    told: dict[str, str] = {}
    with out.filling():
        package = Package(data, "OpenDocument")
        if b"encryption-data" in (package.get("META-INF/manifest.xml") or b""):
            raise Unreadable("encrypted OpenDocument")
        if "content.xml" not in package.names:
            raise Unreadable("no OpenDocument file")
        _Document(out, package).read()
        meta = package.get("meta.xml")
        for each in trees.xml(meta).iter() if meta else ():
            told.setdefault(trees.local(each), (each.text or "").strip())
    return out.reading(
        title=given_title(told.get("title")),
        date=iso(told.get("creation-date")) or iso(told.get("date")),
        author=told.get("initial-creator") or told.get("creator"),
        language=told.get("language"),
        metadata={
            "modified": iso(told.get("date")),
            **{key: told.get(key) for key in ("subject", "description", "keyword")},
        },
    )


class _Document:
    """State of one pass over the content."""

    def __init__(self, out: Builder, package: Package) -> None:
        root = trees.xml(package.read("content.xml"))
        given = package.get("styles.xml")
        styles = trees.xml(given) if given else None
        self._out = out
        self._package = package
        self._root = root
        self._numbered: set[str] = set()
        self._parents: dict[str, str] = {}
        for tree in (root, styles):
            for each in tree.iter("{*}list-style") if tree is not None else ():
                if next(each.iterchildren("{*}list-level-style-number"), None) is not None:
                    self._numbered.add(_get(each, "name"))
            for each in tree.iter("{*}style") if tree is not None else ():
                self._parents[_get(each, "name")] = _get(each, "parent-style-name")
        self._notes: list[str] = []
        self._boxes: list[Any] = []
        self._code: list[str] = []
        self._slides = 0

    def read(self) -> None:
        """Add the body, then the notes."""
        for body in self._root.iterfind("{*}body"):
            self._blocks(body)
        self._end_code()
        for note in self._notes:
            self._out.block(note)

    def _blocks(self, parent: Any) -> None:
        for element in parent:
            tag = trees.local(element)
            if tag not in ("p", "h"):
                self._end_code()
            if tag == "h":
                level = _get(element, "outline-level")
                self._end_code()
                self._out.heading(
                    int(level) if level in tuple("123456") else 1, self._text(element)
                )
            elif tag == "p":
                self._paragraph(element)
            elif tag == "list":
                self._list(element, 0, _get(element, "style-name"))
            elif tag == "table":
                self._table(element)
            elif tag == "page":
                self._slides += 1
                self._out.place("slide", str(self._slides))
                self._slide(element)
            elif tag not in _LEFT_OUT:
                self._blocks(element)  # sections, frames, groups, shapes
            boxes, self._boxes = self._boxes, []
            for box in boxes:
                self._blocks(box)

    def _paragraph(self, element: Any) -> None:
        text = self._text(element)
        style = self._style(_get(element, "style-name"))
        if any(word in style for word in _CODE):
            self._code.append(text)
            return
        self._end_code()
        if style.startswith("title"):
            self._out.heading(1, text)
        else:
            self._out.block(text.strip())

    def _style(self, name: str) -> str:
        """Give the name of the style that a person has chosen, in lower case."""
        met: set[str] = set()
        while name in self._parents and name not in met and len(name) < 5 and self._parents[name]:
            met.add(name)
            name = self._parents[name]  # P1, P2 … are made by the program
        return name.lower()

    def _end_code(self) -> None:
        if self._code:
            self._out.code("\n".join(self._code))
            self._code = []

    def _list(self, element: Any, depth: int, style: str) -> None:
        number = 0
        for item in element:
            if trees.local(item) not in ("list-item", "list-header"):
                continue
            number += 1
            first = True
            for inner in item:
                tag = trees.local(inner)
                if tag == "list":
                    self._list(inner, depth + 1, _get(inner, "style-name") or style)
                elif tag == "h":
                    self._out.heading(int(_get(inner, "outline-level") or 1), self._text(inner))
                else:
                    mark = f"{number}." if style in self._numbered else "-"
                    tight = depth > 0 or number > 1
                    text = self._text(inner).strip()
                    self._out.item(text, depth=depth, mark=mark if first else " ", tight=tight)
                    first = False

    def _slide(self, page: Any) -> None:
        for frame in page.iter("{*}frame"):
            if _get(frame, "class") == "title":
                self._out.heading(1, " ".join(self._text(each) for each in frame.iter("{*}p")))
                frame.clear()
        self._blocks(page)

    def _table(self, element: Any) -> None:
        spreadsheet = trees.local(element.getparent()) == "spreadsheet"
        if spreadsheet:
            title = _get(element, "name")
            self._out.place("sheet", title)
            self._out.heading(2, title)
        table: list[list[str]] = []
        for cells, repeats in self._rows(element):
            if any(cells):
                table += [cells] * min(repeats, _MOST_REPEATS)
            if table and (not any(cells) or len(table) >= 1000):
                self._out.table(table)
                table = []
        self._out.table(table)

    def _rows(self, parent: Any) -> Iterator[tuple[list[str], int]]:
        for row in parent:
            tag = trees.local(row)
            if tag in ("table-header-rows", "table-rows", "table-row-group"):
                yield from self._rows(row)
            elif tag == "table-row":
                yield self._cells(row), _count(row, "number-rows-repeated")
            elif tag == "shapes":
                self._blocks(row)

    def _cells(self, row: Any) -> list[str]:
        cells: list[str] = []
        gap = size = 0
        for cell in row.iterchildren("{*}table-cell", "{*}covered-table-cell"):
            repeats = _count(cell, "number-columns-repeated")
            text = " ".join(self._text(each) for each in cell.iter("{*}p", "{*}h")).strip()
            if not text:
                gap += repeats
                continue
            cells += [""] * min(gap, _WIDEST_GAP) + [text] * min(repeats, _MOST_REPEATS)
            gap = 0
            size += len(text) * min(repeats, _MOST_REPEATS)
            if size > 1_000_000:
                break
        return cells

    def _text(self, paragraph: Any) -> str:
        parts = [paragraph.text or ""]
        self._inline(paragraph, parts)
        return "".join(parts)

    def _formula(self, target: str) -> str:
        """Give the source of a formula, which is an object of its own."""
        data = self._package.get(f"{target.removeprefix('./')}/content.xml") if target else None
        root = trees.xml(data) if data else None
        if root is None or trees.local(root) != "math":
            return ""
        source = "".join(each.text or "" for each in root.iter("{*}annotation"))
        return source or " ".join("".join(root.itertext()).split())

    def _inline(self, parent: Any, parts: list[str]) -> None:
        for element in parent:
            tag = trees.local(element)
            if tag == "s":
                parts.append(" " * min(_count(element, "c"), _MOST_SPACES))
            elif tag == "tab":
                parts.append("\t")
            elif tag == "line-break":
                parts.append("\n")
            elif tag == "a":
                target, text = _get(element, "href"), self._text(element)
                self._out.link(target)
                plain = not target or text.strip() in ("", target) or target.startswith("#")
                parts.append(text if plain else f"[{text}]({target})")
            elif tag == "note":
                number = len(self._notes) + 1
                self._notes.append("")
                body = element.find("{*}note-body")
                text = (
                    " ".join(self._text(each) for each in body.iter("{*}p"))
                    if body is not None
                    else ""
                )
                self._notes[number - 1] = f"[^{number}]: {text}" if text.strip() else ""
                parts.append(f"[^{number}]")
            elif tag == "annotation":
                text = " ".join(self._text(each) for each in element.iter("{*}p"))
                self._notes.append(f"Comment: {text}" if text.strip() else "")
            elif tag == "object":
                parts.append(self._formula(_get(element, "href")))
            elif tag == "text-box":
                self._boxes.append(element)
            elif tag not in _LEFT_OUT:
                parts.append(element.text or "")
                self._inline(element, parts)
            parts.append(element.tail or "")


def _get(element: Any, name: str) -> str:
    """Give an attribute by its local name; "" if there is none."""
    for key, value in element.attrib.items():
        if key.rpartition("}")[2] == name:
            return str(value)
    return ""


def _count(element: Any, name: str) -> int:
    text = _get(element, name)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 1
