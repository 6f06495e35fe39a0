"""Many processes of every kind on one index, for a while.

    python -m bench.torture --only crowd [--minutes 10]

Members search, update files, embed, submit records, ask in SQL, export, rename a collection, add
contexts and clean up, over the command line, MCP and HTTP. No process may get an error. What an
update or a submission has acknowledged is asked for at once through another door, and again in the
end; then the index has to say the same as one that is built anew.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from bench.agents import COMMAND, Agent
from bench.processes import append, generate, letters, named, vocabulary
from bench.serving import running
from bench.torture.kills import record, texts
from bench.torture.proof import PARTLY, PATIENCE, Home
from qmd.operations.documents import below, get
from qmd.surfaces.http.app import IDLE_SECONDS

OWN = 60
"""Files of each writer."""

ENDLESS = 600.0
"""Seconds after which an embedding is taken for stuck."""

WRITERS = 2


class Crowd:
    """All processes, their actions, and the problems.

    Args:
        work: an empty folder.
    """

    def __init__(self, work: Path, seconds: float, seed: int) -> None:
        self.home = Home(work)
        self._other = Home(work / "other")
        self._seconds = seconds
        self._seed = seed
        self._over = threading.Event()
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.old: list[str] = []
        self._markers: list[tuple[str, str]] = []
        self._records: dict[str, str] = {}
        self._doors: dict[str, Callable[[str], list[str]]] = {}

    def run(self) -> None:
        """Let them go on for a while, and look at the index in the end."""
        generate(self.home.docs, OWN * WRITERS)
        side = self.home.work / "side"
        side.mkdir()
        for number in range(20):
            (side / f"{number}.md").write_text(f"# Side {number}\n\nsidelong words {number}\n")
        for folder in (self.home.docs, side):
            said = self.home.run("collection", "add", str(folder))
            assert not said.problem, said.problem
        with ExitStack() as stack:
            agent = Agent(self.home.environ, "--allow-write")
            stack.callback(agent.close)
            reader = Agent(self.home.environ)
            stack.callback(reader.close)
            server = stack.enter_context(running(list(COMMAND), self.home.environ))
            web = Web(server.port)
            self._doors = {
                "mcp": reader.search,
                "http": web.search,
                "cli": self.home.search,
                "sql": self._by_sql,
            }
            members: dict[str, Callable[[random.Random], Iterator[None]]] = {
                "searches": self._search,
                "updates": lambda chance: self._update(chance, 0, self._updated),
                "updates over mcp": lambda chance: self._update(
                    chance, 1, lambda: self._updated_by(agent)
                ),
                "embed": self._embed,
                "records": lambda chance: self._submit(chance, reader, web),
                "exports": self._export,
                "renames": self._rename,
                "contexts": self._context,
                "cleanups": self._clean,
            }
            threads = [
                threading.Thread(target=self._member, args=(name, work, number), name=name)
                for number, (name, work) in enumerate(members.items())
            ]
            for thread in threads:
                thread.start()
            time.sleep(self._seconds)
            self._over.set()
            for thread in threads:
                thread.join(ENDLESS)
                if thread.is_alive():
                    self.wrong.append(f"{thread.name}: no end")
        self._look()

    def figures(self) -> str:
        """Return the counts of the actions, on one line."""
        done = ", ".join(f"{count} {name}" for name, count in self.done.items())
        return f"{done}; {len(self.old)} old answers, {len(self.wrong)} errors"

    # -- members -----------------------------------------------------------------

    def _member(
        self, name: str, work: Callable[[random.Random], Iterator[None]], number: int
    ) -> None:
        """Do one thing after the other until time is up."""
        try:
            for _ in work(random.Random(self._seed + number)):
                self.done[name] += 1
                if self._over.is_set():
                    return
        except Exception as error:
            self.wrong.append(f"{name}: {type(error).__name__}: {error}")

    def _run(self, *arguments: str, patience: float = PATIENCE) -> str:
        said = self.home.run(*arguments, patience=patience)
        if said.problem:
            self.wrong.append(f"qmd {' '.join(arguments[:3])}: {said.problem}")
        return said.out

    def _search(self, chance: random.Random) -> Iterator[None]:
        words = vocabulary()
        while True:
            self._run("search", " ".join(chance.sample(words, 2)), "--json")
            yield

    def _update(
        self, chance: random.Random, number: int, update: Callable[[], None]
    ) -> Iterator[None]:
        mine = range(number, OWN * WRITERS, WRITERS)
        while True:
            fresh = []
            for place in chance.sample(mine, chance.choice([1, 1, 3])):
                marker = letters(len(self._markers) * WRITERS * 10 + number * 10 + len(fresh))
                append(self.home.docs / named(place), marker, whole=chance.random() < 0.5)
                fresh.append((marker, f"docs/{named(place)}"))
            update()
            for marker, file in fresh:
                door = chance.choice(list(self._doors))
                if self._doors[door](marker) != [file]:
                    self.old.append(f"{door}: {marker} is not found in {file}")
            self._markers += fresh
            yield

    def _updated(self) -> None:
        self._run("update")

    def _updated_by(self, agent: Agent) -> None:
        for each in agent.call("update", {})["collections"]:
            if "failure" in each:
                self.wrong.append(f"update over mcp: {each}")

    def _by_sql(self, word: str) -> list[str]:
        found = self._run("sql", f"select file from bm25('{word}')", "--json")
        return [each["file"] for each in json.loads(found or "[]")]

    def _embed(self, chance: random.Random) -> Iterator[None]:
        while True:
            said = self.home.run("embed", "--batch-tokens", "512", patience=ENDLESS)
            # Others may have added texts in the end, as it says then.
            if said.problem and not (said.code == PARTLY and "still lack" in said.out):
                self.wrong.append(f"qmd embed: {said.problem}")
            yield

    def _submit(self, chance: random.Random, agent: Agent, web: Web) -> Iterator[None]:
        for number in range(1, 1_000_000):
            word, given = record(number)
            doors = [agent.call, web.call]
            chance.shuffle(doors)
            key = doors[0]("submit_experience", given)["data"]["id"]
            self._records[key] = word
            found = doors[1]("query_experiences", {"keywords": word})["data"]["experiences"]
            if key not in [each["id"] for each in found]:
                self.old.append(f"record {word} is not found")
            yield
            time.sleep(chance.uniform(0, 0.5))

    def _export(self, chance: random.Random) -> Iterator[None]:
        folder = self.home.work / "export"
        while True:
            self._run("export", str(folder))
            yield
            said = self._other.run("import", str(folder), "--replace")
            if said.problem:
                self.wrong.append(f"import: {said.problem}")
            time.sleep(chance.uniform(0, 3))

    def _rename(self, chance: random.Random) -> Iterator[None]:
        old, new = "side", "lateral"
        while True:
            self._run("collection", "rename", old, new)
            found = json.loads(self._run("search", "sidelong", "-n", "50", "--json") or "[]")
            names = sorted(each["file"] for each in found)
            if names != sorted(f"{new}/{number}.md" for number in range(20)):
                self.old.append(f"after {old} became {new}: {len(names)} files, {names[:2]}")
            old, new = new, old
            yield
            time.sleep(chance.uniform(0, 2))

    def _context(self, chance: random.Random) -> Iterator[None]:
        for number in range(1_000_000):
            self._run("context", "add", "qmd://docs/0", f"Context {number}")
            if f"Context {number}" not in self._run("context", "list"):
                self.old.append(f"context {number} is not listed")
            yield
            time.sleep(chance.uniform(0, 2))

    def _clean(self, chance: random.Random) -> Iterator[None]:
        while True:
            time.sleep(min(10, self._seconds / 4))
            self._run("cleanup")
            yield

    # -- the end -----------------------------------------------------------------

    def _look(self) -> None:
        """Check that all acknowledged documents are there, and no others."""
        self._run("update")
        self.wrong += self.home.wrong()
        engine = self.home.engine()
        try:
            for marker, file in self._markers:
                if marker not in get(engine, file).body:
                    self.wrong.append(f"lost: {marker} of {file}")
            kept = [each.path for each in below(engine, "experiences")]
            lost = [key for key in self._records if f"{key}.md" not in kept]
            self.wrong += [f"lost: record {key}" for key in lost]
            if len(kept) != len(self._records):
                self.wrong.append(f"{len(kept)} records of {len(self._records)}")
        finally:
            engine.close()
        self._run("export", str(self.home.work / "export"))
        said = self._other.run("import", str(self.home.work / "export"), "--replace")
        self.wrong += [said.problem] if said.problem else []
        if texts(self._other) != texts(self.home):
            self.wrong.append("the import has other documents")


class Web:
    """A client of the HTTP server."""

    def __init__(self, port: int) -> None:
        self._link = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        self._turn = threading.Lock()
        self._used = 0.0

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool and return its data; an error is raised."""
        with self._turn:
            headers = {"Content-Type": "application/json"}
            if time.monotonic() - self._used > IDLE_SECONDS / 3:
                self._link.close()  # a server ends a connection on which nothing comes
            self._link.request("POST", f"/{tool}", json.dumps(arguments), headers)
            answer = self._link.getresponse()
            body = json.loads(answer.read())
            self._used = time.monotonic()
        if answer.status != 200:
            raise RuntimeError(f"{answer.status}: {body}")
        return body

    def search(self, words: str) -> list[str]:
        """Files that have words."""
        return [each["file"] for each in self.call("search", {"query": words})["results"]]
