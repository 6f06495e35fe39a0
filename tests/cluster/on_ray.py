"""Searches over a Ray cluster on loopback; run in a network namespace of its own.

    python -m tests.cluster.on_ray FOLDER

FOLDER is that of a library with the notes in shards. Facts are written as JSON.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from qmd.cluster import engines, ray_build
from qmd.cluster.build import Plan, build, one_by_one
from qmd.cluster.manifest import NAME, BuildManifest, read
from qmd.cluster.open_index import ShardedIndex
from qmd.cluster.ray_engine import ShardsOfRay
from qmd.cluster.verify import verify
from qmd.errors import QmdError
from qmd.operations.index import Index
from qmd.operations.links import links
from qmd.operations.search import search
from qmd.operations.similar import similar
from qmd.operations.sql import sql
from qmd.operations.statistics import stats
from qmd.settings.environment import Machine, Place
from qmd.settings.schema import Engine
from qmd.types import Collection
from tests.cluster import kills
from tests.cluster.test_equal_answers import KEYWORDS

ADDRESS = "127.0.0.1:6399"
STATEMENTS = (
    "select lang, count(*), sum(size), avg(words) from documents group by lang order by lang",
    "select file, title from documents where size > 400 order by size desc, file limit 5",
    "select value, count(distinct file) from frontmatter group by value order by all",
)
SMALL = ("--object-store-memory=80000000", "--disable-usage-stats")


def main(folder: Path) -> dict[str, Any]:
    place = Place("index", folder / "index.yml", folder / "index.duckdb", None, folder / "trusted")
    shards = folder / "shards-4"
    one = Index(place, Machine(), warm=True)
    one.log = None
    facts: dict[str, Any] = {}
    with cluster():
        facts["build"] = built_with_a_kill(folder)
        many, held = opened(place, shards, deadline=120)
        before = held.processes()
        facts["differ"] = []
        for number, text in enumerate(KEYWORDS):
            if number == len(KEYWORDS) // 2:
                os.kill(before[1], signal.SIGKILL)
            if number == 3 * len(KEYWORDS) // 4:
                middle = held.processes()
                [raylet] = kills.processes("raylet/raylet", "--node_ip_address=127.0.0.2")
                there = [each for each in middle if kills.parent(each) == raylet]
                os.kill(raylet, signal.SIGKILL)
                # This is process 1 here, whose child an orphan is: until it is waited for, the
                # actors find the number of their raylet in use.
                os.waitpid(raylet, 0)
                facts["ended"] = kills.ended(there)
            if list(search(one, text, limit=20)) != list(search(many, text, limit=20)):
                facts["differ"].append(text)
        page = "plain/page-03.md"
        works = [lambda index: similar(index, page), lambda index: links(index, page), stats]
        facts["operations"] = [work(one) == work(many) for work in works]
        facts["sql"] = [text for text in STATEMENTS if told(one, text) != told(many, text)]
        facts["sql_failed"] = told(many, "select sum(title) from documents")
        after = held.processes()
        facts["restarted"] = [was != now for was, now in zip(before, middle, strict=True)]
        facts["there"] = len(there)
        facts["moved"] = len(set(there).difference(after))
        short, slow = opened(place, shards, deadline=3)
        stopped = slow.processes()[2]
        os.kill(stopped, signal.SIGSTOP)
        facts["late"] = failure(short, "kettle")
        place.config.write_text(f"engine:\n  ray: {{from: {shards}, deadline: 3}}\n")
        facts["partial"] = command(shards, ADDRESS, "--allow-partial", "--engine=ray")
        os.kill(stopped, signal.SIGCONT)
        facts["again"] = len(search(many, "tea kettle"))
        damaged = folder / "damaged"
        shutil.copytree(shards, damaged)
        file = damaged / read(damaged).shards[3].file
        file.write_bytes(file.read_bytes()[:-4096])
        facts["damaged"] = failure(opened(place, damaged, deadline=60)[0], "tea")
        many.close()
        facts["command"] = command(shards, ADDRESS)
        facts["nowhere"] = command(shards, "127.0.0.1:9")
    facts["local"] = command(shards, "local")
    one.close()
    return facts


def opened(place: Place, shards: Path, *, deadline: float) -> tuple[ShardedIndex, ShardsOfRay]:
    engine = Engine("ray", str(shards), ADDRESS, deadline)
    index = engines.opened(place, Machine(), engine, stays=True)
    assert index.place.database == shards / NAME
    held = index.database._shards
    assert isinstance(held, ShardsOfRay)
    return index, held


def told(index: Index, text: str) -> Any:
    """Run a query in SQL; return its rows, or what is wrong with it."""
    try:
        return sql(index, text).arrow().to_pylist()
    except QmdError as error:
        return str(error)


def failure(index: Index, text: str) -> str:
    try:
        return f"found {len(search(index, text))}"
    except QmdError as error:
        return str(error)


def built_with_a_kill(folder: Path) -> dict[str, Any]:
    """Build shards with vectors, kill a worker that embeds, and build the same undisturbed."""
    collection = Collection("notes", str(folder / "notes"), "plain/*.md")
    facts: dict[str, Any] = {}

    def embedding() -> list[int]:
        return [each for each in kills.processes("ray::_build_one") if kills.uses(each, "onnx")]

    killer = kills.Killer(embedding)
    killer.start()
    carry = ray_build.on_cluster(ADDRESS)
    vectors = []
    for name, given in (("killed", carry), ("undisturbed", one_by_one)):
        plan = Plan(folder / name, collection, 2, True, Machine())
        made = build(plan, lambda step, done, total: None, given).manifest
        if name == "killed":
            killer.ended.set()
            facts["was_killed"] = killer.killed is not None
        vectors.append(vectors_of(plan.to, made))
        facts[name] = [each.problem for each in verify(plan.to, lambda done, total: None)]
    facts["vectors"] = [len(each) for each in vectors]
    facts["differ"] = max(
        (abs(one - other).max() for one, other in zip(*vectors, strict=False)), default=None
    )
    facts["differ"] = None if facts["differ"] is None else float(facts["differ"])
    return facts


def vectors_of(to: Path, manifest: BuildManifest) -> list[Any]:
    """Return the vectors of all shards, by text and place."""
    found = {}
    for shard in manifest.shards:
        with duckdb.connect(str(to / shard.file), read_only=True) as connection:
            rows = connection.execute(
                "select hash, seq, vector from embeddings join chunks using (chunk_id)"
            ).fetchall()
        assert len({row[:2] for row in rows}) == len(rows)  # none twice
        found |= {row[:2]: np.array(row[2]) for row in rows}
    return [found[key] for key in sorted(found)]


def command(shards: Path, address: str, *more: str) -> tuple[int, str, str]:
    engine = more or ("--engine", f"ray:{shards}")
    words = [sys.executable, "-m", "qmd", *engine, "search", "quartz", "--files"]
    config = {"QMD_CONFIG_DIR": str(shards.parent)} if more else {}
    done = subprocess.run(
        words,
        env={**os.environ, "RAY_ADDRESS": address, **config},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


@contextmanager
def cluster() -> Iterator[None]:
    """Two nodes on loopback, in a short folder: a path of a socket has 107 bytes at most."""
    ray = str(Path(sys.executable).with_name("ray"))
    with tempfile.TemporaryDirectory(
        prefix="qmd-ray-", dir="/tmp", ignore_cleanup_errors=True
    ) as folder:
        head = ("--head", "--node-ip-address=127.0.0.1", "--port=6399", f"--temp-dir={folder}")
        _started([ray, "start", *head, "--include-dashboard=false", "--num-cpus=2", *SMALL])
        other = ("--address=127.0.0.1:6399", "--node-ip-address=127.0.0.2")
        _started([ray, "start", *other, "--num-cpus=2", *SMALL])
        try:
            yield
        finally:
            for each in kills.processes(folder):
                with suppress(ProcessLookupError):
                    os.kill(each, signal.SIGKILL)


def _started(words: list[str]) -> None:
    """Start a node; on a busy machine it may need another attempt."""
    for attempt in range(3):
        done = subprocess.run(words, capture_output=True, text=True, timeout=90)
        if not done.returncode:
            return
        if attempt == 2:
            raise SystemExit(f"No node starts: {done.stderr[-2000:]}{done.stdout[-2000:]}")


if __name__ == "__main__":
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    # A token and a home of its own: whether the user's home has a token decides what Ray asks for.
    home = tempfile.mkdtemp(prefix="qmd-ray-home-", dir="/tmp")
    os.environ |= {"HOME": home, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    # Ray gives its workers the niceness 15: they would wait for whatever else a machine does.
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112  # as Ray spells it
    # A machine that does not even refuse to answer still has 3 times 10 s.
    os.environ["RAY_health_check_period_ms"] = "1000"  # noqa: SIM112
    os.environ["RAY_health_check_failure_threshold"] = "3"  # noqa: SIM112
    try:
        print("FACTS" + json.dumps(main(Path(sys.argv[1]))))
    finally:
        shutil.rmtree(home)
