"""A package with readers that do what no reader should, for tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from qmd.text import kinds

MODULE = """
import os, signal
from pathlib import Path
from qmd.ingest.readers.reading import EmbeddedFile, NamedPart, Reading, Unreadable

def echo(data, name):
    return Reading("read by a package: " + data.decode(), title="Echo", author="Ann")

def hang(data, name):
    while True:
        pass

def crash(data, name):
    os.kill(os.getpid(), signal.SIGSEGV)

def bomb(data, name):
    held = [bytearray(1 << 20) for _ in range(1 << 20)]

def flood(data, name):
    return Reading("a line of text\\n" * (1 << 20))

def killer(data, name):
    os.kill(os.getppid(), signal.SIGKILL)

def fail(data, name):
    raise LookupError("no such\\nthing")

def odd(data, name):
    return "text"

def pages(data, name):
    parts = data.decode().split("\\f")
    places, lines = [], []
    for number, part in enumerate(parts, 1):
        places.append(NamedPart("page", str(number), len(lines) + 1))
        lines += part.split("\\n")
    return Reading("\\n".join(lines), title="Pages", date="2020-05-04", places=places,
                   links=["other.md"], metadata={"status": "open"})

def box(data, name):
    names = ["a.md", "a.md", "../b.md", "c.pages", "d.box", "e.png", "f.hang"]
    return Reading("a box", attachments=[
        EmbeddedFile(each, b"within a box" if each != "d.box" else b"") for each in names
    ])
"""

SUFFIXES = "echo hang crash bomb flood fail odd pages box killer".split()


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, *, version: str = "1.0") -> None:
    """Put the package where Python finds it; each suffix is the name of a function."""
    packages = folder / "site-packages"
    about = packages / "oddreaders.dist-info"
    about.mkdir(parents=True, exist_ok=True)
    (packages / "oddreaders.py").write_text(MODULE, encoding="utf-8")
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: oddreaders\nVersion: {version}\n", encoding="utf-8"
    )
    points = "".join(f"{each} = oddreaders:{each}\n" for each in SUFFIXES)
    (about / "entry_points.txt").write_text(f"[{kinds.PLUGINS}]\n{points}", encoding="utf-8")
    if str(packages) not in sys.path:
        monkeypatch.syspath_prepend(str(packages))
    kinds.by_suffix.cache_clear()
