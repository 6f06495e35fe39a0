"""What can be done with a knowledge base from Python."""

from __future__ import annotations

import sys
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

import qmd
from tests.surfaces.python.programs import FOREVER


def test_a_folder_is_added_searched_and_read(kb):
    hits = kb.search("green tea", limit=1)
    assert [(hit.file, hit.title) for hit in hits] == [("notes/tea.md", "Green tea")]
    passage = kb.get(hits[0].docid, first=7, count=1)
    assert passage.body == "Brew it at 80 degrees."
    assert [each.file for each in kb.multi_get("notes/work/*.md")] == ["notes/work/plan.md"]


def test_what_narrows_a_search_is_that_of_the_command_line(kb):
    def files(**options):
        return {hit.file for hit in kb.search("tea", **options)}

    assert files() == {"notes/tea.md", "notes/work/plan.md"}
    assert files(filter="status = open") == {"notes/tea.md"}
    assert files(collection=["notes"], since="2025-03-15") == {"notes/work/plan.md"}
    assert files(before=date(2025, 3, 15)) == {"notes/tea.md"}
    east = datetime(2025, 3, 14, 1, tzinfo=timezone(timedelta(hours=2)))
    assert files(before=east) == set()
    assert files(before=datetime(2025, 3, 14, 1, tzinfo=UTC)) == {"notes/tea.md"}
    assert len(kb.search("tea", limit=None)) == 2
    with pytest.raises(qmd.CollectionNotFound, match="Known: notes"):
        kb.search("tea", collection="nots")
    with pytest.raises(
        qmd.UsageError, match=r"since takes a date such as 2025-03-14, .*, not 'soon'"
    ):
        kb.search("tea", since="soon")


def test_both_at_once_without_meaning_finds_by_words(kb):
    hits = kb.query("green tea", meaning=False, explain=True)
    assert hits[0].file == "notes/tea.md"
    assert hits[0].explain is not None
    assert kb.query("green tea", meaning=False)[0].explain is None


@pytest.mark.parametrize("fusion", ["scores", "rrf"])
@pytest.mark.parametrize("recent", [5e-324, 0.001, 1e300, sys.float_info.max])
def test_new_documents_are_preferred_over_however_many_days(kb, notes, fusion, recent):
    (notes / "future.md").write_text("---\ndate: 2500-01-01\n---\n# Tea\n\nTea of the future.\n")
    kb.update()
    hits = kb.query("tea", meaning=False, fusion=fusion, recent=recent, explain=True)
    recency = {hit.file: hit.explain["recency"] for hit in hits}
    old = 0.05 if recent > 10**6 else 0
    assert (recency["notes/future.md"], recency["notes/tea.md"]) == (0.05, old)
    assert all(0 < hit.score <= 1 for hit in hits)


def test_days_may_be_any_whole_number(kb):
    assert len(kb.query("tea", meaning=False, recent=10**300)) == 2


def test_documents_are_listed_with_all_their_names(kb):
    assert [each.file for each in kb.documents()] == [
        "notes/tea.md", "notes/work/plan.md", "notes/茶.md",
    ]  # fmt: skip
    [plan] = kb.ls("notes/work")
    assert (plan.collection, plan.path, plan.uri) == (
        "notes", "work/plan.md", "qmd://notes/work/plan.md",
    )  # fmt: skip
    assert kb.documents("qmd://notes/")[0].date == datetime(2025, 3, 14)


def test_status_says_what_is_indexed_and_where(kb, tmp_path):
    status = kb.status()
    assert (status.index, status.config) == (kb.path, tmp_path / "kb" / "index.yml")
    assert (status.documents, status.collections[0].name) == (3, "notes")


def test_an_index_is_looked_at_and_cleaned_up(kb, notes):
    assert {each.status for each in kb.doctor(deep=True) if each.check == "texts"} == {"ok"}
    (notes / "tea.md").unlink()
    kb.update()
    would = kb.cleanup(dry_run=True)
    assert (would.waste.documents, would.waste.texts, would.before) == (1, 1, would.after)
    done = kb.cleanup()
    assert done.waste == would.waste
    assert (done.notice, done.after) == (None, kb.status().bytes)
    assert kb.cleanup().waste.documents == 0
    assert isinstance(done, qmd.Cleaned)
    assert isinstance(kb.doctor()[0], qmd.Finding)


def test_collections_and_contexts_are_added_listed_and_removed(kb, notes):
    with pytest.raises(qmd.AlreadyExists):
        kb.add_collection(notes)
    report = kb.add_collection(notes / "work", name="plans")
    assert (report.collection, report.new) == ("plans", 1)
    kb.add_context(notes / "work", "Minutes and plans")
    assert kb.contexts()[0].body == "Minutes and plans"
    assert kb.search("cups", collection="plans")[0].context == "Minutes and plans"
    kb.remove_context("qmd://plans")
    with pytest.raises(qmd.ContextNotFound):
        kb.remove_context("qmd://plans")
    kb.remove_collection("plans")
    assert [each.name for each in kb.collections()] == ["notes"]
    assert (notes / "work" / "plan.md").exists()


