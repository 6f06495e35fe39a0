"""Kills of record submissions, `cleanup`, `export` and `import`.

Each trial is made of rounds like those of `bench.crash`, and run by `bench.torture`.
"""

from __future__ import annotations

import random
import shutil
import time
from pathlib import Path

import anyio

from bench.agents import Agent
from bench.crash import Corpus, killed
from bench.torture.proof import Home
from qmd.operations.documents import below
from qmd.operations.update import run_update
from qmd.storage.cursor import Cursor

SUBMITTING = 2.0
"""Seconds, at most, that a server takes records in."""


class Submissions:
    """Kills of a server that takes records: acknowledged ones are there, whole."""

    def __init__(self, work: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.home = Home(work)
        self.landed = 0
        self._acknowledged: dict[str, str] = {}
        self._tried = 0

    def round(self) -> list[str]:
        """Run one round and list the problems after it."""
        agent = Agent(self.home.environ)
        ends = time.monotonic() + self.chance.random() * SUBMITTING
        while time.monotonic() < ends:
            word, given = self._record()
            answer = agent.call("submit_experience", given)
            self._acknowledged[answer["data"]["id"]] = word
        word, given = self._record()
        agent.send("tools/call", {"name": "submit_experience", "arguments": given})
        time.sleep(self.chance.random() * 0.05)
        agent.process.kill()
        agent.process.communicate()
        self.landed += 1
        return self._lost() + self.home.wrong()

    def figures(self) -> dict[str, str]:
        """Return the counts of the actions."""
        kept = f"{len(self._acknowledged)} acknowledged of {self._tried}"
        return {"killed submitting": f"{self.landed}, {kept}"}

    def _record(self) -> tuple[str, dict[str, object]]:
        self._tried += 1
        return record(self._tried)

    def _lost(self) -> list[str]:
        engine = self.home.engine()

        def found(cursor: Cursor) -> dict[str, str]:
            rows = cursor.connection.execute(RECORDS).fetchall()
            return {str(key): f"{title} {body}" for key, title, body in rows}

        try:
            records = engine.read(found)
        finally:
            engine.close()
        some = self.chance.sample(sorted(self._acknowledged), min(3, len(self._acknowledged)))
        unfound = [
            each
            for each in some
            if self._acknowledged[each] not in str(self._searched(self._acknowledged[each]))
        ]
        missing = [
            key for key, word in self._acknowledged.items() if word not in records.get(key, "")
        ]
        half = [key for key, text in records.items() if "own" not in text or "Solved" not in text]
        return (
            [f"lost: {key}" for key in missing]
            + [f"not found: {key}" for key in unfound]
            + [f"half of a record: {key}" for key in half]
        )

    def _searched(self, word: str) -> str:
        return self.home.run("search", word, "--json").out


RECORDS = """
    select experiences.id, documents.title, body
    from experiences
    join documents using (document_id)
    join content using (hash)
"""


def record(number: int) -> tuple[str, dict[str, object]]:
    """Make a record, and a word that occurs in it alone."""
    word = "own" + "".join("bcdfghjklm"[int(digit)] for digit in f"{number:07}") + "x"
    return word, {
        "title": f"The case of {word}",
        "problem_description": f"It did not work, and nobody knew why: {word}.",
        "solution": f"Solved by asking {word}.",
        "keywords": ["case", word],
    }


class Cleanups:
    """Kills of `qmd cleanup`: no needed data is lost, and the next one completes it."""

    def __init__(self, work: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.home = Home(work)
        self.corpus = Corpus(self.home.docs, self.chance, 200)
        self.landed = 0
        self._typical = 0.8
        self._begun = False

    def round(self) -> list[str]:
        """Run one round and list the problems after it."""
        for _ in range(self.chance.randint(1, 4)):  # commits for it to merge
            self.corpus.change()
            wanted = ["update"] if self._begun else ["collection", "add", str(self.home.docs)]
            said = self.home.run(*wanted)
            if said.problem:
                return [said.problem]
            self._begun = True
        aimed = self.home.database if self.chance.random() < 0.5 else None
        with self.home.start("cleanup") as process:
            killed(process, self.chance, self._typical, aimed)
        self.landed += process.returncode == -9
        wrong = self.home.wrong(self.corpus.queries())
        began = time.monotonic()
        said = self.home.run("cleanup")
        self._typical = max(0.7 * self._typical, time.monotonic() - began)
        if said.problem:
            return [*wrong, said.problem]
        return wrong + self.home.wrong(self.corpus.queries())

    def figures(self) -> dict[str, str]:
        """Return the counts of the actions."""
        return {"killed cleaning up": str(self.landed)}


class Exchanges:
    """Kills of `qmd export` and `qmd import`: each folder or index is the old or the new one."""

    def __init__(self, work: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.home = Home(work / "one")
        self.other = Home(work / "other")
        self.corpus = Corpus(self.home.docs, self.chance, 150)
        self.folder = work / "export"
        self.exports = self.imports = 0
        self._typical = {"export": 1.0, "import": 1.0}
        self._texts: set[frozenset[tuple[str, str]]] = set()

    def round(self) -> list[str]:
        """Run one round and list the problems after it."""
        self.corpus.change()
        wanted = ["update"] if self._texts else ["collection", "add", str(self.home.docs)]
        said = self.home.run(*wanted)
        if said.problem:
            return [said.problem]
        self._texts.add(texts(self.home))
        wrong = []
        if self.chance.random() < 0.5:
            self.exports += self._killed(self.home, "export")
            if not (self.folder / "manifest.json").exists():
                return self._done(self.home, "export")
        else:
            wrong += self._done(self.home, "export")
            self.imports += self._killed(self.other, "import", "--replace")
            if self.other.database.exists():
                wrong += self._whole("after the kill")
        wrong += self._done(self.other, "import", "--replace")
        wrong += self._whole("after an import")
        left = [file.name for file in self.folder.parent.iterdir()]
        strays = sorted(set(left) - {"one", "other", "export"})
        return wrong + ([f"left behind: {strays}"] if len(strays) > 3 else [])

    def figures(self) -> dict[str, str]:
        """Return the counts of the actions."""
        return {"killed exporting": str(self.exports), "killed importing": str(self.imports)}

    def _killed(self, home: Home, verb: str, *more: str) -> bool:
        with home.start(verb, str(self.folder), *more) as process:
            killed(process, self.chance, self._typical[verb])
        return process.returncode == -9

    def _done(self, home: Home, verb: str, *more: str) -> list[str]:
        began = time.monotonic()
        said = home.run(verb, str(self.folder), *more)
        self._typical[verb] = max(0.7 * self._typical[verb], time.monotonic() - began)
        return [f"{verb}: {said.problem}"] if said.problem else []

    def _whole(self, when: str) -> list[str]:
        """Check that the imported index equals one of the exported ones."""
        wrong = [f"{when}: {each}" for each in self.other.unsound()]
        found = texts(self.other)
        if found and found not in self._texts:
            wrong.append(f"{when}: {len(found)} documents that were never exported together")
        return wrong


def texts(home: Home) -> frozenset[tuple[str, str]]:
    """Return the documents of an index, with their hashes."""
    engine = home.engine()
    try:
        return frozenset((each.name, each.hash) for each in below(engine, None))
    finally:
        engine.close()


def fresh(folder: Path) -> Path:
    """Make an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def updated(home: Home) -> None:
    """Index what has changed, in this process."""
    engine = home.engine()
    try:
        anyio.run(run_update, engine)
    finally:
        engine.close()
