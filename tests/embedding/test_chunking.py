"""Where a text is cut into pieces."""

from __future__ import annotations

import re
import sys
from itertools import pairwise

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from qmd.embedding import chunker
from qmd.embedding.chunker import (
    Break,
    Fence,
    Piece,
    Sizes,
    breaks,
    chunks,
    cutoff,
    fences,
    token_chunks,
)

LINES = st.sampled_from(
    """# Top|## Sub|####### x|```|~~~~| ```py|---|***  |- item|12. item||||\r|  |word|two words
    naïve|日本語の文|👩\u200d👩\u200d👧 🇩🇪🇫🇷🇩|e\u0301\u0301|# é\r""".split("|")
)
CHARACTERS = st.text(
    st.sampled_from("ab \t\r\n#`-1日한한क्ष🚀👩🇩\u0301\u200d\ufe0f\u0600"), max_size=40
)
TEXTS = st.one_of(st.lists(LINES, max_size=40).map("\n".join), CHARACTERS, st.text(max_size=40))
SIZES = st.builds(Sizes, st.integers(-1, 60), st.integers(-1, 70), st.integers(-1, 70))
GRAPHEME = regex.compile(r"\X")


def parts(text, pieces):
    """The texts of some pieces."""
    return [text[piece.position : piece.position + piece.length] for piece in pieces]


def words(texts):
    """Tokens of each text: a word or a sign is one."""
    return [len(re.findall(r"\w+|\S", text)) for text in texts]


def costly(texts):
    """Tokens of each text: one for each of its bytes, and three around it."""
    return [len(text.encode("utf-8", "replace")) + 3 for text in texts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n~~~\n```\n~~~\nb", [Fence(1, 13)]),
        ("````\n```\n````\n", [Fence(0, 13)]),
        ("```\nx\n`````\n", [Fence(0, 11)]),
        ("```\nx\n``` py\n```\r\ny", [Fence(0, 16)]),
        ("```not` a fence\nx", []),
        ("   ```\nx\n  ```\n    ```\n", [Fence(0, 14)]),
        ("~~~ `x`\n", [Fence(0, 8)]),
        ("`` x\n``\n", []),
    ],
)
def test_a_fence_is_closed_by_a_mark_of_its_own_kind_and_length(text, expected):
    assert fences(text) == expected


@pytest.mark.parametrize(
    ("line", "score"),
    [
        ("# x", 100),
        ("###### x", 50),
        ("####### x", 1),
        ("```", 80),
        ("   ~~~", 80),
        ("    ~~~", 1),
        ("---  \r", 60),
        ("--- x", 1),
        ("* x", 5),
        ("+ x", 5),
        ("-x", 1),
        ("12) x", 5),
        ("12.x", 1),
        ("x", 1),
        ("", 20),
        ("\r", 20),
        (" ", 1),
    ],
)
def test_the_end_of_a_line_is_worth_what_the_next_one_is(line, score):
    assert breaks(f"a\n{line}\n")[0] == Break(1, score)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_of_several_blank_lines_only_the_first_is_a_place_to_cut(end):
    assert [score for _, score in breaks(f"a{end}" + end * 3 + "b")] == [20, 1, 1, 1]


def test_of_equal_places_the_earlier_is_taken():
    assert 200 * (1 - 0.7 * 0.5**2) == 165
    assert cutoff([Break(50, 200), Break(100, 165)], 100, 100) == 50
    assert cutoff([Break(50, 200), Break(100, 166)], 100, 100) == 100


def test_a_place_counts_from_the_start_of_the_window_to_the_target():
    assert cutoff([Break(49, 90), Break(101, 90)], 100, 50) == 100
    assert cutoff([Break(50, 90), Break(99, 1)], 100, 50) == 50


def test_a_cut_in_a_fence_is_only_made_where_there_is_no_other_place():
    text = "x" * 80 + "\n```\n" + "# code\n" * 10 + "```\ny\n" + "z" * 100
    assert chunks(text, Sizes(100, 0, 50))[0].end == 80
    assert chunks(text, Sizes(100, 0, 10))[0].end == 100


def test_extra_places_are_places_to_cut():
    text = "x" * 40 + "\n" + "x" * 160
    assert [piece.end for piece in chunks(text, Sizes(100, 0, 90))] == [40, 140, 201]
    extra = [Break(5, 100), Break(70, 90), Break(130, 90)]
    assert [piece.end for piece in chunks(text, Sizes(100, 0, 90), extra)] == [70, 130, 201]
    # At both ends of a window, and where the end of a line is a weaker one.
    assert chunks(text, Sizes(100, 0, 70), [Break(30, 100)])[0].end == 30
    assert chunks(text, Sizes(100, 0, 70), [Break(100, 1)])[0].end == 100
    assert chunks("\n".join(["x" * 40] * 3), Sizes(90, 0, 80), [Break(40, 100)])[0].end == 40


