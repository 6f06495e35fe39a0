"""A knowledge base of some notes, and a user without settings."""

from __future__ import annotations

import pytest

import qmd

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
