"""What is compiled while qmd is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from qmd.ingest import (
    front_matters,
    inversion,
    link_shares,
    listing,
    merging,
    outlines,
    searched_text,
    sketches,
)
from qmd.operations.doctor import _installed
from qmd.ranking import mapped_postings, vector_codes
from qmd.storage.statements import data_folder
from tools.compiling import put

ROOT = data_folder("sql").parent


@pytest.mark.skipif(not shutil.which("c++"), reason="there is no compiler")
def test_what_was_compiled_is_used():
    assert inversion.Words is not None
    assert outlines._compiled is not None
    assert sketches._compiled is not None
    assert searched_text._kinds_of_data is not None
    assert front_matters._compiled is not None
    assert link_shares._compiled is not None
    assert merging._compiled is not None
    assert listing._compiled is not None
    assert vector_codes.is_compiled()
    assert import_module("qmd.ranking.compiled.line_words")
    assert mapped_postings.CompiledPostings is not None


def compiled(into, **variables):
    """Compile into a folder in a process of its own, without the optimization that takes long."""
    program = (
        "import sys; from pathlib import Path; from tools import compiling;"
        "compiling.ARGUMENTS = [each.replace('O2', 'O0') for each in compiling.ARGUMENTS];"
        "print(*compiling.compiled(Path(), Path(sys.argv[1])), sep='\\n')"
    )
    command = [sys.executable, "-W", "ignore", "-c", program, str(into)]
    run = subprocess.run(
        command, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True, check=True
    )
    return [Path(line) for line in run.stdout.splitlines() if line.endswith(".so")]


@pytest.mark.skipif(not shutil.which("c++"), reason="there is no compiler")
def test_it_is_put_where_it_belongs(tmp_path):
    made = compiled(tmp_path)
    ingest, ranking = (tmp_path / f"qmd/{room}/compiled" for room in ("ingest", "ranking"))
    assert [file.parent for file in made] == [ingest] * 8 + [ranking] * 3
    assert [file.name.partition(".")[0] for file in made] == [
        *("front_matters", "link_lists", "listing", "machine_data"),
        *("merged", "outlines", "sketches", "words"),
        *("code_products", "line_words", "posting_search"),
    ]
    assert all(file.exists() for file in made)


def test_without_a_compiler_there_is_none_of_it(tmp_path):
    assert compiled(tmp_path, CC="/nowhere/cc", CXX="/nowhere/c++") == []
    assert list(tmp_path.rglob("*.so")) == []


def test_what_was_compiled_before_does_not_stay(tmp_path):
    folder, new = tmp_path / "compiled", tmp_path / "new"
    folder.mkdir()
    new.mkdir()
    before = [f"words{EXTENSION_SUFFIXES[0]}", "words.cpython-30-other.so", "words.pyx"]
    for name in before:
        (folder / name).write_text("old")
    put([], folder)
    assert sorted(file.name for file in folder.iterdir()) == sorted(before[1:])
    made = new / before[0]
    made.write_text("new")
    put([made], folder)
    assert (folder / before[0]).read_text() == "new"


def test_doctor_tells_whether_it_can_be_used(monkeypatch):
    [found] = [each for each in _installed() if each.check == "compiled"]
    assert found.status == ("ok" if inversion.Words else "warning")
    monkeypatch.setitem(sys.modules, "qmd.ingest.compiled.words", None)
    [found] = [each for each in _installed() if each.check == "compiled"]
    assert found.status == "warning"
    assert "C++ compiler" in found.mend
