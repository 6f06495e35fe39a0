"""Commands through a running server, beside the same by themselves and the bare interpreter.

    python -m bench.forwarded FOLDER [--rounds 20] [--peer "NODE QMD_JS"]

Processor time is that of the command and of the server together, in the same run, interleaved.
"""

from __future__ import annotations

import argparse
import os
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

COMMANDS: Mapping[str, Sequence[str]] = {
    "search": ("search", "window"),
    "get": ("get", "{file}"),
    "multi-get": ("multi-get", "{file},{file}"),
    "ls": ("ls",),
    "status": ("status",),
    "sql": ("sql", "select count(*) from documents"),
}


class Taken(NamedTuple):
    """Medians over all rounds: seconds of the processors, and of the clock."""

    cpu: float
    wall: float


def environment(folder: Path) -> dict[str, str]:
    """Return the variables of an index of its own."""
    return {
        **os.environ,
        "QMD_CONFIG_DIR": str(folder / "config"),
        "INDEX_PATH": str(folder / "index.duckdb"),
        "XDG_RUNTIME_DIR": str(folder),
    }


@contextmanager
def server(environ: Mapping[str, str]) -> Iterator[int]:
    """Watch the index; gives the number of the process once it listens."""
    words = [sys.executable, "-m", "qmd", "watch"]
    process = subprocess.Popen(
        words, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        runtime = Path(environ["XDG_RUNTIME_DIR"]) / "qmd"
        while not list(runtime.glob("*.sock")):
            if process.poll() is not None:
                raise RuntimeError("the server has ended")
            time.sleep(0.05)
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def _used(process: int | None) -> float:
    """Return the processor time of the ended children, and of a process."""
    mine = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = mine.ru_utime + mine.ru_stime
    if process is not None:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        used += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return used


def measured(
    ways: Mapping[str, Sequence[str]],
    environ: Mapping[str, str],
    process: int,
    rounds: int,
    others: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
) -> dict[str, Taken]:
    """Run each of some ways in turn, round by round.

    The clock of a process has ticks of 10 ms, so that its time is a mean over all rounds.

    Args:
        others: environments of ways that have another one.
    """
    cpu = dict.fromkeys(ways, 0.0)
    wall: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, words in ways.items():
            used, began = _used(process), time.perf_counter()
            for _ in range(5):
                given = others.get(name, environ)
                subprocess.run(
                    words, env=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    check=True,
                )  # fmt: skip
            wall[name].append((time.perf_counter() - began) / 5)
            cpu[name] += (_used(process) - used) / 5
    return {name: Taken(cpu[name] / rounds, statistics.median(wall[name])) for name in ways}


def rows(corpus: Path, *, rounds: int, peer: str | None = None) -> Iterator[str]:
    """Yield a table in Markdown."""
    with tempfile.TemporaryDirectory(prefix="qmd") as made:
        folder = Path(made)
        environ = environment(folder)
        qmd = [sys.executable, "-m", "qmd"]
        subprocess.run(
            [*qmd, "collection", "add", str(corpus), "--name", "corpus"],
            env=environ, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        listed = subprocess.run(
            [*qmd, "sql", "select file from documents order by file limit 1", "--csv"],
            env=environ, check=True, capture_output=True, text=True,
        )  # fmt: skip
        file = listed.stdout.splitlines()[1]
        yield "| command | by a server: CPU s, s | by itself | bare Python | share of CPU |"
        yield "|---|---|---|---|---|"
        with server(environ) as process:
            for name, command in COMMANDS.items():
                words = [word.format(file=file) for word in command]
                ways = {
                    "server": [*qmd, *words],
                    "alone": [*qmd, "--no-server", *words],
                    "python": [sys.executable, "-c", "pass"],
                }
                if peer is not None:
                    ways["peer"] = [*shlex.split(peer), *words]
                taken = measured(ways, environ, process, rounds)
                cells = [f"{each.cpu:.3f}, {each.wall:.3f}" for each in taken.values()]
                share = taken["server"].cpu / taken["alone"].cpu
                yield f"| `{name}` | {' | '.join(cells[:3])} | {share:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peer", help="command of tobi/qmd")
    given = parser.parse_args()
    for row in rows(given.folder, rounds=given.rounds, peer=given.peer):
        print(row, flush=True)


if __name__ == "__main__":
    main()
