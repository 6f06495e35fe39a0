"""Writers of document content: for terminals, tables, programs and browsers."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

from bench.fuzz.sources import Bytes, Input, Target, only_text

ORDERS = (
    "\x1b[31m¦\x1b[0m¦\x1b[2J¦\x1b]0;title\x07¦\x1b]8;;http://x\x1b\\¦\x1b]52;c;x\x07¦\x1bP¦\x9b2J¦"
    "\r¦\r\n¦\x08¦\x7f¦\t¦\n¦\u202e¦\u2066¦\u200b¦<script>¦</style>¦]]>¦<!--¦&amp;¦\"¦'¦|¦,¦=1+1¦\0"
).split("¦")
COLOURS = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;;[!-~]*\x1b\\")
FORMULAS = ("=1+1", "\uff1d1", "\ufe63x", "-5", "+4.2e3", "-1e", "\ufeff", "\xa0")
"""Texts that a spreadsheet runs, and some that are near to one."""


def check_cell(given: str, found: str) -> None:
    """Check that a cell of CSV is the text or number that was written, and no formula."""
    assert found in (given, f"'{given}")
    if re.fullmatch(r"[+-][0-9.]+([eE][+-]?[0-9]+)?", given):
        with suppress(ValueError):
            float(given)
            assert found == given
            return
    visible = [mark for mark in found if unicodedata.category(mark)[0] not in "CZ"]
    begins = unicodedata.normalize("NFKC", "".join(visible[:1]))
    assert not begins.startswith(("=", "+", "-", "@", "\u2212"))
    assert not found.startswith(("\t", "\r", "\n", "\0"))


def widths() -> Iterator[Target]:
    """Columns that texts take, and tables made of them: no line is longer than it may be."""
    from qmd.surfaces import formats
    from qmd.text.display_width import columns_of, padded
    from qmd.visible import shown

    def made(source: Bytes) -> Input:
        width = source.number(1, 40)
        return source.text(), source.text(), width

    def check(text: str, other: str, width: int) -> None:
        assert columns_of(text + other) == columns_of(text) + columns_of(other)
        assert 0 <= columns_of(text) <= 2 * len(text)
        assert columns_of(padded(text, width)) == max(width, columns_of(text))
        right = padded(text, width, right=True)
        assert right.endswith(text)
        table = formats.table([[text, "x"], [other, "y"]], right=frozenset({0}))
        assert table.count("\n") == 2
        widest = max(columns_of(shown(text)), columns_of(shown(other)))
        assert all(columns_of(line) <= widest + 3 for line in table.split("\n"))

    yield Target(made, check, ORDERS, ("green 日本\ttea".encode(), b"\xff"))


def terminal() -> Iterator[Target]:
    """Results on a terminal: what is left besides colours and links moves nothing."""
    from qmd.surfaces.cli import common

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def check(text: str) -> None:
        kept, sys.stdout = sys.stdout, Terminal()
        try:
            common.say(text)
            said = sys.stdout.getvalue()
        finally:
            sys.stdout = kept
        assert len(said) <= 8 * len(text) + 1
        rest = COLOURS.sub("", said).replace("\r\n", "\n")
        assert all(mark in "\n\t" or unicodedata.category(mark) != "Cc" for mark in rest)

    yield Target(only_text, check, ORDERS, (b"green tea",))


def formats() -> Iterator[Target]:
    """JSON, CSV and XML: another reader finds as many records, and the texts that were written."""
    from qmd.surfaces import formats as ours

    def made(source: Bytes) -> Input:
        return source.text(), source.text()

    def check(text: str, other: str) -> None:
        assert json.loads(ours.as_json({text: other})) == {text: other}
        table = [[other, "b"], [text, other], ["x", text]]
        rows = list(csv.reader(io.StringIO(ours.as_csv(table[0], table[1:]))))
        for given, found in zip(table, rows, strict=True):
            for cells in zip(given, found, strict=True):
                check_cell(*cells)
        raw = ours.as_csv(table[0], table[1:], raw_csv=True)
        assert list(csv.reader(io.StringIO(raw))) == table
        root = ElementTree.fromstring(ours.as_xml([({"name": text, "x": other or None}, other)]))
        (one,) = root
        assert set(one.attrib) <= {"name", "x"}
        assert not len(one)
        assert len(one.text or "") == len(other.replace("\r\n", "\n"))

    csv.field_size_limit(1 << 30)
    yield Target(made, check, (*ORDERS, *FORMULAS), (b'a,"b"\n\xff=cmd|x',))


def sql_answers() -> Iterator[Target]:
    """Answers of `qmd sql` as tables, CSV and JSON: one record for each row."""
    from qmd.surfaces import sql_tables

    heading = SimpleNamespace(name="a", kind="VARCHAR")

    class Rows:
        """Two rows of two texts."""

        def __init__(self, text: str | None, other: str) -> None:
            self.headings = [heading, SimpleNamespace(name=other, kind="VARCHAR")]
            self._texts = [[text, other], [other, None]]

        def texts(self, limit: int | None = None) -> Iterator[list[str | None]]:
            yield from self._texts

    def made(source: Bytes) -> Input:
        width = source.number(10, 80)
        return source.text(), source.text(), width

    def check(text: str, other: str, width: int) -> None:
        answer: Any = Rows(text, other)
        table = "".join(sql_tables._table(answer, None, width))
        assert all(mark == "\n" or unicodedata.category(mark) != "Cc" for mark in table)
        assert table.count("\n") == 4
        markdown = "".join(sql_tables._markdown(answer, None))
        assert markdown.count("\n") == 4
        form = sql_tables.TableFormat.CSV
        found = list(csv.reader(io.StringIO("".join(sql_tables.written(answer, form)))))
        for given, row in zip((["a", other], [text, other], [other, ""]), found, strict=True):
            for cells in zip(given, row, strict=True):
                check_cell(*cells)

    csv.field_size_limit(1 << 30)
    yield Target(made, check, (*ORDERS, *FORMULAS), (b"green\xfftea",))


class _Page(HTMLParser):
    """Elements and attributes of a page as a browser parses them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.events: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        names = [name for name, value in attrs]
        self.events += [name for name in names if name.startswith("on") or name == "href"]