def test_extra_places_do_not_hide_the_others():
    text = "x" * 80 + "\n# H\n" + "x" * 100
    assert chunks(text, Sizes(100, 0, 50), [Break(90, 90)])[0].end == 80


def test_a_heading_right_at_the_target_is_seen():
    text = "x" * 90 + "\n\n" + "x" * 8 + "\n# H\n" + "x" * 100
    assert chunks(text, Sizes(100, 0, 50))[0].end == 100


def test_a_cut_moves_no_further_than_to_the_end_of_a_grapheme():
    assert chunks("日" * 25, Sizes(10, 3, 0)) == [
        Piece(0, 10),
        Piece(7, 10),
        Piece(14, 10),
        Piece(21, 4),
    ]
    long = "日" * 10 + "e" + "\u0301" * 60 + "日" * 60
    assert [piece.end for piece in chunks(long, Sizes(60, 0, 0))] == [10, 71, 131]
    assert [piece.end for piece in chunks(long, Sizes(71, 0, 0))] == [71, 131]


def test_what_comes_before_does_not_hide_a_new_place():
    # The heading is in the window of the second piece too, but the first has ended there.
    text = "x" * 50 + "\n# H" + "x" * 200
    assert chunks(text, Sizes(100, 45, 90))[:2] == [Piece(0, 50), Piece(5, 100)]


@given(TEXTS, SIZES)
@example("🇩" * 30, Sizes(3, 2, 0))
@example("e" + "\u0301" * 100 + "x", Sizes(10, 5, 5))
@example("a\r\n" * 30, Sizes(4, 3, 2))
@example("x" * 8 + "e" + "\u0301" * 100 + "y" * 20, Sizes(10, 2, 0))
@example("x" * 40, Sizes(10, 10, 0))
@example("x" * 40, Sizes(10, -3, 0))
def test_pieces_are_all_of_a_text_and_whole_graphemes(text, sizes):
    pieces = chunks(text, sizes)
    ends = {0, *(found.end() for found in GRAPHEME.finditer(text))}
    assert {piece.position for piece in pieces} | {piece.end for piece in pieces} <= ends
    assert pieces[0].position == 0
    assert pieces[-1].end == len(text)
    for piece, following in pairwise(pieces):
        assert piece.position < following.position <= piece.end < following.end
    for piece in pieces[:-1]:
        # No other end of a grapheme would have kept the size.
        kept = piece.length <= max(1, sizes.size)
        before = max([end for end in ends if end < piece.end], default=0)
        assert kept or before - piece.position < max(1, sizes.size)


@given(st.lists(LINES, max_size=60).map("\n".join), st.integers(20, 80), st.integers(0, 19))
def test_a_cut_is_the_best_of_all_places_of_the_text(text, size, window):
    pieces = chunks(text, Sizes(size, 0, window))
    places, fenced = breaks(text), fences(text)
    for piece in pieces[:-1]:
        best = cutoff(places, piece.position + size, window, fenced)
        around = text[best - 1 : best + 1]
        if around.isascii() and around != "\r\n":
            assert piece.end == best


@given(TEXTS, st.integers(1, 60), st.sampled_from([0.0, 0.15, 0.9]), st.sampled_from([None, 0, 9]))
@example("\n" * 20_000 + "x." * 100, 20, 0.15, None)
@example("x " + " " * 40_000 + "日本語" * 300, 20, 0.15, None)
@example("e" + "\u0301" * 100 + "x" * 100, 20, 0.5, None)
@example("word " * 5_000, 9, 0.15, None)
@pytest.mark.parametrize("count", [words, costly])
def test_no_piece_has_more_tokens_than_it_may(count, text, tokens, overlap, window):
    pieces = token_chunks(text, count, tokens=tokens, overlap=overlap, window=window)
    texts = parts(text, pieces)
    assert bool(pieces) == bool(text.strip())
    assert [piece.tokens for piece in pieces] == count(texts)
    assert [piece.line for piece in pieces] == [
        text.count("\n", 0, piece.position) + 1 for piece in pieces
    ]
    assert all(part.strip() for part in texts)
    for piece, following in pairwise(pieces):
        assert piece.position < following.position
        assert piece.position + piece.length < following.position + following.length
    covered = {at for p in pieces for at in range(p.position, p.position + p.length)}
    assert all(at in covered for at, character in enumerate(text) if not character.isspace())
    ends = {0, *(found.end() for found in GRAPHEME.finditer(text))}
    edges = {edge for p in pieces for edge in (p.position, p.position + p.length)}
    assert edges <= ends
    if tokens > count([""])[0]:
        for piece, part in zip(pieces, texts, strict=True):
            assert piece.tokens <= tokens or GRAPHEME.fullmatch(part)
    else:
        assert len(pieces) <= 1


