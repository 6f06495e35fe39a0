"""An index of its own for each test."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from hypothesis import Phase, settings

from qmd.settings.environment import Machine
from qmd.storage import file_lock
from qmd.storage.attachment import ENGINE, Attachment
from qmd.storage.cursor import Connection, Cursor, DatabaseError
from qmd.storage.database import Database
from qmd.storage.migrations import migrations
from qmd.surfaces.cli import run
from tests.library import FakeEmbedder, Library

# Time is no property of what is tested, and the machine may be busy.
settings.register_profile("qmd", deadline=None)
# For `make test`, which says the same each time; pytest alone tries new examples.
settings.register_profile("repeatable", deadline=None, database=None, derandomize=True)
# For `make oldest`: the same, but for `tests.library.examples`.
settings.register_profile("oldest", deadline=None, database=None, derandomize=True)
# For mutation tests: always the same examples, and no search for the smallest that fails.
settings.register_profile(
    "mutants",
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "qmd"))


LONGEST = (
    "cluster/test_ray.py",
    "evaluation/test_relevance.py",
    "cluster/test_corpora.py",
    "surfaces/cli/test_help_examples.py",
    "cluster/test_sql.py",
    "ranking/test_sidecar.py",
    "ranking/test_vector_sidecar.py",
    "ranking/test_vector_sidecar_making.py",
    "ranking/test_vector_sidecars_in_use.py",
    "ranking/test_holder.py",
    "cluster/test_equal_answers.py",
    "test_readme.py",
    "test_partly_embedded.py",
    "test_earlier_indexes.py",
    "ingest/test_compiled.py",
    "ranking/test_mapped_postings.py",
    "ranking/test_forged_postings.py",
    "storage/test_compaction.py",
    "storage/test_keyword_values.py",
    "storage/test_long_texts.py",
    "surfaces/cli/test_bad_input.py",
    "surfaces/cli/test_sql_command.py",
    "surfaces/screens/test_every_command.py",
    "ingest/test_tables.py",
    "ranking/hybrid/test_fallback.py",
)
"""Files that take longest. At the end of a run, all other workers would wait for one of them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest; see `TESTS` in the Makefile."""
    items.sort(key=lambda item: not item.path.as_posix().endswith(LONGEST))


@pytest.fixture(autouse=True)
def _included_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model of an index is the included one, whatever is installed besides."""
    monkeypatch.setattr("qmd.models.e5.is_installed", lambda: False)


@pytest.fixture(scope="session", autouse=True)
def _new_indexes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A new index of this process is a copy of one, since to make its tables takes 14 ms.

    They are made where a test changes how an index is made, and in processes that tests start.
    """
    made = tmp_path_factory.mktemp("new") / "index.duckdb"
    database = Database(made)
    database.write(lambda cursor: None)
    database.close()
    transaction, engine, shipped = Database._transaction, dict(ENGINE), migrations()

    def from_copy(self: Database, work: Callable[[Cursor], Any], **options: bool) -> Any:
        is_usual = self._schema is None and engine == ENGINE and migrations() == shipped
        if is_usual and os.access(self.path.parent, os.W_OK) and not os.path.lexists(self.path):
            shutil.copyfile(made, self.path)
        return transaction(self, work, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "_transaction", from_copy)
        yield


HAS_NO_FILE = "select count(*) = 0 from duckdb_databases() where path is not null"
SETTINGS = "select name, value from duckdb_settings() where name <> 'temp_directory' order by name"


@pytest.fixture(scope="session", autouse=True)
def _engines_again() -> Iterator[None]:
    """An engine that an index of this process has closed serves the next one: to start takes 20 ms.

    One that was left after an error, with a file or with other settings, or that has spilled to
    disk, is discarded.
    """
    left: dict[object, list[Connection]] = {}
    usual: dict[object, object] = {}
    kinds: WeakKeyDictionary[Attachment, tuple[object, ...]] = WeakKeyDictionary()
    drop, engine = Attachment.drop, Attachment._engine

    def kept(attachment: Attachment) -> None:
        root, kind = attachment._root, kinds.get(attachment, (None,))
        is_own = kind[0] == os.getpid() and sys.exc_info()[0] is None
        if root is not None and is_own and not attachment._spill.exists():
            attachment._set_limit(attachment._memory_limit)
            with suppress(DatabaseError):
                is_as_new = root.execute(SETTINGS).fetchall() == usual[kind]
                if is_as_new and root.execute(HAS_NO_FILE).fetchall() == [(True,)]:
                    left.setdefault(kind, []).append(root)
                    attachment._root = None
        drop(attachment)

    def again(attachment: Attachment) -> Connection:
        if attachment._root is None:
            kind = os.getpid(), str(ENGINE), attachment._threads, attachment._memory_limit
            kinds[attachment] = kind
            with suppress(DatabaseError, LookupError):
                root = left[kind].pop()
                root.execute("set global temp_directory = $1", [str(attachment._spill)])
                attachment._root = root
        is_new = attachment._root is None
        root = engine(attachment)
        if is_new and kinds[attachment] not in usual:
            usual[kinds[attachment]] = root.execute(SETTINGS).fetchall()
        return root

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Attachment, "drop", kept)
        patch.setattr(Attachment, "_engine", again)
        yield
    for each in chain.from_iterable(left.values()):
        each.close()


PAUSE = file_lock.WRITER_PAUSE_SECONDS


@pytest.fixture(scope="session", autouse=True)
def _no_pauses() -> Iterator[None]:
    """A writer of this process that writes again does not pause for others to come in."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_lock, "WRITER_PAUSE_SECONDS", 0.0)
        yield


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer pauses between two writes, as it does elsewhere, so that others come in."""
    monkeypatch.setattr(file_lock, "WRITER_PAUSE_SECONDS", PAUSE)


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


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Library]]:
    """Make libraries that all tests of a module look at, and none of them changes."""
    made: list[Library] = []

    def make() -> Library:
        made.append(Library(tmp_path_factory.mktemp("library")))
        return made[-1]

    yield make
    for each in made:
        each.engine.close()


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
