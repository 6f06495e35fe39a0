"""Facts about vectors that do not hold are told in full."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.embedding.embedding")
