"""`qmd` and `python -m qmd`."""

from __future__ import annotations

import gc
import os
import sys


class _WithoutPandas:
    """Makes pandas look as if it were not installed."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """See `importlib.abc.MetaPathFinder`."""
        if name == "pandas":
            raise ModuleNotFoundError("qmd does without it", name=name)


def main() -> None:
    """Run the command line; the process ends with its exit code."""
    # Nothing that one command makes is worth collecting, and taking it all down at the end
    # takes as long as a search: both are left to the operating system.
    gc.disable()
    # A linear-algebra library that starts a thread per core costs more than all it does here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # DuckDB loads pandas, where it is installed, when a statement is given its first value: that
    # takes twice as long as a search.
    sys.meta_path.insert(0, _WithoutPandas)
    from qmd.surface.cli import run

    code = run(sys.argv[1:])
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
