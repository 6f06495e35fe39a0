"""Commands through a server that is killed again and again.

    python -m bench.torture --only through [--rounds 500]

Twice as many commands as rounds, forty at the same time. Each has to print what the command by
itself prints, or to say that its output is incomplete, and then what it printed is the beginning.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.forwarded import environment
from bench.processes import generate
from bench.torture.outcome import Options, Outcome
from qmd.forward import INCOMPLETE

AT_ONCE = 40
DOCUMENTS = 300
LIVES = 3.0
"""Seconds that a server lives, once it listens."""

COMMANDS = (
    ("search", "kara"),
    ("ls", "docs"),
    ("get", "nothing-like-it"),
    ("multi-get", "docs/**/*.md"),
    ("sql", "select count(*) as documents from documents"),
    ("status", "--json"),
)


class _Servers(threading.Thread):
    """Begins a server, kills it, and so on."""

    def __init__(self, environ: dict[str, str]) -> None:
        super().__init__(daemon=True)
        self._environ = environ
        self._over = threading.Event()
        self.killed = 0

    def run(self) -> None:
        words = [sys.executable, "-m", "qmd", "watch"]
        while not self._over.is_set():
            process = subprocess.Popen(
                words, env=self._environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            while not self._listens() and not self._over.wait(0.05):
                pass
            self._over.wait(LIVES)
            process.kill()
            process.wait()
            for socket in (Path(self._environ["XDG_RUNTIME_DIR"]) / "qmd").glob("*.sock"):
                if self.killed % 2:  # every other one finds what was left behind
                    socket.unlink()
            self.killed += 1

    def _listens(self) -> bool:
        """Return whether a socket is there, of this server or of the one before."""
        return any((Path(self._environ["XDG_RUNTIME_DIR"]) / "qmd").glob("*.sock"))

    def end(self) -> None:
        self._over.set()
        self.join()


def through(work: Path, options: Options) -> Outcome:
    """Kill servers while they carry commands out."""
    environ, docs = environment(work), work / "docs"
    docs.mkdir()
    generate(docs, DOCUMENTS)

    def run(words: tuple[str, ...], *more: str) -> tuple[int, bytes, bytes]:
        done = subprocess.run(
            [sys.executable, "-m", "qmd", *more, *words],
            env=environ, cwd=work, capture_output=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    added = run(("collection", "add", str(docs)))
    wrong = [added[2].decode()] if added[0] else []
    wanted = {words: run(words, "--no-server") for words in COMMANDS}
    servers = _Servers(environ)
    servers.start()
    count, ends = 2 * options.rounds, Counter[str]()
    began = time.monotonic()

    def command(number: int) -> str | None:
        words = COMMANDS[number % len(COMMANDS)]
        code, out, err = found = run(words)
        if found == wanted[words]:
            ends["whole"] += 1
            return None
        is_told = code == INCOMPLETE and b"the output is incomplete" in err
        if is_told and wanted[words][1].startswith(out):
            ends["incomplete"] += 1
            return None
        return f"{' '.join(words)}: exit {code}, {len(out)} bytes, {err.decode()[-300:]}"

    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            wrong += filter(None, pool.map(command, range(count)))
    finally:
        servers.end()
    taken = time.monotonic() - began
    left = len(list((work / "qmd").iterdir()))
    figures = ", ".join(f"{number} {what}" for what, number in sorted(ends.items()))
    return Outcome(
        f"{count} commands in {taken:.0f} s ({figures}), {servers.killed} servers killed, "
        f"{left} files left",
        wrong,
    )
