"""An index of its own for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from qmd.surface.cli import run
from tests.library import Library

# Time is no property of what is tested, and the machine may be busy.
settings.register_profile("qmd", deadline=None)
settings.load_profile("qmd")


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(tmp_path)
    yield made
    made.engine.close()


@pytest.fixture
def new_library(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Library]:
    return lambda: Library(tmp_path_factory.mktemp("library"))


@pytest.fixture
def qmd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Runs a command: its exit code, what it printed, and what it told on stderr."""
    monkeypatch.setenv("QMD_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("INDEX_PATH", str(tmp_path / "index.duckdb"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "100")

    def command(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return command