def pictures() -> Iterator[Target]:
    """Fuzz maps as SVG and as a page: texts stay texts."""
    from qmd.analytics import map_svg
    from qmd.analytics.document_map import ClusterLabel, Map, MapPoint

    def made(source: Bytes) -> Input:
        x = source.number(-50, 50)
        return source.text(), source.text(), source.text(), x

    def shown(title: str, file: str, name: str, x: int) -> Any:
        points: Any = [
            MapPoint("#abc123", file, title, name, x / 7, 1.0, 0),
            MapPoint("#abc124", "notes/b", "b", "notes", 1.0, x / 3, 1),
        ]
        labels = [ClusterLabel(0.5, 0.5, title), ClusterLabel(0.6, 0.5, file)]
        return Map("pca", name, 2, 0, 0.5, points, labels)

    def count(text: str) -> list[str]:
        page = _Page()
        page.feed(text)
        page.close()
        assert not page.events
        return page.tags

    plain = shown("t", "notes/a", "other", 1)
    nodes = [each.tag for each in ElementTree.fromstring(map_svg.to_svg(plain)).iter()]
    tags = count(map_svg.to_html(plain))

    def check(title: str, file: str, name: str, x: int) -> None:
        if name == "notes" or not name:
            return
        made = shown(title, file, name, x)
        picture = ElementTree.fromstring(map_svg.to_svg(made))
        assert sorted(each.tag for each in picture.iter()) == sorted(nodes)
        page = map_svg.to_html(made)
        assert sorted(count(page)) == sorted(tags)
        assert page.count("<script") == 1

    words = [*ORDERS, "PICTURE", "HEAD", "GROUND", "INK", "onload=x", "</title>", "</svg>"]
    yield Target(made, check, words, (b"green\xffnotes/a\xffother",))
