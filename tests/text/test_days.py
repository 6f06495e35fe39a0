"""Days as people name them."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from qmd.text.dates import named_day


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2025-03-14", (2025, 3, 14)),
        ("2025/03/14", (2025, 3, 14)),
        ("2025-03", (2025, 3, 1)),
        ("2025-3", (2025, 3, 1)),
        ("2025", (2025, 1, 1)),
        (" Today ", (2024, 3, 1)),
        ("yesterday", (2024, 2, 29)),
        ("7d", (2024, 2, 23)),
        ("2W", (2024, 2, 16)),
        ("0d", (2024, 3, 1)),
    ],
)
def test_a_day_is_named_in_several_ways(text, day):
    assert named_day(text, today=date(2024, 3, 1)) == datetime(*day)


@pytest.mark.parametrize(
    "text", ["", "soon", "2025-13", "0000", "25", "d", "7", "7m", "-7d", "1e9d"]
)
def test_what_names_no_day_is_none(text):
    assert named_day(text, today=date(2024, 3, 1)) is None


def test_a_day_long_ago_is_one():
    assert named_day("9999w", today=date(2024, 3, 1)) < datetime(1900, 1, 1)
