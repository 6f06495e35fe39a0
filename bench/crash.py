"""Kill -9 in the middle of indexing, repeatedly: the index has to stay whole.

    python -m bench.crash [--rounds 100] [--seed 1]

In each round a folder changes, and a real `qmd update` (or `qmd collection add`, where there is
no index yet) is killed at a random moment, sometimes with a rival that does the same and lives.
Another one then runs to its end, and every document has to be found by the word that its title
alone has, `qmd doctor --deep` has to be content, and the index has to say the same as one that is
built anew from the same files.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from bench.torture.proof import PATIENCE, Home, first
from qmd.operations.search import search

DOCUMENTS = 300
LETTERS = "bcdfghjklmnpqrtvwz"

SMALL = (
    "-c",
    """
from qmd.ingest import batches
from qmd.storage import long_texts
batches.BATCH_FILES = 20
long_texts.LIMIT, long_texts.PIECE = 2000, 300
from qmd.__main__ import main
main()
""",
)
"""The command line with small batches: more commits for a kill to fall into. An eighth of the texts
is stored in pieces, as long ones are."""

WHOLE = ("-m", "qmd")
"""The command line as it is: fewer commits, so large that DuckDB writes of them before they end."""

RIVALRY = 0.3
"""Share of the rounds in which another process does the same."""

AFRESH = 0.15
"""Share of the rounds that begin without an index."""

AIMED = 0.5
"""Share of the kills that wait for the first commit to begin."""

WRITING = 0.15
"""Seconds after that, within which half of these kills fall."""

TURNS, COMMITTING = 3, 0.01
"""The others fall into a commit, one of the first so many: within so many seconds after the file
itself changes."""

TOGETHER = 60
"""Documents that are looked for at once."""


class Corpus:
    """A folder that changes at random, and the names of its files."""

    def __init__(self, folder: Path, chance: random.Random, documents: int = DOCUMENTS) -> None:
        self.folder = folder
        self._documents = documents
        self.titles: dict[str, str] = {}
        self._chance = chance
        self._named = 0
        # All kinds of words: in a few documents and in most, many with longer ones beginning so.
        stems = ["".join(chance.choices(LETTERS, k=5)) for _ in range(150)]
        self.words = [*stems, *(stem + end for stem in stems for end in ("a", "ibo"))]
        self._weights = [1 / (rank % len(stems) + 3) for rank in range(len(self.words))]
        for _ in range(documents):
            self._write(self._fresh_path())

    def change(self) -> None:
        """Add, change, delete and rename some files; once in a while many."""
        few = min(self._chance.choice([1, 5, 20, 60]), self._documents // 3)
        for _ in range(self._chance.randint(0, few)):
            self._write(self._chance.choice(list(self.titles)))
        for _ in range(self._chance.randint(0, few)):
            self._take(self._chance.choice(list(self.titles)))
        for _ in range(max(0, self._documents - len(self.titles) + self._chance.randint(0, 3))):
            self._write(self._fresh_path())
        for _ in range(self._chance.randint(0, few)):
            old, new = self._chance.choice(list(self.titles)), self._fresh_path()
            (self.folder / new).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / old).rename(self.folder / new)
            self.titles[new] = self.titles.pop(old)

    def queries(self) -> list[str]:
        """Twenty: words, pairs, phrases and exclusions."""
        some = self._chance.choices(self.words, k=36)
        asked = [*some[:8], *(f"{a} {b}" for a, b in zip(some[8:16], some[16:24], strict=True))]
        asked += [f'{some[24]} "{some[25]}"', f'"{self._phrase()}"', f'"{self._phrase()}"']
        return [*asked, f"{some[26]} -{some[27]}"]

    def _phrase(self) -> str:
        text = (self.folder / self._chance.choice(list(self.titles))).read_text(encoding="utf-8")
        words = text.split()
        at = self._chance.randrange(3, len(words) - 1)
        return " ".join(words[at : at + 2])

    def _fresh_path(self) -> str:
        self._named += 1
        folder = self._chance.choice(["", "", "spring/", "autumn/"])
        return f"{folder}{self._chance.choice(self.words)}-{self._named}.md"

    def _write(self, path: str) -> None:
        self._named += 1
        own = "zx" + "".join(LETTERS[self._named // 16**at % 16] for at in range(5)) + "x"
        length = self._chance.randint(20, 120) * self._chance.choice([1, 1, 1, 8])
        text = self._chance.choices(self.words, self._weights, k=length)
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# On {own}\n\n{' '.join(text)}\n", encoding="utf-8")
        self.titles[path] = f"On {own}"

    def _take(self, path: str) -> None:
        (self.folder / path).unlink()
        del self.titles[path]


class Trial:
    """An index that is killed and checked, round after round."""

    def __init__(self, work: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.home = Home(work)
        self.corpus = Corpus(self.home.docs, self.chance)
        self.landed = self.aimed = self.logs = self.rivals = 0
        self._typical = 1.0

    def round(self) -> list[str]:
        """Run one round and list the problems after it."""
        if self.chance.random() < AFRESH:
            for file in self.home.work.glob("index.duckdb*"):
                file.unlink() if file.is_file() else shutil.rmtree(file)
            shutil.rmtree(self.home.settings.parent, ignore_errors=True)
        self.corpus.change()
        wrong = self._kill_one()
        self.logs += Path(f"{self.home.database}.wal").exists()
        began = time.monotonic()
        said = self.home.run(*self._command(), code=self.chance.choice([SMALL, WHOLE]))
        self._typical = max(0.7 * self._typical, time.monotonic() - began)
        if said.problem:
            return [said.problem]
        return wrong + self._not_found() + self.home.wrong(self.corpus.queries())

    def figures(self) -> dict[str, str]:
        """Return the counts of the actions."""
        return {
            "killed in mid-run": f"{self.landed}, {self.aimed} of them soon after a first commit",
            "beside a rival": str(self.rivals),
            "left a log behind": str(self.logs),
        }

    def _command(self) -> list[str]:
        """`update`, or `collection add` where a kill came before the collection was noted."""
        settings = self.home.settings
        if settings.exists() and "docs" in settings.read_text(encoding="utf-8"):
            return ["update"]
        return ["collection", "add", str(self.corpus.folder)]

    def _kill_one(self) -> list[str]:
        """Start what indexes, and kill it: at any moment, or soon after it begins to write.

        Returns:
            What is wrong with one that ran beside it.
        """
        aimed = self.chance.random() < AIMED
        code = self.chance.choice([SMALL, WHOLE])
        rival = None
        if self.chance.random() < RIVALRY and (command := self._command()) == ["update"]:
            rival = self.home.start(*command, code=code)
            self.rivals += 1
        with self.home.start(*self._command(), code=code) as process:
            killed(process, self.chance, self._typical, self.home.database if aimed else None)
        if process.returncode == -9:
            self.landed += 1
            self.aimed += aimed
        if rival is not None:
            _, err = rival.communicate(timeout=PATIENCE)
            if rival.returncode:
                return [f"beside one that was killed: exit code {rival.returncode}: {err}"]
        return []

    def _not_found(self) -> list[str]:
        """Documents that the word of their title does not find, several words at a time."""
        wanted = sorted((f"docs/{path}", title) for path, title in self.corpus.titles.items())
        wrong = []
        engine = self.home.engine()
        for at in range(0, len(wanted), TOGETHER):
            some = wanted[at : at + TOGETHER]
            words = " ".join(title.split()[1] for _, title in some)
            results = list(search(engine, words, limit=2 * TOGETHER))
            found = sorted((result.file, result.title) for result in results)
            if found != some:
                wrong.append(f"found by its title: {first(found, some)}")
        engine.close()
        return wrong


def killed(
    process: subprocess.Popen[str], chance: random.Random, typical: float, index: Path | None = None
) -> None:
    """Kill a process at a random moment.

    Args:
        typical: seconds that it takes to its end.
        index: that it writes to: it is killed soon after it begins to.
    """
    moment, into_commit = chance.random(), chance.random() < 0.5
    if index is not None:
        lock = index.with_name(f"{index.name}.lock")
        turns = [lock] * chance.randint(1, TURNS)
        for sign in [*turns, index] if into_commit else [lock]:
            before, ends = changed(sign), time.monotonic() + PATIENCE
            while changed(sign) == before and process.poll() is None and time.monotonic() < ends:
                time.sleep(0.0005)
        typical = COMMITTING if into_commit else WRITING
    time.sleep(moment * typical)
    process.kill()
    process.communicate()


def changed(path: Path) -> int:
    """Return when the index, or its lock, which a writer signs, was changed."""
    try:
        return os.stat(path).st_mtime_ns
    except FileNotFoundError:
        return 0


class Rounds(Protocol):
    """An action that is repeated, with a check each time."""

    def round(self) -> list[str]:
        """Run one round and list the problems after it."""

    def figures(self) -> dict[str, str]:
        """Return the counts of the actions."""


def main(make: Callable[[Path, int], Rounds], about: str, *, rounds: int) -> int:
    """Print what went wrong in as many rounds as the command line says.

    Args:
        make: is given an empty folder and the seed of what is random.
        about: shown by --help.
        rounds: if the command line does not say.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    failures = 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        trial = make(Path(name), options.seed)
        for number in range(1, options.rounds + 1):
            wrong = trial.round()
            failures += bool(wrong)
            for line in wrong[:5]:
                print(f"round {number}: {line}", flush=True)
    taken = f"{options.rounds} in {time.monotonic() - began:.0f} s, seed {options.seed}"
    for what, figure in {"rounds": taken, **trial.figures(), "failures": str(failures)}.items():
        print(f"{what:20}  {figure}")
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main(Trial, __doc__, rounds=100))
