"""Styles and lists of Word documents."""

from __future__ import annotations

import re
from typing import Any

from qmd.named_tuple import NamedTuple

_HEADING = re.compile(r"heading (\d)", re.I)
_CODE = re.compile(r"code|source|verbatim|preformatted|listing", re.I)


class ParagraphStyle(NamedTuple):
    """Style of a paragraph.

    Attributes:
        level: of a heading, or 0.
        code: it is for program text.
        numbering: its list, as an element, or None.
    """

    level: int = 0
    code: bool = False
    numbering: Any = None


class Styles:
    """Paragraph styles of a document by their ids."""

    def __init__(self, root: Any) -> None:
        self._elements: dict[str, Any] = {}
        self._known: dict[str, ParagraphStyle] = {}
        for element in root.iterchildren("{*}style") if root is not None else ():
            self._elements[value(element, "styleId") or ""] = element

    def of(self, properties: Any) -> ParagraphStyle:
        """Give the style of a paragraph by its properties."""
        if properties is None:
            return ParagraphStyle()
        named = properties.find("{*}pStyle")
        style = self._style(value(named, "val") or "") if named is not None else ParagraphStyle()
        level = _outline_level(properties)
        return style._replace(level=level) if level else style

    def _style(self, name: str) -> ParagraphStyle:
        if name not in self._known:
            self._known[name] = self._resolved(name)
        return self._known[name]

    def _resolved(self, name: str) -> ParagraphStyle:
        level, code, numbering = 0, False, None
        met: set[str] = set()
        while name in self._elements and name not in met:
            met.add(name)
            element = self._elements[name]
            label = value(element.find("{*}name"), "val") or ""
            heading = _HEADING.match(label)
            own = _outline_level(element.find("{*}pPr"))
            level = level or (int(heading[1]) if heading else own)
            if label.lower() == "title" and len(met) == 1:  # author and date derive from it
                level = 1
            code = code or bool(_CODE.search(label))
            if numbering is None:
                numbering = element.find("{*}pPr/{*}numPr")
            name = value(element.find("{*}basedOn"), "val") or ""
        return ParagraphStyle(level, code, numbering)


class Numbering:
    """Marks of list items, counted as they come."""

    def __init__(self, root: Any) -> None:
        self._formats: dict[tuple[str, str], str] = {}
        self._abstract: dict[str, str] = {}
        self._counts: dict[tuple[str, int], int] = {}
        if root is None:
            return
        for each in root.iterchildren("{*}abstractNum"):
            for level in each.iterchildren("{*}lvl"):
                key = (value(each, "abstractNumId") or "", value(level, "ilvl") or "0")
                self._formats[key] = value(level.find("{*}numFmt"), "val") or "decimal"
        for each in root.iterchildren("{*}num"):
            number = value(each.find("{*}abstractNumId"), "val")
            self._abstract[value(each, "numId") or ""] = number or ""

    def mark(self, properties: Any, of_style: Any) -> tuple[int, str]:
        """Give depth and mark of a paragraph: `-`, `3.`, or "" for one in no list."""
        own = properties.find("{*}numPr") if properties is not None else None
        number = level = None
        for each in (own, of_style):
            if each is not None:
                number = number or value(each.find("{*}numId"), "val")
                level = level or value(each.find("{*}ilvl"), "val")
        if number in (None, "0"):
            return 0, ""
        depth = int(level) if level and level.isdigit() and len(level) == 1 else 0
        style = self._formats.get((self._abstract.get(number, ""), str(depth)), "bullet")
        if style == "none":
            return 0, ""
        if style == "bullet":
            return depth, "-"
        for deeper in range(depth + 1, 9):
            self._counts.pop((number, deeper), None)
        count = self._counts[number, depth] = self._counts.get((number, depth), 0) + 1
        return depth, f"{count}."


def _outline_level(properties: Any) -> int:
    element = properties.find("{*}outlineLvl") if properties is not None else None
    level = value(element, "val") or ""
    return int(level) + 1 if level.isdigit() and len(level) == 1 and level != "9" else 0


def value(element: Any, name: str) -> str | None:
    """Give an attribute in the namespace of its element; None without an element."""
    if element is None:
        return None
    space = element.tag.rpartition("}")[0]
    found: str | None = element.get(f"{space}}}{name}" if space else name)
    return found
