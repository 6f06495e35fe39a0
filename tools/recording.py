"""Recording of docs/session.svg: a terminal session, run for real.

python -m tools.recording
"""

from __future__ import annotations

import html
import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "session.svg"

SESSION = (
    "qmd collection add examples/notes/meetings",
    "qmd collection add examples/notes/journal",
    "qmd search '\"thundering herd\"' -n 1",
    "qmd embed",
    'qmd vsearch "losing colleagues" -n 1',
    'qmd sql "select value as tag, count(*) as notes, round(max(score), 2) as best\n'
    "         from bm25('postgres') join frontmatter using (file)\n"
    "         where key = 'tags' group by tag order by best desc, tag limit 3\"",
)

COLUMNS = 100

_OUTER_FONT = re.compile(r"@font-face \{.*?\}", re.S)
_TEXT = re.compile(r'<text class="session-r[^"]*"[^>]* y="([\d.]+)"[^>]*>(.*?)</text>', re.S)
_VARYING = re.compile(r"\d+(?:\.\d+)? (?:s|[KM]?B/s)\b")


def environment(home: Path) -> dict[str, str]:
    """Return the environment of a new user at a terminal, with the qmd of this Python."""
    own = Path(sys.executable).parent
    return {
        "HOME": str(home),
        "PATH": f"{own}{os.pathsep}{os.environ['PATH']}",
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "COLUMNS": str(COLUMNS),
    }


def printed(command: str, folder: Path, environ: Mapping[str, str]) -> str:
    """Run a command and return its output with colours, then its stderr.

    stderr is no terminal, so that no bar moves there.
    """
    reader, terminal = pty.openpty()
    pieces = []
    with TemporaryFile() as told:
        process = subprocess.Popen(
            ["bash", "-c", command],
            cwd=folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=terminal,
            stderr=told,
        )
        os.close(terminal)
        with suppress(OSError):  # the end of a terminal without writers
            while piece := os.read(reader, 65536):
                pieces.append(piece)
        os.close(reader)
        code = process.wait()
        told.seek(0)
        pieces.append(told.read())
    text = b"".join(pieces).decode().replace("\r\n", "\n")
    if code:
        raise RuntimeError(f"$ {command}\n{text}\nexit code {code}")
    return text.rstrip("\n") + "\n"


def session() -> Iterator[tuple[str, str]]:
    """Each command of the session with what it writes, run in a folder that is thrown away."""
    with TemporaryDirectory() as scratch:
        folder = Path(scratch) / "qmd"
        shutil.copytree(ROOT / "examples", folder / "examples")
        environ = environment(Path(scratch))
        for command in SESSION:
            yield command, printed(command, folder, environ)


def recorded() -> str:
    """Make a new recording."""
    from rich.console import Console
    from rich.text import Text

    console = Console(
        record=True,
        width=COLUMNS,
        file=StringIO(),
        force_terminal=True,
        legacy_windows=False,
        _environ={},  # a terminal without abilities would have 80 columns
    )
    for command, text in session():
        console.print(Text.assemble(("$ ", "green"), (command, "bold")))
        console.print(Text.from_ansi(text), highlight=False)
    picture = console.export_svg(title="qmd", unique_id="session")
    # A picture fetches nothing: no font either.
    return _OUTER_FONT.sub("", picture).replace("Fira Code", "ui-monospace, Menlo, Consolas")


def texts(picture: str) -> list[str]:
    """Return the lines of a recording, without variable times."""
    lines: dict[float, str] = {}
    for height, text in _TEXT.findall(picture):
        lines[float(height)] = lines.get(float(height), "") + html.unescape(text)
    shown = (line.replace("\xa0", " ").rstrip() for _, line in sorted(lines.items()))
    return [_VARYING.sub("…", line) for line in shown]


if __name__ == "__main__":
    PICTURE.write_text(recorded(), encoding="utf-8")
