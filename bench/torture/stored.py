"""Kills of `qmd put` and of `qmd cluster build`.

Each trial is made of rounds like those of `bench.crash`, and run by `bench.torture`.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

from bench.crash import Corpus, killed
from bench.processes import letters
from bench.torture.proof import Home

SHARDS = 4


class Puts:
    """Kills of `qmd put`: what was acknowledged is there, and each text is whole."""

    def __init__(self, work: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.home = Home(work)
        self.landed = 0
        self._number = 0
        self._typical = 0.5
        self._stored: dict[str, str] = {}

    def round(self) -> list[str]:
        """Run one round and list the problems after it."""
        wrong = []
        for _ in range(self.chance.randint(1, 3)):
            name, text = self._text()
            began = time.monotonic()
            said = self.home.run("put", name, "--file", str(self._file(text)))
            self._typical = max(0.7 * self._typical, time.monotonic() - began)
            wrong += [said.problem] if said.problem else []
            self._stored[name] = text
        name, text = self._text()
        removes = self.chance.random() < 0.3
        words = ["remove", name] if removes else ["put", name, "--file", str(self._file(text))]
        aimed = self.home.database if self.chance.random() < 0.7 else None
        with self.home.start(*words) as process:
            killed(process, self.chance, self._typical, aimed)
        self.landed += process.returncode == -9
        return wrong + self._settled(name, None if removes else text) + self.home.unsound()

    def figures(self) -> dict[str, str]:
        """Return the counts of the actions."""
        return {"killed putting": str(self.landed), "documents": str(len(self._stored))}

    def _text(self) -> tuple[str, str]:
        """Return a name, which may be stored already, and a text that has a word of its own."""
        self._number += 1
        body = "\n\n".join(f"{letters(self._number)} line {line}" for line in range(400))
        return f"note-{self.chance.randint(0, 9)}.md", f"# {letters(self._number)}\n\n{body}\n"

    def _file(self, text: str) -> Path:
        file = self.home.work / "given.md"
        file.write_text(text)
        return file

    def _settled(self, name: str, text: str | None) -> list[str]:
        """Check all texts; that of the killed command may be the old one or the new one."""
        wrong = []
        for each in {*self._stored, name}:
            said = self.home.run("get", f"inbox/{each}")
            found = said.out if said.code == 0 else None
            expected = [self._stored.get(each), *([text] if each == name else [])]
            if found not in expected:
                wrong.append(f"{each}: {str(found)[:80]!r} instead of {str(expected)[:200]!r}")
            elif found is None:
                self._stored.pop(each, None)
            else:
                self._stored[each] = found
                word = found.split()[1]
                if self.home.search(word) != [f"inbox/{each}"]:
                    wrong.append(f"{each}: not found by {word}")
        return wrong


class Shards:
    """Kills of `qmd cluster build`: the build before stays whole, and the next one goes on."""

    def __init__(self, work: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.home = Home(work)
        self.folder = work / "shards"
        self.corpus = Corpus(self.home.docs, self.chance, 200)
        self.landed = 0
        self._typical = 2.0
        self._begun = False

    def round(self) -> list[str]:
        """Run one round and list the problems after it."""
        self.corpus.change()
        command = ("cluster", "build", str(self.home.docs), "--to", str(self.folder))
        command += ("--shards", str(SHARDS))
        with self.home.start(*command) as process:
            killed(process, self.chance, self._typical)
        self.landed += process.returncode == -9
        wrong = self._whole("after the kill") if self._begun else []
        began = time.monotonic()
        said = self.home.run(*command)
        self._typical = max(0.7 * self._typical, time.monotonic() - began)
        if said.problem:
            return [*wrong, said.problem]
        self._begun = True
        documents = f"{len(self.corpus.titles)} documents in {SHARDS} shards"
        if documents not in said.out:
            wrong.append(f"{said.out.strip()} instead of {documents}")
        return wrong + self._whole("after a build")

    def figures(self) -> dict[str, str]:
        """Return the counts of the actions."""
        return {"killed building": str(self.landed)}

    def _whole(self, when: str) -> list[str]:
        said = self.home.run("cluster", "verify", str(self.folder))
        is_whole = said.out == f"{SHARDS} of {SHARDS} shards are whole.\n"
        return [] if is_whole else [f"{when}: {said.problem or said.out}"]
