"""Terminal sessions on pages: what a page says a command prints, and what it prints.

In a fenced block `console`, a line `$ command` is run, and what stands below it has to come of it.
`…` stands for anything within a line, and alone on a line for any number of lines. A command goes
on in the next line if it ends in a backslash.
"""

from __future__ import annotations

import difflib
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

LONG = 600
"""Seconds after which something that has to happen is taken for stuck."""

_PROGRESS = re.compile(r"^(Indexing|Embedding)\b.*: .*\n", re.M)
"""What is printed every ten seconds in a pipe, on a machine that is slow today."""

_FENCED = re.compile(r"^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S)


class Block(NamedTuple):
    """A fenced block of a page.

    Attributes:
        line: of the page, on which its text begins, from 1.
    """

    kind: str
    text: str
    line: int


class Step(NamedTuple):
    """A command of a session, and what it prints."""

    command: str
    wanted: str
    line: int


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(found["kind"], found["text"], text.count("\n", 0, found.start("text")) + 1)
        for found in _FENCED.finditer(text)
    ]


def steps(block: Block) -> Iterator[Step]:
    """The commands of a block, each with what is printed below it."""
    lines = list(enumerate(block.text.splitlines(), block.line))
    while lines:
        number, line = lines.pop(0)
        assert line.startswith("$ "), f"line {number} is neither a command nor printed by one"
        command = line[2:]
        while command.endswith("\\"):
            command += "\n" + lines.pop(0)[1]
        printed = []
        while lines and not lines[0][1].startswith("$ "):
            printed.append(lines.pop(0)[1])
        yield Step(command, "\n".join(printed), number)


def printed(command: str, folder: Path, environ: Mapping[str, str]) -> str:
    """What a command prints on either stream. It has to succeed."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=LONG,
        check=False,
    )
    assert done.returncode == 0, f"$ {command}\n{done.stdout}\nexit code {done.returncode}"
    return _PROGRESS.sub("", done.stdout)


def difference(wanted: str, got: str) -> str:
    """What a page says that is not so; nothing if all is."""
    said, came = _lines(wanted), _lines(got)
    if re.fullmatch(_pattern(said), "".join(f"{line}\n" for line in came)):
        return ""
    return "\n".join(difflib.unified_diff(said, came, "the page", "what was printed", lineterm=""))


def _lines(text: str) -> list[str]:
    """Without blanks at ends of lines, and without blank lines at the end."""
    return [line.rstrip() for line in text.rstrip().splitlines()]


def _pattern(lines: list[str]) -> str:
    any_of_line = "[^\n]*"
    return "".join(
        r"(?:[^\n]*\n)*?"
        if line == "…"
        else _about(any_of_line.join(map(re.escape, line.split("…")))) + "\n"
        for line in lines
    )


def _about(found: str) -> str:
    """Allow scores a percent more and less: models round differently on other processors."""
    return re.sub(
        r"(?<=Score:\\ )\d+(?=%)",
        lambda score: "(?:{}|{}|{})".format(*range(int(score[0]) - 1, int(score[0]) + 2)),
        found,
    )
