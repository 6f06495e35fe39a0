"""Process that does what another one asks: the other end of `process`.

It answers until the process that has started it closes the pipe, or ends.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from qmd.workers import channel

if sys.platform == "win32":
    from qmd import windows


def serve(session_of: Callable[[int], object], *, group: bool = False) -> None:
    """Answer requests; never returns. They come from stdin, answers go to stdout.

    Args:
        session_of: gives the object whose methods the requests name; told where answers go.
        group: what this process has started is ended with it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    if sys.platform == "win32":
        for number in (requests, answers):
            windows.binary(number)
    else:
        threading.Thread(target=_end_with, args=(requests, group), daemon=True).start()
    session = session_of(answers)
    channel.send(answers, ("done", None))
    while True:
        try:
            name, given = channel.receive(requests)
        except EOFError:
            _end(group)
        except Exception as error:  # a value whose class is not known here
            channel.send(answers, ("failed", channel.packed_error(TypeError(str(error)))))
            continue
        try:
            reply = "done", getattr(session, name)(*given)
        except BrokenPipeError:
            _end(group)
        except Exception as error:
            reply = "failed", channel.packed_error(error)
        channel.send(answers, reply)


def _end_with(requests: int, group: bool) -> None:
    """End this process with the one that asks: it may be killed in the middle of a request.

    On Windows, the job of `windows.JobProcess` does that.
    """
    if sys.platform == "win32":
        raise NotImplementedError
    watched = select.poll()
    watched.register(requests, 0)
    watched.poll()
    _end(group)


def _end(group: bool) -> None:
    if group and sys.platform != "win32":
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def bound_memory(most: int) -> None:
    """Let the system refuse memory, where it can.

    The process that asks looks at this one again and again, but may be late.

    Args:
        most: bytes that may be mapped besides those that are.
    """
    if sys.platform == "win32":
        return
    try:
        data = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5])
    except OSError:
        return
    import resource

    most += data * os.sysconf("SC_PAGE_SIZE")
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
