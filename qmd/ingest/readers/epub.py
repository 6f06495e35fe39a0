"""Reader of books (EPUB)."""

from __future__ import annotations

import posixpath
from typing import Any
from urllib.parse import unquote

from qmd.ingest.readers import trees
from qmd.ingest.readers.building import Builder
from qmd.ingest.readers.dates import iso
from qmd.ingest.readers.html_blocks import blocks
from qmd.ingest.readers.packages import Package
from qmd.ingest.readers.reading import Reading, Unreadable

_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def read(data: bytes, name: str) -> Reading:
    """Read the chapters of a book in their order; pages where the book marks those of the print."""
    out = Builder("EPUB")
    told: dict[str, str] = {}
    authors: list[str] = []
    with out.filling():
        package = Package(data, "EPUB")
        book = _book(package)
        root = trees.xml(package.read(book))
        for each in root.iterfind("{*}metadata//"):
            text = (each.text or "").strip()
            told.setdefault(trees.local(each), text)
            if trees.local(each) == "creator" and text:
                authors.append(text)
        encrypted = package.get("META-INF/encryption.xml") or b""
        for path in _spine(root, posixpath.dirname(book)):
            if path.encode() in encrypted:
                raise Unreadable("encrypted EPUB")
            chapter = package.get(path)
            tree = trees.html(chapter) if chapter else None
            if chapter is None:
                out.damaged()
            elif tree is not None:
                blocks(out, tree)
    return out.reading(
        title=told.get("title"),
        date=iso(told.get("date")),
        author=", ".join(authors),
        language=told.get("language"),
        metadata={
            key: told.get(key) for key in ("publisher", "subject", "description", "identifier")
        },
    )


def _book(package: Package) -> str:
    """Give the path of the package document."""
    container = package.get("META-INF/container.xml")
    if container is not None:
        for each in trees.xml(container).iter("{*}rootfile"):
            if each.get("full-path") in package.names:
                return str(each.get("full-path"))
    found = sorted(name for name in package.names if name.endswith(".opf"))
    if not found:
        raise Unreadable("no EPUB file")
    return found[0]


def _spine(root: Any, folder: str) -> list[str]:
    """Give the paths of the chapters; each once."""
    items = {
        each.get("id"): each.get("href") or ""
        for each in root.iterfind("{*}manifest/{*}item")
        if each.get("media-type") in _PAGES and "nav" not in (each.get("properties") or "").split()
    }
    order = [each.get("idref") for each in root.iterfind("{*}spine/{*}itemref")]
    hrefs = [items[key] for key in order if key in items] or list(items.values())
    paths = (posixpath.normpath(posixpath.join(folder, unquote(href))) for href in hrefs)
    return list(dict.fromkeys(paths))
