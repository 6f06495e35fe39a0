"""Reader of subtitles (SRT, VTT, ASS, SSA, SUB)."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

from qmd.ingest.readers import trees
from qmd.ingest.readers.building import Builder
from qmd.ingest.readers.dates import clock
from qmd.ingest.readers.reading import Reading, Unreadable

MOST_CUES = 200_000
_PAUSE = 3000
"""Milliseconds without words after which a paragraph ends."""

_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>\n]{1,200})>")
_TAGS = re.compile(r"< */? *[a-zA-Z0-9][^<>\n]{0,200}>|\{\\[^{}\n]{0,1000}\}")
_UNCLOSED = re.compile(r"<(?![^<>\n]{0,300}>)|\{(?![^{}\n]{0,1000}\})")
_KEPT = {"<": "\ufdd0", "{": "\ufdd1"}  # code points that stand for no character
_DRAWING = re.compile(r"\{[^{}\n]{0,1000}\\p[1-9]")
_HEAD = re.compile(r"(?:WEBVTT[ \t]*-?[ \t]*(?P<title>[^\n]*)\n)(?P<fields>(?:[\w-]+:[^\n]*\n)*)")
_CUE = re.compile(r"\d\d:\d\d[.,:]\d|^\{\d+\}\{\d+\}|^\[Script Info\]", re.M)
_ASS_TITLE = re.compile(r"^Title:[ \t]*(\S[^\n]*)", re.M)
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:[-_][A-Za-z]{2,4})?")


def read(data: bytes, name: str) -> Reading:
    """Read subtitles, one line a cue; a place for each second at which a line begins."""
    out = Builder("subtitles")
    title = language = None
    if not data.strip():
        raise Unreadable("empty file")
    with out.filling():
        import pysubs2

        text = trees.text_of(data)
        if not _CUE.search(text):
            raise Unreadable("no subtitles: there are no times in it")
        head = _HEAD.match(text)
        if head:
            title = head["title"].strip()
            fields = dict(line.split(":", 1) for line in head["fields"].splitlines())
            language = fields.get("Language", "").strip()
        elif found := _ASS_TITLE.search(text):
            title = found[1] if found[1] != "Default Aegisub file" else None
        # Of a file with times and without frames the rate is not needed, but asked for.
        # A bracket that is not closed costs pysubs2 a search to the end of the cue.
        text = _UNCLOSED.sub(lambda mark: _KEPT[mark[0]], _VOICE.sub(r"\1: ", text))
        # Tags are taken out below, so pysubs2 need not convert them, which is half of its time.
        cues = pysubs2.SSAFile.from_string(text, fps=25, keep_html_tags=True)
        _cues(out, sorted(cues, key=lambda cue: cue.start))
    return out.reading(title=title, language=language or _language(name))


def _cues(out: Builder, cues: Iterable[Any]) -> None:
    last, end = "", -_PAUSE
    for number, cue in enumerate(cues):
        if number >= MOST_CUES:
            out.remark = f"only the first {MOST_CUES} cues were read"
            return
        if cue.is_comment or _DRAWING.search(cue.text):
            continue
        lines = [line.strip() for line in _spoken(cue).split("\n")]
        # Captions that roll say each line twice.
        fresh = [line for line in lines if line and line != last]
        if fresh:
            out.place("second", clock(cue.start / 1000))
            out.block(" ".join(fresh), tight=cue.start - end < _PAUSE)
            last = fresh[-1]
        end = max(end, cue.end)


def _spoken(cue: Any) -> str:
    """Give the words of a cue, with the name of the speaker before them."""
    text = cue.text.replace("\\N", "\n").replace("\\n", "\n").replace("\\h", " ")
    if "<" in text or "{" in text:
        text = _TAGS.sub("", text)
    if "&" in text:
        text = html.unescape(text)
    for mark, stands_for in _KEPT.items():
        text = text.replace(stands_for, mark)
    speaker = cue.name.strip()
    return f"{speaker}: {text}" if speaker else text


def _language(name: str) -> str | None:
    """Give the language that a name tells, as `talk.de.srt` does."""
    suffixes = PurePosixPath(name).suffixes
    tag = suffixes[-2][1:] if len(suffixes) > 1 else ""
    return tag.replace("_", "-") if _LANGUAGE.fullmatch(tag) else None
