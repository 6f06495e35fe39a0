"""What `qmd sql -o` does not replace, because qmd keeps it for itself."""

from __future__ import annotations

import pytest


@pytest.fixture
def indexed(qmd, tmp_path):
    """The command, with an index that has settings."""
    (tmp_path / "notes").mkdir()
    assert qmd("collection", "add", tmp_path / "notes")[0] == 0
    return qmd


BESIDE = [
    *(f"index.duckdb{more}" for more in ("", ".lock", ".wal", ".readers", ".words", ".embed")),
    *(f"index.duckdb{more}" for more in (".hnsw", ".hnsw.lock", ".searches.jsonl", ".new.csv")),
    *(f"config/{name}" for name in ("index.yml", "index.yml.lock", "trusted.json")),
    "config/trusted.json.lock",
]


@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize("name", BESIDE)
def test_what_qmd_keeps_for_itself_is_not_replaced(indexed, tmp_path, monkeypatch, name, exists):
    kept = tmp_path / name
    if not exists:
        kept.unlink(missing_ok=True)
    elif not kept.exists():
        kept.write_text("kept")
    before = kept.read_bytes() if exists else None
    (tmp_path / "link.csv").symlink_to(kept)
    (tmp_path / "folder").symlink_to(kept.parent)
    monkeypatch.chdir(kept.parent)
    for path in (kept, kept.name, tmp_path / "link.csv", tmp_path / "folder" / kept.name):
        code, _, err = indexed("sql", "select 1 as x", "--csv", "--force", "-o", path)
        assert (code, "what qmd itself needs" in err) == (1, True)
    assert (kept.read_bytes() if kept.exists() else None) == before


def test_what_qmd_keeps_is_known_where_a_link_to_the_index_leads(indexed, tmp_path, monkeypatch):
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "other.duckdb").symlink_to(tmp_path / "index.duckdb")
    monkeypatch.setenv("INDEX_PATH", str(tmp_path / "links" / "other.duckdb"))
    for name in ("index.duckdb.wal", "links/other.duckdb.lock"):
        code, _, err = indexed("sql", "select 1 as x", "--csv", "-o", tmp_path / name)
        assert (code, "what qmd itself needs" in err) == (1, True)


def test_a_file_that_is_only_called_like_one_of_qmds_is_written(indexed, tmp_path):
    (tmp_path / "apart").mkdir()
    for name in ("apart/index.duckdb.csv", "index.csv", "index.duckdb-1.csv", "config/index.csv"):
        assert indexed("sql", "select 1 as x", "-o", tmp_path / name) == (0, "", "")
        assert (tmp_path / name).read_text() == "x\n1\n"


def test_a_link_that_leads_to_itself_is_refused_in_words(indexed, tmp_path):
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    code, _, err = indexed("sql", "select 1 as x", "-o", tmp_path / "loop.csv")
    assert (code, "Traceback" in err, "cannot be written" in err) == (1, False, True)
