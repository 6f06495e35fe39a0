"""Texts cut into the pieces of a BERT vocabulary. What is expected is what `tokenizers` gives."""

from __future__ import annotations

import pytest

from qmd.models.registry import EMBEDDED
from qmd.models.wordpiece import WordPiece

VOCABULARY = (EMBEDDED / "vocabulary.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")


@pytest.fixture(scope="module")
def pieces():
    model = WordPiece(VOCABULARY)
    return lambda text: " ".join(VOCABULARY[number] for number in model.tokens(text)[1:-1])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        (" \t\r\n\u2028", ""),
        ("Tea", "tea"),
        ("TEA-pots", "tea - pots"),
        ("antidisestablishmentarianism", "anti ##dis ##est ##ab ##lish ##ment ##arian ##ism"),
        ("naïve Café Ünïcode", "naive cafe unicode"),
        ("İstanbul ΣΑΣ", "istanbul σ ##α ##σ"),
        ("a_b $5 `x`", "a _ b $ 5 ` x `"),
        ("1,000.5 x²", "1 , 000 . 5 x ##²"),
        ("“quoted” — it’s", "“ quoted ” — it ’ s"),
        ("有馬温泉", "有 馬 [UNK] [UNK]"),
        ("カフェ・ド", "カ ##フ ##ェ ・ ト"),
        ("한국", "ᄒ ##ᅡ ##ᆫ ##ᄀ ##ᅮ ##ᆨ"),
        ("a\u200bb\x00c\ufffdd\x07e", "abc ##de"),
        ("①②", "[UNK]"),
        ("x" * 100, "xx ##xx" + " ##xx" * 48),
        ("x" * 101 + " tea", "[UNK] tea"),
        ("[SEP] [cls]", "[ sep ] [ cl ##s ]"),
    ],
)
def test_a_text_is_cut_into_the_longest_pieces(pieces, text, expected):
    assert pieces(text) == expected


def test_a_text_stands_between_the_two_that_open_and_close_it():
    tokens = WordPiece(VOCABULARY).tokens("[SEP]")
    assert (VOCABULARY[tokens[0]], VOCABULARY[tokens[-1]]) == ("[CLS]", "[SEP]")
    assert VOCABULARY.index("[SEP]") not in tokens[1:-1]


def test_words_that_were_met_before_are_cut_the_same_way(pieces):
    assert pieces("teapot") == pieces("teapot")
    assert pieces("TEAPOT teapots") == f"{pieces('teapot')} {pieces('teapots')}"