@pytest.mark.parametrize(
    "text",
    [
        "x" * 400_000,
        "日本語の文章です。" * 20_000,
        "word and word " * 20_000,
        "# a\n" * 50_000,
        "```\n" * 50_000,
        "\n" * 100_000 + "x." * 50_000 + " " * 100_000,
        "plain words of a text " * 5_000 + "0a9f" * 20_000,
    ],
    ids=["one line", "cjk", "words", "headings", "fences", "blank", "mixed"],
)
@pytest.mark.parametrize("count", [words, costly])
def test_what_is_counted_is_about_twice_the_text(text, count):
    counted = []

    def counting(texts):
        counted.extend(map(len, texts))
        return count(texts)

    pieces = token_chunks(text, counting, tokens=250)
    assert max(piece.tokens for piece in pieces) <= 250
    assert sum(counted) < 2.2 * len(text)


def test_a_text_that_fits_is_counted_once():
    counted = []

    def counting(texts):
        counted.extend(texts)
        return words(texts)

    assert token_chunks("two words\n", counting) == [(0, 10, 1, 2)]
    assert counted == ["two words\n", ""]


def test_a_long_text_is_judged_by_samples_from_all_over_it():
    counted = []

    def counting(texts):
        counted.append(texts)
        return words(texts)

    text = "".join(f"word{at} " for at in range(20_000))
    token_chunks(text, counting)
    samples = [sample for sample in counted[0] if sample]
    assert sum(map(len, samples)) < len(text) / 4
    starts = [text.index(sample) for sample in samples]
    assert starts[0] == 0
    assert starts[-1] + len(samples[-1]) == len(text)
    assert max(b - a for a, b in pairwise(starts)) < len(text) / 5


@pytest.mark.parametrize("around", [0, 60])
def test_pieces_have_about_the_tokens_that_they_may(around):
    def count(texts):
        return [around + len(text.split()) for text in texts]

    pieces = token_chunks("word " * 10_000, count, tokens=100 + around, overlap=0.15)
    assert {piece.tokens - around for piece in pieces[:-1]} <= set(range(85, 101))
    assert 10_000 / (90 - 13) - 2 < len(pieces) < 10_000 / (85 - 13) + 2


@pytest.mark.parametrize(("window", "expected"), [(None, True), (40, True), (0, False)])
def test_places_to_cut_are_looked_for_in_a_window_of_tokens(window, expected):
    text = ("word " * 30 + "\n# Heading\n") * 50
    pieces = token_chunks(text, words, tokens=200, overlap=0, window=window)
    assert all(text.startswith("\n# H", p.position) for p in pieces[1:]) == expected


def test_a_text_that_is_a_little_too_long_becomes_two_like_parts():
    pieces = token_chunks("word " * 110, words, tokens=100)
    assert len(pieces) == 2
    assert all(45 <= piece.tokens <= 75 for piece in pieces)


def test_parts_of_a_piece_know_of_the_fence_that_began_before_it():
    code = "```\n" + ("# " + "c" * 60 + "\n") * 200 + "```\n"
    text = code + "text\n\n" * 4_000

    def count(texts):
        return [part.count("c") * 5 + part.count("text") for part in texts]

    pieces = [p for p in token_chunks(text, count, tokens=900, overlap=0) if p.position < len(code)]
    assert len(pieces) > 60
    # In the fence there is no place to cut: hardly a piece begins where a line does.
    assert sum(text[piece.position] == "\n" for piece in pieces) < len(pieces) / 4


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_a_text_without_characters_has_no_piece_to_embed(text):
    assert token_chunks(text, words) == []
    assert chunks(text) == [Piece(0, len(text))]


def test_ascii_is_cut_without_the_library_of_graphemes(monkeypatch):
    chunker._grapheme.cache_clear()
    monkeypatch.setitem(sys.modules, "regex", None)
    text = "a\r\n" * 100
    assert set(parts(text, chunks(text, Sizes(2, 0, 0)))) == {"a", "\r\n"}
    assert set(parts("é\n" * 9, chunks("é\n" * 9, Sizes(2, 0, 1)))) == {"é", "\né", "\n"}
    with pytest.raises(ImportError):
        chunks("é" * 10, Sizes(4, 0, 0))


def test_no_piece_stands_in_the_last_one_when_a_grapheme_made_that_reach_the_end():
    text = "a" * 10 + "👩\u200d👩\u200d👧"
    assert chunks(text, Sizes(8, 5, 0)) == [Piece(0, 8), Piece(3, 7), Piece(5, 10)]
