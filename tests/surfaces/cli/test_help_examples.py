"""Each help ends with examples, which are run as they stand there."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer.main

from qmd.surfaces.cli.app import application
from qmd.surfaces.cli.help_page import examples_of

FETCHED = "models pull"
"""Command that needs the network."""

SERVING = re.compile(r"^(Watching|qmd serves) ")
"""Notice of a command that runs until it is interrupted."""


class Shown(NamedTuple):
    """Command, or group of commands, that has a help page of its own."""

    path: str
    command: Any
    is_group: bool

    @property
    def lines(self) -> list[str]:
        return [line for _, line in examples_of(self.command)]


def all_commands() -> Iterator[Shown]:
    """All commands that the help lists, `qmd` itself first."""

    def walk(path: str, command: Any) -> Iterator[Shown]:
        below = getattr(command, "commands", {})
        yield Shown(path, command, bool(below))
        for name, each in below.items():
            if not each.hidden:
                yield from walk(f"{path} {name}".strip(), each)

    yield from walk("", typer.main.get_command(application([])))


COMMANDS = list(all_commands())
LINES = {
    line: each.path
    for each in COMMANDS
    for line in each.lines
    if not each.is_group or hasattr(each.command.callback, "examples")
}


@pytest.mark.parametrize("each", COMMANDS, ids=lambda each: f"qmd {each.path}".strip())
def test_the_help_ends_with_two_to_four_examples_of_the_command(qmd, each):
    code, out, err = qmd(*each.path.split(), "--help")
    assert (code, err) == (0, "")
    _, found, ending = out.partition("\n Examples:\n")
    assert found
    lines = [line.strip() for line in ending.splitlines() if line.strip()]
    purposes, commands = lines[::2], lines[1::2]
    assert 2 <= len(commands) <= 4
    assert all(purpose.startswith("# ") for purpose in purposes)
    assert commands == each.lines
    for command in commands:
        called = re.sub(r"--index \w+ |--(?=version)", "", command)
        assert f"qmd {each.path}".strip() in called


# -- a small index, and all that examples speak of -------------------------------------------

FILES = {
    "notes/tea.md": "---\nstatus: open\ntags: [tea]\ndate: 2025-03-14\n---\n# Green tea\n\n"
    "The water should be 80 degrees hot when brewing the drink.\n\nTwo minutes are enough.\n",
    "notes/water.md": "---\nstatus: open\ndate: 2025-04-01\n---\n# Water for tea\n\n"
    "Brewing a drink with soft water: how hot it should be depends on the tea.\n",
    "notes/coffee.md": "# Coffee\n\nBrewing coffee takes four minutes.\n",
    "notes/milk.md": "# Milk\n\nWarm milk with honey.\n",
    "notes/journal/2025-03-14.md": "# A day\n\nBought a kettle, as a.b(c) said.\n",
    "work/plan.md": "# Plan\n\nFirst plan the month, then the week.\n\nTODO: the year.\n",
    "journal/monday.md": "# Monday\n\nRain.\n",
    "journal/tuesday.txt": "Sun.\n",
    "project/readme.md": "# Project\n\nA project of ours.\n",
    "project/todo.txt": "Write it.\n",
    "clone/.qmd/index.yml": "collections:\n  clone:\n    path: .\n    update: echo updating\n",
    "clone/readme.md": "# Clone\n\nOf others.\n",
    "questions.json": '{"queries": [{"query": "brew green tea", "expected_files": ["tea.md"]}, '
    '{"query": "plan of the month", "expected_files": ["plan.md"]}]}',
}

BEFORE = {
    "qmd collection add ~/notes": "qmd collection remove notes",
    "qmd collection update-cmd notes": "qmd collection update-cmd notes true",
    "qmd trust": "qmd trust revoke ~/clone",
    "qmd trust --yes": "qmd trust revoke ~/clone",
    "qmd remove ideas/tea": "echo tea | qmd put ideas/tea",
    "qmd remove tea -c cellar": "echo tea | qmd put tea -c cellar",
    "qmd journal --json": "echo tea | qmd put tea",
    "qmd links notes/tea.md --steps 2 --json": "echo '[[tea]]' | qmd put ideas/pots",
}
"""What is done first, so that an example has something to do."""

NOTE = "printf '# Tea\\n\\n80 °C\\n\\n## Pots\\n\\nClay.\\n' | qmd put ideas/tea"
"""Makes the note that examples change."""

RECORD = """
import os, uuid
from pathlib import Path
from qmd.operations.experiences import Experiences
from qmd.operations.index import Index
from qmd.settings.environment import Machine, locate
uuid.uuid4 = lambda: uuid.UUID("3f2a91c4-0000-4000-8000-000000000000")
index = Index(locate(os.environ, Path.cwd()), Machine())
fields = {"title": "T", "problem_description": "P", "solution": "S", "keywords": ["tea"]}
assert Experiences(index).submit(fields)["success"]
index.close()
"""
"""Submits the experience record that examples name."""

PREPARED = (
    "qmd collection add ~/notes",
    "qmd collection add ~/work",
    "qmd --index archive collection add ~/journal",
    "qmd context add / All",
    "qmd context add qmd://work Plans",
    "qmd embed",
    "qmd export ~/backup",
    "cd ~/clone && qmd trust --yes",
    "qmd cluster build ~/notes --to ~/kb --shards 2",
)


class World(NamedTuple):
    """A home in which examples are run, and a copy of it as it is before each."""

    home: Path
    saved: Path
    environ: dict[str, str]

    def again(self) -> None:
        """Undo what an example has done."""
        shutil.rmtree(self.home)
        shutil.copytree(self.saved, self.home)

    def run(
        self, line: str, folder: str = ".", answer: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run a line in a shell.

        Args:
            answer: typed at the terminal, which there is none without.
        """
        keyboard, terminal = os.openpty()
        os.write(keyboard, answer.encode())
        try:
            return subprocess.run(
                ["bash", "-c", line],
                cwd=self.home / folder,
                env=self.environ,
                stdin=terminal if answer else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=terminal if answer else subprocess.PIPE,
                text=True,
                timeout=120,
            )
        finally:
            os.close(keyboard)
            os.close(terminal)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> World:
    pytest.importorskip("llama_cpp")
    folder = tmp_path_factory.mktemp("examples")
    home, programs = folder / "home", folder / "bin"
    for name, text in FILES.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    programs.mkdir()
    own = f'#!/bin/sh\nexec {sys.executable} -m qmd "$@"\n'
    manager = "#!/bin/sh\nexit 0\n"  # an example must not start a service of this machine
    for name, text in (("qmd", own), ("systemctl", manager), ("launchctl", manager)):
        program = programs / name
        program.write_text(text)
        program.chmod(0o755)
    kept = {
        name: os.environ[name]
        for name in ("LANG", "PYTHONDONTWRITEBYTECODE", "TMPDIR")
        if name in os.environ
    }
    environ = {
        **kept,
        "HOME": str(home),
        "BROWSER": "true",  # nor open a window
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(Path(__file__).parents[3]),
    }
    world = World(home, folder / "saved", environ)
    for line in PREPARED:
        done = world.run(line)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    shutil.copytree(home, world.saved)
    return world


