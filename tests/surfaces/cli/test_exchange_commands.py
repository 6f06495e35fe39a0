"""`qmd export` and `qmd import`, as people use them."""

from __future__ import annotations

import json
import re

import pytest


@pytest.fixture
def indexed(qmd, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # where --index puts others
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "tea.md").write_text("---\nstatus: open\n---\n# Tea\n\nA cup of green tea.")
    (notes / "cake.md").write_text("---\nstatus: done\n---\n# Cake\n\nFlour and eggs.")
    qmd("collection", "add", notes)
    return qmd


def test_an_export_says_what_it_did_and_the_next_that_nothing_had_to_be_done(indexed, tmp_path):
    code, out, err = indexed("export", tmp_path / "out")
    assert (code, err) == (0, "")
    first, second = out.splitlines()
    pattern = r"Exported 2 documents to \S+/out \(\S+ KB\) in \S+ s: (\d+) of (\d+) files written\."
    found = re.fullmatch(pattern, first)
    assert found[1] == found[2]
    assert re.fullmatch(r"For 0\.\d\d s of that, nothing could be written to the index\.", second)
    again = indexed("export", tmp_path / "out")[1]
    assert f": 0 of {found[2]} files written, the others as they were." in again


def test_an_index_goes_to_another_and_a_search_finds_the_same(indexed, tmp_path):
    indexed("export", tmp_path / "out")
    code, out, err = indexed("import", tmp_path / "out", "--index", "copy")
    assert (code, err) == (0, "")
    assert out.startswith("Imported 2 documents and 0 vectors into ")
    here = indexed("search", "green tea", "--json")
    assert here[1] == indexed("search", "green tea", "--json", "--index", "copy")[1]
    assert "notes/tea.md" in here[1]
    code, out, err = indexed("import", tmp_path / "out", "--index", "copy")
    assert (code, out) == (1, "")
    assert "has 2 documents" in err
    assert "--replace" in err
    assert indexed("import", tmp_path / "out", "--index", "copy", "--replace")[0] == 0


def test_both_tell_their_facts_as_json(indexed, tmp_path):
    out = json.loads(indexed("export", tmp_path / "out", "--json")[1])
    assert out["folder"] == str(tmp_path / "out")
    assert out["rows"]["documents"] == 2
    assert out["written"] == out["files"]
    back = json.loads(indexed("import", tmp_path / "out", "--index", "copy", "--json")[1])
    assert list(back) == ["database", "rows", "leftOut", "missing", "seconds"]
    assert back["rows"] == out["rows"]
    assert back["missing"] == back["leftOut"] == []


def test_some_documents_are_chosen_by_frontmatter(indexed, tmp_path):
    arguments = ("--where", "status = open", "--partition-by", "collection", "--no-vectors")
    assert "Exported 1 document to" in indexed("export", tmp_path / "out", *arguments)[1]
    assert [file.name for file in (tmp_path / "out" / "documents").iterdir()] == [
        "collection=notes"
    ]
    assert not (tmp_path / "out" / "embeddings").exists()


def test_that_nothing_matches_is_told(indexed, tmp_path):
    arguments = ("export", tmp_path / "out", "--where", "status = nowhere")
    code, out, err = indexed(*arguments)
    assert code == 0
    assert out.startswith("Exported 0 documents to")
    assert err == "No document matches: what was exported has none.\n"
    out, err = indexed(*arguments, "--json")[1:]
    assert json.loads(out)["rows"]["documents"] == 0
    assert err


def test_the_same_choice_in_another_order_is_the_same_export(indexed, tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "plan.md").write_text("# Plan\n")
    indexed("collection", "add", tmp_path / "work")
    tables = ("--tables", "documents,words")
    assert indexed("export", tmp_path / "out", "-c", "notes", "-c", "work", *tables)[0] == 0
    again = ("-c", "work", "-c", "notes", "-c", "work", "--tables", "words,documents")
    code, out, err = indexed("export", tmp_path / "out", *again)
    assert (code, err) == (0, "")
    assert ": 0 of " in out
    code, _, err = indexed("export", tmp_path / "out", "-c", "notes", "--no-vectors")
    assert code == 1
    assert "(collections notes, work; tables documents, words)" in err


def test_tables_are_named_with_commas(indexed, tmp_path):
    code, out, _ = indexed("export", tmp_path / "out", "--tables", "words, contexts")
    assert code == 0
    assert out.startswith("Exported the index to")
    assert sorted(entry.name for entry in (tmp_path / "out").iterdir()) == [
        "contexts",
        "manifest.json",
        "words",
    ]


def test_a_folder_that_is_not_on_this_machine_is_told(indexed, tmp_path):
    indexed("export", tmp_path / "out")
    (tmp_path / "notes").rename(tmp_path / "moved")
    code, _, err = indexed("import", tmp_path / "out", "--index", "copy")
    assert code == 0
    assert f"The folder of collection 'notes' is not on this machine: {tmp_path}/notes" in err


def test_an_update_command_is_left_out_and_told(indexed, tmp_path):
    indexed("collection", "update-cmd", "notes", "git pull")
    indexed("export", tmp_path / "out")
    err = indexed("import", tmp_path / "out", "--index", "copy")[2]
    assert "  run for 'notes': git pull" in err
    assert "update:" not in (tmp_path / "config" / "copy.yml").read_text()
    assert indexed("import", tmp_path / "out", "--index", "copy", "--replace", "--trust")[2] == ""
    assert "update: git pull" in (tmp_path / "config" / "copy.yml").read_text()


@pytest.mark.parametrize("approved", [False, True])
def test_trust_in_an_export_is_none_in_what_was_there_before(
    indexed, tmp_path, monkeypatch, approved
):
    indexed("collection", "update-cmd", "notes", "touch theirs")
    indexed("export", tmp_path / "out")
    project = tmp_path / "project"
    (project / ".qmd").mkdir(parents=True)
    (project / ".qmd/index.yml").write_text(
        "collections:\n  docs:\n    path: .\n    update: touch before\n"
    )
    monkeypatch.delenv("QMD_CONFIG_DIR")
    monkeypatch.delenv("INDEX_PATH")
    monkeypatch.chdir(project)
    if approved:
        assert indexed("trust", "--yes")[0] == 0
    assert indexed("import", tmp_path / "out", "--trust")[0] == 0
    assert "update: touch theirs" in (project / ".qmd/index.yml").read_text()
    indexed("update")
    ran = [(project / "before").exists(), (tmp_path / "notes/theirs").exists()]
    assert ran == [approved, approved]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["export"], "Missing argument"),
        (["export", "out", "--partition-by", "year"], "parted by collection, not by 'year'"),
        (["export", "out", "--tables", ", ,"], "--tables takes names"),
        (["export", "out", "--tables", "embeddings", "--no-vectors"], "Leave out one of the two"),
        (["export", "out", "--where", "status is open"], "The filter cannot be read"),
        (["export", "out", "-c", "wrok"], "Collection not found: wrok. Known: notes."),
        (["import"], "Missing argument"),
        (["import", "nowhere"], "is no export of qmd: there is no such folder"),
        (["import", "notes/tea.md"], "is no export of qmd: it is a file"),
        (["import", "notes"], "is no export of qmd: it has no manifest.json"),
    ],
)
def test_what_makes_no_sense_is_told(indexed, tmp_path, monkeypatch, arguments, problem):
    monkeypatch.chdir(tmp_path)
    code, out, err = indexed(*arguments)
    assert (code, out) == (1, "")
    assert problem in err
    assert not (tmp_path / "out").exists()
