"""Reader of mailboxes (MBOX)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qmd.ingest.readers import trees
from qmd.ingest.readers.building import MOST_PLACES, Builder
from qmd.ingest.readers.dates import mailed
from qmd.ingest.readers.mail import add, header, parsed_message
from qmd.ingest.readers.reading import Reading, Unreadable

_BEGIN = re.compile(rb"^From (?=[^\r\n]*\d\d:\d\d)[^\r\n]*\r?\n", re.M)
_QUOTED = re.compile(rb"^>(>*From )", re.M)


def read(data: bytes, name: str) -> Reading:
    """Read a mailbox message by message."""
    out = Builder("mailbox")
    dates: list[str] = []
    count = 0
    if not data.strip():
        raise Unreadable("empty file")
    data = trees.in_utf8(data)
    if not _BEGIN.match(data):
        raise Unreadable("no mailbox: it does not begin with `From `")
    with out.filling():
        for count, each in enumerate(messages(data), 1):
            if count > MOST_PLACES:
                out.remark = f"only the first {MOST_PLACES} messages were read"
                break
            message = parsed_message(each)
            out.place("message", str(count))
            out.heading(2, header(message, "subject") or f"Message {count}")
            if date := mailed(header(message, "date") or ""):
                dates.append(date)
            add(out, message, f"{count}/")
    return out.reading(date=max(dates, default=None), metadata={"messages": count})


def messages(data: bytes) -> Iterator[bytes]:
    """Give the messages of a mailbox without the lines that separate them."""
    starts = list(_BEGIN.finditer(data))
    for start, following in zip(starts, [*starts[1:], None], strict=True):
        end = following.start() if following else len(data)
        yield _QUOTED.sub(rb"\1", data[start.end() : end])
