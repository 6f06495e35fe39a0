"""A server reads documents that its sidecar lacks once, and keeps their segments."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qmd.ranking import postings_reader
from qmd.storage import maintenance
from tests.library import Library, staying_attached
from tests.ranking.sidecars import ASKED, another, answers, of_tables, two_notes
from tests.ranking.test_holder import QUESTIONS, answer, bodies, held, hold, query_of, take


@pytest.fixture
def warm(library):
    yield from two_notes(library)


@pytest.fixture
def engine(warm):
    """A server that has mapped the sidecar, and makes no new one."""
    assert hold(warm.engine) is not None
    with another(warm) as made:
        made.holder._price = 1000
        assert answers(made) == answers(warm.engine)
        yield made


@pytest.fixture
def loads(monkeypatch):
    """The documents of each segment that is read from the tables."""
    made = []
    whole = postings_reader.whole

    def load(cursor, **asked):
        segment = whole(cursor, **asked)
        made.append(len(segment.documents.ids))
        return segment

    monkeypatch.setattr(postings_reader, "whole", load)
    return made


def sizes(engine):
    """Documents of each segment that is held."""
    return [len(each.documents.ids) for each in held(engine).segments]


def adds(library, *names):
    for name in names:
        library.write(f"{name}.md", f"A cup of tea, of {name}, with green water.")
    library.update()


def agree(library, engine):
    assert answers(engine) == of_tables(library)


def test_only_what_is_new_since_the_last_state_is_read(warm, engine, loads):
    adds(warm, *"abcdefghi")
    agree(warm, engine)
    adds(warm, "j")
    agree(warm, engine)
    adds(warm, "k")
    agree(warm, engine)
    assert sizes(engine) == [2, 9, 2]
    assert [each for each in loads if each] == [9, 1, 2]
    engine.database.close()
    agree(warm, engine)
    assert len(loads) == 3


def test_a_few_added_documents_are_read_again_with_more(warm, engine, loads):
    adds(warm, *"abcd")
    agree(warm, engine)
    adds(warm, "e")
    agree(warm, engine)
    assert sizes(engine) == [2, 5]
    adds(warm, "f")
    agree(warm, engine)
    assert sizes(engine) == [2, 5, 1]
    adds(warm, "g", "h")
    agree(warm, engine)
    assert sizes(engine) == [2, 8]


def test_three_segments_are_held_before_they_are_joined(warm, engine, monkeypatch):
    monkeypatch.setattr(postings_reader, "SMALLER", 1)
    for names, expected in (("abcd", [4]), ("ef", [4, 2]), ("g", [4, 2, 1]), ("h", [8])):
        adds(warm, *names)
        agree(warm, engine)
        assert sizes(engine) == [2, *expected]


def test_the_order_of_documents_in_the_table_does_not_matter(warm, engine, loads):
    adds(warm, *"abcdefghi")
    agree(warm, engine)

    def move(cursor):
        for step in (
            "create temp table moved as from documents where path = 'tea.md'",
            "delete from documents where path = 'tea.md'",
            "insert into documents from moved",
        ):
            cursor.connection.execute(step)

    adds(warm, "j")
    warm.engine.database.write(move)
    agree(warm, engine)
    assert sizes(engine) == [2, 9, 1]
    assert loads == [9, 1]


def test_documents_that_are_gone_again_are_in_no_answer(warm, engine):
    adds(warm, *"abcdefghi")
    agree(warm, engine)
    adds(warm, "j")
    agree(warm, engine)
    for name in ("tea", "b", "j"):
        (warm.root / f"{name}.md").unlink()
    warm.update()
    agree(warm, engine)
    assert sizes(engine) == [2, 9, 1]
    adds(warm, "k")
    (warm.root / "k.md").unlink()
    adds(warm, "l")
    agree(warm, engine)
    assert sizes(engine) == [2, 9, 1]
    found = {each.file for each in answer(engine, "tea", limit=50)[0]}
    assert found == {f"notes/{name}.md" for name in ("cup", *"acdefghil")}


def test_a_change_of_an_added_document_makes_all_of_them_read_again(warm, engine, loads):
    adds(warm, *"abcdefghi")
    agree(warm, engine)
    change = "update documents set title = 'Black tea', revision = default where path = 'a.md'"
    warm.engine.database.write(lambda cursor: cursor.connection.execute(change))
    agree(warm, engine)
    assert held(engine) is not None
    assert loads == [9, 9]


def test_words_alone_are_added_too(warm, engine):
    def work(cursor):
        cursor.connection.execute(
            "insert into words select 'teacup', head, 'teacup', term_id from words"
            " where word = 'tea'"
        )
        cursor.run("words/note_digest")

    warm.engine.database.write(work)
    assert answer(engine, "teacup") == answer(warm.engine, "teacup")
    assert sizes(engine) == [2, 0]
    adds(warm, "a")
    agree(warm, engine)
    assert sizes(engine) == [2, 1]


def test_what_was_added_counts_as_new(warm, engine, monkeypatch):
    monkeypatch.setattr(postings_reader, "FEW", 10)
    adds(warm, *"abcdefghi")
    agree(warm, engine)
    assert held(engine) is not None
    adds(warm, "j", "k")
    agree(warm, engine)
    assert held(engine) is None


@pytest.mark.parametrize("sort", [maintenance.merge, maintenance.sort_words])
def test_words_are_found_after_a_merge_has_sorted_them(warm, engine, sort):
    for words in ("xray yankee zulu", "aachen abacus tea"):
        for name in words.split():
            warm.write(f"{name}.md", f"{name} {name}able tea")
        warm.update()
        agree(warm, engine)
    sort(warm.engine.database, **({"always": True} if sort is maintenance.merge else {}))
    for words in ("aardvark aback", "zoo"):
        for name in words.split():
            warm.write(f"{name}.md", f"{name} {name}able tea")
        warm.update()
        for text in ("aard*", "aach*", "aba* tea", "abacu", "xra*", "zo*", "zuluab"):
            assert answer(engine, text) == answer(warm.engine, text)
        assert held(engine) is not None


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    history=st.lists(
        st.dictionaries(st.sampled_from("abcdefghijkl"), bodies | st.none(), max_size=9),
        min_size=2,
        max_size=6,
    ),
    questions=st.lists(QUESTIONS, min_size=2, max_size=5),
)
def test_after_any_changes_answers_are_those_of_the_tables(history, questions):
    with tempfile.TemporaryDirectory() as folder:
        library = Library(Path(folder))
        library.write("here.md", "tea team in water")
        library.update()
        with another(library) as engine:
            assert hold(engine) is not None
            engine.holder._price = 1000
            for step in history:
                take(library, step)
                with staying_attached(library.engine.database):
                    for question in [*map(query_of, questions), *ASKED]:
                        assert answer(engine, question) == answer(library.engine, question)
                assert len(held(engine).segments) <= 4
        library.engine.close()
