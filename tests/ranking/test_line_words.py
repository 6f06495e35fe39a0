"""Words of a query in lines: the compiled loops find the same as plain Python."""

from __future__ import annotations

import shutil
from itertools import accumulate

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qmd.ranking import matcher
from qmd.ranking.matcher import COMPILED_WORDS, Matcher
from qmd.ranking.snippets import cut, plainly_best_window, plainly_line_starts, snippet

line_words = pytest.importorskip("qmd.ranking.compiled.line_words")

PIECES = [
    *("tea", "TEA", "Teas", "teaPot", "parseTea", "pot_tea", "steam", "2tea", "tea2pot", "te"),
    *(
        "json",
        "JSONTea",
        "JSON",
        "jSON",
        "T2ea",
        "tEa",
        "_",
        "c++",
        "e-mail",
        ".net",
        "--tea",
        "’",
        "x" * 90,
        "key",
    ),
    *("[a](b) tea", "import tea"),
]
RARE = ["é", "İ", "\u212aey", "茶"]
"""Characters whose lines, or whole texts, are matched by other code."""
TEXT = st.lists(
    st.tuples(st.sampled_from(PIECES), st.sampled_from([" ", " ", "\n", "", "\n\n", ", "])).map(
        "".join
    )
    | st.sampled_from(RARE),
    max_size=40,
).map("".join) | st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join)
WORDS = {
    **{"tea": "tea", "teas": "tea", "te": "te", "teapot": "pot", "pot": "pot", "json": "json"},
    **{"c++": "c++", "e-mail": "mail", ".net": "net", "--tea": "tea", "茶": "茶", "key": "key"},
    **{"parsetea": "parse", "2tea": "two"},
}
WANTED = st.lists(st.sampled_from(sorted(WORDS)), min_size=1, unique=True).map(
    lambda words: {word: WORDS[word] for word in words}
)


@pytest.fixture(autouse=True)
def loaded(monkeypatch):
    """Each test decides by itself which loops a matcher has."""
    monkeypatch.setattr(matcher, "_compiled", None)


def both(wanted):
    """Return a matcher in plain Python, and one with the compiled loops."""
    plain, compiled = Matcher(wanted), Matcher(wanted)
    compiled.compiled = line_words
    return plain, compiled


@given(WANTED, TEXT)
@example({"tea": "tea"}, "")
@example({"tea": "tea"}, "parseTea\nsteam teapot pot_tea 2tea")
@example({"tea": "tea", "pot": "pot"}, "tea_tea pot\ntea")
@example({"key": "key"}, "\u212aey key\nkey")
def test_the_same_lines_have_the_same_words(wanted, text):
    plain, compiled = both(wanted)
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    expected = list(plain.lines_with(text, starts))
    assert list(compiled.lines_with(text, starts)) == expected
    assert compiled.found_in(text) == plain.found_in(text)


@given(WANTED, TEXT, st.sampled_from([20, 60, 300]), st.sampled_from([None, 1, 3]))
def test_snippets_are_the_same(wanted, text, length, distinct):
    plain, compiled = both(wanted)
    assert snippet(text, compiled, length=length, distinct=distinct) == snippet(
        text, plain, length=length, distinct=distinct
    )
    assert cut(text, compiled, length) == cut(text, plain, length)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 7) | st.sampled_from([2**63, 2**64 - 1]),
            st.integers(1, 60),
            st.booleans(),
        ),
        max_size=40,
    ),
    st.integers(1, 200),
    st.sampled_from([None, 1, 3]),
    st.sampled_from([0, 30, 1000]),
)
def test_the_best_window_is_the_same(rows, length, distinct, reach):
    starts = list(accumulate((size for _, size, _ in rows), initial=0))
    matching = [(at, bits) for at, (bits, _, _) in enumerate(rows) if bits]
    for counts in (None, [is_counted for _, _, is_counted in rows].__getitem__):
        assert line_words.best_window(
            starts, iter(matching), length, distinct, counts, reach
        ) == plainly_best_window(starts, iter(matching), length, distinct, counts, reach)


def test_an_error_of_what_it_calls_comes_through():
    def failing(*_):
        raise LookupError

    with pytest.raises(LookupError):
        line_words.best_window([0, 5], iter([(0, 1)]), 10, None, failing, 0)
    with pytest.raises(LookupError):
        line_words.add_words("tea_", "tea_", [0, 5], 0, 1, (), {"tea": 1}, {}, failing, {}, {}, 64)


def test_only_what_stays_loads_it_and_only_for_so_many_words():
    assert Matcher({"tea": "tea"}).compiled is None
    matcher.load_compiled()
    assert Matcher({"tea": "tea"}).compiled is line_words
    most = {f"w{number}": str(number) for number in range(COMPILED_WORDS)}
    assert Matcher(most).compiled is line_words
    text = "w0 w63 w64"
    assert Matcher(most).found_in(text) == {"0", "63"}
    more = most | {"w64": "64"}
    assert Matcher(more).compiled is None
    assert Matcher(more).found_in(text) == {"0", "63", "64"}


@pytest.mark.skipif(not shutil.which("c++"), reason="there is no compiler")
def test_a_client_that_stays_searches_with_it(tmp_path):
    import qmd

    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "tea.md").write_text("# Tea\n\nGreen tea.\n")
    with qmd.connect(tmp_path / "index.duckdb") as index:
        index.add_collection(tmp_path / "notes")
        index.update()
        assert [each.file for each in index.search("tea")] == ["notes/tea.md"]
    assert matcher._compiled is line_words


@given(st.lists(st.text(max_size=5)))
def test_lines_start_at_the_same_places(lines):
    assert line_words.line_starts(lines) == plainly_line_starts(lines)
