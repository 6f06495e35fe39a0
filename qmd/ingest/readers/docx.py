"""Reader of Word documents (DOCX)."""

from __future__ import annotations

import re
from typing import Any

from qmd.ingest.readers import trees
from qmd.ingest.readers.building import Builder
from qmd.ingest.readers.docx_styles import Numbering, Styles, value
from qmd.ingest.readers.office import Office, relation_id
from qmd.ingest.readers.reading import Reading, Unreadable

_ADDRESS = re.compile(r'HYPERLINK\s+(?:\\l\s+"[^"]*"|"([^"]+)"|(\S+))', re.I)
_NOTES = (("footnotes", "footnote"), ("endnotes", "endnote"), ("comments", "comment"))
_LEFT_OUT = frozenset("del moveFrom rPr pPr sectPr tblPr tblGrid trPr tcPr instrText".split())


def read(data: bytes, name: str) -> Reading:
    """Read a document: headings, lists, tables, notes, comments, text boxes.

    Pages are those that Word has last shown.
    """
    out = Builder("DOCX")
    with out.filling():
        office = Office(data, "DOCX")
        root = office.tree(office.main) if office.main else None
        if root is None or trees.local(root) != "document":
            raise Unreadable("no DOCX file")
        _Document(out, office).read(root)
    return office.reading(out)


class _Document:
    """State of one pass over the body."""

    def __init__(self, out: Builder, office: Office) -> None:
        self._out = out
        self._office = office
        self._relations = office.relations(office.main)
        self._styles = Styles(office.related(office.main, "styles"))
        self._numbering = Numbering(office.related(office.main, "numbering"))
        self._page = 1
        self._turned = False
        self._boxes: list[Any] = []
        self._field: list[str] = []
        self._code: list[str] = []
        self._in_list = False

    def read(self, root: trees.Element) -> None:
        """Add the body, then notes and comments."""
        if next(root.iter("{*}lastRenderedPageBreak"), None) is not None:
            self._out.place("page", "1")
        for body in root.iterchildren("{*}body"):
            self._blocks(body)
        self._end_code()
        for part, each in _NOTES:
            notes = self._office.related(self._office.main, part)
            for note in notes.iterchildren(f"{{*}}{each}") if notes is not None else ():
                if value(note, "type") not in (None, "normal"):
                    continue  # the rule above the notes
                text = " ".join(map(self._text, trees.within(note, "p"))).strip()
                author = value(note, "author")
                mark = (
                    f"{author or 'Comment'}:" if each == "comment" else f"[^{value(note, 'id')}]:"
                )
                self._out.block(f"{mark} {text}" if text else "")

    def _blocks(self, parent: Any) -> None:
        for element in parent:
            tag = trees.local(element)
            if tag == "p":
                self._paragraph(element)
            elif tag == "tbl":
                self._end_code()
                self._table(element)
            elif tag not in _LEFT_OUT:
                self._blocks(element)  # content controls, custom XML, insertions

    def _paragraph(self, element: Any) -> None:
        text = self._text(element)
        boxes, self._boxes = self._boxes, []
        properties = element.find("{*}pPr")
        style = self._styles.of(properties)
        if style.code and not style.level:
            self._code.append(text)
        else:
            self._end_code()
            self._plain(text, properties, style.level, style.numbering)
        if self._turned:
            # A page begins within this paragraph: its place is at the next one.
            self._turned = False
            self._out.place("page", str(self._page))
        for box in boxes:
            self._blocks(box)

    def _plain(self, text: str, properties: Any, level: int, numbering: Any) -> None:
        if not text.strip():
            return
        if level:
            self._out.heading(level, text)
            self._in_list = False
            return
        depth, mark = self._numbering.mark(properties, numbering)
        if mark:
            self._out.item(text.strip(), depth=depth, mark=mark, tight=self._in_list)
        else:
            self._out.block(text.strip())
        self._in_list = bool(mark)

    def _end_code(self) -> None:
        if self._code:
            self._out.code("\n".join(self._code))
            self._code = []

    def _table(self, element: Any) -> None:
        rows = [
            [" ".join(map(self._text, trees.within(cell, "p"))) for cell in trees.within(row, "tc")]
            for row in trees.within(element, "tr")
        ]
        self._out.table(rows)
        boxes, self._boxes = self._boxes, []
        for box in boxes:
            self._blocks(box)
        self._in_list = self._turned = False

    def _text(self, paragraph: Any) -> str:
        parts: list[str] = []
        self._inline(paragraph, parts)
        return "".join(parts)

    def _inline(self, parent: Any, parts: list[str]) -> None:
        for element in parent:
            tag = trees.local(element)
            if tag == "t":
                parts.append(element.text or "")
            elif tag == "r":
                if not self._vanishes(element):
                    self._inline(element, parts)
            elif tag in ("tab", "ptab"):
                parts.append("\t" if tag == "tab" else " ")
            elif tag in ("br", "cr"):
                parts.append("\n")
            elif tag == "noBreakHyphen":
                parts.append("-")
            elif tag == "hyperlink":
                relation = self._relations.get(relation_id(element))
                self._link(element, relation.target if relation else None, parts)
            elif tag in ("footnoteReference", "endnoteReference"):
                parts.append(f"[^{value(element, 'id')}]")
            elif tag == "fldChar":
                self._field_mark(value(element, "fldCharType"), parts)
            elif tag == "instrText":
                self._field.append(element.text or "")
            elif tag == "fldSimple":
                self._note_address(value(element, "instr") or "")
                self._inline(element, parts)
            elif tag == "lastRenderedPageBreak":
                self._page_break(parts)
            elif tag == "AlternateContent":
                # The same drawing twice: for programs of today, and for old ones.
                self._inline(next(iter(element), ()), parts)
            elif tag == "txbxContent":
                self._boxes.append(element)
            elif tag == "docPr":
                parts.append(f" {element.get('descr')} " if element.get("descr") else "")
            elif tag not in _LEFT_OUT:
                self._inline(element, parts)

    def _page_break(self, parts: list[str]) -> None:
        self._page += 1
        if "".join(parts).strip():
            self._turned = True
        else:
            self._out.place("page", str(self._page))

    def _link(self, element: Any, target: str | None, parts: list[str]) -> None:
        inner: list[str] = []
        self._inline(element, inner)
        text = "".join(inner)
        self._out.link(target)
        if target and text.strip() and text.strip() != target:
            parts.append(f"[{text.strip()}]({target})")
        else:
            parts.append(text)

    def _field_mark(self, kind: str | None, parts: list[str]) -> None:
        if kind == "begin":
            self._field = []
        elif kind == "separate":
            self._note_address("".join(self._field))

    def _note_address(self, instruction: str) -> None:
        if found := _ADDRESS.search(instruction):
            self._out.link(found[1] or found[2])

    @staticmethod
    def _vanishes(run: Any) -> bool:
        properties = run.find("{*}rPr")
        mark = properties.find("{*}vanish") if properties is not None else None
        return mark is not None and value(mark, "val") not in ("0", "false")
