"""Reader of canvases (JSON Canvas, as Obsidian writes it)."""

from __future__ import annotations

import json
from typing import Any

from qmd.ingest.readers import trees
from qmd.ingest.readers.building import Builder
from qmd.ingest.readers.reading import Reading, Unreadable


def read(data: bytes, name: str) -> Reading:
    """Read the cards of a canvas from top to bottom, then the labels of its arrows."""
    out = Builder("canvas")
    if not data.strip():
        raise Unreadable("empty file")
    with out.filling():
        canvas = json.loads(trees.text_of(data))
        if not isinstance(canvas, dict) or not isinstance(canvas.get("nodes", []), list):
            raise Unreadable("no canvas")
        nodes = [each for each in canvas.get("nodes", []) if isinstance(each, dict)]
        for node in sorted(nodes, key=lambda each: (_number(each, "y"), _number(each, "x"))):
            _node(out, node)
        edges = canvas.get("edges", [])
        for edge in edges if isinstance(edges, list) else []:
            if isinstance(edge, dict):
                out.block(_text(edge, "label"))
    return out.reading()


def _node(out: Builder, node: dict[str, Any]) -> None:
    kind = node.get("type")
    if kind == "text":
        out.markdown(_text(node, "text"))
    elif kind == "file":
        target = _text(node, "file") + _text(node, "subpath")
        out.link(target)
        out.block(f"[[{target}]]" if target else "")
    elif kind == "link":
        out.link(_text(node, "url"))
        out.block(f"<{_text(node, 'url')}>" if _text(node, "url") else "")
    elif kind == "group":
        out.heading(2, _text(node, "label"))


def _text(node: dict[str, Any], key: str) -> str:
    value = node.get(key)
    return value if isinstance(value, str) else ""


def _number(node: dict[str, Any], key: str) -> float:
    value = node.get(key)
    return value if isinstance(value, int | float) and value == value else 0
