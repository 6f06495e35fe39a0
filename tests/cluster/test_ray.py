"""Shards in actors of a Ray cluster, on loopback alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from qmd.cluster.engines import opened
from qmd.errors import UsageError
from qmd.settings.environment import Machine
from qmd.settings.schema import Engine
from tests.cluster import corpus
from tests.library import Library

ROOT = Path(__file__).parents[2]
APART = ("unshare", "--net", "--pid", "--fork", "--mount-proc")
"""A network namespace without other devices than loopback: Ray listens on all that there are."""


def _reason() -> str | None:
    """Why Ray cannot start here, or None."""
    if find_spec("ray") is None:
        return "ray is not installed: pip install 'qmd-duckdb[ray]'"
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return "there are no network namespaces here"
    done = subprocess.run([*APART, "ip", "link", "set", "lo", "up"], capture_output=True)
    return None if not done.returncode else f"no network namespace: {done.stderr.decode()[:100]}"


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    if reason := _reason():
        pytest.skip(reason)
    library = Library(tmp_path_factory.mktemp("library"))
    corpus.write(library)
    library.update()
    corpus.build_shards(library, 4)
    library.engine.close()
    done = subprocess.run(
        [*APART, sys.executable, "-m", "tests.cluster.on_ray", str(library.folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    _, found, told = done.stdout.rpartition("FACTS")
    if not found and "No node starts" in done.stderr:
        pytest.skip("Ray does not start here: " + done.stderr.strip().rpartition("\n")[2])
    assert found, done.stderr[-3000:]
    return json.loads(told)


def test_actors_find_what_one_index_finds_and_one_is_killed_meanwhile(
    facts: dict[str, Any],
) -> None:
    assert facts["differ"] == []
    assert facts["restarted"] == [False, True, False, False]


def test_actors_answer_sql_as_one_index(facts: dict[str, Any]) -> None:
    assert facts["sql"] == []
    assert "sum(VARCHAR)" in facts["sql_failed"]


def test_actors_answer_other_operations_as_one_index(facts: dict[str, Any]) -> None:
    assert facts["operations"] == [True] * 3


def test_a_machine_is_lost_and_its_shards_answer_from_another(facts: dict[str, Any]) -> None:
    assert facts["differ"] == []
    assert facts["ended"]
    assert facts["moved"] == facts["there"] > 0


def test_a_worker_is_killed_while_it_embeds_and_nothing_is_lost_or_made_twice(
    facts: dict[str, Any],
) -> None:
    build = facts["build"]
    assert build["was_killed"]
    assert build["killed"] == build["undisturbed"] == [None, None]
    assert build["vectors"][0] == build["vectors"][1] >= 24
    assert build["differ"] < 1e-5


def test_a_search_goes_on_without_a_shard_that_does_not_answer(facts: dict[str, Any]) -> None:
    code, out, err = facts["partial"]
    assert code == 2, err
    assert "Partial: without the documents of shards that do not answer (2, of 4)." in err
    assert 0 < out.count("notes/tie/") < 6


def test_a_shard_that_does_not_answer_in_time_is_named(facts: dict[str, Any]) -> None:
    assert facts["late"].startswith("1 shard of 4 did not answer (2): 3 seconds are over.")
    assert facts["again"] > 0


def test_a_truncated_shard_is_named(facts: dict[str, Any]) -> None:
    assert facts["damaged"].startswith("Shard 3: ")
    assert "shard-0003.duckdb is not the shard that the manifest describes" in facts["damaged"]


def test_the_command_searches_a_cluster_and_one_of_its_own(facts: dict[str, Any]) -> None:
    for name in ("command", "local"):
        code, out, err = facts[name]
        # Ray itself warns that it finds no way out of the namespace.
        own = [line for line in err.splitlines() if "network_util.cc" not in line]
        assert (code, own) == (0, [])
        assert [f"notes/tie/{number}.md" in out for number in range(6)] == [True] * 6


def test_a_wrong_address_is_told_at_once(facts: dict[str, Any]) -> None:
    code, out, err = facts["nowhere"]
    assert (code, out) == (1, "")
    assert err.startswith("There is no Ray cluster at 127.0.0.1:9: Connection refused.")


def test_without_ray_a_sentence_says_how_to_install_it(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus.build_shards(library, 1)
    monkeypatch.setattr("qmd.errors.extras.find_spec", lambda name: None)
    engine = Engine("ray", str(corpus.folder_of(library, 1)), "local")
    with pytest.raises(UsageError, match=r"Ray is not installed.*\n\nInstall it with: .*\[ray\]"):
        opened(library.engine.place, Machine(), engine, stays=False)
