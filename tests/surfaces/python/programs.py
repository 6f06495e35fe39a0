"""A program in a process of its own, and a statement that would take minutes."""

from __future__ import annotations

import os
import subprocess
import sys

LONG = 30
"""Seconds after which something that has to happen is taken for stuck."""


FOREVER = "select count(*) from range(1000000) a, range(1000000) b where a.range + b.range = 7"
"""A statement that would take minutes."""


def python(code: str, **environ: str) -> str:
    """What a program prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=4 * LONG,
        env={**os.environ, **environ},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
