"""Runs qmd on a terminal and shows what a person sees there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import termios
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pyte

ORDERS = "\033[2J\033]0;theirs\a\033]8;;https://evil.example\033\\\033[31m\x9b1A\u202e\r\b\x7f"
SHOWN = r"\x1b[2J\x1b]0;theirs\x07\x1b]8;;https://evil.example\x1b\\\x1b[31m\x9b1A\u202e\r\x08\x7f"
"""On one line: `\\` is doubled."""

COLUMNS, LINES = 200, 60

LONG = 120
"""Seconds after which something that has to happen is taken for stuck."""

PLAIN = ("TERM=dumb", "NO_COLOR=1")
"""Environment of a terminal on which qmd draws no bars and uses no colours."""

OURS = re.compile(r"\033\[(?:0|1|2|31|32|33|36|1;33)m|\033\]8;;(?:file:///[!-~]*)?\033\\")
"""Styling of qmd's own: colours of a result or an error, and links to files."""


class Seen(NamedTuple):
    """What a command did to a terminal.

    Attributes:
        text: the lines of the screen, without blanks at their ends.
        raw: everything that was written, with `\\n` for each line break.
        title: of the window.
    """

    code: int
    text: str
    raw: str
    title: str

    @property
    def words(self) -> str:
        """The text with a blank for each break of a line."""
        return " ".join(self.text.split())

    @property
    def foreign(self) -> list[str]:
        """Control characters that are neither line breaks nor styling of qmd's own."""
        return re.findall(r"[\0-\x08\x0b-\x1f\x7f-\x9f].{0,8}", OURS.sub("", self.raw))


def seen(
    *arguments: object,
    answer: str = "",
    asked: str | None = None,
    columns: int = COLUMNS,
    environ: Sequence[str] = (),
) -> Seen:
    """Run a command whose stdin, stdout and stderr are one terminal.

    Args:
        answer: typed before anything is asked, or when `asked` is on the screen.
        environ: NAME=VALUE.
    """
    terminal, inside = os.openpty()
    termios.tcsetwinsize(inside, (LINES, columns))
    pieces = []

    def look() -> None:
        try:
            while piece := os.read(terminal, 65536):
                pieces.append(piece)
                if waits and waits[0] in b"".join(pieces):
                    waits.clear()
                    os.write(terminal, answer.encode())
        except OSError:  # the other end is closed
            pass

    waits = [asked.encode()] if asked else []
    looking = threading.Thread(target=look)
    looking.start()
    if not asked:
        os.write(terminal, answer.encode())
    own = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    done = subprocess.run(
        [sys.executable, "-m", "qmd", *map(str, arguments)],
        env=own | {"TERM": "xterm"} | dict(each.split("=", 1) for each in environ),
        stdin=inside,
        stdout=inside,
        stderr=inside,
        timeout=LONG,
    )
    os.close(inside)
    looking.join(LONG)
    os.close(terminal)
    raw = b"".join(pieces).decode("utf-8", "replace")
    screen = pyte.Screen(columns, LINES)
    pyte.Stream(screen).feed(raw)
    text = "\n".join(line.rstrip() for line in screen.display).rstrip()
    return Seen(done.returncode, text, raw.replace("\r\n", "\n"), screen.title)


def written(path: Path, text: str) -> None:
    """Write a file, and the folders that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
