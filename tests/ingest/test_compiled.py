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
from tools.compiling import FOLDERS, are_up_to_date, put

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


@pytest.mark.skipif(not shutil.which("c++"), reason="there is no compiler")
def test_each_module_was_compiled():
    modules = [file for folder in FOLDERS for file in sorted((ROOT / folder).glob("*.pyx"))]
    assert len(modules) == 11
    for file in modules:
        name = ".".join([*file.parent.relative_to(ROOT).parts, file.stem])
        found = Path(import_module(name).__file__)
        assert found.parent == file.parent
        assert found.name.endswith(tuple(EXTENSION_SUFFIXES)), name


@pytest.fixture
def checkout(tmp_path):
    """A checkout with a short module in each folder: to compile all takes twenty seconds."""
    for module in ("ingest/compiled/merged.pyx", "ranking/compiled/code_products.pyx"):
        (tmp_path / "checkout/qmd" / module).parent.mkdir(parents=True)
        shutil.copy(ROOT / "qmd" / module, tmp_path / "checkout/qmd" / module)
    return tmp_path / "checkout"


def compiled(root, into, **variables):
    """Compile into a folder in a process of its own, without the optimization that takes long."""
    program = (
        "import sys; from pathlib import Path; from tools import compiling;"
        "compiling.ARGUMENTS = [each.replace('O2', 'O0') for each in compiling.ARGUMENTS];"
        "print(*compiling.compiled(Path(), Path(sys.argv[1])), sep='\\n')"
    )
    command = [sys.executable, "-W", "ignore", "-c", program, str(into)]
    environ = os.environ | {"PYTHONPATH": str(ROOT)} | variables
    run = subprocess.run(command, cwd=root, env=environ, capture_output=True, text=True, check=True)
    return [Path(line) for line in run.stdout.splitlines() if line.endswith(".so")]


@pytest.mark.skipif(not shutil.which("c++"), reason="there is no compiler")
def test_it_is_put_where_it_belongs(checkout, tmp_path):
    into = tmp_path / "made"
    made = compiled(checkout, into)
    ingest, ranking = (into / f"qmd/{room}/compiled" for room in ("ingest", "ranking"))
    assert [file.parent for file in made] == [ingest, ranking]
    assert [file.name.partition(".")[0] for file in made] == ["merged", "code_products"]
    assert all(file.exists() for file in made)


def test_without_a_compiler_there_is_none_of_it(checkout, tmp_path):
    assert compiled(checkout, tmp_path, CC="/nowhere/cc", CXX="/nowhere/c++") == []
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


def test_what_is_newer_than_its_sources_is_up_to_date(checkout):
    (checkout / "tools").mkdir()
    sources = [checkout / "tools/compiling.py", *checkout.rglob("*.pyx")]
    made = [file.with_suffix(EXTENSION_SUFFIXES[0]) for file in checkout.rglob("*.pyx")]
    sources[0].touch()
    assert not are_up_to_date(checkout)
    for file in made:
        file.touch()
    for file in sources:
        os.utime(file, (1, 1))
    assert are_up_to_date(checkout)
    for file in sources:
        os.utime(file, (2**31, 2**31))
        assert not are_up_to_date(checkout)
        os.utime(file, (1, 1))
    made[1].unlink()
    assert not are_up_to_date(checkout)


def test_what_is_cut_off_while_it_is_copied_is_not_up_to_date(tmp_path, monkeypatch):
    def fails(file, to):
        Path(to).write_text("ha")
        raise KeyboardInterrupt

    made = tmp_path / f"words{EXTENSION_SUFFIXES[0]}"
    made.write_text("half")
    folder = tmp_path / "compiled"
    folder.mkdir()
    monkeypatch.setattr(shutil, "copy", fails)
    with pytest.raises(KeyboardInterrupt):
        put([made], folder)
    assert not (folder / made.name).exists()


def test_doctor_tells_whether_it_can_be_used(monkeypatch):
    [found] = [each for each in _installed() if each.check == "compiled"]
    assert found.status == ("ok" if inversion.Words else "warning")
    monkeypatch.setitem(sys.modules, "qmd.ingest.compiled.words", None)
    [found] = [each for each in _installed() if each.check == "compiled"]
    assert found.status == "warning"
    assert "C++ compiler" in found.mend
