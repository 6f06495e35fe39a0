"""The sessions and programs that pages show are run as they stand there."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sessions import Block, blocks, difference, printed, steps
from tools import flows, picture, recording

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = (
    ROOT / "README.md",
    DOCS / "quickstart.md",
    DOCS / "big-libraries.md",
    DOCS / "export.md",
    DOCS / "from-basic-memory.md",
    DOCS / "from-obsidian.md",
    DOCS / "from-recoll.md",
    DOCS / "from-tobi-qmd.md",
    DOCS / "page.md",
    DOCS / "privacy.md",
    DOCS / "server.md",
)
PORT = "8181"
"""Of the server on pages: in tests it is another, which nobody has."""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """That of a user who has nothing yet, and has installed what the tests run in."""
    chosen = {"HOME", "PATH", "PYTHONPATH", "INDEX_PATH", "NO_COLOR", "FORCE_COLOR", "COLUMNS"}
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in chosen and not name.startswith(("QMD_", "XDG_", "HF_", "OPENAI_"))
    }
    own = Path(sys.executable).parent
    (tmp_path / "home").mkdir()
    return {
        **kept,
        "HOME": str(tmp_path / "home"),
        "PATH": f"{own}{os.pathsep}{os.environ['PATH']}",
        "PYTHONUNBUFFERED": "1",  # both streams in the order in which a terminal shows them
    }


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The folder that a reader is in: a clone, as far as the pages use it."""
    folder = tmp_path / "qmd"
    shutil.copytree(ROOT / "examples", folder / "examples")
    return folder


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_shows_is_what_is_printed(page, clone, environ):
    port = free_port()
    shown = blocks(page)
    try:
        for number, block in enumerate(shown):
            if block.kind == "console":
                run_session(page, block, clone, environ, port)
            elif block.kind == "python" and page.name == "README.md":
                run_program(page, block, shown[number + 1], clone, environ)
    finally:
        printed("qmd mcp stop", clone, environ)


GUARD = """
import socket, sys

def refuse(event, arguments):
    if event == "socket.connect" and arguments[0].family != socket.AF_UNIX:
        raise OSError("a connection to " + repr(arguments[1]))
    if event == "socket.getaddrinfo":
        raise OSError("a name was looked up: " + repr(arguments[0]))

sys.addaudithook(refuse)
"""


def test_commands_of_the_page_on_privacy_open_no_connection(tmp_path, clone, environ):
    (tmp_path / "guard").mkdir()
    (tmp_path / "guard" / "sitecustomize.py").write_text(GUARD, encoding="utf-8")
    guarded = {**environ, "PYTHONPATH": str(tmp_path / "guard")}
    tried = subprocess.run(
        [sys.executable, "-c", "import socket; socket.create_connection(('127.0.0.1', 9))"],
        env=guarded,
        capture_output=True,
        text=True,
    )
    assert "OSError: a " in tried.stderr
    for block in blocks(DOCS / "privacy.md"):
        if block.kind == "console":
            run_session(DOCS / "privacy.md", block, clone, guarded, PORT)


def run_session(page: Path, block: Block, clone: Path, environ: dict[str, str], port: str) -> None:
    """Run each command of a block."""
    for step in steps(block):
        got = printed(step.command.replace(PORT, port), clone, environ)
        told = difference(step.wanted.replace(PORT, port), got)
        assert not told, f"{page.name}, line {step.line}: $ {step.command}\n{told}"


def run_program(
    page: Path, block: Block, after: Block, clone: Path, environ: dict[str, str]
) -> None:
    """Run a program; what it prints stands below it."""
    assert after.kind == "text", f"{page.name}, line {block.line}: what does it print?"
    file = clone.parent / "program.py"
    file.write_text(block.text, encoding="utf-8")
    told = difference(after.text, printed(f"python {file}", clone, environ))
    assert not told, f"{page.name}, line {block.line}:\n{told}"


def free_port() -> str:
    """A port at which nobody listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_sessions(page):
    assert any(list(steps(block)) for block in blocks(page) if block.kind == "console")


@pytest.mark.parametrize(
    ("wanted", "got"),
    [
        ("Score: 89%", "Score: 87%"),
        ("Indexed: 50 new", "Indexed: 50 new\nand more"),
        ("one\ntwo", "one"),
        ("in … s", "in 3 ms"),
        ("a.b", "aXb"),
        ("one\n…\nthree", "one\ntwo"),
        ("", "a warning"),
    ],
)
def test_a_page_that_lies_is_found_out(wanted, got):
    assert difference(wanted, got)


@pytest.mark.parametrize(
    ("wanted", "got"),
    [
        ("14:\n15: so", "14: \n15: so\n\n"),
        ("in … s (31226 tokens, …).", "in 3.4 s (31226 tokens, 9 KB/s)."),
        ("one\n…", "one\ntwo\nthree\n"),
        ("one\n…", "one\n"),
        ("one\n…\nfour", "one\ntwo\nthree\nfour"),
    ],
)
def test_what_varies_is_left_open(wanted, got):
    assert difference(wanted, got) == ""


def test_the_picture_is_what_its_tool_draws():
    page = picture.PICTURE.read_text(encoding="utf-8")
    assert page == picture.drawn(), "Run: python -m tools.picture"


@pytest.mark.parametrize(("name", "drawn"), flows.pictures().items())
def test_pictures_of_the_data_flow_are_what_their_tool_draws(name, drawn):
    page = picture.PICTURE.with_name(name).read_text(encoding="utf-8")
    assert page == drawn, "Run: python -m tools.flows"


def test_the_recording_shows_what_is_printed():
    shown = recording.texts(recording.PICTURE.read_text(encoding="utf-8"))
    assert shown == recording.texts(recording.recorded()), "Run: python -m tools.recording"


def test_pictures_fetch_nothing():
    drawn = [picture.PICTURE.with_name(name) for name in flows.pictures()]
    for file in (picture.PICTURE, recording.PICTURE, *drawn):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"url\((?!#)|(?:src|href)=|@import", text)


PAGES_WITH_LINKS = sorted(
    [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
)


@pytest.mark.parametrize("page", PAGES_WITH_LINKS, ids=lambda page: page.stem)
def test_links_of_a_page_lead_somewhere(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    links = re.findall(r"\]\((?!https?:)([^)#\s]+)", text)
    assert [link for link in links if not (page.parent / link).exists()] == []
