"""An index of a few notes, and the command that serves it, as a client would find them."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

LONG = 60
"""Seconds after which something that has to happen is taken for stuck."""

NOTES = {
    "tea.md": "# Green tea\n\nBrew green tea at 80 degrees.\nNever boil it.\n",
    "größe & co/50% naïve?#1.md": "# Sizes\n\nShoes and kettles come in sizes.\n",
    "日本/お茶.md": "# お茶\n\n煎茶は七十度で淹れる。\n",
    "plans/garden.md": "# Garden\n\nPlant tomatoes in May.\n",
    "plans/old/garden.md": "# Old garden\n\nThe roses were here before.\n",
    "river logbook.md": "# Log\n\n" + "The river was quiet, and nobody came to see it.\n" * 240,
}

ABOUT = "Notes of a tea house"


class Trial:
    """A folder with notes, an index of them, and the command to serve it.

    The collection `slow` is in no search; its update command says its process id in the file
    `started`, and goes on until somebody ends it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started = folder / "started"
        self.command = [sys.executable, "-m", "qmd"]
        self.environ = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("QMD_", "INDEX_PATH", "XDG_"))
        } | {
            "HOME": str(folder / "home"),
            "QMD_CONFIG_DIR": str(folder / "config"),
            "INDEX_PATH": str(folder / "index.duckdb"),
            "PYTHONWARNINGS": "default",
        }
        for path, text in NOTES.items():
            file = folder / "notes" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        for name in ("slow", "home", "config"):
            (folder / name).mkdir()
        settings = folder / "config" / "index.yml"
        notes = f"collections:\n  notes: {{path: {folder / 'notes'}, context: {{/: {ABOUT}}}}}\n"
        settings.write_text(notes, encoding="utf-8")
        self.qmd("update")
        slow = (
            f"  slow: {{path: {folder / 'slow'}, includeByDefault: false,\n"
            f"         update: 'echo $$ > new; mv new {self.started}; exec sleep 600'}}\n"
        )
        settings.write_text(notes + slow, encoding="utf-8")

    def qmd(self, *arguments: str) -> str:
        """What a command prints."""
        done = subprocess.run(
            [*self.command, *arguments],
            cwd=self.folder,
            env=self.environ,
            capture_output=True,
            encoding="utf-8",
            timeout=LONG,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def served(self, *arguments: str) -> Iterator[str]:
        """The address of an HTTP server, which has to end well, and to print nothing else."""
        with subprocess.Popen(
            [*self.command, "mcp", "--http", "--port", "0", *arguments],
            cwd=self.folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        ) as process:
            try:
                assert process.stderr is not None
                assert select.select([process.stderr], [], [], LONG)[0]
                said = process.stderr.readline()
                url = said.partition("MCP: ")[2].partition(")")[0]
                assert url, said
                assert httpx.get(url.replace("/mcp", "/health"), timeout=LONG).status_code == 200
                yield url
                process.send_signal(signal.SIGTERM)
                _, printed = process.communicate(timeout=LONG)
                assert (process.returncode, printed) == (0, "")
            finally:
                process.kill()