@pytest.fixture
def world(made: World) -> World:
    made.again()
    return made


@pytest.fixture(scope="module")
def writer() -> Iterator[dict[str, str]]:
    """An endpoint that answers each question alike, as the environment names it."""

    class Writer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            message = {"content": "The water should be 80 degrees hot [1]."}
            body = json.dumps({"choices": [{"message": message}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Writer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/v1"
        yield {"OPENAI_BASE_URL": url, "QMD_GENERATE_MODEL": "openai:writer"}
        server.shutdown()
        thread.join()


def prepared(line: str) -> Iterator[str]:
    """Yield what has to be done before an example."""
    if re.search("qmd (append|edit|move|undo) ?", line) and "@today" not in line:
        yield NOTE
    if "3f2a91c4" in line or "experiences list" in line:
        yield f"{sys.executable} -c '{RECORD}'"
    if "experiences restore" in line or "--retired" in line:
        yield "qmd experiences retire 3f2a91c4"
    if line in BEFORE:
        yield BEFORE[line]


@pytest.mark.parametrize(
    "line", [line for line in LINES if LINES[line] != FETCHED and "s3://" not in line]
)
def test_an_example_does_what_it_says(world, writer, line):
    for before in prepared(line):
        assert world.run(before).returncode == 0
    if LINES[line] in ("watch", "mcp", "server"):
        served(world, line)
        return
    if LINES[line] == "ask":
        world = world._replace(environ={**world.environ, **writer})
    folder = "clone" if "qmd trust" in line else "."
    asks = line == "qmd trust" or line.endswith("service install")
    try:
        done = world.run(line, folder, answer="y\n" if asks else "")
    finally:
        if LINES[line] == "open":
            world.run("qmd mcp stop")
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    assert done.stdout or done.stderr or re.search("-o |> ", line)
    assert "No results" not in done.stdout
    assert done.stdout != "[]\n"


def served(world: World, line: str) -> None:
    """Start what runs until it is interrupted, or until its stdin ends."""
    if "--http" in line or "--transport http" in line:
        line += " --port 0"  # the one that is named may be in use
    process = subprocess.Popen(
        ["bash", "-c", f"exec {line}"],
        cwd=world.home,
        env=world.environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        assert process.stderr is not None
        told = process.stderr.readline()
        if SERVING.match(told):
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        assert process.returncode in ((0, 130) if SERVING.match(told) else (0,)), told
    finally:
        process.kill()
        world.run("qmd mcp stop")


def test_models_are_fetched_as_the_examples_say(qmd, monkeypatch, tmp_path):
    fetched = []
    monkeypatch.setattr(
        "qmd.models.hub.fetch", lambda uri, *_, **__: fetched.append(uri) or tmp_path
    )
    for line in (line for line in LINES if LINES[line] == FETCHED):
        fetched.clear()
        assert qmd(*line.split()[1:])[0] == 0
        assert fetched
