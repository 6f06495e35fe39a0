"""Where a text is cut into pieces, as the reference tool was recorded to do it."""

from __future__ import annotations

import re

import pytest

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
    inside,
    merged,
)
from tests.test_cases import FOLDER, recorded

OUR_BREAKS = {
    # A line that only ends in \r\n is blank.
    "crlf": [(2, 20), (4, 100), (9, 1), (15, 1)],
    # ~~~ is a code fence.
    "tilde": [(1, 80), (5, 1), (10, 80), (14, 1)],
}
OUR_FENCES = {
    # The first line of a text may open a fence.
    "```\nat start\n```\nx": [Fence(0, 16)],
}
"""Where our rules differ from those of the reference on purpose."""


def utf16(text, units):
    """Characters in so many UTF-16 units."""
    return len(text.encode("utf-16-le")[: 2 * units].decode("utf-16-le"))


def text_of(case):
    """The text that a recorded case was cut from."""
    made = case["gen"]
    if "file" in made:
        return (FOLDER / made["file"]).read_text(encoding="utf-8")
    return made["literal"] if "literal" in made else made["repeat"][0] * made["repeat"][1]


@pytest.mark.parametrize("case", recorded("chunking.json", "scanBreakPoints"))
def test_breaks_are_as_recorded_or_as_our_rules_say(case):
    expected = [(utf16(case["text"], each["pos"]), each["score"]) for each in case["expected"]]
    ours = OUR_BREAKS.get(case["name"], expected)
    assert breaks(case["text"]) == ours
    assert (case["name"] in OUR_BREAKS) == (ours != expected)


@pytest.mark.parametrize("case", recorded("chunking.json", "findCodeFences"))
def test_fences_are_as_recorded_or_as_our_rules_say(case):
    expected = [Fence(**each) for each in case["expected"]]
    ours = OUR_FENCES.get(case["text"], expected)
    assert fences(case["text"]) == ours
    assert (case["text"] in OUR_FENCES) == (ours != expected)


@pytest.mark.parametrize("case", recorded("chunking.json", "isInsideCodeFence"))
def test_a_place_is_inside_a_fence_as_recorded(case):
    fenced = [Fence(**each) for each in case["fences"]]
    assert inside(case["pos"], fenced) == case["expected"]


@pytest.mark.parametrize("case", recorded("chunking.json", "findBestCutoff"))
def test_the_best_cut_is_as_recorded(case):
    places = [Break(each["pos"], each["score"]) for each in case["breakPoints"]]
    fenced = [Fence(**each) for each in case["fences"]]
    assert case["decay"] == chunker.DECAY
    assert cutoff(places, case["target"], case["window"], fenced) == case["expected"]


@pytest.mark.parametrize("case", recorded("chunking.json", "mergeBreakPoints"))
def test_breaks_are_merged_as_recorded(case):
    a, b, expected = (
        [Break(each["pos"], each["score"]) for each in case[key]] for key in ("a", "b", "expected")
    )
    assert merged(a, b) == merged(b, a) == expected


@pytest.mark.parametrize("case", recorded("chunking.json", "chunkDocument"))
def test_pieces_are_as_recorded(case):
    # What is a pair of surrogates there is a grapheme of two characters here.
    text = re.sub("[\U00010000-\U0010ffff]", "e\u0301", text_of(case))
    assert len(text) == case["textLength"]
    assert chunks(text, Sizes(*case["args"])) == [
        Piece(each["pos"], each["len"]) for each in case["expected"]
    ]
