"""Reader of bookmarks that browsers export (Netscape bookmark file)."""

from __future__ import annotations

import re
from typing import Any

from qmd.ingest.readers import trees, wide
from qmd.ingest.readers.building import Builder
from qmd.ingest.readers.dates import of_seconds
from qmd.ingest.readers.html_blocks import visible_text
from qmd.ingest.readers.reading import Reading, Unreadable

_DOCTYPE = re.compile(rb"\s*(?:\xef\xbb\xbf)?<!DOCTYPE NETSCAPE-Bookmark-file", re.I)


def is_bookmarks(data: bytes) -> bool:
    """Tell whether an HTML file is an export of bookmarks."""
    return _DOCTYPE.match(wide.head(data)) is not None


def read(data: bytes, name: str) -> Reading:
    """Read bookmarks: folders as headings, pages as links with tags and description."""
    out = Builder("bookmarks")
    title, days = None, []
    with out.filling():
        root = trees.html(data)
        if root is None or not is_bookmarks(data):
            raise Unreadable("no bookmarks file" if data.strip() else "empty file")
        title = next((visible_text(each) for each in root.iter("h1", "title")), None)
        depth = 1
        for element in root.iter("h3", "a", "dd"):
            if element.tag == "h3":
                depth = 1 + sum(1 for _ in element.iterancestors("dl"))
                out.heading(depth, visible_text(element))
            elif element.tag == "a":
                days.append(element.get("add_date") or "")
                _page(out, element)
            else:
                out.block(f"  {_own_text(element)}".rstrip(), tight=True)
    dates = [day for day in days if day.isdigit()]
    return out.reading(title=title, date=of_seconds(max(dates, key=int, default=None)))


def _page(out: Builder, element: Any) -> None:
    target = (element.get("href") or "").strip()
    if target.lower().startswith(("javascript:", "data:", "place:")):
        return
    out.link(target)
    tags = [tag.strip() for tag in (element.get("tags") or "").split(",") if tag.strip()]
    label = visible_text(element) or target
    more = f" ({', '.join(tags)})" if tags else ""
    out.item(f"[{label}]({target}){more}")


def _own_text(element: Any) -> str:
    """Give the text before the first element: what follows is no description any more."""
    return " ".join((element.text or "").split())
