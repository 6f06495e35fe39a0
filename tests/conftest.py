"""An index of its own for each test."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from qmd.settings.environment import Machine
from qmd.surfaces.cli import run
from tests.library import FakeEmbedder, Library

# Time is no property of what is tested, and the machine may be busy.
settings.register_profile("qmd", deadline=None)
# For `make test`, which says the same each time; pytest alone tries new examples.
settings.register_profile("repeatable", deadline=None, database=None, derandomize=True)
# For mutation tests: always the same examples, and no search for the smallest that fails.
settings.register_profile(
    "mutants",
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "qmd"))


@pytest.fixture(autouse=True)
def _included_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model of an index is the included one, whatever is installed besides."""
    monkeypatch.setattr("qmd.models.e5.is_installed", lambda: False)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(tmp_path)
    yield made
    made.engine.close()


@pytest.fixture
def meaning(tmp_path: Path, tiny_embedder: Path) -> Iterator[Library]:
    """A library whose model is the tiny one, in which words that mean the same are near."""
    made = Library(tmp_path, Machine({"embed": str(tiny_embedder)}, hub=tmp_path / "hub"))
    yield made
    made.engine.close()


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeEmbedder:
    """The embedder of every engine."""
    made = FakeEmbedder()
    monkeypatch.setattr("qmd.models.selection.embedder", lambda model, machine, *, limit: made)
    return made


@pytest.fixture
def faked(tmp_path: Path, fake: FakeEmbedder) -> Iterator[Library]:
    """A library whose model is `fake`."""
    file = tmp_path / "fake.gguf"
    file.write_bytes(b"GGUF")
    made = Library(tmp_path, Machine({"embed": str(file)}, hub=tmp_path / "hub"))
    yield made
    made.engine.close()


@pytest.fixture
def press_ctrl_c() -> Iterator[Callable[[], None]]:
    """Interrupts this process, even if it was started where that is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield lambda: os.kill(os.getpid(), signal.SIGINT)
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def new_library(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Library]:
    return lambda: Library(tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where is kept what was found out about this machine: once for all tests."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def qmd(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Runs a command: its exit code, what it printed, and what it told on stderr."""
    monkeypatch.setenv("QMD_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("INDEX_PATH", str(tmp_path / "index.duckdb"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setenv("COLUMNS", "100")

    def command(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return command


@pytest.fixture(scope="session")
def tiny_embedder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GGUF file: see tests/models/tiny.py."""
    return _tiny("embedder", tmp_path_factory)


@pytest.fixture(scope="session")
def tiny_ranker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _tiny("ranker", tmp_path_factory)


@pytest.fixture(scope="session")
def tiny_judge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _tiny("judge", tmp_path_factory)


@pytest.fixture(scope="session")
def tiny_generator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _tiny("generator", tmp_path_factory)


def _tiny(name: str, folders: pytest.TempPathFactory) -> Path:
    from tests.models import tiny

    path = folders.mktemp("models") / f"tiny-{name}.gguf"
    getattr(tiny, name)(path)
    return path
