"""The experience records of a library."""

from __future__ import annotations

import pytest

from qmd.operations.experiences import Experiences
from tests.library import Library

pytest.register_assert_rewrite("tests.experiences.submitting")


@pytest.fixture
def records(library: Library) -> Experiences:
    return Experiences(library.engine)
