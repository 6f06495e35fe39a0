"""Several who submit, query and count at once, and one that is killed."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import PIPE

import pytest

from qmd.operations.experiences import Experiences
from qmd.operations.index import Index
from qmd.settings.environment import Machine, Place
from tests.experiences.submitting import DOCKER, REDIS, asked, submitted

SERVER = """
import sys
from itertools import pairwise
from pathlib import Path
from qmd.settings.environment import Place
from qmd.operations.index import Index
from qmd.operations.experiences import Experiences
from qmd.storage.cursor import Cursor

folder, name, count, stop = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
place = Place("index", folder / "index.yml", folder / "index.duckdb", None, folder / "trust")
records = Experiences(Index(place, warm=True))
run = Cursor.run

def stopping(self, statement, /, **parameters):
    rows = run(self, statement, **parameters)
    if statement == stop:
        print("inside", flush=True)
        sys.stdin.readline()
    return rows

Cursor.run = stopping
for number in range(count):
    given = {"title": f"{name} {number}", "problem_description": "shared", "solution": name}
    outcome = records.submit(given)
    assert outcome["success"], outcome
    found = records.query({"keywords": f"{name} {number}"})["data"]["experiences"]
    assert any(each["id"] == outcome["data"]["id"] for each in found)
    print(outcome["data"]["id"], flush=True)
"""


def server(folder: Path, name: str, count: int = 1, *, stop: str = "") -> subprocess.Popen[str]:
    """A process that submits records and finds each, and stops within a submission if told to."""
    command = [sys.executable, "-c", SERVER, str(folder), name, str(count), stop]
    root = Path(__file__).parents[2]
    return subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True, cwd=root)


def test_processes_that_submit_at_once_lose_nothing(records, library):
    with server(library.folder, "one", 8) as one, server(library.folder, "two", 8) as two:
        own = [submitted(records, {**REDIS, "solution": f"shared {n}"}) for n in range(4)]
        said = (
            own + one.communicate(timeout=120)[0].split() + two.communicate(timeout=120)[0].split()
        )
    assert (one.returncode, two.returncode) == (0, 0)
    found = asked(records, "shared", limit=50)
    assert found["total"] == 20
    assert sorted(each["id"] for each in found["experiences"]) == sorted(said)
    assert library.problems() == []


@pytest.mark.parametrize(
    "statement",
    ["documents/add", "documents/add_postings", "words/learn", "experiences/add"],
)
def test_a_submission_that_is_killed_leaves_nothing(records, library, statement):
    submitted(records, REDIS)
    before = library.ask("select count(*) from postings")
    with server(library.folder, "killed", stop=statement) as process:
        assert process.stdout.readline() == "inside\n"
        process.kill()
        process.communicate(timeout=60)
    assert asked(records, "killed shared")["total"] == 0
    assert library.ask("select count(*) from postings") == before
    assert library.problems() == []
    submitted(records, DOCKER)
    assert asked(records, "docker redis")["total"] == 2


def test_threads_may_submit_query_and_count_at_once(tmp_path, library):
    engine = Index(library.engine.place, Machine(hub=tmp_path / "hub"), warm=True)
    records = Experiences(engine)
    seen = Counter()

    def work(number: int) -> list[str]:
        id_ = submitted(records, {**REDIS, "title": f"Redis {number}"})
        found = [each["id"] for each in asked(records, "redis", limit=50)["experiences"]]
        assert id_ in found
        records.count()
        return found

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(work, range(8)):
            seen.update(found)
    records.count()
    assert dict(library.ask("select id, query_count from experience_counts")) == dict(seen)
    engine.close()


def test_the_first_record_makes_an_index(tmp_path):
    place = Place(
        "index", tmp_path / "index.yml", tmp_path / "a" / "x.duckdb", None, tmp_path / "t"
    )
    records = Experiences(Index(place, Machine(hub=tmp_path / "hub")))
    assert asked(records, "redis")["total"] == 0
    submitted(records, REDIS)
    assert asked(records, "redis")["total"] == 1
