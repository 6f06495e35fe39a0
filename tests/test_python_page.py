"""What docs/python.md and the examples show works."""

from __future__ import annotations

import ast
import asyncio
import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import qmd
from qmd.surfaces.python import KnowledgeBase

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "python.md"

LONG = 120
"""Seconds after which something that has to happen is taken for stuck."""


@pytest.fixture
def home(tmp_path, cache, monkeypatch):
    """A user with some notes, in an empty folder."""
    for name in ("INDEX_PATH", "QMD_CONFIG_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copytree(ROOT / "examples" / "notes", tmp_path / "notes")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def blocks() -> list[str]:
    """The pieces of Python on the page, each on the lines that it has there."""
    text = PAGE.read_text(encoding="utf-8")
    return [
        "\n" * text[: found.start(1)].count("\n") + found[1]
        for found in re.finditer(r"^```python\n(.*?)^```", text, re.M | re.S)
    ]


def test_all_that_the_page_shows_runs(home, fake, monkeypatch, capsys):
    (home / "fake.gguf").write_bytes(b"GGUF")
    monkeypatch.setenv("QMD_EMBED_MODEL", str(home / "fake.gguf"))
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks():
        code = compile(block, str(PAGE), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        made = eval(code, names)
        if inspect.iscoroutine(made):
            asyncio.run(asyncio.wait_for(made, LONG))
    printed = capsys.readouterr().out
    assert "notes/meetings/2024-10-03-retention-roundtable.md" in printed
    assert (home / "notes.html").exists()
    names["copy"].close()


def test_the_page_shows_every_verb_and_every_error():
    text = PAGE.read_text(encoding="utf-8")
    verbs = [name for name in vars(KnowledgeBase) if not name.startswith("_")]
    missing = [name for name in verbs if not re.search(rf"\b(kb|copy)\.{name}\b|`{name}\(", text)]
    assert missing == ["path"]
    errors = [name for name in qmd.__all__ if isinstance(getattr(qmd, name), type)]
    errors = [name for name in errors if issubclass(getattr(qmd, name), qmd.QmdError)]
    assert [name for name in errors if name not in text] == ["IndexTooNew"]


def run(example: str, *arguments: object) -> str:
    """What an example prints."""
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / example, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=LONG,
        env={**os.environ, "PYTHONWARNINGS": "error", "PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_example_that_searches_prints_what_it_finds(home):
    printed = run("search_notes.py", home / "notes", "staff", "turnover")
    assert "50 documents" in printed
    assert "Retention roundtable  (notes/meetings/2024-10-03-retention-roundtable.md" in printed


def test_the_example_that_analyses_prints_tables_and_draws_a_map(home, tiny_embedder, monkeypatch):
    pytest.importorskip("polars")
    monkeypatch.setenv("QMD_EMBED_MODEL", str(tiny_embedder))
    with qmd.connect("kb.duckdb", gpu=False) as kb:
        kb.add_collection(home / "notes" / "meetings")
    printed = run("analyse_notes.py", "kb.duckdb")
    assert "2024 ┆ meetings" in printed
    assert "Run 'qmd embed' first" in printed
    with qmd.connect("kb.duckdb", gpu=False) as kb:
        kb.embed()
    assert "qmd-map.html shows" in run("analyse_notes.py", "kb.duckdb")
    assert (home / "qmd-map.html").exists()


def test_the_agent_reads_what_it_has_written_before(home, tiny_embedder, monkeypatch):
    monkeypatch.setenv("QMD_EMBED_MODEL", str(tiny_embedder))
    printed = run("agent.py", "retention turnover weekend duty", "retention turnover weekend duty")
    first, second = printed.split("# retention turnover weekend duty\n")[1:]
    assert "2024-10-03-retention-roundtable.md" in first
    assert "memory/" not in first
    assert "(memory/0000.md:" in second
