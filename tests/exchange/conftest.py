"""Indexes to export, and indexes to import into."""

from __future__ import annotations

import shutil

import anyio
import pytest

from qmd.operations.exchange import run_export
from qmd.operations.update import run_update
from tests.exchange.indexes import TEA, empty, filled, submitted
from tests.library import Library


@pytest.fixture
def full(library):
    filled(library)
    submitted(library)
    return library


@pytest.fixture
def one(library):
    library.write("tea.md", TEA)
    library.update()
    return library


@pytest.fixture
def target(tmp_path):
    made = []

    def make(name="target", machine=None):
        made.append(empty(tmp_path / name, machine))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


def exported(library, folder):
    """Export an index, and make another one that the export is to replace."""
    library.write("tea.md", TEA)
    library.update()
    run_export(library.engine, folder / "out")
    (folder / "other").mkdir()
    other = Library(folder / "other")
    other.configure("recipes")
    other.write("cake.md", "# Cake\n\nFlour and eggs.")
    other.write("pie.md", "# Pie\n\nApples.", collection="recipes")
    anyio.run(run_update, other.engine)
    return other


@pytest.fixture
def two(library, tmp_path):
    """An export of one index, and another index that it is to replace."""
    other = exported(library, tmp_path)
    yield other
    other.engine.close()


@pytest.fixture(scope="module")
def kept(libraries):
    """The same for all tests of a module: each of them has its import refused."""
    library = libraries()
    other = exported(library, library.folder)
    yield other
    other.engine.close()


@pytest.fixture
def old(kept, tmp_path):
    """The same index, with an export that the test may change."""
    shutil.copytree(kept.folder.with_name("out"), tmp_path / "out")
    return kept
