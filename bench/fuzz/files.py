"""Readers of files that lie beside an index, in folders that others may write to."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from bench.fuzz.library import library
from bench.fuzz.sources import Bytes, Input, Target
from qmd.operations.sql import sql


def _all_bytes(source: Bytes) -> Input:
    return (source.rest(),)


def locks() -> Iterator[Target]:
    """Lock files: what they say of a holder is short, and the locks hold whatever they say."""
    from qmd import lock_signature, processes
    from qmd.errors import IndexBusy
    from qmd.storage.file_lock import FileLock

    with tempfile.TemporaryDirectory() as name:
        index = Path(name) / "index.duckdb"
        door = index.with_name(f"{index.name}.lock")
        one = processes.MAX_COMMAND_LENGTH + len(", process 999999999 (suspended) on ") + 64
        longest = lock_signature.MAX_NAMED * (one + len(" and ")) + len("64 more")
        ours = processes.process_name(os.getpid(), processes.current_command())

        def check(data: bytes) -> None:
            door.write_bytes(data)
            gate, other = FileLock(index, patience=0), FileLock(index, patience=0)
            holder = gate.holder()
            if holder is not None:
                assert holder.isprintable()
                assert len(holder) <= longest
            gate.enter_to_read()
            gate.leave()
            gate.shut()
            try:
                assert other.holder() == ours
                with suppress(IndexBusy):
                    other.enter_to_read()
                    raise AssertionError("two are in")
            finally:
                gate.open()

        entry = f"{os.getppid()} - {os.uname().nodename} qmd update".ljust(255).encode() + b"\n"
        examples = (
            entry,
            entry * 5,
            b"12 7 elsewhere qmd \x1b]0;x\x07",
            b"9" * 2000,
            b"x y z " * 99,
        )
        yield Target(_all_bytes, check, (), examples, linear=False)


def compared() -> Iterator[Target]:
    """Fuzz a saved fingerprint with a valid checksum: it has no effect, or a permitted one."""
    from qmd.ingest import fingerprint
    from qmd.ingest.walk import walk
    from qmd.models import loader
    from qmd.reports import Report
    from qmd.settings import config
    from qmd.settings.environment import Machine
    from qmd.text.hashes import checksum

    names = ["notes", "x", "", "a.md", "not UTF-8"]
    with library() as engine:
        place, machine = engine.place, Machine(hub=Path(os.devnull))
        file = place.database.with_name(f"{place.database.name}.compared")
        settings = config.load(place)
        digest = fingerprint._digest(walk(settings.collections[0]))
        vectors_of = partial(loader.vectors_of, place, machine)
        space = vectors_of(settings)
        while (state := fingerprint.glance(place, vectors_of=vectors_of).state) is None:
            time.sleep(0.1)  # the index was changed just now

        def made(source: Bytes) -> Input:
            kind, some = source.number(0, 4), source.number(0, 2)
            if kind == 0:
                return (source.rest(),)
            unusable = source.json(names) if kind == 1 else [["tea.md", source.text()]] * some
            folder = [digest, unusable]
            given: list[Any] = [state, {"notes": folder}, space, source.json(names)]
            if kind > 3:
                given[source.number(0, 3)] = source.json(names)
            return (json.dumps(given).encode(),)

        def check(data: bytes) -> None:
            file.write_bytes(f"{checksum(data)}\n".encode() + data)
            seen = fingerprint.glance(place, vectors_of=vectors_of)
            if seen.reports is not None:
                assert all(isinstance(each, Report) for each in seen.reports)
                assert isinstance(seen.lacking, int)
                assert seen.lacking >= 0
                for report in seen.reports:
                    assert report.unchanged >= 0
                    assert all(isinstance(text, str) for pair in report.skipped for text in pair)

        yield Target(made, check, (), (b"[" * 2000, b"[[], {}, 1, 1e999]"), linear=False)


def searched() -> Iterator[Target]:
    """Fuzz the search log: its view can be read whatever the file contains."""
    from qmd.ranking import search_log

    names = "searched_at verb query collections at_most milliseconds results found x".split()
    line = {
        "searched_at": "2026-01-02T03:04:05.678",
        "verb": "search",
        "query": "tea",
        "collections": None,
        "at_most": 10,
        "milliseconds": 1.5,
        "results": 1,
        "found": ["notes/tea.md"],
    }
    with library() as engine:
        file = engine.place.database.with_name(f"{engine.place.database.name}.searches.jsonl")

        def made(source: Bytes) -> Input:
            kind = source.number(0, 2)
            if kind == 0:
                return (source.rest(),)
            given = [line | source.fields(names, source.number(0, 3)) for _ in range(kind)]
            return (b"\n".join(json.dumps(each).encode() for each in given),)

        def check(data: bytes) -> None:
            file.write_bytes(data + b"\n" + json.dumps(line).encode() + b"\n")
            rows = sql(engine, "from searches")
            assert 1 <= len(rows) <= len(search_log.Log(engine.place.database).lines())

        examples = (b'{"query": 1}', b'{"at_most": 1e40}', b"[" * 2000, b'{"searched_at": "x"}')
        yield Target(made, check, (), examples, linear=False)


def pidfile() -> Iterator[Target]:
    """Fuzz the pid file of a background server: it is ignored, or names a process."""
    from qmd.surfaces.http import daemon

    names = "process identity host port began".split()

    def made(source: Bytes) -> Input:
        if source.number(0, 2) == 0:
            return (source.rest(),)
        facts = dict(zip(names, (os.getpid(), "x", "127.0.0.1", 8181, 1.5), strict=True))
        return (json.dumps(facts | source.fields(names, source.number(0, 3))).encode(),)

    with tempfile.TemporaryDirectory() as name:
        files = daemon.files_of(Path("/nowhere/index.duckdb"), Path(name))
        files.pid.parent.mkdir(parents=True, exist_ok=True)

        def check(data: bytes) -> None:
            files.pid.write_bytes(data)
            assert daemon.running(files) is None

        examples = (b'{"process": 1e999}', b"[" * 2000, b"12", b"")
        yield Target(made, check, (), examples, linear=False)
