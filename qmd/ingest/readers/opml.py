"""Reader of outlines (OPML)."""

from __future__ import annotations

from typing import Any

from qmd.ingest.readers import trees
from qmd.ingest.readers.building import Builder
from qmd.ingest.readers.dates import iso
from qmd.ingest.readers.reading import Reading, Unreadable


def read(data: bytes, name: str) -> Reading:
    """Read an outline as a nested list; feeds and pages are links."""
    out = Builder("OPML")
    told: dict[str, str] = {}
    if not data.strip():
        raise Unreadable("empty file")
    with out.filling():
        root, whole = trees.damaged_xml(trees.declared_xml(data))
        if trees.local(root) != "opml":
            raise Unreadable("no OPML file")
        for each in root.iterfind("{*}head/*"):
            told.setdefault(trees.local(each), (each.text or "").strip())
        for body in root.iterfind("{*}body"):
            _outlines(out, body, 0)
        if not whole:
            out.damaged()
    return out.reading(
        title=told.get("title"),
        date=iso(told.get("dateCreated")) or iso(told.get("dateModified")),
        author=told.get("ownerName"),
        metadata={"modified": iso(told.get("dateModified"))},
    )


def _outlines(out: Builder, parent: Any, depth: int) -> None:
    for each in parent.iterchildren("{*}outline"):
        text = each.get("text") or each.get("title") or ""
        target = each.get("htmlUrl") or each.get("url") or each.get("xmlUrl")
        for key in ("htmlUrl", "url", "xmlUrl"):
            out.link(each.get(key))
        lines = [f"[{text}]({target})" if target and text else text or target or ""]
        lines += (each.get("_note") or each.get("description") or "").strip().split("\n")
        indent = "\n" + "  " * (min(depth, 20) + 1)
        out.item(
            indent.join(line for line in lines if line.strip()), depth=depth, tight=not out.empty
        )
        _outlines(out, each, depth + 1)
