"""Server that runs tests in forked processes, so that large libraries are imported once.

A line of JSON, [arguments of pytest, seconds, file for what it prints], is answered by a line with
the exit code, negative for a signal: -9 after so many seconds.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress

import duckdb  # noqa: F401
import hypothesis  # noqa: F401
import numpy  # noqa: F401
import pyarrow  # noqa: F401
import pytest


def exit_code(arguments: list[str], seconds: int, output: str) -> int:
    """Run tests in a process of their own, and end all that they started."""
    child = os.fork()
    if not child:
        os.setsid()
        file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, 1)
        os.dup2(file, 2)
        code = int(pytest.main(arguments))
        sys.stdout.flush()
        os._exit(code)
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(child, signal.SIGKILL))
    signal.alarm(seconds)
    try:
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)
    finally:
        signal.alarm(0)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    for line in sys.stdin:
        print(exit_code(*json.loads(line)), flush=True)
