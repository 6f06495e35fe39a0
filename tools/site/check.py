"""Check of a built site: links, addresses of other hosts, and Markdown that became no HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

LOADS = {"img": "src", "script": "src", "source": "src", "iframe": "src", "link": "href"}
"""Attributes whose address a browser fetches by itself."""

_NAMED_ONLY = {"canonical", "next", "prev", "edit", "alternate"}
"""Relations of `link` that a browser does not fetch."""

_CODE = {"code", "pre", "script", "style"}
_MARKS = re.compile(r"\|:?---.*|\]\([^)]*\)|^```.*|^##+ .*", re.M)
"""Markdown in what a reader sees: a table, a link, a fence or a heading that was not understood."""


class Broken(NamedTuple):
    """Address on a page that does not lead where it should."""

    page: str
    address: str
    why: str


class _Page(HTMLParser):
    """Addresses and anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.unread: list[str] = []
        self._code = 0

    def handle_endtag(self, tag: str) -> None:
        self._code -= tag in _CODE

    def handle_data(self, data: str) -> None:
        if not self._code:
            self.unread += _MARKS.findall(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._code += tag in _CODE
        found = dict(attrs)
        self.anchors |= {each for key in ("id", "name") if (each := found.get(key))}
        address = found.get(LOADS.get(tag, "href" if tag == "a" else ""))
        if address is None:
            return
        if tag in LOADS and not _NAMED_ONLY & set((found.get("rel") or "").split()):
            self.loaded.append(address)
        self.links.append(address)


def broken(site: Path) -> Iterator[Broken]:
    """Yield each address that leads nowhere, or that a browser would fetch from another host."""
    pages = {page.resolve(): _read(page) for page in sorted(site.rglob("*.html"))}
    for page, found in pages.items():
        name = page.relative_to(site.resolve()).as_posix()
        if name == "404.html":  # its links begin at the top of the host
            continue
        for address in found.loaded:
            if urlsplit(address).netloc:
                yield Broken(name, address, "is fetched from another host")
        for address in found.links:
            why = _why(address, page, pages)
            if why:
                yield Broken(name, address, why)
        for mark in found.unread:
            yield Broken(name, mark, "is Markdown that was not understood")


def _read(page: Path) -> _Page:
    parser = _Page()
    parser.feed(page.read_text(encoding="utf-8"))
    return parser


def _why(address: str, page: Path, pages: dict[Path, _Page]) -> str:
    """Return why an address leads nowhere; empty if it leads somewhere or to another host."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return ""
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if target.is_dir():
        return "is a folder, which does not lead to its page without a server"
    if not target.exists():
        return "is not there"
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
        return "has no such place"
    return ""
