"""Processes with low limits: address space, open files, file sizes."""

from __future__ import annotations

import resource
import signal
from collections.abc import Callable
from pathlib import Path

from bench.processes import append, generate, letters, named
from bench.torture.kills import texts
from bench.torture.outcome import Options, Outcome
from bench.torture.proof import PARTLY, Home, Said

MB = 1_000_000

LIMITS: dict[str, tuple[int, tuple[int, ...]]] = {
    "address space": (resource.RLIMIT_AS, (60, 100, 150, 200, 300, 400, 600, 800, 1200, 2500)),
    "open files": (resource.RLIMIT_NOFILE, (4, 6, 8, 10, 12, 15, 20, 30, 60, 100)),
    "size of files": (resource.RLIMIT_FSIZE, (0, 1, 10, 100, 1000, 10_000)),
}
"""Each limit, and what it is set to: MB, descriptors, kB."""

UNITS = {"address space": MB, "open files": 1, "size of files": 1000}

LOADER = (
    *("Fatal Python error", "ImportError", "Could not find platform", "error while loading"),
    "unsupported hash type",  # what hashlib logs if OpenSSL cannot be loaded
)
"""Messages of Python and the system when a command cannot start."""

CRASHES = (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS)
"""Ends of a library in C that is refused memory while it is loaded: seen of DuckDB at 100 MB."""

VERBS = ("search", "update", "embed", "cleanup", "export", "status")


def limits(work: Path, options: Options) -> Outcome:
    """Run commands under limits: each failure has a message, and leaves the index as it was."""
    home = Home(work)
    generate(home.docs, 40)
    wrong = []
    said = home.run("collection", "add", str(home.docs))
    wrong += [said.problem] if said.problem else []
    refused = done = unable = number = 0
    for name, (which, values) in LIMITS.items():
        for value in values:
            for verb in VERBS:
                number += 1
                append(home.docs / named(number % 40), letters(number), whole=False)
                words = {"search": ["kara"], "export": [str(work / "export")]}.get(verb, [])
                limited = _limiting(which, value * UNITS[name])
                said = home.run(verb, *words, preexec_fn=limited)
                if said.code == 0 or (verb == "embed" and said.code == PARTLY):
                    done += 1
                elif _is_of_python(said) or (name == "address space" and said.code in CRASHES):
                    unable += 1
                elif said.code > 0 and said.err and "mistake" not in said.err:
                    refused += 1
                    if "Traceback" in said.err:
                        wrong.append(f"{name} {value}, {verb}: {said.err[-500:]}")
                else:
                    wrong.append(f"{name} {value}, {verb}: exit {said.code}: {said.err[-500:]}")
            if not home.search("kara"):
                wrong.append(f"{name} {value}: nothing is found any more")
        said = home.run("update")
        wrong += [f"{name}: {said.problem}"] if said.problem else []
        wrong += [f"{name}: {line}" for line in home.wrong()]
    if not texts(home):
        wrong.append("no documents are left")
    figures = f"{number} commands: {done} done, {refused} refused, {unable} where a library fails"
    return Outcome(figures, wrong)


def _limiting(which: int, value: int) -> Callable[[], None]:
    def limited() -> None:
        resource.setrlimit(which, (value, value))

    return limited


def _is_of_python(said: Said) -> bool:
    """Return whether a process ended before qmd was loaded, or in a library written in C."""
    began = "qmd/surface" in said.err or "qmd/startup" in said.err
    return any(words in said.err for words in LOADER) and not began
