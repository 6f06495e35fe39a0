"""Python with the libraries of search that qmd is measured beside: an environment of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

CACHE = Path("~/.cache/qmd-anchors").expanduser()
PACKAGES = {"tantivy": "0.27.0", "lancedb": "0.40.0"}

VERSIONS = """
import sys
from importlib.metadata import version
print(*map(version, sys.argv[1:]))
"""


class Libraries(NamedTuple):
    """The environment of the libraries.

    Attributes:
        python: its interpreter; None if it is not here.
        note: why it is not here, or nothing.
    """

    python: Path | None
    note: str = ""


def find(*, install: bool = True) -> Libraries:
    """Find the environment in the cache; make it from the package registry if it is not there."""
    python = CACHE / "bin" / "python"
    if _has_all(python):
        return Libraries(python)
    if not install:
        return Libraries(None, "they were not to be installed")
    wanted = [f"{name}=={version}" for name, version in PACKAGES.items()]
    print(f"Installing {', '.join(wanted)} into {CACHE}: 0.5 GB, a minute or so.", flush=True)
    quiet = ("--quiet", "--disable-pip-version-check", "--only-binary", ":all:")
    for command in (
        [sys.executable, "-m", "venv", str(CACHE)],
        [str(python), "-m", "pip", "install", *quiet, *wanted],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines() or [str(done.returncode)]
            return Libraries(None, f"they could not be installed: {said[-1]}")
    return Libraries(python)


def _has_all(python: Path) -> bool:
    """Tell whether an environment has the versions that are wanted."""
    if not python.exists():
        return False
    asked = [str(python), "-I", "-c", VERSIONS, *PACKAGES]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.stdout.split() == list(PACKAGES.values())
