"""Large numbers: processes on one index, and tiny files in one collection."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.processes import append, generate, letters, named
from bench.torture.outcome import Options, Outcome
from bench.torture.proof import Home

PROCESSES = 40
LONG = 3600.0


def processes(work: Path, options: Options) -> Outcome:
    """Forty commands at once, half of which write: each is done, and nothing is lost."""
    home = Home(work)
    generate(home.docs, PROCESSES)
    said = home.run("collection", "add", str(home.docs))
    wrong = [said.problem] if said.problem else []
    turns = max(1, options.rounds // 100)
    for turn in range(turns):
        markers = {letters(turn * PROCESSES + each): each for each in range(PROCESSES)}
        for marker, each in markers.items():
            append(home.docs / named(each), marker, whole=True)
        commands = [
            [["update"], ["search", "kara"], ["context", "add", "/", f"{each}"], ["status"]][
                each % 4
            ]
            for each in range(PROCESSES)
        ]
        with ThreadPoolExecutor(PROCESSES) as pool:
            answers = list(pool.map(lambda words: home.run(*words, patience=LONG), commands))
        wrong += [f"turn {turn}: {each.problem}" for each in answers if each.problem]
        said = home.run("update")
        wrong += [said.problem] if said.problem else []
        for marker, each in list(markers.items())[:: PROCESSES // 5]:
            if home.search(marker) != [f"docs/{named(each)}"]:
                wrong.append(f"turn {turn}: lost {marker}")
    wrong += home.wrong()
    return Outcome(f"{turns} times {PROCESSES} processes at once", wrong)


def tiny(work: Path, options: Options) -> Outcome:
    """Very many tiny files: indexed, found, changed and removed."""
    home, count = Home(work), options.files
    for place in range(count):
        file = home.docs / f"{place % 100}" / f"{place // 100}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{letters(place)}\n")
    began = time.monotonic()
    said = home.run("collection", "add", str(home.docs), patience=LONG)
    first = time.monotonic() - began
    wrong = [said.problem] if said.problem else []
    if f"{count} new" not in said.out:
        wrong.append(f"not all are new: {said.out[-300:]}")
    places = range(0, count, max(1, count // 20))
    for place in places:
        if home.search(letters(place)) != [f"docs/{place % 100}/{place // 100}.md"]:
            wrong.append(f"{place} is not found")
    for place in places:
        (home.docs / f"{place % 100}" / f"{place // 100}.md").unlink()
    began = time.monotonic()
    said = home.run("update", patience=LONG)
    again = time.monotonic() - began
    if said.problem or f"{len(places)} removed" not in said.out:
        wrong.append(f"after the removal: {said.problem or said.out}")
    said = home.run("status", "--json")
    left = said.problem or json.loads(said.out)["totalDocuments"]
    if left != count - len(places):
        wrong.append(f"{left} documents are left")
    wrong += home.unsound()
    return Outcome(f"{count} files, indexed in {first:.0f} s, updated in {again:.0f} s", wrong)
