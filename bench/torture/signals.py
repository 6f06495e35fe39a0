"""Signals in the first fifth of a second: a command ends or completes, without a traceback."""

from __future__ import annotations

import signal
import time
from collections import Counter
from pathlib import Path

from bench.processes import generate
from bench.torture.outcome import Options, Outcome
from bench.torture.proof import Home

STEP, MOST = 0.002, 0.2
"""Seconds between two moments, and the last one."""

OF_PYTHON = ("Fatal Python error: init", "<frozen site>", "<frozen runpy>")
"""In tracebacks of Python before it has loaded anything of qmd."""


def signals(work: Path, options: Options) -> Outcome:
    """Send a signal at each moment."""
    home = Home(work)
    generate(home.docs, 10)
    said = home.run("collection", "add", str(home.docs))
    wrong = [said.problem] if said.problem else []
    codes: Counter[str] = Counter()
    early = sent = 0
    for _ in range(max(1, options.rounds // 250)):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for moment in range(round(MOST / STEP) + 1):
                with home.start("search", "kara") as process:
                    time.sleep(moment * STEP)
                    process.send_signal(number)
                    _, err = process.communicate()
                sent += 1
                codes[f"{number.name} {process.returncode}"] += 1
                ended = process.returncode in (0, -number, 128 + number)
                if any(words in err for words in OF_PYTHON):
                    early += 1
                elif "Traceback" in err or not ended:
                    wrong.append(f"{number.name} at {moment * STEP:.3f} s: {err[-500:]}")
    told = ", ".join(f"{name}: {count}" for name, count in sorted(codes.items()))
    return Outcome(f"{sent} sent ({told}), {early} before Python had begun", wrong)
