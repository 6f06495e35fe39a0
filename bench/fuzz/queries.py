"""Readers of queries."""

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
        reader = statement_check.StatementChecker(
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


def lexer() -> Iterator[Target]:
    """Words and marks of SQL: in their places, and what is quoted is one of them."""
    from qmd.analytics import lexer as ours
    from qmd.errors import SqlError

    def check(text: str) -> None:
        data = text.encode()
        starts = [token.start for token in ours.tokens(text)]
        assert starts == sorted(starts)
        assert all(0 <= start < len(data) for start in starts)
        quoted = "select '" + text.replace("'", "''").replace("\0", "") + "'"
        assert [token.text for token in ours.tokens(quoted)] == ["select", "'"]
        assert not ours.is_ended(quoted)
        assert ours.is_ended(f"{quoted};")
        assert not ours.parameters(quoted)
        assert ours.parameters(f"{quoted}, $Tea") == {"tea"}
        with suppress(SqlError):
            statement = ours.only_statement(text)
            assert statement in text
            assert ours.only_statement(statement) == statement
            assert ours.parameters(statement) <= ours.parameters(text)

    words = "select ¦$a¦$1¦$$¦$x$¦--¦/*¦*/¦;¦'¦\"¦E'¦\\¦::¦\u2003¦\n".split("¦")
    yield Target(only_text, check, words, (b"select $a, '$b' -- $c\n; /* ; */", b"$$ ; $$"))


def dates() -> Iterator[Target]:
    """Days as people name them: none, or a moment that is named the same by its own date."""
    from datetime import date, timedelta

    from qmd.text import dates as days

    today = date(2024, 2, 29)

    def made(source: Bytes) -> Input:
        kind, number = source.number(0, 3), source.number(0, 99_999)
        forms = f"{number}d", f"{number}w", f"{number % 9999:04}-{number % 14}", ""
        text = source.text()
        return (text if kind else forms[number % 4] + text), number

    def check(text: str, number: int) -> None:
        found = days.named_day(text, today=today)
        assert days.named_day(f"  {text.upper()} ", today=today) in (found, None) or not found
        if found is not None:
            assert found.tzinfo is None
            assert days.named_day(found, today=today) == found
            start = days.named_day(found.date().isoformat(), today=today)
            assert start is not None
            assert start.date() == found.date()
        if number <= 9999:
            ago = days.named_day(f"{number}d", today=today)
            assert ago is not None
            assert ago.date() == today - timedelta(number)

    words = "2025¦-03¦-14¦today¦yesterday¦d¦w¦T¦:¦Z¦+02:00¦0000¦9999¦/¦12¦٣".split("¦")
    yield Target(
        made,
        check,
        words,
        (b"2025-03-14", b"2w", b"2025-03-14T15:16:17+02:00", b"9999w"),
        linear=False,
    )


def half_lives() -> Iterator[Target]:
    """Half-lives: numbers above 0 that floating point has, whatever is given."""
    from qmd.text import dates as days

    def made(source: Bytes) -> Input:
        return (source.text(),)

    def check(text: str) -> None:
        with suppress(ValueError):
            number = float(text)
            is_one = days.is_half_life(number)
            assert is_one == (number > 0 and number not in (float("inf"),))
            if is_one:
                assert 0 <= 0.5 ** (1 / number) <= 1

    yield Target(made, check, ("nan", "inf", "-", "1e", "e-400", "0"), (b"30", b"1e-320", b"nan"))
