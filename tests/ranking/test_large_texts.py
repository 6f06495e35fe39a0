"""Large texts are searched and shown piece by piece, and say the same."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qmd.errors import UsageError
from qmd.operations import document_parts
from qmd.operations.documents import get
from qmd.operations.listing import documents
from qmd.operations.search import search
from qmd.ranking import bm25, large_texts
from qmd.ranking.matcher import Matcher
from qmd.ranking.snippets import snippet
from qmd.storage import document_lookup

LINES = st.lists(
    st.sampled_from(
        ["", "---", "tea", "green tea and milk", "äöü 日本 🍵", "x" * 40, "of\r", "---a"]
    ),
    max_size=30,
).map("\n".join)
MATCH = Matcher({"tea": "tea", "milk": "milk"})


def in_parts(text):
    """A text as UTF-8 in parts that end anywhere, also within a character."""
    data = text.encode()
    return [data[at : at + 7] for at in range(0, len(data), 7)]


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(large_texts, "PIECE", 50)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=LINES, matter=st.integers(0, 200))
def test_pieces_are_the_text_with_its_lines_counted(small, text, matter):
    found = list(large_texts.pieces(in_parts(text), matter))
    assert "".join(each.text for each in found) == text[matter:]
    at = matter
    for each in found:
        assert each.before == text.count("\n", 0, at)
        at += len(each.text)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=LINES, length=st.integers(20, 200))
def test_a_snippet_of_pieces_has_lines_of_the_text_and_their_numbers(small, text, length):
    found = large_texts.large_snippet(
        large_texts.pieces(in_parts(text)), MATCH, length=length, distinct=2
    )
    lines = [each.rstrip("\r") for each in text.split("\n")]
    pieces = list(large_texts.pieces(in_parts(text)))
    is_cut = any(not each.text.endswith("\n") for each in pieces[:-1])
    if max(map(len, lines)) <= min(length, 45) and not is_cut:
        assert list(found.lines) == lines[found.first - 1 : found.first - 1 + len(found.lines)]
    if MATCH.found_in(text):
        assert MATCH.found_in("\n".join(found.lines))


@given(text=LINES, length=st.integers(20, 200))
def test_a_snippet_of_one_piece_is_that_of_the_text(text, length):
    found = large_texts.large_snippet(
        large_texts.pieces(in_parts(text)), MATCH, length=length, choice=20, distinct=2
    )
    assert found == snippet(text, MATCH, length=length, choice=20, distinct=2)


def shown(document, body, first, count):
    try:
        return document_parts.passage(document, body, None, first, count)
    except UsageError as error:
        return str(error)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=LINES | LINES.map(lambda text: f"{text}\n"),
    first=st.none() | st.integers(-1, 35),
    count=st.none() | st.integers(-1, 35),
    counted=st.integers(1, 40),
)
def test_lines_of_an_encoded_text_are_those_of_the_text(
    library, monkeypatch, text, first, count, counted
):
    if not documents_of(library):
        library.write("tea.md", "tea")
        library.update()
    monkeypatch.setattr(document_parts, "COUNTED", counted)
    [document] = documents_of(library)
    expected = shown(document, text, first, count)
    assert shown(document, text.encode(), first, count) == expected


def documents_of(library):
    return library.engine.read(lambda cursor: document_lookup.documents_below(cursor, None))


def test_a_large_document_is_found_and_read_without_its_whole_text(library, monkeypatch):
    filler = "".join(f"line {number} of many words about äpple\n" for number in range(110_000))
    library.write("big.md", f"---\ntitle: Big\n---\n{filler}the rare kettle\n{filler}")
    library.write("tea.md", "a kettle for tea")
    library.update()

    def whole(_cursor, _hashes):
        raise AssertionError

    monkeypatch.setattr(document_lookup, "bodies", whole)
    documents = bm25.documents
    monkeypatch.setattr(
        bm25, "documents", lambda cursor, ids, *more: documents(cursor, few(cursor, ids), *more)
    )
    [found] = [each for each in search(library.engine, "rare kettle") if "big" in each.file]
    assert found.line == 110_004
    assert "the rare kettle" in found.snippet
    assert len(search(library.engine, "kettle")) == 2
    assert get(library.engine, "big.md:110004:1").body == "the rare kettle"
    assert (
        get(library.engine, "big.md", first=220_004).body == "line 109999 of many words about äpple"
    )
    with pytest.raises(UsageError, match="has 220004 lines"):
        get(library.engine, "big.md:220005")


def few(cursor, ids):
    """Numbers of documents, none of which is large."""
    asked = list(ids)
    assert not set(asked) & set(large_texts.large(cursor))
    return asked


def test_a_large_document_is_shown_whole_where_that_is_asked_for(library):
    text = "kettle " * 600_000
    library.write("big.md", text)
    library.update()
    [found] = search(library.engine, "kettle", full=True)
    assert found.body == text
    assert get(library.engine, "big.md").body == text
    assert [each.file for each in documents(library.engine, "notes")] == ["notes/big.md"]
