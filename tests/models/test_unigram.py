"""Texts cut into the likeliest pieces of a vocabulary."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.models.unigram import PENALTY, START, Unigram

SCORES = {
    "<s>": 0.0,
    "<pad>": 0.0,
    "</s>": 0.0,
    "<unk>": 0.0,
    f"{START}tea": -3.0,
    f"{START}te": -2.0,
    "a": -2.5,
    "pot": -4.0,
    "p": -3.0,
    "ot": -0.5,
    START: -1.0,
    "t": -2.0,
    "e": -2.0,
    "茶": -5.0,
}


@pytest.fixture(scope="module")
def pieces():
    names = list(SCORES)
    model = Unigram(names, list(SCORES.values()))
    return lambda text: [names[number] for number in model.tokens(text)[1:-1]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \t\n\u200b\u2028", []),
        ("tea", [f"{START}tea"]),  # -3 is more than -2 - 2.5
        ("teapot", [f"{START}tea", "p", "ot"]),  # -3.5 is more than -4
        ("a  te", [START, "a", f"{START}te"]),
        ("xyz", [START, "<unk>"]),
        ("axxa", [START, "a", "<unk>", "a"]),
        ("ｔｅａ", [f"{START}tea"]),
        ("te\x01a", [f"{START}tea"]),
        ("茶茶", [START, "茶", "茶"]),
        (f"t{START}t", [START, "t", START, "t"]),
        ("<s>", [START, "<unk>"]),
    ],
)
def test_a_text_is_cut_into_the_likeliest_pieces(pieces, text, expected):
    assert pieces(text) == expected


def test_a_text_stands_between_the_two_that_open_and_close_it():
    assert Unigram(list(SCORES), list(SCORES.values())).tokens("") == [0, 2]


@given(st.text("teapox", min_size=1, max_size=7))
def test_no_other_way_to_cut_a_word_is_likelier(word):
    names = list(SCORES)
    number = {name: score for name, score in SCORES.items() if not name.startswith("<")}
    least = min(SCORES.values()) - PENALTY
    text = START + word

    def worth(parts):
        return sum(number.get(part, least if len(part) == 1 else -float("inf")) for part in parts)

    ways = []
    for cuts in product([False, True], repeat=len(text) - 1):
        ends = [i + 1 for i, cut in enumerate(cuts) if cut] + [len(text)]
        ways.append([text[a:b] for a, b in zip([0, *ends], ends, strict=False)])
    found = [names[token] for token in Unigram(names, list(SCORES.values())).tokens(word)[1:-1]]
    best = max(ways, key=worth)
    joined = []
    for part in (part if part in number else "<unk>" for part in best):
        if part != "<unk>" or joined[-1:] != ["<unk>"]:
            joined.append(part)
    assert found == joined
