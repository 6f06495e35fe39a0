"""Check that an installed wheel has every compiled module.

python tools/wheel_compiled.py, with the Python that has the wheel
"""

from __future__ import annotations

from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Import each module that has a source; ImportError if one is not there."""
    for source in sorted((ROOT / "qmd").glob("*/compiled/*.pyx")):
        module = import_module(".".join(source.relative_to(ROOT).with_suffix("").parts))
        if not str(module.__file__).endswith(tuple(EXTENSION_SUFFIXES)):
            raise ImportError(f"{module.__file__} is not compiled")
        print(module.__file__)


if __name__ == "__main__":
    main()
