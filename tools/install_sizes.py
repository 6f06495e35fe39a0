"""Sizes of what an environment has installed, by package.

python -m tools.install_sizes [FOLDER OF AN ENVIRONMENT]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution, distributions
from pathlib import Path

OTHERS = 3.0
"""Megabytes below which packages are shown in one line."""


def sizes(environment: Path) -> dict[str, int]:
    """Return the bytes of each package, the largest first."""
    folders = [str(each) for each in environment.glob("lib/python*/site-packages")]
    found = {each.name: _size(each) for each in distributions(path=folders)}
    return dict(sorted(found.items(), key=lambda each: -each[1]))


def _size(package: Distribution) -> int:
    """Return the bytes of the files that a package has brought; compiled caches are not its own."""
    files = (Path(str(each.locate())) for each in package.files or ())
    return sum(each.stat().st_size for each in files if each.suffix != ".pyc" and each.is_file())


def table(found: Mapping[str, int]) -> Iterator[str]:
    """Yield the rows of a table in Markdown: large packages, the others, and the sum."""
    yield "| package | MB |"
    yield "|---|---:|"
    small = [size for size in found.values() if size < OTHERS * 1e6]
    for name, size in found.items():
        if size >= OTHERS * 1e6:
            yield f"| {name} | {size / 1e6:.0f} |"
    yield f"| {len(small)} others | {sum(small) / 1e6:.0f} |"
    yield f"| **all {len(found)}** | **{sum(found.values()) / 1e6:.0f}** |"


def main() -> None:
    """Print the table."""
    environment = Path(sys.argv[1] if len(sys.argv) > 1 else sys.prefix)
    print(*table(sizes(environment)), sep="\n")


if __name__ == "__main__":
    main()
