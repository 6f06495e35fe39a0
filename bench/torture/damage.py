"""Damaged files: each kind of file that qmd writes is cut, flipped or replaced by noise."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from bench import same_model
from bench.processes import append, generate, letters, named
from bench.torture.outcome import Options, Outcome
from bench.torture.proof import PARTLY, Home

HARMLESS = (
    *("lock", "readers", "words", "embed", "cleanup", "compared", "searches.jsonl"),
    *("postings", "postings.part", "postings.lock"),
)
"""Files beside the index: with any bytes in them, all goes on as if they were new."""


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _flipped(data: bytes, chance: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(chance.choice([1, 1, 8, 64]) if data else 0):
        # Heads of files decide most.
        most = len(found) if chance.random() < 0.5 else min(len(found), 4096)
        found[chance.randrange(most)] ^= 1 << chance.randrange(8)
    return bytes(found)


def _zeroed(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + bytes(min(4096, len(data) - at)) + data[at + 4096 :]


def _doubled(data: bytes, chance: random.Random) -> bytes:
    return data + data


def _noise(data: bytes, chance: random.Random) -> bytes:
    return chance.randbytes(chance.choice([1, 100, 5000]))


WAYS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    *(_cut, _flipped, _flipped, _zeroed, _doubled, _noise),
)


def damage(work: Path, options: Options) -> Outcome:
    """Damage a file, see what commands say, bring it back, and see that all is there."""
    home, other = Home(work / "home"), Home(work / "other")
    generate(home.docs, 30)
    export, model, number = work / "export", work / "model.gguf", 0
    same_model.write(model)
    home.environ["QMD_EMBED_MODEL"] = str(model)
    wrong: list[str] = []
    for verb in (["collection", "add", str(home.docs)], ["embed"], ["export", str(export)]):
        said = home.run(*verb)
        wrong += [f"{verb[0]}: {said.problem}"] if said.problem else []
    home.run("update")  # which notes that nothing has changed
    home.run("cleanup")
    found = sorted(home.search("file"))
    chance = random.Random(options.seed)
    codes: Counter[int] = Counter()
    tried: Counter[str] = Counter()
    beside = home.database
    kinds: dict[str, list[Path]] = {
        "index": [home.database],
        "log": [beside.with_name(f"{beside.name}.wal")],
        "beside": [beside.with_name(f"{beside.name}.{name}") for name in HARMLESS],
        "index.yml": [home.settings],
        "approvals": [home.settings.with_name("trusted.json")],
        "export": sorted(file for file in export.rglob("*") if file.is_file()),
        "model": [model],
    }
    for turn in range(max(3, options.rounds // 10)):
        kind = list(kinds)[turn % len(kinds)]
        file, way = chance.choice(kinds[kind]), chance.choice(WAYS)
        kept = {each: each.read_bytes() for each in home.work.glob("index.duckdb*")}
        whole = file.read_bytes() if file.exists() else None
        spoilt = way(whole or chance.randbytes(300), chance)
        file.write_bytes(spoilt)
        tried[kind] += 1
        number += 1
        verbs = [["search", "kara", "--json"], ["status"], ["update"], ["doctor"]]
        if kind == "model":
            append(home.docs / named(number % 30), letters(number), whole=True)
            verbs = [["search", "kara", "--json"], ["update"], ["embed"], ["vsearch", "kara"]]
        if kind == "export":
            verbs = [["export", str(export)]]
            said = other.run("import", str(export), "--replace")
            codes[said.code] += 1
            if said.code < 0 or "mistake" in said.err or "Traceback" in said.err:
                wrong.append(f"import, {file.name} {way.__name__}: {said.code} {said.err[-600:]}")
        for verb in verbs:
            said = home.run(*verb)
            codes[said.code] += 1
            where = f"{verb[0]}, {kind} {file.name} {way.__name__} (turn {turn})"
            if said.code not in (0, 1, PARTLY, 3) or "mistake" in said.err + said.out:
                wrong.append(f"{where}: exit {said.code}: {said.err[-600:]}")
            elif "Traceback" in said.err:
                wrong.append(f"{where}: {said.err[-600:]}")
            elif kind == "beside" and said.code:
                wrong.append(f"{where}: not harmless: {said.err[-300:]}")
        if kind in ("index", "log"):
            for each in home.work.glob("index.duckdb*"):
                each.unlink() if each.is_file() else shutil.rmtree(each)
            for each, data in kept.items():
                each.write_bytes(data)
        elif whole is None:
            file.unlink(missing_ok=True)
        elif kind != "beside":
            file.write_bytes(whole)
        if kind == "export":
            shutil.rmtree(export, ignore_errors=True)
            home.run("export", str(export))
        said = home.run("update")
        if said.problem:
            wrong.append(f"update after {kind} {file.name} {way.__name__}: {said.problem}")
        if sorted(home.search("file")) != found:
            wrong.append(f"search after {kind} {file.name} {way.__name__}: other documents")
    wrong += home.wrong()
    told = ", ".join(f"{kind} {count}" for kind, count in tried.items())
    ended = ", ".join(f"{code}: {count}" for code, count in sorted(codes.items()))
    return Outcome(f"{number} files ({told}); exit codes {ended}", wrong)
