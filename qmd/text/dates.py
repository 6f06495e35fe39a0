"""Parser of dates in options: `2025-03`, `today`, `7d`."""

from __future__ import annotations

import re
import sys
from datetime import date, datetime, timedelta

from qmd.text.written_dates import parsed_date

DAYS = "2025-03-14, 2025-03, 2025, today, yesterday, 7d or 2w"
"""Forms of a date."""

HALF_LIFE = "{} takes days above 0, not {}."
"""Message for an invalid half-life, after the name of the option."""

_MONTH = re.compile(r"(?P<year>\d{4})(?:[-/](?P<month>\d{1,2}))?")
_AGO = re.compile(r"(?P<count>\d{1,4})(?P<unit>[dw])")


def named_day(value: object, *, today: date | None = None) -> datetime | None:
    """Return the start of the day, month or year that a value names, or None.

    Args:
        value: a date or time; a month or a year stands for its first day, `7d` and `2w` for the day
            that is so many days or weeks past.
        today: the day that it is, if that is not to be asked of the clock.
    """
    if isinstance(value, str):
        text = value.strip().lower()
        if month := _MONTH.fullmatch(text):
            try:
                return datetime(int(month["year"]), int(month["month"] or 1), 1)
            except ValueError:
                return None
        ago = _AGO.fullmatch({"today": "0d", "yesterday": "1d"}.get(text, text))
        if ago:
            days = int(ago["count"]) * (7 if ago["unit"] == "w" else 1)
            day = (today or date.today()) - timedelta(days)
            return datetime(day.year, day.month, day.day)
    return parsed_date(value)


def is_half_life(days: float) -> bool:
    """Check that a number of days can be the half-life of recency."""
    return 0 < days <= sys.float_info.max
