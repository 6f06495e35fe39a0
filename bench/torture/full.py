"""A small or full disk: commands report it, and resume when there is space."""

from __future__ import annotations

import json
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.processes import append, generate, letters, named
from bench.torture.kills import record
from bench.torture.outcome import Options, Outcome
from bench.torture.proof import PARTLY, Home, Said, mounted

SMALL = 25
"""Files of an index that something is done to many times."""

NO_ROOM = ("No space left on device", "File too large")


def full(work: Path, options: Options) -> Outcome:
    """Run on a small and on a full disk."""
    try:
        with mounted(work / "disk", "-t", "tmpfs", "-o", "size=24m", "tmpfs") as disk:
            return _full(work, _Disk(disk))
    except PermissionError:
        return _full(work, _Limit(work / "disk"))


class _Disk:
    """A small disk that is mostly full."""

    how = "tmpfs of 24 MB"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def only(self, free: int) -> Iterator[dict[str, object]]:
        """Leave so many bytes free."""
        ballast = self.folder / "ballast"
        with ballast.open("wb") as file:
            file.write(bytes(max(0, shutil.disk_usage(self.folder).free - free)))
        try:
            yield {}
        finally:
            ballast.unlink()


class _Limit:
    """A limit on file sizes."""

    how = "RLIMIT_FSIZE"

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder

    @contextmanager
    def only(self, free: int) -> Iterator[dict[str, object]]:
        """Let a file grow by so many bytes."""
        most = max(file.stat().st_size for file in self.folder.rglob("*")) + free

        def limited() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

        yield {"preexec_fn": limited}


def _full(work: Path, disk: _Disk | _Limit) -> Outcome:
    home = Home(work, disk.folder / "index.duckdb")
    generate(home.docs, SMALL)
    wrong: list[str] = []
    refused = done = 0

    def must(*arguments: str) -> None:
        problem = home.run(*arguments).problem
        if problem:
            wrong.append(f"{arguments[0]}: {problem}")

    must("collection", "add", str(home.docs))
    must("export", str(work / "export"))
    number, many = 0, len(home.search("kara"))
    for verb in ("update", "embed", "submit", "cleanup", "context", "export", "import"):
        for free in (0, 40_000, 300_000, 1_000_000, 3_000_000):
            number += 1
            _changed(home, verb, number)
            with disk.only(free) as limits:
                said = _done(home, verb, number, work, limits)
                found = home.run("search", "kara", "--json", **limits)
            if said.code:
                refused += 1
                if not any(words in said.err for words in NO_ROOM) or "mistake" in said.err:
                    wrong.append(f"{verb} with {free}: exit {said.code}: {said.err[-600:]}")
            else:
                done += 1
            if found.problem or len(json.loads(found.out)) != many:
                wrong.append(f"search after {verb} with {free}: {found.problem or found.out[:99]}")
            said = _done(home, verb, number, work, {})
            if said.code and not (verb == "embed" and said.code == PARTLY):
                wrong.append(f"{verb} with room again: {said.problem}")
        must("update")  # what was imported is as old as the export
        wrong += [f"after {verb}: {line}" for line in home.wrong()]
    return Outcome(f"{disk.how}: {refused} writes refused, {done} with room enough", wrong)


def _changed(home: Home, verb: str, number: int) -> None:
    """Give a verb something to do."""
    if verb in ("update", "embed"):
        many = 200 if verb == "embed" else 8000
        words = " ".join(letters(number * 100_000 + at) for at in range(many))
        (home.docs / "large.md").write_text(f"# Large\n\n{words}\n")
    if verb == "embed":
        home.run("update")
    if verb == "cleanup":
        append(home.docs / named(1), letters(number), whole=True)
        home.run("update")


def _done(home: Home, verb: str, number: int, work: Path, limits: dict[str, object]) -> Said:
    if verb == "submit":
        _, given = record(number)
        script = ("-c", SUBMIT, json.dumps(given))
        return home.run(code=script, **limits)
    arguments = {
        "context": ["context", "add", "/", f"About {number}"],
        "export": ["export", str(home.database.parent / "export")],
        "import": ["import", str(work / "export"), "--replace"],
    }
    return home.run(*arguments.get(verb, [verb]), **limits)


SUBMIT = """
import json, os, sys
from pathlib import Path
from qmd.settings import config, environment
from qmd.operations.index import Index
from qmd.operations.experiences import Experiences
engine = Index(environment.locate(os.environ, Path.cwd()))
outcome = Experiences(engine).submit(json.loads(sys.argv[1]))
if not outcome["success"]:
    sys.exit(outcome["error"]["message"])
"""
