"""Trial of the wheel: build it, install it where nothing else is, and search as the README does.

python -m tools.wheel_trial
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.sessions import Step, blocks, difference, printed, steps

ROOT = Path(__file__).parents[1]

CALLED = ("qmd collection add", "qmd search", "qmd sql")
"""Commands of the README that need no vectors, which take most of the time."""


def chosen(page: Path) -> list[Step]:
    """Return the steps of a page that the trial runs."""
    sessions = [block for block in blocks(page) if block.kind == "console"]
    return [step for block in sessions for step in steps(block) if step.command.startswith(CALLED)]


def wrong(shown: Sequence[Step], programs: Path, folder: Path) -> list[str]:
    """Run steps as a user who has nothing but the installed programs.

    Returns:
        Where what was printed is not what the page shows.
    """
    shutil.copytree(ROOT / "examples", folder / "clone" / "examples")
    environ = {
        "HOME": str(folder),
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONUNBUFFERED": "1",
    }
    found = []
    for step in shown:
        told = difference(step.wanted, printed(step.command, folder / "clone", environ))
        if told:
            found.append(f"README.md, line {step.line}: $ {step.command}\n{told}")
    return found


def main() -> int:
    """Try the wheel; 1 if it does not do what the README shows."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build = [sys.executable, "-m", "build", "--installer", "uv", "--outdir"]
        subprocess.run([*build, folder / "dist", ROOT], check=True, stdout=subprocess.DEVNULL)
        (wheel,) = (folder / "dist").glob("*.whl")
        print(f"{wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB", flush=True)
        python = folder / "fresh" / "bin" / "python"
        venv = [sys.executable, "-m", "venv", "--without-pip", folder / "fresh"]
        subprocess.run(venv, check=True)
        uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--only-binary", ":all:"]
        subprocess.run([*uv, "--python", python, wheel], check=True)
        shown = chosen(ROOT / "README.md")
        found = wrong(shown, python.parent, folder)
    print(*found, f"{len(shown) - len(found)} of {len(shown)} commands as in the README.", sep="\n")
    return 1 if found or not shown else 0


if __name__ == "__main__":
    sys.exit(main())
