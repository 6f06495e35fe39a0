"""Libraries of two notes to ask in SQL."""

from __future__ import annotations

from functools import partial

import pytest

from tests.analytics.sandbox.querying import fill, rows_of
from tests.library import Library


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A library of two notes, for tests that change nothing."""
    made = Library(tmp_path_factory.mktemp("shared"))
    fill(made)
    yield made
    made.engine.close()


@pytest.fixture
def filled(library):
    """The same, for one test."""
    fill(library)
    return library


@pytest.fixture
def answered(shared):
    """Gives the rows of a query as text."""
    return partial(rows_of, shared)
