"""Parts that Office Open XML formats share: relations and core properties."""

from __future__ import annotations

import posixpath
import re
from typing import Any

from qmd.ingest.readers import trees
from qmd.ingest.readers.building import Builder
from qmd.ingest.readers.dates import iso
from qmd.ingest.readers.packages import Package
from qmd.ingest.readers.reading import Reading
from qmd.named_tuple import NamedTuple

RELATION_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
STRICT_RELATION_ID = "{http://purl.oclc.org/ooxml/officeDocument/relationships}id"

_BY_DEFAULT = re.compile(
    r"(?:powerpoint[ -]presentation|presentation|untitled.*|document ?\d*|slide \d+|word document"
    r"|microsoft (?:word|powerpoint|excel)(?: document)?|[\w ]*template|title)",
    re.I,
)
"""Titles that programs give to files without one."""

_BY_PRINTER = re.compile(r"^microsoft (?:office )?(?:word|powerpoint|excel) - ", re.I)


class PartRelation(NamedTuple):
    """Relation of a part to another.

    Attributes:
        kind: last word of the type: `hyperlink`, `slide`, `worksheet`.
        target: path within the package, or an address.
    """

    kind: str
    target: str
    external: bool


class Office:
    """Package of Office Open XML."""

    def __init__(self, data: bytes, kind: str) -> None:
        self.package = Package(data, kind)
        self._relations: dict[str, dict[str, PartRelation]] = {}
        targets = [each for each in self.relations("").values() if each.kind == "officeDocument"]
        self.main = targets[0].target if targets else ""

    def tree(self, path: str) -> trees.Element | None:
        """Parse a part; None if there is none."""
        data = self.package.get(path)
        return None if data is None else trees.xml(data)

    def relations(self, path: str) -> dict[str, PartRelation]:
        """Give the relations of a part by their ids."""
        if path not in self._relations:
            self._relations[path] = self._related(path)
        return self._relations[path]

    def _related(self, path: str) -> dict[str, PartRelation]:
        folder, name = posixpath.split(path)
        root = self.tree(posixpath.join(folder, "_rels", f"{name}.rels"))
        found: dict[str, PartRelation] = {}
        for each in root.iter("{*}Relationship") if root is not None else ():
            target, external = each.get("Target") or "", each.get("TargetMode") == "External"
            if not external:
                target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            kind = (each.get("Type") or "").rpartition("/")[2]
            found[each.get("Id") or ""] = PartRelation(kind, target, external)
        return found

    def related(self, path: str, kind: str) -> trees.Element | None:
        """Parse the first part of a kind that a part relates to."""
        for each in self.relations(path).values():
            if each.kind == kind and not each.external:
                return self.tree(each.target)
        return None

    def reading(self, out: Builder) -> Reading:
        """Give the reading, with the properties of the package."""
        told: dict[str, str] = {}
        with out.filling():
            root = self.related("", "core-properties")
            for each in root if root is not None else ():
                told[trees.local(each)] = (each.text or "").strip()
        return out.reading(
            title=given_title(told.get("title")),
            date=iso(told.get("created")) or iso(told.get("modified")),
            author=told.get("creator") or told.get("lastModifiedBy"),
            language=told.get("language"),
            metadata={
                "modified": iso(told.get("modified")),
                **{
                    key: told.get(key) for key in ("subject", "keywords", "description", "category")
                },
            },
        )


def relation_id(element: Any) -> str:
    """Give the id of the relation that an element points to."""
    return element.get(RELATION_ID) or element.get(STRICT_RELATION_ID) or ""


def given_title(title: str | None) -> str | None:
    """Give the title of a document, or None for one that a program has made up."""
    title = _BY_PRINTER.sub("", (title or "").strip())
    return None if _BY_DEFAULT.fullmatch(title) else title or None
