"""`qmd` and `python -m qmd`."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line; the process ends with its exit code."""
    # A linear-algebra library that starts a thread per core costs more than all it does here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from qmd.surface.cli import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
