"""Dates of a document: of its metadata, name, file and text, in the order of time."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

from qmd.named_tuple import NamedTuple
from qmd.surfaces.page.address import document_url
from qmd.text import markdown
from qmd.text.written_dates import parsed_date

if TYPE_CHECKING:
    from qmd.operations.reading import OpenedDocument

MOST_DAYS = 40
"""Days of a text that are listed."""

SCANNED = 200_000
"""Characters of a text in which days are looked for."""

_DAY = re.compile(r"(?<![\w./-])[12]\d{3}-[01]\d-[0-3]\d(?=T\d\d:|(?![\w/]|[-.]\w))", re.ASCII)
"""Day in a text as ISO 8601 has it, and no part of a name or of an address."""


class DatedEvent(NamedTuple):
    """Something that a date of a document says.

    Attributes:
        moment: UTC.
        has_time: the time of day is known, too.
        label: what happened then.
        is_date: it is the date of the document, by which searches filter and sort.
    """

    moment: datetime
    has_time: bool
    label: str
    is_date: bool = False

    @property
    def day(self) -> str:
        """Day as ISO 8601 has it."""
        return f"{self.moment:%Y-%m-%d}"

    @property
    def time(self) -> str:
        """Hour and minute; '' if they are not known."""
        return f"{self.moment:%H:%M}" if self.has_time else ""


class DayInText(NamedTuple):
    """Day that a text names, with the address of the line that names it first."""

    day: str
    line: int
    url: str


class DocumentDates(NamedTuple):
    """Dates of a document, the earliest first.

    Attributes:
        days: that the text names.
        further: days that it names, and that are not listed.
        is_gone: its file has gone since the last update.
    """

    events: list[DatedEvent]
    days: list[DayInText]
    further: int
    is_gone: bool

    @property
    def has_times(self) -> bool:
        """True if one of the dates has a time of day."""
        return any(each.has_time for each in self.events)


def document_dates(opened: OpenedDocument) -> DocumentDates:
    """List what is known of the dates of a document."""
    document = opened.document
    events = [
        _event(moment, key.replace("_", " "))
        for key, moment in markdown.metadata_dates(opened.metadata)
    ]
    named = markdown.day_in_name(document.path)
    if named is not None:
        events.append(_event(named, "in the name of the file"))
    events.append(DatedEvent(document.modified, True, "file changed"))
    if opened.touched is not None:
        events.append(DatedEvent(opened.touched, True, "file changed since it was indexed"))
    chosen = next((at for at, each in enumerate(events) if each.moment == document.dated), None)
    if chosen is None:  # of the properties of its file
        events.append(
            _event(document.dated, "in the properties of the file")._replace(is_date=True)
        )
    else:
        events[chosen] = events[chosen]._replace(is_date=True)
    days = days_in_text(opened)
    return DocumentDates(
        sorted(events, key=lambda each: each.moment),
        days[:MOST_DAYS],
        max(0, len(days) - MOST_DAYS),
        opened.is_stale and opened.touched is None,
    )


def _event(moment: datetime, label: str) -> DatedEvent:
    return DatedEvent(moment, (moment.hour, moment.minute) != (0, 0), label)


def days_in_text(opened: OpenedDocument) -> list[DayInText]:
    """Find the days that a text names after its front matter, each once, the earliest first."""
    body, begins = opened.body, opened.begins
    lines: dict[str, int] = {}
    line, counted = 1, 0
    for found in _DAY.finditer(body, begins, begins + SCANNED):
        line += body.count("\n", counted, found.start())
        counted = found.start()
        if found[0] not in lines and parsed_date(found[0]) is not None:
            lines[found[0]] = line
    name = opened.document.name
    return [
        DayInText(day, lines[day], document_url(name, fragment="hit", line=lines[day]))
        for day in sorted(lines)
    ]
