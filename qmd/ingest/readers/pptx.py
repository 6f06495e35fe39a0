"""Reader of PowerPoint presentations (PPTX)."""

from __future__ import annotations

from typing import Any

from qmd.ingest.readers import trees
from qmd.ingest.readers.building import Builder
from qmd.ingest.readers.office import Office, relation_id
from qmd.ingest.readers.reading import Reading, Unreadable

_TITLES = ("title", "ctrTitle")
_FURNITURE = ("dt", "ftr", "sldNum", "hdr", "sldImg")


def read(data: bytes, name: str) -> Reading:
    """Read a presentation slide by slide: titles, text, tables, diagrams, notes."""
    out = Builder("PPTX")
    with out.filling():
        office = Office(data, "PPTX")
        root = office.tree(office.main) if office.main else None
        if root is None or trees.local(root) != "presentation":
            raise Unreadable("no PPTX file")
        relations = office.relations(office.main)
        number = 0
        for each in root.iterfind("{*}sldIdLst/{*}sldId"):
            relation = relations.get(relation_id(each))
            if relation is None or relation.external:
                continue
            number += 1
            out.place("slide", str(number))
            _Slide(out, office, relation.target).read()
    return office.reading(out)


class _Slide:
    """One slide."""

    def __init__(self, out: Builder, office: Office, path: str) -> None:
        self._out = out
        self._office = office
        self._path = path
        self._relations = office.relations(path)

    def read(self) -> None:
        """Add its title, its shapes in their order, and its notes."""
        root = self._office.tree(self._path)
        if root is None:
            return
        shapes = list(trees.within(root, "sp", "graphicFrame", "pic"))
        titles = [each for each in shapes if _role(each) in _TITLES]
        for shape in titles:
            self._out.heading(1, " ".join(self._lines(shape)))
        for shape in shapes:
            if shape in titles or _role(shape) in _FURNITURE:
                continue
            self._shape(shape)
        for relation in self._relations.values():
            if relation.external or relation.kind not in ("notesSlide", "diagramData", "chart"):
                continue
            part = self._office.tree(relation.target)
            if part is None:
                continue
            if relation.kind == "notesSlide":
                for shape in part.iter("{*}sp"):
                    if _role(shape) == "body":
                        self._out.block("\n".join(self._lines(shape)))
            else:
                for each in trees.within(part, "p"):
                    self._out.block(self._text(each), tight=True)

    def _shape(self, shape: Any) -> None:
        for table in trees.within(shape, "tbl"):
            self._out.table(
                [
                    " ".join(map(self._text, trees.within(cell, "p")))
                    for cell in trees.within(row, "tc")
                ]
                for row in trees.within(table, "tr")
            )
        if trees.local(shape) == "pic":
            for each in shape.iterfind("{*}nvPicPr/{*}cNvPr"):
                self._out.block(each.get("descr") or "")
            return
        first = True
        for each in shape.iterfind("{*}txBody/{*}p"):
            text = self._text(each)
            properties = each.find("{*}pPr")
            level = properties.get("lvl") if properties is not None else None
            depth = int(level) if level in tuple("123456789") else 0
            if _role(shape) in ("body", "", "obj") and _role(shape, default=None) is not None:
                self._out.item(text, depth=depth, tight=not first)
            else:
                self._out.block(text, tight=not first)
            first = first and not text.strip()

    def _lines(self, shape: Any) -> list[str]:
        lines = (self._text(each) for each in shape.iterfind("{*}txBody/{*}p"))
        return [line for line in lines if line.strip()]

    def _text(self, paragraph: Any) -> str:
        parts = []
        for each in paragraph.iter("{*}t", "{*}br", "{*}tab"):
            tag = trees.local(each)
            if tag != "t":
                parts.append(" ")
                continue
            text, target = each.text or "", None
            run = each.getparent()
            for link in run.iterfind("{*}rPr/{*}hlinkClick") if run is not None else ():
                relation = self._relations.get(relation_id(link))
                target = relation.target if relation and relation.external else None
            self._out.link(target)
            parts.append(f"[{text}]({target})" if target and text.strip() != target else text)
        return "".join(parts)


def _role(shape: Any, default: str | None = "") -> str | None:
    """Give the type of a placeholder, `default` for a shape that is none."""
    holder = next(iter(shape.iterfind("*/{*}nvPr/{*}ph")), None)
    return default if holder is None else holder.get("type") or "obj"
