"""Terms of words: stems by DuckDB's extension, numbers by MD5."""

from __future__ import annotations

import _duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.errors import ExtensionUnusable
from qmd.storage.stemmer import Stemmer
from qmd.text.hashes import accented_id, joined_id, term_id
from tests.library import STEMMER


@given(st.text(min_size=1))
def test_a_number_is_that_of_the_database(term):
    [(number,)] = _duckdb.execute("select md5_number_lower($term) >> 1", {"term": term}).fetchall()
    assert term_id(term) == number


def test_words_have_stems_and_what_is_none_stays():
    words = ["running", "2025", "tea_pot", "日本", "zurich", "cups"]
    assert STEMMER.terms(words) == [
        (term_id(term), term) for term in ("run", "2025", "tea_pot", "日本", "zurich", "cup")
    ]


def test_other_forms_are_numbered_after_the_word_without_hyphen_and_accents():
    words = ["e-mails", "résumés", "email", "zürich", "e-mail", "--flag", "c++"]
    numbers = [joined_id(term_id("email")), accented_id(term_id("resum")), term_id("email")]
    numbers += [accented_id(term_id("zurich")), joined_id(term_id("email"))]
    numbers += [term_id("--flag"), term_id("c++")]
    expected = ["e-mails", "résumés", "email", "zürich", "e-mail", "--flag", "c++"]
    assert STEMMER.terms(words) == list(zip(numbers, expected, strict=True))
    assert len(set(numbers)) == len(numbers) - 1
    assert joined_id(joined_id(7)) == accented_id(accented_id(7)) == 7


def test_the_extension_is_loaded_for_words_alone_and_asked_for_each_once(monkeypatch):
    stemmer = Stemmer()
    loaded = []

    def load():
        loaded.append(STEMMER)
        assert STEMMER._cursor is not None
        return STEMMER._cursor

    monkeypatch.setattr(stemmer, "_loaded", load)
    assert stemmer.terms(["12", "v2"]) == [(term_id("12"), "12"), (term_id("v2"), "v2")]
    assert loaded == []
    found = stemmer.terms(["cups", "12"])
    assert len(loaded) == 1
    monkeypatch.setattr(stemmer, "_cursor", None)
    assert stemmer.terms(["12", "cups"]) == found[::-1]
    assert len(loaded) == 1


FOLDED = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), min_size=1)


@given(st.lists(FOLDED | st.from_regex("[a-z]+", fullmatch=True), min_size=1, unique=True))
def test_very_many_words_have_the_terms_that_few_have(words):
    few = [term for word in words for term in STEMMER.terms([word])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("qmd.storage.stemmer.FEW", 0)
        stemmer = Stemmer()
        stemmer._cursor = STEMMER._cursor
        assert stemmer.terms(words) == few


def test_an_extension_that_cannot_be_loaded_is_named(monkeypatch, tmp_path):
    damaged = tmp_path / "fts.duckdb_extension"
    damaged.write_bytes(b"no library" * 100)
    monkeypatch.setattr("qmd.storage.stemmer.extension", lambda name: damaged)
    with pytest.raises(ExtensionUnusable, match="cannot load its extension fts") as raised:
        Stemmer().terms(["cups"])
    assert raised.value.name == "fts"
    assert raised.value.exit_code == 3
