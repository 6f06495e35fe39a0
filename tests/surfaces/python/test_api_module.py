"""What `import qmd` gives, and which index is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

import qmd
from tests.surfaces.python.programs import python

# -- the module ----------------------------------------------------------------


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


# -- which index ---------------------------------------------------------------


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
