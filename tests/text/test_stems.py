"""Terms of words: stems by PyStemmer, numbers by MD5."""

from __future__ import annotations

import re
import threading

import _duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.storage.cursor import connected
from qmd.storage.extensions import UNCHECKED, binary, load
from qmd.text.hashes import accented_id, joined_id, term_id
from qmd.text.stems import terms

CHANGED = re.compile(
    "[a-z]*(?:ogist|past)|(?:inter|organ|univers|later|emerg|even)|[a-z]*ceedly|.yings?$|"
    r"[aeiouy]([b-df-hj-np-tv-z])\1"
)
"""Words whose stem is another one in DuckDB's fts extension, an older Snowball."""


@pytest.fixture(scope="module")
def oracle():
    """The stems of DuckDB's fts extension."""
    if binary("fts") is None:
        pytest.skip(f"no fts extension for DuckDB {_duckdb.__version__}")
    connection = connected(UNCHECKED)
    load(connection, "fts")

    def stems(words):
        rows = connection.execute(
            "select stem(word, 'english') from (select unnest($words) as word)", {"words": words}
        ).fetchall()
        return [stem for (stem,) in rows]

    yield stems
    connection.close()


@given(st.text(min_size=1))
def test_a_number_is_that_of_the_database(term):
    [(number,)] = _duckdb.execute("select md5_number_lower($term) >> 1", {"term": term}).fetchall()
    assert term_id(term) == number


def test_words_have_stems_and_what_is_none_stays():
    words = ["running", "2025", "tea_pot", "日本", "zurich", "cups", "v2s", "universities"]
    stems = ["run", "2025", "tea_pot", "日本", "zurich", "cup", "v2s", "universiti"]
    assert terms(words) == [(term_id(term), term) for term in stems]


def test_other_forms_are_numbered_after_the_word_without_hyphen_and_accents():
    words = ["e-mails", "résumés", "email", "zürich", "e-mail", "--flag", "c++"]
    numbers = [joined_id(term_id("email")), accented_id(term_id("resum")), term_id("email")]
    numbers += [accented_id(term_id("zurich")), joined_id(term_id("email"))]
    numbers += [term_id("--flag"), term_id("c++")]
    expected = ["e-mails", "résumés", "email", "zürich", "e-mail", "--flag", "c++"]
    assert terms(words) == list(zip(numbers, expected, strict=True))
    assert len(set(numbers)) == len(numbers) - 1
    assert joined_id(joined_id(7)) == accented_id(accented_id(7)) == 7


WORDS = st.text("aeiosgnrtlyd", min_size=3, max_size=9)
ENDINGS = st.sampled_from(
    "ing ings ed edly s es ies ly ational ization fulness ousli iviti ment ic able y".split()
)


@given(st.lists(st.builds(str.__add__, WORDS, ENDINGS), min_size=1, unique=True))
def test_stems_are_those_of_the_extension_but_for_what_snowball_changed_since(oracle, words):
    same = [word for word in words if not CHANGED.match(word)]
    assert [term for _, term in terms(same)] == oracle(same)


def test_threads_do_not_share_a_stemmer():
    expected = terms(["running", "cups"])
    found = []
    threads = [
        threading.Thread(
            target=lambda: found.append(
                [terms(["running", "cups"]) == expected for _ in range(200)]
            )
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[True] * 200] * 4
