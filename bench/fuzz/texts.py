"""Readers of the texts of documents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NoReturn

from bench.fuzz.sources import Bytes, Input, Target


def chunks() -> Iterator[Target]:
    """Places to cut a text."""
    from qmd.embedding import chunker
    from qmd.embedding.chunker import Sizes

    def made(source: Bytes) -> Input:
        sizes = source.number(1, 300), source.number(-5, 300), source.number(0, 300)
        return source.text(), *sizes, source.pick([0.0, 0.15, 0.9])

    def check(text: str, size: int, overlap: int, window: int, share: float) -> None:
        pieces = chunker.chunks(text, Sizes(size, overlap, window))
        assert pieces[0].position == 0
        assert pieces[-1].end == len(text)
        assert all(a.position < b.position <= a.end < b.end for a, b in pairwise(pieces))
        found = chunker.token_chunks(text, _counted, tokens=size + 2, overlap=share)
        assert bool(found) == bool(text.strip())
        covered = bytearray(len(text))
        for piece in found:
            part = text[piece.position : piece.position + piece.length]
            assert part.strip()
            assert piece.line == 1 + text.count("\n", 0, piece.position)
            covered[piece.position : piece.position + piece.length] = b"\1" * piece.length
        assert not any(text[at].strip() for at, seen in enumerate(covered) if not seen)

    words = "\n# ¦\n## ¦\n\n¦\n```\n¦\n~~~¦\n---\n¦\n- ¦\n1. ¦    ".split("¦")
    yield Target(made, check, words, (b"# Tea\n\n```\nx = 1\n```\n\nGreen.\n\n- a\n- b\n\n---\n",))


def data() -> Iterator[Target]:
    """Fuzz data in a text: lines and lengths stay, and the compiled test misses none."""
    from qmd.ingest.searched_text import data_blanked
    from qmd.text import machine_data

    def made(source: Bytes) -> Input:
        return (source.text(),)

    def check(text: str) -> None:
        found = machine_data.spans(text)
        assert all(0 <= start < end <= len(text) for start, end in found)
        assert all(a[1] < b[0] for a, b in pairwise(found))
        words = machine_data.blanked(text, found)
        assert len(words) == len(text)
        assert words.count("\n") == text.count("\n")
        assert data_blanked(text.encode())[0].decode() == machine_data.parted(text, found)

    words = "data:a/b;base64,¦-----BEGIN KEY-----\n¦-----END KEY-----\n¦aB3/¦0 1 ¦0x7f, ¦{a:1},"
    yield Target(made, check, words.split("¦"), (b"![](data:image/png;base64,iVBORw0KGgo=)\n",))


def syntax() -> Iterator[Target]:
    """Places to cut a program. What the grammars take is bounded by the length of a text."""
    from qmd.embedding.code_chunker import syntax_breaks

    suffixes = "py js ts tsx rs go java c cpp rb h jsx mjs".split()

    def made(source: Bytes) -> Input:
        suffix = source.pick(suffixes)
        return source.text(), suffix

    def check(text: str, suffix: str) -> None:
        places = [place for place, _ in syntax_breaks(text, f"a.{suffix}")]
        assert places == sorted(set(places))
        assert all(0 <= place < len(text) for place in places)

    words = "class A ¦def f(¦function ¦fn f() ¦import ¦struct ¦{\n¦}\n¦'''".split("¦")
    yield Target(made, check, words, (b"class A:\n    def f(self):\n        pass\n",), linear=False)


def tokens() -> Iterator[Target]:
    """Fuzz postings: those of a batch equal those of its single words, compiled or not."""
    from qmd.ingest.inversion import plainly_tokenised, tokenise
    from qmd.ingest.vocabulary import Vocabulary
    from qmd.text import tokenizer as words

    met: dict[str, int] = {}

    def numbered(folded: list[str]) -> list[tuple[int, str]]:
        return [(met.setdefault(word, len(met)), word) for word in folded]

    def made(source: Bytes) -> Input:
        body = source.text()
        return body, source.text(), source.text()

    def check(body: str, title: str, path: str) -> None:
        met.clear()
        found = tokenise([(title, path, body)], Vocabulary(numbered))
        offsets, positions = found.offsets.tolist(), found.positions.tolist()
        ours = {
            int(term): positions[offsets[at] : offsets[at + 1]]
            for at, term in enumerate(found.term_id)
        }
        theirs: dict[int, list[int]] = {}
        place, lengths = 0, []
        for field in (title, path, body):
            count = 0
            for raw in words.split(field):
                width, parts = words.pieces(raw)
                for folded, shift in parts:
                    theirs.setdefault(met[folded], []).append(place + shift)
                    count += 1
                place += width
            lengths.append(count)
            place += 1
        assert ours == {term: sorted(at) for term, at in theirs.items()}
        assert found.lengths.tolist() == lengths
        same = plainly_tokenised([(title, path, body)], Vocabulary(numbered))
        assert [column.tolist() for column in same] == [column.tolist() for column in found]

    some = ["parseHTTP", "snake_case", "_", "v2", "x" * 70, " "]
    yield Target(made, check, some, (b"green tea parse_json camelCase 80",))


def outlines() -> Iterator[Target]:
    """Links, tags and headings: the same, compiled or not, and each a part of the text."""
    from qmd.ingest.outlines import outlined, plainly_outlined

    def made(source: Bytes) -> Input:
        return source.text(), source.number(0, 40)

    def check(text: str, start: int) -> None:
        data = text.encode()
        start = len(text[:start].encode())
        found = outlined(data, start)
        assert found == plainly_outlined(data, start)
        assert len(found.kinds) == len(found.lines.split())

    words = (
        "[a](b)¦![¦](¦)¦[[a|b]]¦[a]: b\n¦[a]¦#t¦## ¦\n---\n¦```\n¦`¦\\¦https://a.b¦<a://b>¦\n¦- ¦| "
    )
    yield Target(made, check, words.split("¦"), (b"# Tea\n\n- [pot](a.md) #tag `x`\n",))


def snippet() -> Iterator[Target]:
    """Fuzz snippets of a text."""
    from qmd.ranking.matcher import Matcher
    from qmd.ranking.snippets import snippet, whole_lines

    wanted = {word: word for word in ("tea", "pot", "日本", "日", "json", "é", "parse_json")}
    match = Matcher(wanted | {"(1)": "⑴", " ": "ͺ"})  # a folded word may be none any more

    def made(source: Bytes) -> Input:
        length, distinct = source.number(1, 600), source.pick([None, 1, 2, 3])
        places = source.number(0, 500), source.number(0, 500)
        return source.text(), length, distinct, *places

    def check(text: str, length: int, distinct: int | None, start: int, end: int) -> None:
        found = snippet(text, match, length=length, distinct=distinct)
        lines = text.split("\n")
        assert 1 <= found.first <= found.line <= len(lines)
        assert found.lines
        if len(found.lines) > 1:
            assert sum(len(line) + 1 for line in found.lines) <= length
        else:
            assert len(found.lines[0]) <= length + 2  # and what stands for the rest
        assert isinstance(found.text, str)
        assert isinstance(whole_lines(text, min(start, end), max(start, end)), str)

    words = [
        "[a](b)",
        "import tea",
        "---\n",
        "tea",
        " pot ",
        "日本",
        "parse_json",
        "\n",
        "\n\n",
        "teapot",
        "x" * 40,
        "(1)",
    ]
    yield Target(made, check, words, (b"# Tea\n\nA pot of tea.\nparse_json\n",))


def frontmatter() -> Iterator[Target]:
    """Fuzz frontmatter."""
    from datetime import datetime

    from qmd.text import markdown

    long_ago = datetime(2020, 1, 1)

    def made(source: Bytes) -> Input:
        suffix = source.pick([".md", ".org", ".txt", ".py", ""])
        return source.text(), suffix

    def check(text: str, suffix: str) -> None:
        matter = markdown.frontmatter(text)
        assert 0 <= matter.end <= len(text)
        kept = markdown.metadata_json(matter.metadata)
        if kept is not None:
            kept.encode()
            json.loads(kept, parse_constant=_refused)
        title = markdown.title(text, f"2024-01-02 a{suffix}", matter)
        assert title.strip()
        assert "\n" not in title
        assert markdown.dated(text[:50], long_ago, matter).tzinfo is None

    words = (
        "---\n¦title: ¦date: ¦tags:\n- ¦\n...\n¦&a ¦*a¦!!¦{¦[¦\n# ¦\n===\n¦```¦#+title: ¦<<: ¦? ¦"
        "|\n ¦2024-01-02T03:04:05Z"
    ).split("¦")
    examples = (
        b"---\ntitle: Tea\ndate: 2024-01-02\ntags: [a, b]\n---\n# Head\n\ntext\n",
        b"# Notes\n\nA\n=",
    )
    yield Target(made, check, words, examples)


def sanitation() -> Iterator[Target]:
    """Secrets in texts."""
    from qmd.experiences.secrets import MAX_FINDINGS, find_secrets

    def made(source: Bytes) -> Input:
        strict = source.number(0, 1)
        return source.text(), bool(strict)

    def check(text: str, strict: bool) -> None:
        found = find_secrets("solution", text, strict=strict)
        assert len(found) <= MAX_FINDINGS
        assert [each.line for each in found] == sorted(each.line for each in found)
        assert all(1 <= each.line <= text.count("\n") + 1 for each in found)
        assert all(1 <= each.length <= len(text) for each in found)

    words = (
        "password = ¦token: ¦api_key¦Bearer ¦://¦@¦-----BEGIN ¦PRIVATE KEY-----¦ghp_¦AKIA¦eyJ¦sk-¦"
        "/home/¦.internal¦192.168.¦${¦<¦***¦a.b.c¦authorization: basic ¦=¦:¦\"¦'¦`¦"
        "a1B2c3D4e5F6g7H8i9J0k1L2"
    ).split("¦")
    examples = (
        b'password = "hunter22"\nurl: postgres://u:pw12@db.internal/x\n',
        b"Authorization: Basic dXNlcjpwYXNz\nghp_abcdefghijklmnopqrstuvwxyz012345\nme@corp.com",
    )
    yield Target(made, check, words, examples)


def _counted(texts: Sequence[str]) -> list[int]:
    """Tokens of texts: a word has as many as a model's may, and two are around each text."""
    return [sum(1 + len(word) // 6 for word in text.split()) + 2 for text in texts]


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
