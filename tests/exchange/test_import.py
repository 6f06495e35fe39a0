"""What an import does to an index, to its settings and to what lies beside it."""

from __future__ import annotations

import shutil

import anyio

from qmd.operations.documents import below
from qmd.operations.exchange import run_export, run_import
from qmd.operations.search import search
from qmd.operations.update import run_update
from qmd.settings import edit
from tests.exchange.indexes import TEA
from tests.exchange.test_refused_import import resigned, retold, told


def test_an_index_is_replaced_on_request(two, library, tmp_path):
    done = run_import(two.engine, tmp_path / "out", replace=True)
    assert done.rows["documents"] == 1
    assert search(two.engine, "tea") == search(library.engine, "tea")
    assert two.found("cake") == []
    assert [collection.name for collection in two.engine.collections()] == ["notes"]
    assert two.problems() == []


def test_no_number_is_given_away_twice(two, tmp_path):
    before = two.ask("select max(document_id) from documents")[0][0]
    run_import(two.engine, tmp_path / "out", replace=True)
    [(least, following)] = two.ask(
        "select min(document_id), (select value from counters where name = 'next_document_id') "
        "from documents"
    )
    assert before < least < following
    two.write("tea.md", TEA + "More.", collection="notes")
    assert two.problems() == []


def test_documents_get_revisions_of_their_own(two, tmp_path):
    """An export that has some, as another program may write them, does not decide on them."""
    folder = tmp_path / "out"
    resigned(folder, "documents", "select *, 7::ubigint as revision from old")
    tables = told(folder)["tables"]
    [documents] = [table for table in tables if table["name"] == "documents"]
    documents["columns"].append({"name": "revision", "type": "UBIGINT", "meaning": ""})
    retold(folder, tables=tables)
    run_import(two.engine, folder, replace=True)
    assert two.ask("select revision = 7 from documents") == [(False,)]


def test_a_copy_of_the_old_vectors_goes(two, tmp_path):
    (two.folder / "index.duckdb.hnsw").write_bytes(b"graph")
    run_import(two.engine, tmp_path / "out", replace=True)
    assert not (two.folder / "index.duckdb.hnsw").exists()


def test_comments_and_collections_of_index_yml_stay(library, target, tmp_path):
    library.write("tea.md", TEA)
    library.update()
    run_export(library.engine, tmp_path / "out")
    engine = target()
    (tmp_path / "elsewhere").mkdir()
    engine.place.config.write_text(
        f"# Mine\ncollections:\n  notes:\n    path: {tmp_path}/elsewhere  # moved\n"
        f"  other:\n    path: {tmp_path}/other\n"
    )
    run_import(engine, tmp_path / "out")
    text = engine.place.config.read_text()
    assert "# Mine" in text
    assert "elsewhere  # moved" in text
    assert [c.name for c in engine.collections()] == ["notes", "other"]
    assert [d.name for d in below(engine, None)] == ["notes/tea.md"]


def test_a_folder_that_is_only_here_is_kept_when_an_index_is_replaced(library, target, tmp_path):
    library.write("tea.md", TEA)
    library.update()
    run_export(library.engine, tmp_path / "out")
    shutil.copytree(library.root, tmp_path / "here")
    shutil.rmtree(library.root)
    engine = target()
    engine.place.config.write_text(f"collections:\n  notes:\n    path: {tmp_path}/here\n")
    anyio.run(run_update, engine)
    assert run_import(engine, tmp_path / "out", replace=True).missing == ()
    assert [report.unchanged for report in anyio.run(run_update, engine)] == [1]


RUNS = "models:\n  embed: hf:org/repo/file.gguf\nchunk:\n  tokens: 77\n"


def test_what_an_export_would_run_or_load_waits_for_trust(library, target, tmp_path):
    library.configure(more=RUNS)
    library.write("tea.md", TEA)
    library.update()
    library.engine.change(
        lambda _, document: edit.entry(document, "notes").update({"update": "rm -rf /"})
    )
    run_export(library.engine, tmp_path / "out")
    careful, trusting = target("careful"), target("trusting")
    done = run_import(careful, tmp_path / "out")
    assert done.left_out == ("run for 'notes': rm -rf /", "use for embed: hf:org/repo/file.gguf")
    settings = careful.settings()
    assert (settings.collections[0].update_command, dict(settings.models)) == (None, {})
    assert settings.chunk_tokens == 77
    assert run_import(trusting, tmp_path / "out", trusting=True).left_out == ()
    assert trusting.settings() == library.engine.settings()
    assert run_import(careful, tmp_path / "out", replace=True).left_out == done.left_out
    assert careful.settings() == settings
