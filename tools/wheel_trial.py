"""Trial of the wheel: build it, install it where nothing else is, and search as the README does.

python -m tools.wheel_trial [PYTHON...]

A wheel with compiled modules is for one version of Python. Other interpreters, which may be named,
get the pure wheel, as on a system without a wheel of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.sessions import Step, blocks, difference, printed, steps
from tools.install_sizes import sizes

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


def built(folder: Path, *, pure: bool) -> Path:
    """Build a wheel of the source archive: for this Python, or the one without compiled modules."""
    command = [sys.executable, "-m", "build", "--installer", "uv", "--outdir", str(folder)]
    environ = os.environ | ({"QMD_PURE": "1"} if pure else {})
    subprocess.run([*command, ROOT], check=True, stdout=subprocess.DEVNULL, env=environ)
    (wheel,) = folder.glob("*.whl")
    print(f"{wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB", flush=True)
    return wheel


def installed(wheel: Path, interpreter: str, folder: Path) -> Path:
    """Install a wheel where nothing else is, and no compiler can be called.

    Returns:
        The folder of its programs.
    """
    uv = [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "venv", "--quiet", "--python", interpreter, folder], check=True)
    subprocess.run(
        [*uv, "pip", "install", "--quiet", "--only-binary", ":all:", "--python", folder, wheel],
        check=True,
        env=os.environ | {"CC": "false", "CXX": "false"},
    )
    return folder / "bin"


def tried(wheel: Path, interpreter: str, folder: Path) -> list[str]:
    """Run the session of the README with a wheel; return where it prints something else."""
    began = time.monotonic()
    folder.mkdir()
    programs = installed(wheel, interpreter, folder / "fresh")
    shown = chosen(ROOT / "README.md")
    found = wrong(shown, programs, folder)
    size = sum(sizes(folder / "fresh").values()) / 1e6
    seconds = time.monotonic() - began
    print(
        f"{interpreter}: {len(shown) - len(found)} of {len(shown)} commands as in the README",
        end=", ",
    )
    print(f"{size:.0f} MB installed, {seconds:.0f} s", flush=True)
    return found if shown else ["README.md has no session"]


def main() -> int:
    """Try the wheel with this Python, and the pure one with the others; 1 if one fails."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = tried(built(folder / "compiled", pure=False), sys.executable, folder / "own")
        if sys.argv[1:]:
            pure = built(folder / "pure", pure=True)
            for number, interpreter in enumerate(sys.argv[1:]):
                found += tried(pure, interpreter, folder / f"other-{number}")
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
