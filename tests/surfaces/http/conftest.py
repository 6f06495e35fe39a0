"""HTTP servers of three notes, or of tools that wait."""

from __future__ import annotations

import pytest

from qmd.surfaces.tools.dispatch import Toolbox
from tests.library import Library
from tests.surfaces.service import Waiting, service


def filled(library):
    """The library with three notes, indexed."""
    library.write("tea.md", "# Green tea\n\nBrew it at 80 degrees.\nNever boil it.\n")
    library.write("deep/ünï code.md", "# Umlauts\n\nÜber den Tee.\n")
    library.write("pool.md", "# Pool\n\nSwim after tea.\n")
    library.update()
    return library


@pytest.fixture
def shelf(faked):
    """Three notes, and a model that is known."""
    return filled(faked)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server of three notes, for tests that change nothing."""
    library = filled(Library(tmp_path_factory.mktemp("shelf")))
    with service(Toolbox(library.engine)) as made:
        yield made
    library.engine.close()


@pytest.fixture
def waiting():
    """Tools that wait, and their server."""
    tools = Waiting()
    with service(tools) as made:
        yield tools, made
        tools.go_on.set()
