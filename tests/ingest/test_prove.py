"""An index is compared with its own texts."""

from __future__ import annotations

import pytest

from qmd.ingest import verify as proving
from qmd.ingest.verify import FACTS, HASHES, LENGTHS, MISSING, OUTLINES, TITLES, UNEXPECTED, prove


@pytest.fixture
def shelf(library):
    """Documents of several kinds, after changes and removals."""
    library.write(
        "tea.md", "---\nstatus: open\n---\n# Green tea\n\n[Brew](x.md) it, brew_it, brewIt.\n"
    )
    library.write("茶.md", "# 茶道\n\nお茶を飲む。Über den Tee.\n")
    library.write("same.md", "# Green tea\n\nThe same.\n")
    library.write("gone.md", "# Gone\n\nNot for long.\n")
    library.update()
    (library.root / "gone.md").unlink()
    library.write("same.md", "# Black tea\n\nNot the same any more.\n")
    library.update()
    return library


def wrong(library) -> set[str]:
    """Facts that do not hold."""
    return {fact for fact, times in prove(library.engine.database).items() if times}


def test_an_index_says_what_its_texts_say(shelf, monkeypatch):
    assert prove(shelf.engine.database) == dict.fromkeys(FACTS, 0)
    monkeypatch.setattr(proving, "PART", 1)
    told = []
    assert prove(shelf.engine.database, progress=told.append) == dict.fromkeys(FACTS, 0)
    assert told == [1, 2, 3]


@pytest.mark.parametrize(
    ("harm", "facts"),
    [
        ("delete from postings where title_frequency > 0", {MISSING}),
        ("insert into postings select * from postings limit 1", {UNEXPECTED}),
        ("update postings set positions = [7]", {MISSING, UNEXPECTED}),
        ("update postings set body_frequency = body_frequency + 1", {MISSING, UNEXPECTED}),
        ("update documents set body_length = body_length + 1", {LENGTHS}),
        ("update documents set path_start = 7", {LENGTHS}),
        ("update documents set metadata = null", {TITLES}),
        ("update content set outline = struct_update(outline, lines := '9')", {OUTLINES}),
        ("update content set outline = null", {OUTLINES}),
    ],
)
def test_what_does_not_follow_from_the_texts_is_found(shelf, harm, facts):
    shelf.engine.database.write(lambda cursor: cursor.connection.execute(harm))
    assert wrong(shelf) == facts


def test_a_text_that_is_not_what_it_was_is_found(shelf):
    shelf.engine.database.write(
        lambda cursor: cursor.connection.execute("update content set body = body || ' more'")
    )
    assert {HASHES, LENGTHS, MISSING} <= wrong(shelf)


def test_doctor_looks_deep_if_it_is_told_to(shelf, qmd, monkeypatch):
    monkeypatch.setenv("QMD_CONFIG_DIR", str(shelf.folder))
    monkeypatch.setenv("INDEX_PATH", str(shelf.engine.place.database))
    shelf.engine.close()
    code, out, _ = qmd("doctor", "--deep")
    assert code == 0
    assert f"ok    texts: all say the same again, {len(FACTS)} facts hold" in out
    shelf.engine.database.write(
        lambda cursor: cursor.connection.execute("update documents set metadata = null")
    )
    shelf.engine.close()
    assert "texts:" not in qmd("doctor")[1]
    code, out, _ = qmd("doctor", "--deep")
    assert code == 1
    assert f"FAIL  texts: not so 1 time: {TITLES}" in out
    assert "qmd update" in out
