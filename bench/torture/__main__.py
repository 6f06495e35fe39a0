"""Torture tests: an index under all conditions, which has to stay whole.

    python -m bench.torture [--minutes 10] [--rounds 500] [--only NAME…] [--seed 1] [--files 200000]

crowd    processes of every kind on one index, for so many minutes: see `bench.torture.crowd`
kill     rounds of kill -9: see `bench.crash`, `bench.embed_crash`,
         `bench.torture.kills`, `bench.torture.stored`, `bench.torture.sidecars` and
         `bench.torture.vector_sidecars`
full     a full disk: what writes says so, and goes on when there is room
clock    clocks and times of files that jump: nothing is lost, nothing goes on for ever
media    an index that cannot be written: it is searched, and updates say why they do nothing
gone     an index that is deleted, replaced or spoilt under running servers
limits   little address space, few open files, small files: what cannot be done is said
damage   files of every kind that are cut, flipped or something else
still    processes that stand still (SIGSTOP) with the index: others name them, and they go on
processes  forty commands at once
tiny     very many tiny files in one collection (--files)
through  a thousand commands through servers that are killed (twice as many as --rounds)
signals  Ctrl-C, SIGTERM and SIGHUP in the first fifth of a second

After each, `qmd doctor --deep` has to be content, and the index has to say the same as one that is
built anew of the same files. Where mounting is not permitted, limits and permissions do instead.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import crash, embed_crash
from bench.torture.clock import clock
from bench.torture.crowd import Crowd
from bench.torture.damage import damage
from bench.torture.full import full
from bench.torture.gone import gone
from bench.torture.kills import Cleanups, Exchanges, Submissions
from bench.torture.limits import limits
from bench.torture.many import processes, tiny
from bench.torture.media import media
from bench.torture.outcome import Options, Outcome
from bench.torture.sidecars import Sidecars
from bench.torture.signals import signals
from bench.torture.still import still
from bench.torture.stored import Puts, Shards
from bench.torture.through import through
from bench.torture.vector_sidecars import VectorSidecars


def crowd(work: Path, options: Options) -> Outcome:
    """Run processes of every kind on one index."""
    members = Crowd(work, 60 * options.minutes, options.seed)
    members.run()
    return Outcome(members.figures(), members.old + members.wrong)


SHARES: dict[str, tuple[Callable[[Path, int], crash.Rounds], float]] = {
    "update": (crash.Trial, 0.3),
    "embed": (embed_crash.Trial, 0.15),
    "cleanup": (Cleanups, 0.15),
    "exchange": (Exchanges, 0.15),
    "submit": (Submissions, 0.1),
    "put": (Puts, 0.1),
    "shards": (Shards, 0.05),
    "postings": (Sidecars, 0.1),
    "vectors": (VectorSidecars, 0.05),
}
"""What is killed, and in what share of the rounds."""


def kill(work: Path, options: Options) -> Outcome:
    """Kill -9 at any moment."""
    wrong: list[str] = []
    figures = []
    for name, (make, share) in SHARES.items():
        folder = work / name
        folder.mkdir()
        trial = make(folder, options.seed)
        rounds = max(1, round(share * options.rounds))
        for number in range(1, rounds + 1):
            wrong += [f"{name}, round {number}: {line}" for line in trial.round()[:5]]
        told = ", ".join(f"{what} {figure}" for what, figure in trial.figures().items())
        figures.append(f"{name} {rounds} ({told})")
    return Outcome("; ".join(figures), wrong)


PARTS: dict[str, Callable[[Path, Options], Outcome]] = {
    each.__name__: each
    for each in (
        *(crowd, kill, full, clock, media, gone),
        *(limits, damage, still, processes, tiny, through, signals),
    )
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and report; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="NAME")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", type=int, default=200_000)
    given = parser.parse_args(arguments)
    options = Options(given.minutes, given.rounds, given.seed, given.files)
    failed = 0
    for name in given.only:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            outcome = PARTS[name](Path(folder), options)
        taken = time.monotonic() - began
        print(f"{name:9} {outcome.figures}; {len(outcome.wrong)} wrong, {taken:.0f} s", flush=True)
        for line in outcome.wrong[:20]:
            print(f"       {line[:1000]}", flush=True)
        failed += bool(outcome.wrong)
    return min(1, failed)


if __name__ == "__main__":
    sys.exit(main())
