"""Servers of notes for the page: friendly ones, and hostile ones."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from qmd.surfaces.tools.dispatch import Toolbox
from tests.library import Library
from tests.surfaces.service import service

PIXEL = (
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\nIDATx\x9cc"
    b"\0\x01\0\0\x05\0\x01\r\n-\xb4\0\0\0\0IEND\xaeB`\x82"
)

HOSTILE = """---
title: "<script>window.ran = 1</script>"
tags: ["<b>bold</b>"]
---

# <img src=x onerror="window.ran = 1">

<script>window.ran = 1</script>
<style>body { display: none }</style>
<svg onload="window.ran = 1"><script>window.ran = 1</script></svg>
<iframe src="https://elsewhere.example/"></iframe>
<form action="https://elsewhere.example/"><input name=q></form>
<p style="position: fixed; inset: 0" onclick="window.ran = 1">covers it</p>
<a href="javascript:window.ran = 1">raw</a>

[script](javascript:window.ran=1) [data](data:text/html,<script>window.ran=1</script>)
[vb](vbscript:x) [tab](java\tscript:window.ran=1) <javascript:window.ran=1>

![pixel](https://elsewhere.example/pixel.png) <img src="//elsewhere.example/p.png">
![up](../../../etc/passwd) ![up](/../secret.png)

poison \u202egnp.exe poison
"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A library of notes that link to each other, and of hostile ones."""
    library = Library(tmp_path_factory.mktemp("page"))
    library.write(
        "tea.md",
        "---\ntags: [drinks, green]\ndate: 2024-05-01\nstatus: open\n---\n# Green tea\n\n"
        "Brew it at 80 degrees. See [water](deep/water.md#soft-water) and [[Pool]].\n\n"
        "![leaf](leaf.png)\n\n## Steps\n\n1. Boil water.\n2. Wait.\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
    )
    library.write("deep/water.md", "# Water\n\n## Soft water\n\nBest for tea, says ../tea.md.\n")
    library.write("pool.md", "# Pool\n\nSwim after tea. [Gone](absent.md)\n")
    library.write("arabic.md", "---\ntitle: شاي أخضر\n---\n\nالشاي الأخضر مفيد للصحة.\n")
    library.write("hostile.md", HOSTILE)
    for number in range(30):
        library.write(f"many/n{number:02}.md", f"# Number {number}\n\nkettle {number}\n")
    library.write("long.md", "".join(f"line {n} of sand\n" for n in range(1, 100_001)))
    cells = "|" + " x |" * 60 + "\n"
    library.write("table.md", "# Wide\n\n" + cells + "|" + "---|" * 60 + "\n" + cells * 500)
    (library.root / "leaf.png").write_bytes(PIXEL)
    (library.root / ".hidden.png").write_bytes(PIXEL)
    (library.root / "evil.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>'
    )
    (library.folder / "secret.png").write_bytes(PIXEL)
    (library.root / "linked").symlink_to(library.folder)
    (library.root / "link.png").symlink_to(library.folder / "secret.png")
    library.update()
    yield library
    library.engine.close()


@pytest.fixture(scope="module")
def pages(kept):
    """A server of them."""
    with service(Toolbox(kept.engine)) as made:
        yield made


@pytest.fixture(scope="module")
def mapped(tmp_path_factory):
    """A server of notes with vectors, of two subjects, and a hostile title."""
    library = Library(tmp_path_factory.mktemp("map"))
    for number in range(24):
        word = "kettle teapot brew" if number % 2 else "engine wheel brake"
        library.write(f"n{number:02}.md", f"# Note {number} {word}\n\n{word} {number}\n")
    library.write("hostile.md", "# </title><script>window.ran = 1</script>\n\nkettle\n")
    library.update()
    library.embed()
    with service(Toolbox(library.engine)) as made:
        yield made
    library.engine.close()


def chromium() -> str | None:
    """Path of a Chromium of the system."""
    named = os.environ.get("QMD_TEST_CHROMIUM")
    return named or shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def browser(pages, mapped):
    """A Chromium without a window.

    It runs an event loop in this thread, in which none other can run: the server comes first.
    """
    path = chromium()
    if path is None:
        pytest.skip("there is no Chromium (apt-get install chromium, or QMD_TEST_CHROMIUM)")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield launched
        launched.close()


def axe() -> Path | None:
    """File of axe-core, if there is one."""
    installed = Path(__file__).parents[3] / "node_modules" / "axe-core" / "axe.min.js"
    named = Path(os.environ.get("QMD_TEST_AXE", installed))
    return named if named.is_file() else None
