"""Databases, processes and threads that share one index."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from subprocess import PIPE

import pytest

from qmd.storage.database import Database
from tests.storage.database.uses import LONG


@pytest.fixture
def path(tmp_path):
    return tmp_path / "index.duckdb"


@pytest.fixture
def database(path):
    """Makes databases on one index, as a command or, warm, as a server has them."""
    made = []

    def make(place=path, **options):
        made.append(Database(place, **{"patience": LONG, **options}))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def process(path):
    """Starts a process that says when it is inside, and ends when it is let go."""
    started = []

    def start(script, *arguments):
        command = [sys.executable, "-c", script, path, *arguments]
        started.append(subprocess.Popen(command, bufsize=0, stdin=PIPE, stdout=PIPE))
        return started[-1]

    yield start
    for each in started:
        each.kill()
        each.communicate()


@pytest.fixture
def beside():
    """Runs functions in threads; all have to end with the test."""
    with ThreadPoolExecutor(12) as pool:
        yield pool.submit
