"""Phrases of a segment: where they start, by the slots and positions of their terms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.ranking import segments
from qmd.ranking.lexicon import Lexicon, Strings, StringsBuilder, near, own_or_like
from qmd.ranking.segments import Part, Segment

POSTINGS = st.dictionaries(
    st.integers(0, 40), st.lists(st.integers(0, 12), min_size=1, max_size=6).map(sorted)
)


def part(*terms, beyond=()):
    """Make a part of terms 0, 1 … of which each has positions by slot."""
    rows = [(slot, positions) for each in terms for slot, positions in sorted(each.items())]
    counts = [len(positions) for _, positions in rows]
    places = [len(positions) for _, positions in rows]
    bounds = np.cumsum([0, *map(len, terms)])
    each = [at for _, positions in rows for at in positions]
    return Part(
        np.arange(len(terms)),
        bounds,
        np.cumsum([0, *places])[bounds[:-1]],
        np.array([slot for slot, _ in rows], np.uint16),
        np.array(counts, np.uint16),
        np.array(counts, np.uint16),
        np.array([at & 0xFFFF for at in each], np.uint16),
        np.array([at for at, value in enumerate(each) if value >> 16], np.int64),
        np.array([value & ~0xFFFF for value in each if value >> 16], np.uint32),
    )


def starts(*terms, phrase):
    return Segment(None, None, [part(*terms)]).starts(phrase).tolist()


def at(slot, position):
    return (slot << 32) + position


def test_a_phrase_that_begins_twice_in_one_place_is_counted_once():
    found = part({0: [3, 3], 1: [7, 5, 0]}).starts(0, 1, np.array([0, 1], np.uint16))
    assert found.tolist() == [at(0, 2), at(1, 4), at(1, 6)]


def test_positions_may_have_more_than_sixteen_bits():
    tea = {0: [5, 70_000], 3: [65_536]}
    pot = {0: [70_001], 3: [1, 65_537]}
    assert starts(tea, pot, phrase=[(0, 0), (1, 1)]) == [at(0, 70_000), at(3, 65_536)]


@pytest.mark.parametrize("few", [0, 1, 8, 1000])
@given(st.lists(POSTINGS, min_size=1, max_size=4), st.data())
def test_a_phrase_starts_where_each_term_is_at_its_place(few, terms, data):
    terms = [each or {1: [2]} for each in terms]
    number = st.integers(0, len(terms) - 1)
    phrase = data.draw(st.lists(st.tuples(number, st.integers(0, 3)), min_size=1, max_size=4))
    expected = [
        at(slot, position)
        for slot in range(41)
        for position in range(13)
        if all(position + place in terms[term].get(slot, ()) for term, place in phrase)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "FEW", few)
        assert starts(*terms, phrase=phrase) == expected


def test_a_phrase_with_a_term_that_is_not_there_starts_nowhere():
    assert starts({0: [1]}, phrase=[(0, 0), (7, 1)]) == []


def lexicon(*words):
    terms = np.arange(len(words), dtype=np.int64)
    strings = StringsBuilder()
    strings.add(sorted(words))
    return Lexicon(Strings(*strings.arrays()), terms)


def test_a_word_itself_or_one_that_begins_like_it_is_enough():
    first, second = lexicon("tea", "teapot", "tears", "te"), lexicon("team", "teapots")
    assert own_or_like([first], "teapot", "tea") == near([first], "teapot", lambda _: False)
    assert own_or_like([first, second], "teaps", "tea") == [("tea", 1), ("team", 0)]
    assert own_or_like([first, second], "teapotx", "teapot") == [("teapot", 2), ("teapots", 1)]
    assert own_or_like([first, second], "coffee", "cof") == []
    assert own_or_like([first, second], "te", "te") == [("te", 0)]
    assert own_or_like([second], "te", "te") == []  # as short as that, only itself
