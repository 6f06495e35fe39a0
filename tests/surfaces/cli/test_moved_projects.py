"""A project that was copied or moved is indexed where it is, not where it was."""

from __future__ import annotations

import json
import shutil

import pytest


@pytest.fixture
def project(qmd, notes, monkeypatch):
    """Notes with an index of their own, `mask: **/*.md`."""
    for name in ("QMD_CONFIG_DIR", "INDEX_PATH"):
        monkeypatch.delenv(name)
    monkeypatch.chdir(notes)
    assert qmd("init")[0] == 0
    assert qmd("collection", "add", ".", "--name", "notes")[0] == 0
    return notes


def found(qmd, *query):
    return {each["file"] for each in json.loads(qmd("search", *query, "--json")[1])}


def test_a_copy_of_a_project_follows_its_own_files(qmd, project, monkeypatch):
    copy = project.with_name("copy")
    shutil.copytree(project, copy)
    (copy / "mate.md").write_text("# Mate\n\nOnly in the copy.\n")
    (project / "cocoa.md").write_text("# Cocoa\n\nOnly in the first.\n")
    monkeypatch.chdir(copy)
    assert found(qmd, "tea") == {"notes/tea.md", "notes/work/plan.md"}
    code, out, _ = qmd("update")
    assert code == 0
    assert "1 new" in out
    assert found(qmd, "copy") == {"notes/mate.md"}
    assert found(qmd, "cocoa") == set()
    assert str(copy) in qmd("collection", "show", "notes")[1]
    monkeypatch.chdir(project)
    assert qmd("update")[0] == 0
    assert found(qmd, "cocoa") == {"notes/cocoa.md"}
    assert found(qmd, "mate") == set()


def test_a_project_that_was_moved_goes_on(qmd, project, monkeypatch):
    new = project.with_name("new")
    project.rename(new)
    monkeypatch.chdir(new)
    code, out, err = qmd("update")
    assert (code, err) == (0, "")
    assert "0 new, 0 updated, 3 unchanged" in out
    (new / "mate.md").write_text("# Mate\n\nAdded later.\n")
    assert "1 new" in qmd("update")[1]
    assert found(qmd, "mate") == {"notes/mate.md"}
