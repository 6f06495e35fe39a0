"""qmd from Python."""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta, timezone
from html.parser import HTMLParser
from pathlib import Path

import anyio
import pytest

import qmd
from qmd.api import AsyncKnowledgeBase, KnowledgeBase
from qmd.api.doors import _Call
from qmd.store.stopping import Stopped
from qmd.types import Report, Result
from tests.library import STEMMER

FOREVER = "select count(*) from range(1000000) a, range(1000000) b where a.range + b.range = 7"
"""A statement that would take minutes."""

LONG = 30
"""Seconds after which something that has to happen is taken for stuck."""

TEA = (
    "---\nstatus: open\ndate: 2025-03-14\n---\n# Green tea\n\nBrew it at 80 degrees.\nNever boil.\n"
)


@pytest.fixture(autouse=True)
def _user(tmp_path, cache, monkeypatch):
    """A user without settings, in a folder of their own."""
    for name in ("INDEX_PATH", "QMD_CONFIG_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setattr("qmd.engine.Stemmer", lambda: STEMMER)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def notes(tmp_path):
    """A folder of notes."""
    root = tmp_path / "notes"
    (root / "work").mkdir(parents=True)
    (root / "tea.md").write_text(TEA)
    (root / "work" / "plan.md").write_text("# Plan\n\nBuy <b>tea</b> & cups.\n")
    (root / "茶.md").write_text("# 有馬温泉の茶\n\n茶を飲む。\n")
    return root


@pytest.fixture
def kb(tmp_path, notes):
    """A knowledge base of those notes."""
    with qmd.connect(tmp_path / "kb" / "index.duckdb", gpu=False) as made:
        made.add_collection(notes)
        yield made


class Slow:
    """Makes searches take minutes.

    Attributes:
        began: set when a statement begins.
        ended: set when it was interrupted.
    """

    def __init__(self, kb: AsyncKnowledgeBase) -> None:
        self.began = threading.Event()
        self.ended = threading.Event()
        self._engine = kb._engine
        self._engine.search = lambda *_, **__: self._engine.read(self._read)

    def _read(self, cursor) -> None:
        self.began.set()
        try:
            cursor.connection.execute(FOREVER).fetchall()
        finally:
            self.ended.set()


def python(code: str, **environ: str) -> str:
    """What a program prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=4 * LONG,
        env={**os.environ, **environ},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# -- the module ------------------------------------------------------------------


def test_importing_qmd_imports_nothing_else():
    code = "import sys; before = set(sys.modules); import qmd; print(*set(sys.modules) - before)"
    assert python(code) == "qmd"


def test_every_public_name_can_be_had_and_is_listed():
    assert dir(qmd) == sorted(qmd.__all__)
    for name in qmd.__all__:
        assert getattr(qmd, name) is not None


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'serach'"):
        _ = qmd.serach


def test_errors_are_those_of_qmd(kb):
    with pytest.raises(qmd.DocumentNotFound, match="Did you mean") as raised:
        kb.get("notes/tee.md")
    assert isinstance(raised.value, qmd.NotFound)
    assert isinstance(raised.value, qmd.QmdError)
    assert "notes/tea.md" in raised.value.similar


# -- which index -----------------------------------------------------------------


def test_without_a_name_the_index_is_the_one_of_the_command_line(tmp_path, monkeypatch, cache):
    assert qmd.connect().path == cache / "qmd" / "index.duckdb"
    (tmp_path / "project" / ".qmd").mkdir(parents=True)
    (tmp_path / "project" / ".qmd" / "index.yml").touch()
    monkeypatch.chdir(tmp_path / "project")
    assert qmd.connect().path == tmp_path / "project" / ".qmd" / "index.duckdb"
    monkeypatch.setenv("INDEX_PATH", "/elsewhere/x.duckdb")
    assert qmd.open().path == Path("/elsewhere/x.duckdb")


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("work", "CACHE/qmd/work.duckdb"),
        ("work.duckdb", "HERE/work.duckdb"),
        ("./work", "HERE/work"),
        ("~/work.duckdb", "HERE/home/work.duckdb"),
        (Path("work"), "HERE/work"),
        (".", "HERE/.qmd/index.duckdb"),
    ],
)
def test_an_index_is_a_name_or_a_path(tmp_path, cache, index, expected):
    (tmp_path / ".qmd").mkdir()
    (tmp_path / ".qmd" / "index.yml").touch()
    wanted = expected.replace("CACHE", str(cache)).replace("HERE", str(tmp_path))
    assert str(qmd.connect(index).path) == wanted


def test_a_path_may_look_like_a_name(tmp_path):
    assert qmd.connect(path="work").path == tmp_path / "work"
    with pytest.raises(TypeError, match="not both"):
        qmd.connect("work", path="work")


# -- verbs -----------------------------------------------------------------------


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
    with pytest.raises(qmd.UsageError, match="since takes a date such as 2025-03-14, not 'soon'"):
        kb.search("tea", since="soon")


def test_both_at_once_without_meaning_finds_by_words(kb):
    hits = kb.query("green tea", meaning=False, explain=True)
    assert hits[0].file == "notes/tea.md"
    assert hits[0].explain is not None
    assert kb.query("green tea", meaning=False)[0].explain is None


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


# -- answers ---------------------------------------------------------------------


def test_results_are_a_sequence_an_arrow_table_and_a_data_frame(kb):
    hits = kb.search("tea")
    assert len(hits) == len(hits[:5]) == 2
    assert hits[-1] in hits
    table = hits.arrow()
    assert table.column_names == list(Result._fields)
    assert table["file"].to_pylist() == [hit.file for hit in hits]
    assert table.schema.field("score").type == "double"
    assert hits.polars()["title"].to_list() == [hit.title for hit in hits]


def test_an_empty_answer_has_the_same_columns_and_types(kb):
    assert kb.search("absent").arrow().schema == kb.search("tea").arrow().schema
    assert kb.search("absent").polars().schema == kb.search("tea").polars().schema


def test_duckdb_takes_an_answer_as_it_is(kb):
    import duckdb

    hits = kb.search("tea")
    with duckdb.connect() as other:
        assert other.register("hits", hits).sql("select count(*) from hits").fetchall() == [(2,)]


def test_all_rows_are_tables(kb):
    kb.add_context("/", "All")
    made = [kb.documents(), kb.collections(), kb.contexts(), kb.multi_get("*.md"), kb.update()]
    assert [each.arrow().num_rows for each in made] == [3, 1, 1, 2, 1]
    assert made[0].arrow().schema.field("date").type == "timestamp[us]"


def test_what_arrow_has_no_type_for_is_json():
    skipped = Report("notes", "*", skipped=[("a.md", "permission denied")])
    table = qmd.Rows(Report, [skipped]).arrow()
    assert table["skipped"].to_pylist() == ['[["a.md", "permission denied"]]']


def test_without_polars_the_error_names_the_extra(kb, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(qmd.UsageError, match=r"pip install 'qmd\[polars\]'"):
        kb.documents().polars()


def test_a_notebook_shows_a_table_whatever_a_note_says(kb):
    html = kb.search("cups")._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;tea&lt;/b&gt; &amp; cups" in html
    opened = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: opened.append(tag)
    parser.feed(html)
    assert opened.count("table") == 1


def test_a_prompt_shows_a_table_whose_columns_stand_below_each_other(kb):
    head, names, *rows = repr(kb.documents()).splitlines()
    assert head == "<Rows: 3 rows>"
    at = names.index("collection")
    assert rows[0][at:].startswith("notes ")
    japanese = next(row for row in rows if "温泉" in row)
    wide = len("有馬温泉の茶") + len("茶")  # of these, each takes the room of two
    assert japanese[at - wide :].startswith("notes ")


def test_many_rows_are_shown_in_part():
    rows = qmd.Rows(qmd.Context, [qmd.Context("notes", f"{n}", "x") for n in range(25)])
    assert repr(rows).splitlines()[-1] == "… 5 more"
    assert "<p>… 5 more</p>" in rows._repr_html_()
    assert "<Rows: 0 rows>\ncollection  prefix  body" in repr(rows[:0])


# -- what makes no sense -----------------------------------------------------------

WRONG = [
    ("search", (None,), {}, TypeError, "query takes a text, not None."),
    ("search", ("\ud800",), {}, ValueError, "query has half a character in it"),
    (
        "search",
        ("tea",),
        {"collection": 3},
        TypeError,
        "collection takes a name, or several, not 3",
    ),
    ("search", ("tea",), {"collection": b"notes"}, TypeError, "collection takes a name"),
    ("search", ("tea",), {"collection": ["notes", None]}, TypeError, "collection takes a text"),
    (
        "search",
        ("tea",),
        {"collection": []},
        ValueError,
        "collection is an empty list, which names",
    ),
    ("search", ("tea",), {"limit": 0}, ValueError, "limit=0 asks for nothing; None asks for all."),
    ("search", ("tea",), {"limit": "3"}, TypeError, "limit takes a whole number, not '3'."),
    ("search", ("tea",), {"limit": True}, TypeError, "limit takes a whole number, not True."),
    ("search", ("tea",), {"limit": 2.0}, TypeError, "limit takes a whole number, not 2.0."),
    ("search", ("tea",), {"min_score": "high"}, TypeError, "min_score takes a number, not 'high'."),
    ("search", ("tea",), {"min_score": float("nan")}, ValueError, "min_score takes a number"),
    ("search", ("tea",), {"since": 2025}, TypeError, "since takes a date, or a text such as"),
    ("search", ("tea",), {"filter": {}}, TypeError, "filter takes a text, not {}."),
    ("search", ("tea",), {"length": -1}, ValueError, "length takes 1 or more, not -1."),
    ("vector_search", (["tea"],), {}, TypeError, "question takes a text"),
    ("vector_search", ("tea",), {"per_file": 0}, ValueError, "per_file takes 1 or more, not 0."),
    ("query", (None,), {}, TypeError, "question takes a text, not None."),
    ("query", ("tea",), {"fusion": "best"}, ValueError, "fusion takes 'scores' or 'rrf', not"),
    ("query", ("tea",), {"candidates": -4}, ValueError, "candidates takes 1 or more, not -4."),
    ("query", ("tea",), {"timeout": -1}, ValueError, "timeout takes 0 or more, not -1."),
    ("query", ("tea",), {"recent": "30"}, TypeError, "recent takes a number, not '30'."),
    ("query", ("tea",), {"intent": 1}, TypeError, "intent takes a text, not 1."),
    ("get", (None,), {}, TypeError, "name takes a text, not None."),
    ("get", ("notes/tea.md",), {"first": 0}, ValueError, "first takes 1 or more, not 0."),
    ("get", ("notes/tea.md",), {"count": "all"}, TypeError, "count takes a whole number"),
    ("multi_get", (["notes/tea.md"],), {}, TypeError, "pattern takes a text"),
    ("multi_get", ("notes/*",), {"largest": None}, TypeError, "largest takes a whole number"),
    ("documents", (1,), {}, TypeError, "path takes a text, not 1."),
    ("stats", ([],), {}, ValueError, "collection is an empty list"),
    ("stats", (), {"terms": -1}, ValueError, "terms takes 0 or more, not -1."),
    ("map", (), {"method": "umap"}, ValueError, "method takes 'pca' or 'tsne', not 'umap'."),
    ("sql", (None,), {}, TypeError, "query takes a text, not None."),
    ("sql", ("select 1", "x"), {}, TypeError, "parameters takes a mapping by name, or a list"),
    ("sql", ("select 1",), {"timeout": None}, TypeError, "timeout takes a number, not None."),
    ("sql", ("select 1",), {"memory": 10**9}, TypeError, "memory takes a text, not 1000000000."),
    ("export", (None,), {}, TypeError, "folder takes a path, not None."),
    ("export", ("",), {}, ValueError, "folder takes a path, not an empty text."),
    ("export", ("out",), {"tables": []}, ValueError, "tables is an empty list, which names"),
    ("export", ("out",), {"progress": 1}, TypeError, "progress takes a function, not 1."),
    ("import_", (3,), {}, TypeError, "folder takes a path, not 3."),
    ("add_collection", (None,), {}, TypeError, "path takes a path, not None."),
    ("add_collection", (".",), {"mask": ["*.md"]}, TypeError, "mask takes a text"),
    ("remove_collection", (None,), {}, TypeError, "name takes a text, not None."),
    ("add_context", ("/", None), {}, TypeError, "text takes a text, not None."),
    ("add_context", (None, "x"), {}, TypeError, "path takes a path, not None."),
    ("remove_context", (b"/",), {}, TypeError, "path takes a path, not b'/'."),
    ("update", ([],), {}, ValueError, "collection is an empty list"),
    ("update", (), {"progress": "bar"}, TypeError, "progress takes a function, not 'bar'."),
    ("embed", (5,), {}, TypeError, "collection takes a name, or several, not 5."),
    ("embed", (), {"within": "1h"}, TypeError, "within takes a number, not '1h'."),
    ("embed", (), {"batch_tokens": 0}, ValueError, "batch_tokens takes 1 or more, not 0."),
]


@pytest.mark.parametrize(("verb", "given", "named", "error", "problem"), WRONG)
def test_what_makes_no_sense_is_refused_in_words_before_anything_is_done(
    tmp_path, verb, given, named, error, problem
):
    kb = qmd.connect(tmp_path / "never.duckdb")
    with pytest.raises(error) as raised:
        getattr(kb, verb)(*given, **named)
    assert str(raised.value).startswith(problem)
    assert not (tmp_path / "never.duckdb").exists()


def test_every_verb_that_takes_something_refuses_what_makes_no_sense():
    plain = {"close", "collections", "contexts", "status", "path", "ls", "vsearch"}
    plain |= {"cleanup", "doctor"}
    verbs = {name for name in dir(KnowledgeBase) if not name.startswith("_")}
    assert {verb for verb, *_ in WRONG} == verbs - plain


@pytest.mark.parametrize(
    ("named", "error", "problem"),
    [
        ({"index": 3}, TypeError, "index takes a path, not 3."),
        ({"index": ""}, ValueError, "index takes a path, not an empty text."),
        ({"path": b"kb"}, TypeError, "path takes a path, not b'kb'."),
        ({"patience": -1}, ValueError, "patience takes 0 or more, not -1."),
        ({"patience": None}, TypeError, "patience takes a number, not None."),
    ],
)
def test_an_index_that_makes_no_sense_is_refused(named, error, problem):
    for door in (qmd.connect, qmd.open):
        with pytest.raises(error) as raised:
            door(**named)
        assert str(raised.value) == problem


def test_names_may_be_anything_that_can_be_gone_through(kb):
    assert kb.search("tea", collection=(name for name in ["notes"]))
    assert kb.search("tea", collection={"notes": 1}.keys())


# -- waiting, and not waiting ------------------------------------------------------


def test_both_doors_have_the_same_verbs():
    def verbs(kind):
        return {
            name: inspect.signature(verb)
            for name, verb in inspect.getmembers(kind)
            if not name.startswith("_") and callable(verb)
        }

    assert len(verbs(KnowledgeBase)) > 20
    assert verbs(AsyncKnowledgeBase).keys() == verbs(KnowledgeBase).keys()
    for name, signature in verbs(AsyncKnowledgeBase).items():
        assert verbs(KnowledgeBase)[name] == signature
        assert getattr(KnowledgeBase, name).__doc__


def test_the_blocking_door_can_be_used_inside_a_running_event_loop(kb):
    async def cell():
        return kb.search("tea")

    assert len(asyncio.run(cell())) == 2


def test_the_other_door_is_awaited(kb):
    async def work():
        with anyio.fail_after(LONG):
            async with qmd.open(kb.path) as other:
                hits = await other.search("tea")
                return [hit.file for hit in hits], (await other.status()).documents

    files, documents = anyio.run(work)
    assert files == [hit.file for hit in kb.search("tea")]
    assert documents == 3


def test_many_calls_at_once_are_all_answered(kb):
    async def work():
        async with qmd.open(kb.path) as other:
            return await asyncio.gather(*(other.search("tea") for _ in range(20)))

    assert {len(hits) for hits in asyncio.run(asyncio.wait_for(work(), LONG))} == {2}
    with ThreadPoolExecutor(8) as threads:
        found = threads.map(lambda _: len(kb.search("tea")), range(20), timeout=LONG)
        assert set(found) == {2}


def test_a_timeout_interrupts_a_search_and_the_next_is_answered(kb):
    async def work():
        async with qmd.open(kb.path) as other, asyncio.timeout(LONG):
            slow = Slow(other)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.5):
                    await other.search("tea")
            assert slow.ended.is_set()
            del other._engine.search
            return await other.search("tea")

    assert len(asyncio.run(work())) == 2


def test_ctrl_c_interrupts_a_blocking_search(kb, press_ctrl_c):
    slow = Slow(kb._within)

    def press():
        slow.began.wait(LONG)
        press_ctrl_c()

    threading.Thread(target=press, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        kb.search("tea")
    assert slow.ended.wait(LONG)
    del kb._within._engine.search
    assert len(kb.search("tea")) == 2


class InterruptedPortal:
    """A portal whose caller is interrupted before it waits for what it began.

    Args:
        begun: whether the call begins at all.
    """

    def __init__(self, provider, slow: Slow, *, begun: bool) -> None:
        self._provider, self._slow, self._begun = provider, slow, begun

    def __enter__(self):
        self._portal = self._provider.__enter__()
        return self

    def __exit__(self, *error):
        return self._provider.__exit__(*error)

    def call(self, work):
        if work.__name__ != "run":
            return self._portal.call(work)
        if self._begun:
            self._portal.start_task_soon(work)
            assert self._slow.began.wait(LONG)
        raise KeyboardInterrupt


@pytest.mark.parametrize("begun", [True, False])
def test_ctrl_c_just_before_the_wait_interrupts_the_search_too(kb, begun, monkeypatch):
    slow = Slow(kb._within)
    with monkeypatch.context() as patched:
        patched.setattr(kb, "_portal", InterruptedPortal(kb._portal, slow, begun=begun))
        with pytest.raises(KeyboardInterrupt):
            kb.search("tea")
    assert slow.ended.is_set() == begun
    del kb._within._engine.search
    assert len(kb.search("tea")) == 2


def test_a_closed_knowledge_base_says_so(kb):
    kb.close()
    with pytest.raises(RuntimeError, match="is closed"):
        kb.search("tea")


def test_what_nobody_closes_lets_go_of_the_file_when_it_is_forgotten(kb):
    other = qmd.connect(kb.path)
    other.search("tea")
    database = other._within._engine.database
    assert database._attachment.is_there
    del other
    gc.collect()
    assert not database._attachment.is_there


def test_a_program_ends_also_if_the_index_cannot_be_closed(kb):
    code = (
        f"import qmd\n"
        f"with qmd.connect({str(kb.path)!r}) as kb:\n"
        f"    print(len(kb.search('tea')))\n"
        f"    kb._within._engine.database.close = lambda _: 1 / 0\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=LONG)
    assert done.stdout == b"2\n"
    assert b"ZeroDivisionError" in done.stderr


@pytest.mark.parametrize("entered", ["", ".__enter__()"])
def test_a_program_that_closes_nothing_ends(kb, entered):
    code = f"import qmd; kb = qmd.connect({str(kb.path)!r}){entered}; print(len(kb.search('tea')))"
    assert python(code) == "2"


def test_a_call_that_is_cancelled_before_it_begins_does_nothing():
    done = []

    async def work() -> None:
        await anyio.lowlevel.checkpoint()
        done.append(True)

    async def late() -> None:
        call = _Call(work)
        call.cancel()
        with anyio.fail_after(LONG), pytest.raises(Stopped):
            await call.run()

    anyio.run(late)
    assert done == []


def test_what_another_process_writes_is_found_at_once(kb, notes):
    (notes / "late.md").write_text("# Late\n\nOolong.\n")
    assert len(kb.search("oolong")) == 0
    python(f"import qmd; qmd.connect({str(kb.path)!r}).update()")
    assert [hit.file for hit in kb.search("oolong")] == ["notes/late.md"]
