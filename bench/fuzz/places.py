"""Readers of names and patterns of documents."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from bench.fuzz.library import library
from bench.fuzz.sources import Bytes, Input, Target, only_text
from qmd.operations.documents import get, multi_get


def names() -> Iterator[Target]:
    """Names of documents, as they are taken apart."""
    from qmd.text import paths

    def check(text: str) -> None:
        found = paths.split_range(text)
        assert found.first is None or text.strip().startswith(found.name)
        assert paths.normalise(paths.normalise(text)) == paths.normalise(text)
        virtual = paths.parse_virtual(text)
        if virtual is not None:
            uri = paths.uri(virtual.collection, virtual.path)
            assert uri.isascii()
            again = paths.parse_virtual(uri)
            assert again is not None
            assert paths.decoded(again.collection) == virtual.collection
            assert paths.decoded(again.path) == virtual.path

    words = "qmd://¦//¦/¦:12¦%2F¦%zz¦?index=¦..¦~¦#abc123".split("¦")
    yield Target(only_text, check, words, (b"qmd://notes/a%20b.md?index=x:12:40", b"a.md:3"))


def masks() -> Iterator[Target]:
    """Globs."""
    from qmd.errors import UsageError
    from qmd.text import globs as masks

    def made(source: Bytes) -> Input:
        path = source.pick(
            ["a/b/c.md", "a" * 50 + ".md", "a/" * 20 + "b.md", ".x/y", "é/[x]{y}.md"]
        )
        return source.text(), path

    def check(mask: str, path: str) -> None:
        with suppress(UsageError):
            masks.check_mask(mask)
            parts = masks.split_mask(mask)
            assert isinstance(masks.matcher(parts)(path), bool)

    words = "**/¦**¦*¦{a,b}¦{1..9}¦[a-z]¦[!¦{¦}¦,¦.md¦\\¦?(".split("¦")
    yield Target(made, check, words, (b"**/*.md", b"{a,b}/**/[!x]*.{md,txt},c"))


def resolve() -> Iterator[Target]:
    """Names and patterns of documents, on an index."""
    from qmd.errors import QmdError

    with library() as engine:

        def check(name: str, several: int) -> None:
            with suppress(QmdError):
                multi_get(engine, name) if several else get(engine, name)

        def made(source: Bytes) -> Input:
            several = source.number(0, 1)
            return source.text(), several

        words = "notes¦tea.md¦deep/¦qmd://¦%20¦#¦:1:2¦*¦{¦**¦[¦,".split("¦")
        examples = (b"notes/deep/a b.md:2:3", b"qmd://notes/tea.md", b"#abc123", b"**/*.md")
        yield Target(made, check, words, examples)
