"""An index that is deleted, replaced or damaged under running servers."""

from __future__ import annotations

import itertools
import os
import random
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from bench.agents import COMMAND, Agent
from bench.serving import running
from bench.torture.crowd import Web
from bench.torture.kills import record
from bench.torture.outcome import Options, Outcome
from bench.torture.proof import PATIENCE, Home
from qmd.operations.search import search

EXCHANGING = 5.0
"""Seconds for which one index takes the place of the other again and again."""


def gone(work: Path, options: Options) -> Outcome:
    """Delete or replace the index while servers have it open."""
    home, other = Home(work / "home"), Home(work / "other")
    for each, words in ((home, ("apple", "apricot")), (other, ("banana", "berry"))):
        each.docs.mkdir(parents=True)
        for number, word in enumerate(words):
            (each.docs / f"{number}.md").write_text(f"# {word}\n\n" + f"{word} fruit\n" * 3000)
        said = each.run("collection", "add", str(each.docs))
        assert not said.problem, said.problem
    kept = work / "kept.duckdb"
    shutil.copyfile(home.database, kept)
    # The files of the other, whose settings name another folder of the same name.
    spare = work / "spare.duckdb"
    wrong: list[str] = []
    asked = 0
    with ExitStack() as stack:
        agent = Agent(home.environ)
        codes: list[int] = []
        stack.callback(lambda: codes.append(agent.close()))
        server = stack.enter_context(running(list(COMMAND), home.environ))
        web = Web(server.port)
        engine = home.engine()
        stack.callback(engine.close)
        doors: dict[str, Callable[[str], list[str]]] = {
            "mcp": agent.search,
            "http": web.search,
            "engine": lambda words: [each.file for each in list(search(engine, words))],
        }
        for name, (action, may_find, may_fail) in _ACTIONS.items():
            for file in home.work.glob("index.duckdb*"):
                file.unlink() if file.is_file() else shutil.rmtree(file)
            shutil.copyfile(kept, home.database)
            for door, ask in doors.items():
                if ask("apple") != ["docs/0.md"]:
                    wrong.append(f"{name}, {door}: before")
            shutil.copyfile(other.database, spare)
            action(home.database, spare)
            for door, ask in doors.items():
                for word in ("apple", "banana", "fruit"):
                    asked += 1
                    try:
                        found = ask(word)
                    except Exception as error:
                        if not may_fail or "Internal" in str(error) or "mistake" in str(error):
                            wrong.append(f"{name}, {door}: {word}: {type(error).__name__} {error}")
                        continue
                    if len(found) != may_find[word]:
                        wrong.append(f"{name}, {door}: {word}: {found}")
        count, faults = _exchanged(home.database, (kept, other.database), doors)
        asked += count
        wrong += faults
        for file in home.work.glob("index.duckdb*"):
            file.unlink() if file.is_file() else shutil.rmtree(file)
        word, given = record(1)
        key = agent.call("submit_experience", given)["data"]["id"]
        if home.search(word) != [f"experiences/{key}.md"]:
            wrong.append("a record that was submitted after the index was deleted is lost")
        said = home.run("update")
        wrong += [said.problem] if said.problem else []
        for door, ask in doors.items():
            if ask("apple") != ["docs/0.md"]:
                wrong.append(f"{door}: not there again after an update")
        wrong += home.wrong()
    wrong += [f"the server ended with {code}" for code in codes if code]
    return Outcome(f"{len(_ACTIONS)} ways, {asked} questions", wrong)


def _exchanged(
    index: Path, kept: Sequence[Path], doors: dict[str, Callable[[str], list[str]]]
) -> tuple[int, list[str]]:
    """Put one index in the place of the other, again and again, while all doors are asked.

    Returns:
        How many questions were asked, and what was wrong.
    """
    over = threading.Event()
    wrong: list[str] = []
    asked = [0] * len(doors)

    def ask(number: int, door: str) -> None:
        while not over.is_set():
            asked[number] += 1
            try:
                found = sorted(doors[door]("fruit"))
                if found != ["docs/0.md", "docs/1.md"]:
                    wrong.append(f"{door}, between two: {found}")
            except Exception as error:
                wrong.append(f"{door}, between two: {type(error).__name__} {error}")

    def put(source: Path) -> None:
        new = index.with_name("next.duckdb")
        shutil.copyfile(source, new)
        new.replace(index)

    put(kept[0])  # what was done to the index before may have left nothing to be asked
    threads = [threading.Thread(target=ask, args=each) for each in enumerate(doors)]
    for thread in threads:
        thread.start()
    ends = time.monotonic() + EXCHANGING
    for source in itertools.cycle(kept):
        put(source)
        if time.monotonic() > ends:
            break
    over.set()
    for thread in threads:
        thread.join(PATIENCE)
    return sum(asked), wrong


def _overwritten(index: Path, new: bytes) -> None:
    with index.open("r+b") as file:
        file.write(new)
        file.truncate()


def _in_place(index: Path, spare: Path) -> None:
    _overwritten(index, spare.read_bytes())


def _replaced(index: Path, spare: Path) -> None:
    spare.replace(index)


def _deleted(index: Path, spare: Path) -> None:
    index.unlink()


def _deleted_with_locks(index: Path, spare: Path) -> None:
    for file in index.parent.glob("index.duckdb*"):
        file.unlink()


def _truncated(index: Path, spare: Path) -> None:
    os.truncate(index, index.stat().st_size // 2)


def _emptied(index: Path, spare: Path) -> None:
    os.truncate(index, 0)


def _spoilt(index: Path, spare: Path) -> None:
    _overwritten(index, random.Random(1).randbytes(index.stat().st_size))


def _moved(index: Path, spare: Path) -> None:
    index.rename(index.with_name("moved"))
    spare.rename(index)


_NEW = {"apple": 0, "banana": 1, "fruit": 2}
_NONE = {"apple": 0, "banana": 0, "fruit": 0}
_ACTIONS: dict[str, tuple[Callable[[Path, Path], None], dict[str, int], bool]] = {
    "replaced": (_replaced, _NEW, False),
    "moved and replaced": (_moved, _NEW, False),
    "overwritten": (_in_place, _NEW, False),
    "deleted": (_deleted, _NONE, False),
    "deleted with locks": (_deleted_with_locks, _NONE, False),
    "truncated": (_truncated, _NONE, True),
    "emptied": (_emptied, _NONE, True),
    "spoilt": (_spoilt, _NONE, True),
}
"""What happens to the index, what is found then, and whether an error may say so instead."""
