"""The page: Markdown as HTML, and addresses of searches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

from bench.fuzz.sources import Bytes, Input, Target

_MARKUP = (
    "<script>¦</script>¦<style>¦<svg onload=x>¦<img src=x onerror=x>¦<a href='javascript:x'>¦<p ¦"
    "style='x'>¦onclick=x¦<!--¦-->¦<![CDATA[¦]]>¦<iframe src=//x>¦<math><mi¦<template>¦<plaintext>¦"
    "<noscript>¦<title>¦</article>¦javascript:¦java\tscript:¦data:text/html,¦//elsewhere/¦&#106;¦"
    "![a](¦[a](¦)¦](¦[[¦]]¦![[a.png]]¦[a]: ¦# tea\n¦\n\n¦```\n¦`¦| a |\n|-|\n¦> ¦- ¦\\¦*¦_¦~~¦"
    "qmd://¦#h¦?from=x¦../¦%2e%2e/¦\u202e¦\x1b[2J¦\u200b¦<hr¦ id=L1 ¦ class=outside ¦\0"
).split("¦")

_TARGET = re.compile(r"/go\?from=notes%2Fa\.md&to=|/doc/|#h-|(?:https?|mailto):|$", re.I)
_SOURCE = "/picture?from=notes%2Fa.md&to="

_NAMES = {"id", "class", "dir", "lang", "title", "href", "src", "alt", "width", "height", "start"}
_NAMES |= {"colspan", "rowspan", "align", "rel", "loading"}
_ACTS = set("script style svg math iframe form input object embed base link meta template".split())


class Elements(HTMLParser):
    """Start tags of a page, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))


def rendered() -> Iterator[Target]:
    """Fuzz notes as HTML: no element acts, each address is ours or that of a known scheme."""
    from qmd.surfaces.page.markdown_html import render_markdown

    def made(source: Bytes) -> Input:
        hit, before = source.number(0, 9), source.number(0, 9)
        return source.text(), source.text()[:20], hit, before

    def check(text: str, word: str, hit: int, before: int) -> None:
        found = render_markdown(
            text, "notes/a.md", is_match=lambda each: each == word, hit=hit or None, before=before
        )
        ids = []
        for tag, given in Elements(found.html).found:
            assert tag not in _ACTS
            assert given.keys() <= _NAMES
            assert _TARGET.match(given.get("href", "")), given
            assert tag != "img" or given.get("src", _SOURCE).startswith(_SOURCE), given
            assert tag != "img" or "alt" in given
            ids += [given["id"]] if "id" in given else []
        if "<" not in text:  # a heading may stand in an element that goes
            assert {each.id for each in found.outline} <= set(ids)
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", found.html)

    examples = (
        b"# Tea\n\n[a](b.md#c) ![d](e.png) [[f|g]] ![[h.png]]\n\n<p onclick=x>i</p>\n\xfftea\1\2",
        b"| a | b |\n|---|---|\n| <b>1</b> | `2` |\n\n> - 1. x\n\n```\ny\n```\n\xfftea\3\0",
    )
    yield Target(made, check, _MARKUP, examples)


def addresses() -> Iterator[Target]:
    """Addresses of searches: written and read again they ask for the same."""
    from starlette.datastructures import QueryParams

    from qmd.surfaces.page.address import LAST_PAGE, MANY, AddressedSearch
    from qmd.text import globs
    from qmd.text.filters import parse_filter

    def made(source: Bytes) -> Input:
        return (source.text(surrogates=True),)

    def check(text: str) -> None:
        asked = AddressedSearch.read(QueryParams(text))
        assert 1 <= asked.page <= LAST_PAGE
        assert len(asked.tags) <= MANY
        assert len(asked.collections) <= MANY
        assert AddressedSearch.read(QueryParams(asked.parameters(page=asked.page)[1:])) == asked
        asked.parameters().encode("ascii")
        chosen = asked.selection()
        if asked.tags:
            assert len(parse_filter(str(chosen["filter"]))) == len(asked.tags)
        if "path" in chosen:
            globs.matcher([str(chosen["path"])])("notes/tea.md")

    words = "q=¦&¦mode=words¦&c=¦&folder=¦&tag=¦&kind=md¦&since=¦&before=¦&page=¦&why=1¦%00¦%ud800"
    more = "¦+¦%22¦'¦\"¦ and ¦**¦*¦[¦]¦{a,¦}¦!¦\\¦/¦..¦%5B¦%e9¦%f0%9f¦;¦="
    examples = (b"q=tea&mode=words&c=notes&folder=notes/a&tag=b&kind=md&since=2024&page=2&why=1",)
    yield Target(made, check, f"{words}{more}".split("¦"), examples)
