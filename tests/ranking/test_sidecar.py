"""A sidecar of postings is used as far as it fits the index, and never else."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qmd.operations.cleanup import cleanup
from qmd.operations.search import search
from qmd.ranking import postings_reader
from tests.library import Library, examples, staying_attached
from tests.ranking.sidecars import another, mapped, two_notes
from tests.ranking.test_holder import (
    QUESTIONS,
    answer,
    bodies,
    held,
    hold,
    query_of,
    sidecar,
    take,
)


@pytest.fixture
def warm(library):
    yield from two_notes(library)


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    history=st.lists(
        st.tuples(
            st.dictionaries(st.sampled_from("abcdefgh"), bodies | st.none(), max_size=6),
            st.sampled_from(["", "", "save", "save", "cleanup", "copy", "restore"]),
        ),
        min_size=1,
        max_size=6,
    ),
    questions=st.lists(QUESTIONS, min_size=3, max_size=8),
    limit=st.integers(1, 6),
)
def test_a_sidecar_of_any_time_answers_as_the_tables_do(history, questions, limit):
    with tempfile.TemporaryDirectory() as folder:
        library = Library(Path(folder))
        library.write("here.md", "tea team in water")
        copy = Path(folder) / "copy"
        for step, then in history:
            take(library, step)
            if then == "save":
                sidecar(library).unlink(missing_ok=True)
                with another(library) as engine:
                    assert hold(engine) is not None
            elif then == "cleanup":
                kept = sidecar(library).read_bytes() if sidecar(library).exists() else b""
                cleanup(library.engine)
                assert not sidecar(library).exists()
                sidecar(library).write_bytes(kept)
            elif then == "copy" and sidecar(library).exists():
                shutil.copy(sidecar(library), copy)
            elif then == "restore" and copy.exists():
                shutil.copy(copy, sidecar(library))
            with another(library) as engine, staying_attached(library.engine.database):
                for question in questions:
                    text = query_of(question)
                    expected = answer(library.engine, text, limit=limit)
                    assert answer(engine, text, limit=limit) == expected
        library.engine.close()


@pytest.mark.parametrize("count", [19, 20])
def test_a_common_word_has_longer_ones_where_its_beginning_is_asked_for(library, count):
    for number in range(count):
        library.write(f"{number}.md", f"tea {number}")
    library.write("pot.md", "A teapot of teak.")
    library.update()
    texts = ["tea", "tea*", "teas pot", "a OR tea*", '"tea 3" teapo*', "teapot tea", "(tea OR b)"]
    expected = [answer(library.engine, text, limit=30) for text in texts]
    with another(library) as engine:
        assert hold(engine) is not None
        assert [answer(engine, text, limit=30) for text in texts] == expected
    is_found = ["pot.md" in str(found) for found, *_ in expected]
    assert is_found == [count < 20, True, True, True, False, True, count < 20]


def test_a_sidecar_serves_all_processes_and_later_ones(warm):
    assert hold(warm.engine) is not None
    saved = sidecar(warm).read_bytes()
    assert mapped(warm)
    warm.write("late.md", "milk tea")
    warm.update()
    assert mapped(warm)  # with one document that it lacks
    (warm.root / "tea.md").unlink()
    warm.update()
    assert mapped(warm)
    assert sidecar(warm).read_bytes() == saved


def test_a_sidecar_from_before_a_change_of_a_document_it_has_is_made_anew(warm):
    hold(warm.engine)
    saved = sidecar(warm).read_bytes()
    warm.engine.database.write(
        lambda cursor: cursor.connection.execute(
            "update documents set title = 'Black tea', revision = default"
        )
    )
    assert not mapped(warm)
    assert hold(warm.engine) is not None
    assert sidecar(warm).read_bytes() != saved
    assert mapped(warm)


@pytest.mark.parametrize(
    "change",
    [
        "update words set term_id = term_id + 1 where word = 'tea'",
        "delete from words where word = 'tea'",
        "update counters set value = value + 1 where name = 'stale_postings'",
        "update documents set path_start = path_start + 1, revision = default",
        "update documents set lang = 'de', revision = default",
    ],
)
def test_whatever_postings_depend_on_is_compared(warm, change):
    hold(warm.engine)
    assert mapped(warm)

    def work(cursor):
        cursor.connection.execute(change)
        cursor.run("words/note_digest")

    warm.engine.database.write(work)
    with another(warm) as engine:
        search(engine, "tea")
        assert held(engine) is None


def test_a_sidecar_of_another_index_with_as_many_words_does_not_fit(warm):
    hold(warm.engine)
    saved = sidecar(warm).read_bytes()

    def work(cursor):  # as many words, one of them another
        cursor.connection.execute("delete from words where word = 'tea'")
        cursor.connection.execute(
            "insert into words select 'mate', 0, 'mate', term_id from words limit 1"
        )
        cursor.run("words/note_digest")

    warm.engine.database.write(work)
    sidecar(warm).write_bytes(saved)
    with another(warm) as engine:
        search(engine, "green")
        assert held(engine) is None


def test_much_that_is_new_makes_another_sidecar_worth_it(warm, monkeypatch):
    monkeypatch.setattr(postings_reader, "FEW", 1)
    hold(warm.engine)
    saved = sidecar(warm).read_bytes()
    warm.write("late.md", "milk tea")
    warm.update()
    assert mapped(warm)
    warm.write("later.md", "milk tea")
    warm.update()
    assert not mapped(warm)
    hold(warm.engine)
    assert sidecar(warm).read_bytes() != saved
