"""Reader of chats and transcripts that programs export as text: WhatsApp, Teams, Zoom."""

from __future__ import annotations

import re
from datetime import datetime

from qmd.ingest.readers import charsets, trees
from qmd.ingest.readers.building import Builder
from qmd.ingest.readers.reading import PlaceKind, Reading, Unreadable
from qmd.named_tuple import NamedTuple

_CLOCK = r"(?P<clock>\d{1,2}[:.]\d\d(?:[:.]\d\d)?)(?:[\s\u202f]?(?P<half>[AaPp])\.?[Mm]\.?)?"
_DAY = r"(?P<day>\d{1,4}[./-]\d{1,2}[./-]\d{1,4})"
_CHAT = re.compile(rf"\u200e?\[?{_DAY},?\s{_CLOCK}\]?(?:\s-)?\s(?P<rest>.*)")
_SPOKEN = re.compile(
    r"(?:\[(?P<who>[^\]\n]{1,80})\]\s+(?P<clock>\d{1,2}:\d\d(?::\d\d)?)"  # Zoom, saved captions
    r"|(?P<time>\d{1,2}:\d\d:\d\d)\s+From\s+(?P<sender>[^\n:]{1,80}?)\s*(?:to\s+[^\n:]{1,80})?:"
    r"|(?P<name>[^\W\d_][^\n:\[\]]{0,60}?)\s{2,}(?P<at>\d{1,2}:\d\d(?::\d\d)?))"  # Teams
    r"[ \t]*(?P<rest>.*)"
)
_SENDER = re.compile(r"(?P<sender>[^:\n]{1,80}):\s(?P<text>.*)", re.S)
_LEFT_OUT = re.compile(
    r"[<\u200e]*(?:\w+ (?:omitted|weggelassen|omis[ea]?|omitid[oa])|Media omitted"
    r"|attached: [^>]*)>?\s*",
    re.I,
)


class _Line(NamedTuple):
    label: str
    moment: datetime | None
    text: str


def is_transcript(data: bytes) -> bool:
    """Tell whether a text file is an export: of its first lines, two or most begin with a time."""
    text = charsets.with_encoding(data[:4000]).text
    lines = [line for line in text.splitlines()[:20] if line.strip()]
    chat = sum(_CHAT.match(line) is not None for line in lines)
    spoken = sum(_SPOKEN.match(line) is not None for line in lines)
    return chat >= max(2, len(lines) // 4) or spoken >= max(2, len(lines) // 3)


def read(data: bytes, name: str) -> Reading:
    """Read a chat or transcript: `speaker: words` in lines, places by time."""
    out = Builder("transcript")
    date = None
    if not data.strip():
        raise Unreadable("empty file")
    with out.filling():
        text = trees.text_of(data).replace("\u200e", "")
        lines = text.split("\n")
        chats = sum(_CHAT.match(line) is not None for line in lines[:200])
        spoken = sum(_SPOKEN.match(line) is not None for line in lines[:200])
        if not chats and not spoken:
            raise Unreadable("no transcript: no line begins with a time")
        kind: PlaceKind = "message" if chats >= spoken else "second"
        said = _chat(lines) if chats >= spoken else _transcript(lines)
        date = next((line.moment.isoformat() for line in said if line.moment), None)
        for line in said:
            if line.label:
                out.place(kind, line.label)
            out.block(line.text, tight=True)
    return out.reading(date=date)


def _chat(lines: list[str]) -> list[_Line]:
    """Give the messages of a WhatsApp chat; lines without a time go on with the one before."""
    days = [found["day"] for line in lines[:5000] if (found := _CHAT.match(line))]
    halves = any(found["half"] for line in lines[:200] if (found := _CHAT.match(line)))
    order = _order(days, american=halves)
    said: list[_Line] = []
    for line in lines:
        found = _CHAT.match(line)
        if found is None:
            if said and line.strip():
                said.append(_Line("", None, line))
            continue
        moment = _moment(found["day"], found["clock"], found["half"], order)
        sender = _SENDER.match(found["rest"])
        text = _LEFT_OUT.sub("", sender["text"]) if sender else ""
        if sender and text.strip():  # else the program itself speaks: a member has joined
            label = moment.isoformat(timespec="minutes") if moment else found["clock"]
            said.append(_Line(label, moment, f"{sender['sender']}: {text}"))
    return said


def _transcript(lines: list[str]) -> list[_Line]:
    """Give the lines of a meeting, each with its speaker."""
    said: list[_Line] = []
    speaker = label = ""
    for line in lines:
        found = _SPOKEN.match(line)
        if found is None:
            text = line.strip()
        else:
            speaker = (found["who"] or found["sender"] or found["name"]).strip()
            parts = (found["clock"] or found["time"] or found["at"]).split(":")
            label = ":".join(part.zfill(2) for part in ["0", *parts][-3:])
            text = found["rest"].strip()
        if text:
            said.append(_Line(label, None, f"{speaker}: {text}" if speaker else text))
            speaker = label = ""
    return said


def _order(days: list[str], *, american: bool) -> str:
    """Tell in which order days are written: `ymd`, `dmy` or `mdy`."""
    parts = [re.split("[./-]", day) for day in days]
    if any(len(each[0]) == 4 for each in parts):
        return "ymd"
    if any(int(each[0]) > 12 for each in parts) or (days and "." in days[0]):
        return "dmy"
    if any(int(each[1]) > 12 for each in parts):
        return "mdy"
    return "mdy" if american else "dmy"


def _moment(day: str, clock: str, half: str | None, order: str) -> datetime | None:
    numbers = dict(zip(order, map(int, re.split("[./-]", day)), strict=True))
    year = numbers["y"] + (2000 if numbers["y"] < 100 else 0)
    hour, minute, second, *_ = [*map(int, re.split("[:.]", clock)), 0]
    if half:
        hour = hour % 12 + (12 if half in "pP" else 0)
    try:
        return datetime(year, numbers["m"], numbers["d"], hour, minute, second)
    except ValueError:
        return None
