"""Words with marks, symbols, words joined by a hyphen: the form that was asked for comes first."""

from __future__ import annotations

import numpy as np
import pytest

from qmd.errors import QueryError
from qmd.ranking import bm25, postings_reader, query
from qmd.ranking.inverted_index import Inverted

NOTES = {
    "cpp.md": "We write C++ code, and C++20 has modules.",
    "c.md": "The C language has compilers. C is old, and C is small.",
    "csharp.md": "C# runs on the runtime of .NET in every version.",
    "net.md": "The net of a fisherman is a net, and a net has holes.",
    "star.md": "A* finds paths, which node.js and R&D know.",
    "option.md": "Run the tool with --flag as @user, with $HOME set.",
    "words.md": "The flag of a user is at home, flag, user, home.",
    "hyphen.md": "An e-mail came on-line.",
    "whole.md": "An email came online. Every email came.",
    "symbols.md": "x -> y, x != y. Tea 🍵 costs 3 € as § 5 says, λ.",
}


@pytest.fixture(scope="module")
def notes(libraries):
    library = libraries()
    for path, text in NOTES.items():
        library.write(path, f"---\ntitle: {path[0]}x\n---\n{text}\n")
    library.update()
    return library


@pytest.mark.parametrize("in_memory", [False, True])
@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("C++", ["cpp.md", "c.md"]),
        ("c#", ["csharp.md", "c.md"]),
        ("C", ["c.md", "cpp.md", "csharp.md"]),
        (".NET", ["csharp.md", "net.md"]),
        ("net", ["net.md", "csharp.md"]),
        ("--flag", ["option.md", "words.md"]),
        ("@user", ["option.md", "words.md"]),
        ("$HOME", ["option.md", "words.md"]),
        ("email", ["whole.md", "hyphen.md"]),
        ("emails", ["whole.md", "hyphen.md"]),
        ("e-mail", ["hyphen.md", "whole.md"]),
        ("R&D", ["star.md"]),
        ("node.js", ["star.md"]),
        ("->", ["symbols.md"]),
        ('"!="', ["symbols.md"]),
        ("🍵", ["symbols.md"]),
        ("€", ["symbols.md"]),
        ("λ", ["symbols.md"]),
        ("§", ["symbols.md"]),
        ("→", []),
        ("<>", []),
        ("“every email”", ["whole.md"]),
    ],
)
def test_the_form_that_was_asked_for_comes_first(notes, asked, expected, in_memory, monkeypatch):
    if in_memory:
        segment = notes.engine.read(postings_reader.whole)
        held = Inverted([segment], np.empty(0, np.intp))
        monkeypatch.setattr(bm25, "held", lambda _: held)
    found = notes.found(asked)
    assert found[: len(expected)] == expected
    assert len(found) == len(expected) or asked == "A*"


def test_a_form_stands_for_a_word_that_no_document_has(library):
    library.write("a.md", "An e-mail came.")
    library.write("b.md", "C has pointers.")
    library.update()
    assert library.found("email") == ["a.md"]
    assert library.found("C++") == ["b.md"]
    library.write("a.md", "An email came.")
    library.write("b.md", "C++ has classes.")
    library.update()
    assert library.found("e-mail") == ["a.md"]
    assert library.found("C") == ["b.md"]


def test_a_rare_form_is_not_above_the_frequent_one_that_was_asked_for(library):
    for number in range(30):
        library.write(f"{number}.md", f"An email of number {number}.")
    library.write("hyphen.md", "An e-mail of number 31.")
    library.update()
    found = library.found("email", limit=40)
    assert found[-1] == "hyphen.md"
    assert len(found) == 31


def test_words_before_a_hyphen_are_no_longer_words_of_their_beginning(library):
    library.write("a.md", "The con-text is odd.")
    library.write("b.md", "Nothing.")
    library.update()
    parsed = query.parse("con")
    found = library.engine.read(lambda cursor: bm25.bm25(cursor, parsed, limit=5))
    assert set(found.words) == {"con"}


def test_a_filter_holds_for_a_query_of_symbols(library):
    library.configure("other")
    library.write("a.md", "x -> y")
    library.write("a.md", "x -> y -> z", collection="other")
    library.update()
    assert library.found("->") == ["other/a.md", "a.md"]
    assert library.found("->", collection="notes") == ["a.md"]


def test_a_symbol_in_a_title_or_a_path_is_found(library):
    library.write("a=b.md", "# One\ntea")
    library.write("b.md", "# Two => three\ntea")
    library.update()
    assert library.found("=>") == ["b.md"]
    assert library.found("=") == ["b.md", "a=b.md"]


def test_a_query_of_nothing_is_refused(library):
    with pytest.raises(QueryError):
        library.found("  ")


@pytest.fixture(scope="module")
def spelled(libraries):
    library = libraries()
    library.write("a.md", "Đường, résumé Straße, أحمد, Müller, ١٢٣")
    library.write("b.md", "Duong, resume Strasse, احمد, Mueller, 123")
    library.write("c.md", "Nothing of that is here.")
    library.update()
    assert library.problems() == []
    return library


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("duong", ["b.md", "a.md"]),
        ("đường", ["a.md", "b.md"]),
        ("Đường", ["a.md", "b.md"]),
        ("resume", ["b.md", "a.md"]),
        ("résumé", ["a.md", "b.md"]),
        ("strasse", ["b.md", "a.md"]),
        ("Straße", ["a.md", "b.md"]),
        ("أحمد", ["a.md", "b.md"]),
        ("احمد", ["b.md", "a.md"]),
        ('"resume strasse"', ["b.md", "a.md"]),
        ('"résumé straße"', ["a.md", "b.md"]),
        ("Müller", ["a.md", "b.md"]),
        ("mueller", ["b.md", "a.md"]),
        ("123", ["b.md", "a.md"]),
    ],
)
def test_the_spelling_that_was_asked_for_comes_first(spelled, asked, expected):
    found = spelled.found(asked)
    assert sorted(found) == ["a.md", "b.md"]
    if not asked.startswith('"'):
        assert found == expected


def test_a_longer_word_with_accents_counts_once(library):
    library.write("a.md", "Straßenbahn")
    library.write("b.md", "Strassenbahn")
    library.update()
    assert sorted(library.found("strass")) == ["a.md", "b.md"]
    found = library.engine.read(lambda cursor: bm25.bm25(cursor, query.parse("strass"), limit=5))
    [one, other] = [score for _, score in found.scores]
    assert one == pytest.approx(other, rel=0.1)