def test_a_collection_is_shown_changed_and_renamed(kb, notes):
    kb.add_context("qmd://notes", "All notes")
    kb.exclude_collection("notes")
    kb.ignore_files("notes", "work/")
    kb.ignore_files("notes", ["*.tmp", "work/"])
    assert kb.set_update_command("notes", "true")
    kb.rename_collection("notes", "mine")
    kb.update()
    shown = kb.collection("mine")
    assert (shown.root, shown.mask, shown.included) == (str(notes), "documents", False)
    assert (shown.ignored, shown.update_command) == (("work/", "*.tmp"), "true")
    assert shown.documents == kb.status().documents == len(kb.documents())
    assert [each.body for each in shown.contexts] == ["All notes"]
    kb.include_collection("mine")
    kb.set_update_command("mine")
    shown = kb.collection("mine")
    assert (shown.included, shown.update_command) == (True, None)
    with pytest.raises(qmd.CollectionNotFound):
        kb.collection("notes")


def test_folders_that_have_no_context_are_listed(kb, notes):
    assert kb.missing_contexts() == ["qmd://notes/", "qmd://notes/work"]
    kb.add_context(notes, "All notes")
    assert kb.missing_contexts() == ["qmd://notes/work"]


def test_an_update_tells_what_changed_and_how_far_it_is(kb, notes):
    (notes / "new.md").write_text("# New\n")
    told = []
    [report] = kb.update(progress=lambda *each: told.append(each))
    assert (report.new, report.unchanged, report.failure) == (1, 3, None)
    name, done, total = told[-1]  # files that had just been written count as well
    assert (name, done) == ("notes", total)


def test_one_collection_that_fails_does_not_stop_the_others(kb, tmp_path):
    (tmp_path / "gone").mkdir()
    kb.add_collection(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    failures = {each.collection: each.failure for each in kb.update()}
    assert failures["notes"] is None
    assert "is missing" in failures["gone"]


def test_what_is_embedded_is_found_by_meaning(fake, tmp_path, notes, monkeypatch):
    (tmp_path / "fake.gguf").write_bytes(b"GGUF")
    monkeypatch.setenv("QMD_EMBED_MODEL", str(tmp_path / "fake.gguf"))
    with qmd.connect("kb.duckdb") as kb:
        kb.add_collection(notes)
        with pytest.raises(qmd.NotEmbedded, match="qmd embed"):
            kb.vector_search("a hot drink")
        told = []
        done = kb.embed("notes", progress=lambda *each: told.append(each))
        assert (done.chunks, done.lacking) == (3, 0)
        assert told[-1][0] == told[-1][1]
        assert len(kb.vsearch("a hot drink", min_score=-1)) == 3
        assert len(kb.query("a hot drink")) == 3


def test_sql_gives_rows_and_a_table(kb):
    table = kb.sql("select title from documents where path = $path", {"path": "tea.md"})
    assert list(table) == [{"title": "Green tea"}]
    assert table[:1].arrow().to_pylist() == list(table)
    assert "Green tea" in table._repr_html_()
    assert kb.sql("select null as nothing").columns == ("nothing",)
    assert repr(kb.sql("select 1 as one limit 0")) == "<Table: 0 rows>\none"
    with pytest.raises(qmd.SqlError):
        kb.sql("delete from documents")


def test_a_query_in_sql_that_takes_too_long_is_stopped(kb):
    with pytest.raises(qmd.SqlTimeout):
        kb.sql(FOREVER, timeout=0.3)


def test_what_is_exported_can_be_imported_into_another_index(kb, tmp_path):
    done = kb.export(tmp_path / "parquet", progress=lambda *_: None)
    assert done.rows["documents"] == 3
    with pytest.raises(qmd.ExchangeError):
        kb.export(tmp_path / "notes")
    with qmd.connect("other/index.duckdb") as other:
        assert other.import_(tmp_path / "parquet").rows["documents"] == 3
        assert other.search("green tea") == kb.search("green tea")


def test_facts_about_the_documents_are_tables(kb):
    facts = kb.stats("notes", terms=3)
    assert (facts.documents, facts.first) == (3, datetime(2025, 3, 14))
    assert facts.months.arrow().schema.field("month").type == "date32[day]"
    assert facts.months[0].documents == 1
    assert len(facts.terms) == 3


def test_more_than_there_can_be_is_all(kb, tiny_embedder, monkeypatch):
    monkeypatch.setenv("QMD_EMBED_MODEL", str(tiny_embedder))
    with qmd.connect(kb.path, gpu=False) as other:
        other.embed()
        for many in (sys.maxsize, 10**30):
            whole = [
                other.search("tea", limit=many),
                other.vector_search("tea", limit=many, per_file=many, min_score=-1),
                other.query("tea", limit=many, per_file=many),
            ]
            assert all(len(hits) for hits in whole)
            assert other.stats(terms=many, longest=many)
            assert other.get(whole[0][0].file, first=1, count=many).body
