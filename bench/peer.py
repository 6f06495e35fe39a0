"""Location of tobi/qmd: given, or installed from npm into a cache."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

VERSION = "2.8.3"
NODE = 22
"""The oldest that it runs on."""

CACHE = Path("~/.cache/qmd-bench").expanduser()


class Peer(NamedTuple):
    """The other tool.

    Attributes:
        command: empty, if it is not here.
        version: its own and that of what runs it, or why it is not here.
    """

    command: list[str]
    version: str


def find(given: str | None, *, install: bool = True) -> Peer:
    """Find the given peer, or the one in the cache; install it if Node.js is available."""
    if given:
        return _known(shlex.split(given))
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return Peer([], "not measured: Node.js and npm are not here")
    version = _printed([node, "--version"])
    if int(version.removeprefix("v").partition(".")[0]) < NODE:
        return Peer([], f"not measured: it needs Node.js {NODE} or later, and {version} is here")
    program = CACHE / "node_modules" / "@tobilu" / "qmd" / "bin" / "qmd"
    if not program.exists():
        if not install:
            return Peer([], "not measured: it was not to be installed")
        print(f"Installing @tobilu/qmd {VERSION} into {CACHE}: 0.9 GB, a minute or so.", flush=True)
        if problem := _install(npm):
            return Peer([], f"not measured: npm could not install it: {problem}")
    return _known([node, str(program)])


def _install(npm: str) -> str | None:
    """Install from npm without running scripts; return the error or None."""
    CACHE.mkdir(parents=True, exist_ok=True)
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    asked = [npm, "install", "--prefix", str(CACHE), *quiet, f"@tobilu/qmd@{VERSION}"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    return done.stderr.strip().partition("\n")[0] if done.returncode else None


def _known(command: list[str]) -> Peer:
    version = f"tobi/qmd {_printed([*command, '--version']).split()[1]}"
    if "node" in Path(command[0]).name:
        version += f", Node.js {_printed([command[0], '--version']).removeprefix('v')}"
    return Peer(command, version)


def _printed(command: list[str]) -> str:
    environ = {**os.environ, "NODE_NO_WARNINGS": "1"}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    return done.stdout.strip()
