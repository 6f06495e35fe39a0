"""Readers of what people ask."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from bench.fuzz.library import library
from bench.fuzz.sources import Bytes, Input, Target, only_text


def query() -> Iterator[Target]:
    """Keyword queries."""
    from qmd.errors import QueryError
    from qmd.ranking import query

    def check(text: str) -> None:
        assert all(query.content_words(text))
        assert all(query.plain_words(text))
        try:
            found = query.parse(text)
        except QueryError:
            return
        assert all(found.words)
        assert found.grams <= set(found.words)
        for phrase in (*found.phrases, *found.excluded):
            assert phrase.elements
            assert all(word for word, _ in phrase.elements)

    words = '"¦ -¦-"¦--¦the ¦parse_json¦a.b/c-d¦ ¦\n'.split("¦")
    yield Target(only_text, check, words, (b'tea -"green tea" "hot" a_b',))


def questions() -> Iterator[Target]:
    """Query documents."""
    from qmd.errors import QueryError
    from qmd.ranking import query_document as questions

    def check(text: str) -> None:
        with suppress(QueryError):
            found = questions.parse(text)
            assert found.texts
            assert all(found.texts)

    words = 'lex:¦vec: ¦hyde: ¦intent: ¦expand:¦\n¦\r¦"¦ -'.split("¦")
    examples = (b'lex: "a b" -c\nvec: what\nhyde: it is\nintent: x\n', b"what is tea")
    yield Target(lambda source: (source.text(surrogates=True),), check, words, examples)


def filters() -> Iterator[Target]:
    """Conditions on the frontmatter, as they are read and as the index takes them."""
    from qmd.errors import UsageError
    from qmd.ranking import postings
    from qmd.text.filters import parse_filter
    from qmd.types import ALL

    with library() as engine:

        def check(text: str) -> None:
            try:
                conditions = parse_filter(text)
            except UsageError:
                return
            assert all(condition.operator for condition in conditions)
            if len(conditions) < 20:
                among = ALL._replace(conditions=conditions)
                engine.read(lambda cursor: postings.allowed(cursor, among))

        words = " and ¦ = ¦!=¦<=¦>¦~¦\"¦'¦status¦tags¦a.b¦open".split("¦")
        yield Target(only_text, check, words, (b"status = \"open\" and a.b != 'x' and n >= 3",))


def sql() -> Iterator[Target]:
    """Statements of people: what is no query is refused in words."""
    import _duckdb

    from qmd.analytics import lexer, statement_check, views
    from qmd.errors import SqlError
    from qmd.storage.cursor import Cursor

    cursor = Cursor(_duckdb.connect(":memory:"))
    macros = frozenset(view.name for view in views.views() if view.is_macro)

    def check(text: str, files: bool) -> None:
        lexer.is_ended(text)
        reader = statement_check.Reader(
            cursor, functions=macros, files=files, index=Path("/tmp/none.duckdb")
        )
        with suppress(SqlError):
            assert reader.request(text, {"words": "tea"}).query.strip()

    def made(source: Bytes) -> Input:
        files = source.number(0, 1)
        return source.text(), bool(files)

    words = (
        "select ¦ from ¦documents¦ where ¦with a as (¦)¦(¦;¦--¦/*¦*/¦explain ¦analyze ¦pivot ¦"
        "bm25('tea')¦vsearch(¦$words¦n := 3¦'¦\"¦read_csv(¦glob('*')¦attach ¦copy ¦insert into ¦"
        "pragma ¦call ¦$$¦E'¦unnest([1])¦ union all ¦order by 1 ¦limit 1 ¦'/etc/passwd'¦range(9)¦::"
    ).split("¦")
    examples = (
        b"select file, title from documents d join bm25('tea', n := 5) b using (file) limit 3",
        b"explain analyze with a as (from range(3)) select * from a; -- x",
        b"from 'x.csv'",
        b"pivot documents on collection using count(*)",
    )
    yield Target(made, check, words, examples, linear=False)
