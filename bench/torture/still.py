"""Stopped processes (SIGSTOP) that hold an index: others name them, and continue later."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from pathlib import Path

from bench.processes import append, generate, letters, named
from bench.torture.outcome import Options, Outcome
from bench.torture.proof import PATIENCE, Home

HOLDING = """
import os, signal, sys, threading
from functools import partial
from qmd.storage import file_lock
from qmd.storage.file_lock import FileLock
at = sys.argv.pop(1)
done = []

def stopping(*given, name, own):
    result = own(*given)
    if name == at and not done:
        done.append(True)
        # To this thread: one to the process may reach another thread, while this one goes on.
        signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
    return result

for name in ("shut", "enter_to_write", "enter_to_read"):
    own = getattr(FileLock, name)
    setattr(FileLock, name, lambda *given, name=name, own=own: stopping(*given, name=name, own=own))
from qmd.__main__ import main
main()
"""
"""The command line, which stops itself when it has got hold of an index."""

HASTY = """
import sys
from qmd.operations.index import Index
Index.__init__.__kwdefaults__["patience"] = 0.5
from qmd.__main__ import main
main()
"""
"""The command line, which waits for half a second instead of half a minute."""


def still(work: Path, options: Options) -> Outcome:
    """Stop a process at each hold of the index; ask others meanwhile; let it go on."""
    home = Home(work)
    generate(home.docs, 30)
    wrong: list[str] = []
    said = home.run("collection", "add", str(home.docs))
    wrong += [said.problem] if said.problem else []
    named_, asked, number = 0, 0, 0
    for _ in range(max(1, options.rounds // 100)):
        for verb, at in (
            *(("update", "shut"), ("update", "enter_to_write"), ("cleanup", "enter_to_write")),
            *(("embed", "enter_to_write"), ("search", "enter_to_read")),
        ):
            number += 1
            append(home.docs / named(number % 30), letters(number), whole=False)
            if verb == "embed":
                home.run("update")
            words = ["kara"] if verb == "search" else []
            with home.start(at, verb, *words, code=("-c", HOLDING), start_new_session=True) as held:
                stopped = os.waitid(os.P_PID, held.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
                if stopped is None or stopped.si_code not in (os.CLD_STOPPED, os.CLD_TRAPPED):
                    wrong.append(f"{verb} never came to {at}")
                    continue
                name = f"by qmd {verb}, process {held.pid} (suspended)."
                others = [["update"]] if verb == "search" else [["search", "kara"], ["update"]]
                for other in others:
                    append(home.docs / named((number + 9) % 30), letters(number + 5000), whole=True)
                    asked += 1
                    said = home.run(*other, code=("-c", HASTY))
                    if said.code == 3 and name in said.err:
                        named_ += 1
                    else:
                        wrong.append(f"{other} beside {verb} at {at}: {said} instead of {name}")
                os.kill(held.pid, signal.SIGCONT)
                ended = threading.Timer(PATIENCE, held.kill)
                ended.start()
                _, err = held.communicate()
                ended.cancel()
                if held.returncode:
                    wrong.append(f"{verb} did not go on after {at}: {held.returncode} {err[-300:]}")
            with suppress(ProcessLookupError):
                os.killpg(held.pid, signal.SIGKILL)
        said = home.run("update")
        wrong += [said.problem] if said.problem else []
        wrong += home.wrong()
    return Outcome(f"{number} stopped, {named_} of {asked} others named it", wrong)
