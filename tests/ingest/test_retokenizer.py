"""Postings by earlier rules are made anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from qmd.ingest import commit, retokenizer, verify
from qmd.ingest.retokenizer import needs_new_postings, retokenize
from qmd.text.hashes import term_id
from tests.library import Library


@pytest.fixture
def old(library):
    """An index of a version that did not know marks."""
    for number in range(5):
        library.write(f"{number}.md", f"# Note {number}\nC++ and e-mail\n")
    library.update()

    def undo(cursor):
        run = cursor.connection.execute
        run(
            "delete from postings where term_id in "
            "(select term_id from words where word in ('c++', 'e-mail'))"
        )
        run("delete from words where word in ('c++', 'e-mail')")
        run("update documents set body_length = body_length - 2")
        run("delete from counters where name = 'stale_postings'")
        run("delete from schema_migrations where version = 12")
        cursor.run("words/note_digest")

    library.engine.database.write(undo)
    library.engine.close()
    reopened = Library(library.folder)
    assert not verified_ok(reopened)
    yield reopened
    reopened.engine.close()


def verified_ok(library):
    return not any(verify.prove(library.engine.database).values())


def test_an_index_of_before_is_searched_and_the_next_update_makes_its_postings_anew(old):
    assert old.found("note") == [f"{number}.md" for number in range(5)]
    assert old.found("C++") == []
    assert old.engine.read(needs_new_postings)
    report = old.update()
    assert (report.new, report.updated, report.unchanged) == (0, 0, 5)
    assert not old.engine.read(needs_new_postings)
    assert old.found("C++") == old.found("email") == [f"{number}.md" for number in range(5)]
    assert verified_ok(old)
    assert old.problems() == []


def test_a_run_that_was_cut_off_is_resumed(old, monkeypatch):
    monkeypatch.setattr(retokenizer, "DOCUMENTS", 2)
    put_again, batches = commit.put_again, []

    def failing(cursor, *, first, **given):
        put_again(cursor, first=first, **given)
        if len(batches) == 1:
            raise OSError("cut off")
        batches.append(first)

    with monkeypatch.context() as patch:
        patch.setattr(commit, "put_again", failing)
        with pytest.raises(OSError, match="cut off"):
            retokenize(old.engine.database)
    assert old.engine.read(needs_new_postings)
    assert old.found("C++") == ["3.md", "4.md"]
    assert old.problems() == []
    assert retokenize(old.engine.database) == 3
    assert verified_ok(old)


def test_a_document_that_was_removed_meanwhile_stays_so(old, monkeypatch):
    put_again = commit.put_again

    def late(cursor, **given):
        commit.remove(cursor, [2])
        put_again(cursor, **given)

    monkeypatch.setattr(commit, "put_again", late)
    retokenize(old.engine.database)
    assert old.found("C++") == ["0.md", "2.md", "3.md", "4.md"]
    assert old.problems() == []


def test_a_new_index_has_nothing_to_make_anew(library):
    library.write("a.md", "C++")
    library.update()
    assert not library.engine.read(needs_new_postings)
    assert retokenize(library.engine.database) == 0


def test_the_path_of_a_record_is_not_indexed():
    stale = retokenizer.Stale(1, "experiences", "123.md", "Title", "hash", "Body", 0, None)
    assert stale.fields == (("Title", "", "Body"), 0)


MIGRATIONS = Path(__file__).parents[2] / "migrations"


def test_words_with_stems_of_the_fts_extension_are_learnt_again(library):
    """`internal` had the stem of `intern` there, `added` that of `add`."""
    library.write("one.md", "# One\nInternal affairs, added late\n")
    library.write("two.md", "# Two\nAn intern can add it\n")
    library.update()
    old = {"internal": term_id("intern"), "added": term_id("ad"), "affairs": term_id("affair")}

    def undo(cursor):
        run = cursor.connection.execute
        for word, term in old.items():
            [(now,)] = run("select term_id from words where word = ?", [word]).fetchall()
            run("update postings set term_id = ? where term_id = ?", [term, now])
            run("update words set term_id = ? where word = ?", [term, word])
        run((MIGRATIONS / "0017_stems.sql").read_text())

    library.engine.database.write(undo)
    library.engine.close()
    reopened = Library(library.folder)
    assert reopened.update().unchanged == 2
    assert reopened.found("internal") == ["one.md"]
    assert reopened.found("add") == reopened.found("added") == ["one.md", "two.md"]
    assert verified_ok(reopened)
    reopened.engine.close()
