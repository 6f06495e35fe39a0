"""`qmd` and `python -m qmd`."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Run the command line; the process ends with its exit code."""
    # Nothing that one command makes is worth collecting, and taking it all down at the end
    # takes as long as a search: both are left to the operating system.
    gc.disable()
    # A linear-algebra library that starts a thread per core costs more than all it does here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from qmd.surface.cli import run

    code = run(sys.argv[1:])
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
