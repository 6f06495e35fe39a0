"""Dates as people write them: `May 17, 2024`, `17.05.2024`, `2024-05-17 10:30`."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone

from qmd.patterns import pattern

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_TIME = (
    r"(?:(?:[ ,t]|at)+(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d{1,9})?)?"
    r"(?: ?(?P<half>[ap])\.?m\.?)?(?: ?(?P<zone>z|utc|gmt|[+-]\d\d:?\d\d))?(?: \([a-z ]{1,40}\))?)?"
)
_FORMS = [
    pattern(form + _TIME, re.ASCII)
    for form in (
        rf"{_YEAR}[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}})",
        rf"{_YEAR}[-/](?P<month>\d\d)",
        rf"{_MONTH} {_DAY},? {_YEAR}",
        rf"{_DAY}[ -](?:of )?{_MONTH},?[ -]{_YEAR}",
        rf"{_YEAR}[ -]{_MONTH}[ -]{_DAY}",
        rf"{_MONTH},? {_YEAR}",
        rf"(?P<day>\d{{1,2}})\. ?(?P<month>\d{{1,2}})\. ?{_YEAR}",
        rf"(?P<one>\d{{1,2}})[/-](?P<two>\d{{1,2}})[/-]{_YEAR}",
        rf"{_YEAR} ?[年년] ?(?P<month>\d{{1,2}}) ?[月월] ?(?P<day>\d{{1,2}}) ?[日일]",
        rf"{_MONTH} {_DAY} (?P<hours>\d\d):(?P<minutes>\d\d)(?::(?P<seconds>\d\d))?"
        rf"(?: utc| gmt)? {_YEAR}(?: (?P<offset>[+-]\d{{4}}))?",  # of `date` and Git
        r"(?P<year>(?:19|20)\d\d)",
        r"(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?P<day>\d\d)"  # with the time: 202405171030
        r"(?P<hours>\d\d)(?P<minutes>\d\d)(?P<seconds>\d\d)?",
    )
]
_WEEKDAY = pattern(r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[.,]? ")
_ORG_WEEKDAY = pattern(r"(?<=\d) (?:mon|tue|wed|thu|fri|sat|sun)[a-z]*(?= |$)")
_COUNTED = pattern(r"1[0-8]\d{8}(?:\d{3})?", re.ASCII)
"""Seconds or milliseconds since 1970, from 2001 to 2030; beyond, they could be written dates."""

_LENGTHS = (4, 8, 10, 12, 13, 14)
"""Digits of numbers that are dates."""

_LONGEST = 100
"""Characters of a date."""


def parsed_date(value: object) -> datetime | None:
    """Parse a date or time to UTC without a zone; None if it is invalid.

    Args:
        value: a date, or a text in ISO 8601 or in another form in which its day cannot be taken
            for its month. A month or a year stands for its first day; YAML takes 20250314 for a
            number. One of 10 or 13 digits counts seconds or milliseconds from 1970 on, one of 12
            or 14 is a day with its time. Of a list, the first date in it.
    """
    if isinstance(value, list):
        return next((found for item in value[:100] if (found := _single(item))), None)
    return _single(value)


def _single(value: object) -> datetime | None:
    if isinstance(value, datetime):
        moment: datetime | None = value
    elif isinstance(value, date):
        moment = datetime(value.year, value.month, value.day)
    elif isinstance(value, str) or (type(value) is int and len(str(value)) in _LENGTHS):
        moment = _of_text(str(value).strip())
    else:
        return None
    try:
        return moment.astimezone(UTC).replace(tzinfo=None) if moment and moment.tzinfo else moment
    except OverflowError:
        return None


def _of_text(text: str) -> datetime | None:
    if _COUNTED.fullmatch(text):
        return datetime(1970, 1, 1) + timedelta(milliseconds=int(text.ljust(13, "0")))
    try:
        if len(text) != 4 and not (len(text) > 8 and text.isdecimal()):
            return datetime.fromisoformat(text.replace("/", "-"))
    except ValueError:
        pass  # another form
    if len(text) > _LONGEST:
        return None
    text = text.partition("→")[0]  # of a range, its beginning
    text = " ".join(text.strip("[]<>\"' ").lower().split())
    return _in_forms(text) or _in_other_language(text)


def _in_other_language(text: str) -> datetime | None:
    from qmd.text import month_names  # few dates need it

    translated = month_names.in_english(text)
    return _in_forms(translated) if translated else None


def _in_forms(text: str) -> datetime | None:
    text = _ORG_WEEKDAY.sub("", _WEEKDAY.sub("", text, count=1), count=1)
    for form in _FORMS:
        if found := form.fullmatch(text):
            return _built(found.groupdict())
    return None


def _built(parts: dict[str, str | None]) -> datetime | None:
    """Build a moment from the parts of a date; None if there is no such day."""
    month, day = int(parts.get("month") or 1), int(parts.get("day") or 1)
    if name := parts.get("name"):
        month = _MONTHS.index(name[:3]) + 1
    elif parts.get("one"):
        one, two = int(parts["one"] or 0), int(parts["two"] or 0)
        if one != two and max(one, two) <= 12:
            return None  # either may be the month
        month, day = (two, one) if one > 12 else (one, two)
    hour = int(parts.get("hour") or parts.get("hours") or 0)
    if half := parts.get("half"):
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    try:
        return datetime(
            int(parts["year"] or 0),
            month,
            day,
            hour,
            int(parts.get("minute") or parts.get("minutes") or 0),
            int(parts.get("second") or parts.get("seconds") or 0),
            tzinfo=_zone(parts.get("zone") or parts.get("offset")),
        )
    except ValueError:
        return None


def _zone(text: str | None) -> timezone | None:
    if text is None:
        return None
    if text[0] not in "+-":
        return UTC
    shift = timedelta(hours=int(text[1:3]), minutes=int(text[-2:]))
    return timezone(-shift if text[0] == "-" else shift)
