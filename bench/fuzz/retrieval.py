"""Readers of what is asked of an index: fields and groups, expressions, misspelt words, copies."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Any

from bench.fuzz.library import library
from bench.fuzz.sources import Bytes, Input, Target

ALL = 100
"""More results than the library has documents."""


def structured() -> Iterator[Target]:
    """Fields, prefixes, OR and parentheses: a field that all documents fulfil changes nothing."""
    from qmd.errors import QueryError
    from qmd.operations.search import search
    from qmd.ranking import query, query_syntax
    from qmd.ranking.query import STOP_WORDS

    with library() as engine:

        def found(text: str) -> dict[str, float]:
            results = list(search(engine, text, limit=ALL))
            assert len({each.file for each in results}) == len(results)
            return {each.file: each.score for each in results}

        def made(source: Bytes) -> Input:
            is_asked = source.number(0, 31) == 0
            return source.text(), is_asked

        def check(text: str, is_asked: bool) -> None:
            tokens = query_syntax.tokens_of(text)
            assert sum((each.kind == "(") - (each.kind == ")") for each in tokens) == 0
            try:
                parsed = query.parse(text)
            except QueryError:
                return
            assert (
                parsed.words
                or parsed.phrases
                or parsed.prefixes
                or parsed.texts
                or (parsed.fields or parsed.tests)
            )
            for each in (*parsed.phrases, *parsed.excluded):
                assert each.elements
            if is_asked and tokens and tokens[0].kind not in ("OR", "AND"):
                files = found(text)
                # Twice: OR may join the text with the second one.
                assert not found(f"path:none path:none {text}")
                # Stop words alone are left out beside a field, and capitals make OR a word.
                if not STOP_WORDS.issuperset(parsed.words) and not text.isupper():
                    assert found(f"path:notes path:notes {text}").keys() <= files.keys()

        words = (
            "title:¦path:¦tag:¦type:¦lang:¦after:¦before:¦tea¦pot¦notes¦deep/¦urgent¦md¦2024-01¦7d¦"
            '* ¦ OR ¦ AND ¦(¦)¦ -¦-(¦"¦ ¦odd¦日本¦te*¦**¦green tea¦std::x¦#a'
        ).split("¦")
        examples = (
            b'title:tea path:deep OR (pot -tag:urgent) "green tea" te*',
            b"-(tea OR pot) odd AND type:md after:2020",
        )
        yield Target(made, check, words, examples)


def expressions() -> Iterator[Target]:
    """Regular expressions of `grep`: each line either matches or does not, whatever is asked."""
    from qmd.errors import QueryError, UsageError
    from qmd.operations.documents import below, get
    from qmd.operations.grep import expression, grep, parts

    with library(lines=3) as engine:
        lines = {
            (each.name, number): text
            for each in below(engine, "notes")
            for number, text in enumerate(get(engine, each.name).body.splitlines(), 1)
        }

        def found(pattern: str, **options: bool) -> dict[tuple[str, int], str]:
            return {(each.file, each.line): each.text for each in grep(engine, pattern, **options)}

        def made(source: Bytes) -> Input:
            word, ignore, fixed = (bool(source.number(0, 1)) for _ in range(3))
            return source.text(), {"word": word, "ignore_case": ignore, "fixed": fixed}

        def check(pattern: str, options: dict[str, bool]) -> None:
            try:
                matching = found(pattern, **options)
            except (QueryError, UsageError):
                return
            others = found(pattern, invert=True, **options)
            assert not matching.keys() & others.keys()
            assert matching | others == lines
            if options["fixed"] and not options["word"] and not options["ignore_case"]:
                assert matching == {at: line for at, line in lines.items() if pattern in line}
            if matching:
                line = expression(pattern, **options)
                shown = parts(engine, line, list(matching.values()))
                for text, pieces in zip(matching.values(), shown, strict=True):
                    assert all(piece in text for piece in pieces)

        words = (
            "tea¦^¦$¦\\b¦\\B¦.*¦+¦?¦{2,9}¦[^a]¦[[:alpha:]]¦(?i)¦(?m)¦(?s)¦(?-s:¦\\pL¦\\Q¦\\E¦\\z¦\\A¦\\C¦(¦)¦|¦"
            "(?P<n>¦\\x{e9}¦\\r¦\\s¦\\¦status¦---"
        ).split("¦")
        examples = (b"^tags: .*(a|urgent)", b"(?i)TEA$", b"\\bp.t\\b", b"a+b[\0")
        yield Target(made, check, words, examples, linear=False)


def misspelt() -> Iterator[Target]:
    """Errors between two words, and the words of an index that stand for another one."""
    from qmd.ranking import spelling
    from qmd.ranking.postings import Filed
    from qmd.ranking.query import STOP_WORDS
    from qmd.text import tokenizer

    with library() as engine:

        def made(source: Bytes) -> Input:
            most = source.number(1, 2)
            one = source.text()[:20]
            other = source.text()[:20] if source.number(0, 1) else _edited(one, source)
            return one, other, most

        def check(one: str, other: str, most: int) -> None:
            errors = _errors(one, other)
            cost = spelling.distance(one, other, most=most)
            assert (cost is None) == (errors > most)
            if cost is not None:
                assert spelling.SLIP * errors <= cost <= errors
                back = spelling.distance(other, one, most=most)
                assert back is not None
            asked = tokenizer.fold(one)
            found = engine.read(
                lambda cursor: spelling.plausible_words(cursor, Filed(cursor), asked)
            )
            assert len(found) <= spelling.MOST
            for each in found:
                assert each.word not in STOP_WORDS
                assert _errors(asked, each.word) <= 2

        words = "tea¦urgent¦status¦green¦same¦name¦notes¦aa¦ab¦é¦đ¦日本¦which".split("¦")
        examples = (b"urgnet\xff\0\0\0", b"statsu\xffstatus\1\1", b"greeen\0\0\0")
        yield Target(made, check, words, examples, linear=False)


def copies() -> Iterator[Target]:
    """Signatures and groups of texts that are nearly the same: equal, compiled or not."""
    from qmd.ingest import near_duplicates, sketches
    from qmd.ingest.inversion import tokenise
    from qmd.ingest.near_duplicates import NamedText, differ
    from qmd.ingest.vocabulary import Vocabulary
    from qmd.text.hashes import term_id

    def made(source: Bytes) -> Input:
        repeats, share = source.number(0, 3), source.number(0, 128)
        crowd = source.number(2, 4)
        text = source.text()
        return (
            text,
            [text[source.number(0, 40) :] for _ in range(repeats)],
            source.text(),
            share,
            crowd,
        )

    def check(text: str, others: Sequence[str], name: str, share: int, crowd: int) -> None:
        documents = [("", "", body) for body in (text, *others)]
        found = tokenise(documents, Vocabulary(lambda folded: [(term_id(w), w) for w in folded]))
        columns: Any = (found.term_id, found.number, found.offsets, found.positions, found.starts)
        told, bins = sketches.plainly_sketched(*columns, len(documents))
        if sketches._compiled:
            assert sketches._compiled.sketched(*columns, len(documents)) == (told, bins)
        signed = [
            bins[at * sketches.SIZE :][: sketches.SIZE] for at, is_one in enumerate(told) if is_one
        ]
        names = [f"{number:03}" for number in reversed(range(len(signed)))]
        order = [*reversed(range(len(signed)))]
        pairs = sketches.near_pairs(names, b"".join(signed), share / sketches.BINS, crowd)
        plain = sketches.plain_pairs(array("H", b"".join(signed)), order, share, crowd)
        assert pairs == [
            (f"{one:03}", f"{other:03}", equal / sketches.BINS) for one, other, equal in plain
        ]
        for one, other, _ in pairs:
            assert one < other
        groups = near_duplicates.around_leaders(pairs)
        members = [member for member, _, _ in groups]
        assert len(members) == len(set(members))
        joined = {frozenset(pair[:2]) for pair in pairs}
        for member, leader, _ in groups:
            assert member == leader or frozenset((member, leader)) in joined
        assert {each for pair in pairs for each in pair[:2]} >= set(members)
        one, other = (NamedText("", title, f"{title}.md", 1) for title in (name, text[:50]))
        assert differ(one, other) == differ(other, one)
        assert not differ(one, one)

    words = "tea ¦green ¦pot ¦v2 ¦copy of ¦2024 ¦C++ ¦ (1)¦日本".split("¦")
    text = b" ".join(b"tea%d of pot%d" % (number, number) for number in range(20))
    yield Target(made, check, words, (text + b"\xffTea\2\1\2\x40\3",), linear=False)


def _edited(word: str, source: Bytes) -> str:
    """Change a few letters of a word."""
    letters = list(word)
    for _ in range(source.number(0, 3)):
        at = source.number(0, 20) % (len(letters) + 1)
        kind = source.number(0, 3)
        if kind == 0:
            letters.insert(at, source.pick(["a", "e", "é", *letters]))
        elif kind == 1:
            del letters[at : at + 1]
        elif kind == 2:
            letters[at : at + 2] = letters[at : at + 2][::-1]
        else:
            letters[at : at + 1] = ["b"]
    return "".join(letters)


def _errors(one: str, other: str) -> int:
    """Count the fewest errors between two words, by the whole table (optimal string alignment)."""
    rows = [[*range(len(other) + 1)]]
    for at, letter in enumerate(one, 1):
        row = [at]
        for to, wanted in enumerate(other, 1):
            best = min(row[-1] + 1, rows[-1][to] + 1, rows[-1][to - 1] + (letter != wanted))
            if at > 1 and to > 1 and letter == other[to - 2] and one[at - 2] == wanted:
                best = min(best, rows[-2][to - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]
