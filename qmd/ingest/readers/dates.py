"""Dates of file formats as ISO 8601."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_W3C = re.compile(
    r"(\d{4})-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?\s*(Z|[+-]\d\d:?\d\d)?)?)?"
)
_PDF = re.compile(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:(Z)|([+-]\d\d)'?(\d\d)?)?")


def iso(value: str | None) -> str | None:
    """Give a date of XML or HTML, or of a mail, as ISO 8601; None if it is none."""
    text = (value or "").strip()[:100]
    if text.startswith("1601-01-01"):  # no date, in Windows
        return None
    if found := _W3C.match(text):
        kept = found[0].replace(" ", "T")
        return kept if _is_date(kept if len(kept) > 7 else f"{kept}-01") else None
    if re.fullmatch(r"\d{4}", text):
        return text
    return mailed(text)


def mailed(value: str) -> str | None:
    """Give a date in the form of mail (RFC 5322) as ISO 8601; None if it is none."""
    try:
        return parsedate_to_datetime(value[:200]).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def of_pdf(value: str | None) -> str | None:
    """Give a date in the form of PDF (`D:20240517093100+02'00'`) as ISO 8601."""
    found = _PDF.match((value or "").strip()[:40])
    if found is None:
        return None
    year, month, day, hour, minute, second, utc, hours, minutes = found.groups()
    text = f"{year}-{month or '01'}-{day or '01'}"
    if hour:
        text += f"T{hour}:{minute or '00'}:{second or '00'}"
        text += "Z" if utc else f"{hours}:{minutes or '00'}" if hours else ""
    return text if _is_date(text) else None


def of_seconds(value: str | None) -> str | None:
    """Give seconds since 1970 as ISO 8601."""
    try:
        return datetime.fromtimestamp(int(value or ""), UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None


def clock(seconds: float) -> str:
    """Give a time within a recording as hh:mm:ss."""
    whole = max(0, int(seconds))
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"


def _is_date(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
