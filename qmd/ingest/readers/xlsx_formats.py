"""Number formats of workbooks: days, times and plain numbers."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

_DAYS = frozenset((*range(14, 18), 22, *range(27, 37), *range(50, 59)))
_TIMES = frozenset((18, 19, 20, 21, 45, 46, 47))
_QUOTED = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.I)
_EXACT = 16  # characters: no more than 15 digits
_LAST_DAY = 2_958_466  # 9999-12-31


class Formats:
    """Formats of a workbook's cells.

    Source:
        ECMA-376 part 1, §18.8.30 (ids that need no declaration), §18.17.4 (dates as numbers).
    """

    def __init__(self, workbook: Any, styles: Any) -> None:
        properties = workbook.find("{*}workbookPr")
        from_1904 = properties is not None and properties.get("date1904") in ("1", "true")
        self._start = datetime(1904, 1, 1) if from_1904 else datetime(1899, 12, 30)
        self._kinds: list[str] = []
        if styles is None:
            return
        written = {
            each.get("numFmtId"): _QUOTED.sub("", each.get("formatCode") or "").lower()
            for each in styles.iterfind("{*}numFmts/{*}numFmt")
        }
        for each in styles.iterfind("{*}cellXfs/{*}xf"):
            number = each.get("numFmtId") or "0"
            self._kinds.append(_kind(int(number) if number.isdigit() else 0, written.get(number)))

    def shown(self, value: str, style: str) -> str:
        """Give a number as a person reads it: a date in ISO 8601, or with 15 digits."""
        index = int(style) if style.isascii() and style.isdigit() and len(style) < 8 else 0
        kind = self._kinds[index] if index < len(self._kinds) else ""
        if not kind and len(value) <= _EXACT and value.replace(".", "", 1).isdigit():
            return value
        try:
            number = float(value)
        except ValueError:
            return value
        if kind and 0 <= number < _LAST_DAY:
            moment = self._start + timedelta(seconds=round(number * 86400))
            if kind == "time" and number < 1:
                return moment.strftime("%H:%M:%S")
            return moment.date().isoformat() if number.is_integer() else moment.isoformat(" ")
        return f"{number:.15g}"


def _kind(number: int, written: str | None) -> str:
    if written is None:
        return "day" if number in _DAYS else "time" if number in _TIMES else ""
    if "y" in written or "d" in written:
        return "day"
    return "time" if "h" in written or "s" in written else "day" if "m" in written else ""
