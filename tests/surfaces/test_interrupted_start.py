"""Ctrl-C while the command line is being loaded ends it in one line, and not in a traceback."""

from __future__ import annotations

import subprocess
import sys

import pytest

INTERRUPTED = """
import os, signal, sys

class Interrupts:
    @staticmethod
    def find_spec(name, *_):
        if name == at:
            os.kill(os.getpid(), signal.SIGINT)

at, number = sys.argv.pop(1), int(sys.argv.pop(1))
signal.signal(signal.SIGINT, [signal.SIG_IGN, signal.default_int_handler][number])
from qmd.__main__ import main
sys.meta_path.insert(0, Interrupts)
main()
"""


def interrupted(module, *, ignored=False):
    """Run `qmd --help`, interrupted when it asks for a module."""
    return subprocess.run(
        [sys.executable, "-c", INTERRUPTED, module, str(int(not ignored)), "--help"],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "module", ["qmd.startup", "qmd.surfaces.cli", "typer", "qmd.surfaces.cli.common"]
)
def test_an_interrupt_amid_the_loading_of_a_module_ends_in_a_line(module):
    done = interrupted(module)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Interrupted.\n")


def test_an_interrupt_that_the_shell_ignores_is_ignored():
    done = interrupted("qmd.startup", ignored=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: qmd" in done.stdout


BEGUN = """
import os, signal
from qmd.surfaces import cli
from qmd.surfaces.cli import direct

def at_work():
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    print("begun")
    return 0

cli.direct.command = lambda _: at_work
from qmd.__main__ import main
main()
"""


def test_a_command_that_has_begun_is_given_the_interrupt_to_end_by_itself():
    done = subprocess.run([sys.executable, "-c", BEGUN], capture_output=True, text=True, check=True)
    assert done.stdout == "begun\n"
