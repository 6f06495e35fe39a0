"""Reader of Excel workbooks (XLSX)."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from lxml import etree

from qmd.ingest.readers import trees
from qmd.ingest.readers.building import Builder
from qmd.ingest.readers.office import Office, relation_id
from qmd.ingest.readers.reading import Reading, Unreadable
from qmd.ingest.readers.xlsx_formats import Formats

_COLUMN = re.compile(r"[A-Z]{1,3}")
_WIDEST_GAP = 20
"""Empty cells that are written between two others of a row."""

LONGEST_CELL = 32_767
"""Characters. Source: Excel's own limit."""

LONGEST_ROW = 1_000_000
"""Characters of a row after which the rest of it is left out."""


def read(data: bytes, name: str) -> Reading:
    """Read a workbook sheet by sheet, one line a row; formulas by their last values."""
    out = Builder("XLSX")
    with out.filling():
        office = Office(data, "XLSX")
        root = office.tree(office.main) if office.main else None
        if root is None or trees.local(root) != "workbook":
            raise Unreadable("no XLSX file")
        relations = office.relations(office.main)
        formats = Formats(root, office.related(office.main, "styles"))
        shared: list[str] = []
        for relation in relations.values():
            if relation.kind == "sharedStrings" and not relation.external:
                shared = _shared(office, relation.target)
        for sheet in root.iterfind("{*}sheets/{*}sheet"):
            found = relations.get(relation_id(sheet))
            if found is None or found.external or found.kind != "worksheet":
                continue
            title = sheet.get("name") or ""
            out.place("sheet", title)
            out.heading(2, title)
            part = office.package.get(found.target)
            if part is not None:
                _rows(out, part, shared, formats)
            for each in office.relations(found.target).values():
                if each.external and each.kind == "hyperlink":
                    out.link(each.target)
                elif each.kind == "comments" and (notes := office.tree(each.target)) is not None:
                    for note in notes.iter("{*}comment"):
                        text = "".join(inner.text or "" for inner in note.iter("{*}t"))
                        out.block(f"{note.get('ref') or ''}: {text}")
    return office.reading(out)


def _shared(office: Office, path: str) -> list[str]:
    return [_text(each) for each in _elements(office.package.get(path) or b"", "si")]


def _rows(out: Builder, part: bytes, shared: list[str], formats: Formats) -> None:
    """Add the rows of a sheet; an empty row ends a table."""
    table: list[list[str]] = []
    last = 0
    for row in _elements(part, "row"):
        number = row.get("r") or ""
        at = int(number) if number.isascii() and number.isdigit() and len(number) < 8 else last + 1
        cells = _cells(row, shared, formats)
        if table and (at != last + 1 or not any(cells) or len(table) >= 1000):
            out.table(table)
            table = []
        if any(cells):
            table.append(cells)
        last = at
    out.table(table)


def _cells(row: Any, shared: list[str], formats: Formats) -> list[str]:
    """Give the texts of a row. Cells without a value are passed over in C."""
    cells: list[str] = []
    last = size = 0
    space = row.tag.rpartition("}")[0] + "}"
    for value in row.iter(f"{space}v", f"{space}is"):
        cell = value.getparent()
        text = _value(cell, value, shared, formats)
        if not text:
            continue
        reference = cell.get("r")
        at = (_column(reference.rstrip("0123456789")) if reference else 0) or last + 1
        if at > last + 1:
            cells += [""] * min(at - last - 1, _WIDEST_GAP)
        cells.append(text[:LONGEST_CELL])
        last = at
        size += len(text)
        if size > LONGEST_ROW:  # a string that many cells share
            break
    return cells


def _value(cell: Any, value: Any, shared: list[str], formats: Formats) -> str:
    kind = cell.get("t")
    if kind == "inlineStr":
        return _text(value)
    text: str = value.text or ""
    if kind == "s":
        known = text.isascii() and text.isdigit() and len(text) < 10 and int(text) < len(shared)
        return shared[int(text)] if known else ""
    if kind == "b":
        return "TRUE" if text == "1" else "FALSE"
    return formats.shown(text, cell.get("s") or "0") if kind in (None, "n") and text else text


def _text(element: Any) -> str:
    """Give the text of runs, without the reading aids of Japanese."""
    if len(element) == 1 and not len(element[0]):
        return element[0].text or "" if trees.local(element[0]) == "t" else ""
    parts = []
    for each in element.iter("{*}t"):
        inside = each.getparent()
        if inside is None or trees.local(inside) != "rPh":
            parts.append(each.text or "")
    return "".join(parts)


def _elements(part: bytes, name: str) -> Iterator[Any]:
    """Give elements of a part one by one; each is dropped after it."""
    if b"<!DOCTYPE" in part:
        raise Unreadable("XML that declares entities")
    found = etree.iterparse(
        io.BytesIO(part),
        tag=f"{{*}}{name}",
        resolve_entities=False,
        remove_comments=True,
        remove_pis=True,
        no_network=True,
        load_dtd=False,
    )
    for _, element in found:
        yield element
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]


@lru_cache(maxsize=20_000)
def _column(letters: str) -> int:
    """Give the number of a column by its letters; 0 for what is none."""
    number = 0
    for letter in letters if _COLUMN.fullmatch(letters) else "":
        number = number * 26 + ord(letter) - 64
    return number
