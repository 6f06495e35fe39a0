"""Documents beside their files, update after update."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import pytest

from qmd.ingest import batch_tables
from qmd.ingest.reader import EPOCH
from qmd.operations.documents import below
from qmd.operations.search import search
from qmd.operations.sql import sql


@pytest.mark.parametrize("moment", [None, -86_400, 0, 86_400, 4_102_444_800])
def test_a_document_has_the_time_of_its_file_from_the_first_update_on(library, moment):
    library.write("tea.md", "# Tea\n")
    for _ in range(3):
        os.utime(library.root / "tea.md", None if moment is None else (moment, moment))
        library.update()
        [document] = below(library.engine, "notes")
        of_file = (library.root / "tea.md").stat().st_mtime_ns
        assert document.modified == EPOCH + timedelta(microseconds=of_file // 1000)
        moment = None


def test_outlines_that_took_code_for_a_heading_are_made_anew(library):
    library.write("tea.md", "# Tea\n\n\t# code\n")
    library.write("pot.md", "# Pot\n\n`# code`\n")
    library.update()
    of_all = "select outline.texts from content order by all"
    assert library.ask(of_all) == [(["Pot"],), (["Tea"],)]

    def as_before(cursor):
        cursor.connection.execute(
            "update content set outline = struct_update(outline, texts := ['before'])"
        )
        cursor.connection.execute("delete from schema_migrations where version = 6")

    library.engine.database.write(as_before)
    library.engine.close()
    library.update()
    assert library.ask(of_all) == [(["Tea"],), (["before"],)]


def test_a_word_is_learnt_once_however_often_its_file_changes(library):
    for number in range(3):
        library.write("tea.md", f"# Tea\n\nA cup of tea, the number {number}.")
        library.update()
    assert library.ask("select word from words group by word having count(*) > 1") == []
    assert library.ask("select count(*) from words where word in ('tea', '0', '1', '2')") == [(4,)]


def test_a_file_that_is_touched_has_its_new_date_unless_it_says_one(library):
    texts = {
        "tea.md": "# Tea\n",
        "said.md": "---\ndate: 2020-05-04\n---\n# Tea\n",
        "2020-05-04.md": "# Tea\n",
    }
    for day in (datetime(2015, 3, 1), datetime(2025, 3, 1)):
        moment = day.replace(tzinfo=UTC).timestamp()
        for name, text in texts.items():
            library.write(name, text)
            os.utime(library.root / name, (moment, moment))
        library.update()
        rows = sql(library.engine, "select path, date from documents where modified = $1", [day])
        assert {row["path"]: row["date"] for row in rows} == {
            "tea.md": day,
            "said.md": datetime(2020, 5, 4),
            "2020-05-04.md": datetime(2020, 5, 4),
        }
    assert library.found("tea", since="2021") == ["tea.md"]
    assert sorted(library.found("tea", before="2021")) == ["2020-05-04.md", "said.md"]


@pytest.mark.parametrize("count", [1, 40])
def test_a_file_on_which_qmd_fails_keeps_no_other_file_out(library, monkeypatch, count):
    made = batch_tables.document_outline

    def fails(data, start):
        if b"fault" in data:
            raise ValueError("no such thing")
        return made(data, start)

    monkeypatch.setattr(batch_tables, "document_outline", fails)
    library.write("old.md", "# Old\n\nWhat it was.\n")
    library.update()
    library.write("old.md", "# Old\n\nWith a fault.\n")
    library.write("new.md", "# New\n\nWith a fault.\n")
    for number in range(count):
        library.write(f"good-{number}.md", f"# Good\n\nword{number}x is here.\n")
    report = library.update()
    reason = "a mistake in qmd keeps it out (ValueError: no such thing)"
    assert sorted(report.skipped) == [("new.md", reason), ("old.md", reason)]
    assert report.new == count
    for number in range(count):
        [found] = search(library.engine, f"word{number}x")
        assert found.file == f"notes/good-{number}.md"
    [found] = search(library.engine, "was")
    assert found.file == "notes/old.md"
    monkeypatch.setattr(batch_tables, "document_outline", made)
    report = library.update()
    assert (report.new, report.updated, report.skipped) == (1, 1, [])
    assert len(search(library.engine, "fault")) == 2


def test_a_failure_of_no_single_file_is_raised(library, monkeypatch):
    def fails(*given, **named):
        raise ValueError("of all of them")

    monkeypatch.setattr("qmd.ingest.batches.Batches._tables", fails)
    library.write("a.md", "# A\n\nText.\n")
    with pytest.raises(ValueError, match="of all of them"):
        library.update()


def test_a_lack_of_memory_is_no_mistake_of_a_file(library, monkeypatch):
    made = batch_tables.document_outline
    calls = []

    def fails(data, start):
        calls.append(data)
        if len(calls) == 1:
            raise ValueError("of the batch")
        if len(calls) == 2:
            raise MemoryError
        return made(data, start)

    monkeypatch.setattr(batch_tables, "document_outline", fails)
    library.write("a.md", "# A\n\nText.\n")
    with pytest.raises(MemoryError):
        library.update()
    assert library.update().new == 1
