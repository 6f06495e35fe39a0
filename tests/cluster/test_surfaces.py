"""Each operation over shards, on each surface: the result of one index, or a refusal in words."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

import qmd as package
from qmd import operations
from qmd.cluster import ray_engine
from qmd.cluster.in_process import ShardsHere
from qmd.declaration.operation import OPERATIONS, Operation
from qmd.errors import ClusterFailure
from qmd.settings import environment
from qmd.surfaces import opening
from qmd.surfaces.http.rest import routes
from qmd.surfaces.tools.dispatch import Toolbox
from qmd.surfaces.tools.server_tools import ServerTools
from tests.cluster import corpus
from tests.library import Library

for module in pkgutil.iter_modules(operations.__path__):
    importlib.import_module(f"qmd.operations.{module.name}")

Qmd = Callable[..., tuple[int, str, str]]

PAGE = "notes/plain/page-03.md"


class Calls(NamedTuple):
    """Calls of one operation.

    Attributes:
        words: of the command.
        python: positional arguments of the Python method, and those by name.
        tool: arguments over MCP and HTTP.
    """

    words: list[str]
    python: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})
    tool: dict[str, Any] = {}  # noqa: RUF012  # it is not changed


READS = {
    "ask": Calls(["tea", "--json"], (("tea",), {})),
    "collection": Calls(["notes", "--json"], (("notes",), {})),
    "collections": Calls(["--json"]),
    "contexts": Calls(["--json"]),
    "documents": Calls(["notes/plain", "--json"], (("notes/plain",), {}), {"path": "notes/plain"}),
    "facets": Calls(["--by", "tag", "--json"], ((), {"by": "tag"})),
    "get": Calls([PAGE, "--json"], ((PAGE,), {}), {"file": PAGE}),
    "grep": Calls(["quartz", "--json"], (("quartz",), {}), {"pattern": "quartz"}),
    "links": Calls([PAGE, "--json"], ((PAGE,), {}), {"file": PAGE}),
    "missing_contexts": Calls(["--json"]),
    "multi_get": Calls(
        ["notes/tie/*.md", "--json"], (("notes/tie/*.md",), {}), {"pattern": "notes/tie/*.md"}
    ),
    "passages": Calls(
        ["green tea", "--mode", "hybrid", "--json"],
        (("green tea",), {"mode": "hybrid"}),
        {"query": "green tea", "mode": "hybrid"},
    ),
    "query": Calls(
        ["green tea", "--mode", "hybrid", "--json"],
        (("green tea",), {"mode": "hybrid"}),
        {"query": "green tea", "mode": "hybrid"},
    ),
    "search": Calls(["tea", "--json"], (("tea",), {}), {"query": "tea"}),
    "similar": Calls([PAGE, "--json"], ((PAGE,), {}), {"file": PAGE}),
    "sql": Calls(
        ["select lang, count(*) as n from documents group by lang order by all", "--json"],
        (("select lang, count(*) as n from documents group by lang order by all",), {}),
    ),
    "stats": Calls(["--json"]),
    "status": Calls(["--json"]),
    "vector_search": Calls(["steam of a kettle", "--json"], (("steam",), {}), {"query": "steam"}),
}
"""Operations that shards do together."""

REFUSED = {
    "add_collection": Calls(["."], ((".",), {})),
    "add_context": Calls(["/", "text"], (("/", "text"), {})),
    "append": Calls(
        [PAGE, "--file", "text.md"], ((PAGE, "text"), {}), {"file": PAGE, "text": "more"}
    ),
    "cleanup": Calls([]),
    "correct_record": Calls(["none", "--title", "x"]),
    "doctor": Calls([]),
    "edit": Calls(
        [PAGE, "--old", "a", "--file", "text.md"],
        ((PAGE,), {"old": "a", "text": "b"}),
        {"file": PAGE, "old": "a", "text": "b"},
    ),
    "embed": Calls([]),
    "exclude_collection": Calls(["notes"], (("notes",), {})),
    "export": Calls(["out"], (("out",), {})),
    "ignore_files": Calls(["notes", "*.txt"], (("notes", "*.txt"), {})),
    "import_": Calls(["out"], (("out",), {})),
    "include_collection": Calls(["notes"], (("notes",), {})),
    "journal": Calls([]),
    "list_records": Calls([]),
    "map": Calls(["map.svg"]),
    "move": Calls([PAGE, "x.md"], ((PAGE, "x.md"), {}), {"file": PAGE, "to": "notes/x.md"}),
    "put": Calls(["x", "--file", "text.md"], (("x", "a"), {}), {"name": "x", "text": "a"}),
    "query_experiences": Calls([], ((), {}), {"query": "tea"}),
    "remove": Calls([PAGE], ((PAGE,), {}), {"file": PAGE}),
    "remove_collection": Calls(["notes"], (("notes",), {})),
    "remove_context": Calls(["/"], (("/",), {})),
    "remove_record": Calls(["none"]),
    "rename_collection": Calls(["notes", "x"], (("notes", "x"), {})),
    "restore_record": Calls(["none"]),
    "retire_record": Calls(["none"]),
    "set_update_command": Calls(["notes", "true"], (("notes", "true"), {})),
    "submit_experience": Calls(
        [], ((), {}), {"title": "a", "problem_description": "b", "solution": "c"}
    ),
    "undo": Calls(["1"], ((1,), {}), {"number": 1}),
    "update": Calls([]),
}  # fmt: skip
"""Operations that shards do not do: they write, or need all tables in one file."""

IN_SENTENCES = ("An index of shards is only read", "This cannot be done over the shards")


def _comparable(operation: Operation, found: Any) -> Any:
    """Leave out what differs by design: files and sizes of the index itself, and its cursors."""
    if isinstance(found, list):
        return [_comparable(operation, each) for each in found]
    if not isinstance(found, dict):
        return found
    left = {"path", "size", "bytes", "index", "engine", "updated", "configuration"}
    if operation.python == "status":
        names = ("documents", "totalDocuments", "needsEmbedding", "words", "postings")
        return {name: found[name] for name in names if name in found}
    if operation.python in ("collections", "collection", "missing_contexts"):
        return {key: value for key, value in found.items() if key not in left}
    return {
        key: _comparable(operation, value) for key, value in found.items() if key != "nextCursor"
    }


@pytest.fixture
def places(written: Library, qmd: Qmd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Folder of the shards; the environment leads to one index of the same documents.

    The engine `ray` opens the shards in this process: what it does of its own has its own tests.
    """
    corpus.build_shards(written, 4, embeds=True)
    monkeypatch.setattr(
        ray_engine,
        "ShardsOfRay",
        lambda source, manifest, engine: ShardsHere(source, manifest),
    )
    machine = written.engine.models.machine
    monkeypatch.setenv("QMD_CONFIG_DIR", str(written.folder))
    monkeypatch.setenv("INDEX_PATH", str(written.folder / "index.duckdb"))
    monkeypatch.setenv("QMD_EMBED_MODEL", machine.chosen["embed"])
    monkeypatch.setenv("HF_HUB_CACHE", str(machine.hub))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.md").write_text("text\n")
    return corpus.folder_of(written, 4)


@pytest.fixture
def by_settings(places: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Settings whose index.yml names the engine."""
    folder = tmp_path / "settings"
    folder.mkdir()
    settings = {"engine": {"ray": {"from": str(places), "address": "local"}}}
    (folder / "index.yml").write_text(json.dumps(settings))
    return environment.locate({"QMD_CONFIG_DIR": str(folder), "HOME": str(tmp_path)}, tmp_path)


def test_each_operation_is_tried() -> None:
    assert READS.keys() | REFUSED.keys() == OPERATIONS.keys()
    assert READS.keys() == {each.python for each in OPERATIONS.values() if each.sharded}
    assert all(not OPERATIONS[name].writes for name in READS)


def test_commands_read_shards_as_one_index(places: Path, qmd: Qmd) -> None:
    for name, calls in READS.items():
        operation = OPERATIONS[name]
        words = [*operation.command.split(), *calls.words]
        one, many = qmd(*words), qmd("--engine", f"ray:{places}", *words)
        assert many[0] == one[0], (name, many)
        assert many[2] == one[2], name
        if name == "ask":  # no model is chosen that could write
            assert "No model is chosen" in many[2]
            continue
        found = [_comparable(operation, json.loads(each[1])) for each in (one, many)]
        assert found[0] or name == "contexts", name
        assert found[1] == found[0], name


def test_python_reads_shards_as_one_index(places: Path) -> None:
    with package.connect() as one, package.connect(engine=f"ray:{places}") as many:
        for name, calls in READS.items():
            given, named = calls.python
            if name in ("ask", "status"):
                continue
            found = [getattr(each, name)(*given, **named) for each in (one, many)]
            told = [each.arrow().to_pylist() if hasattr(each, "arrow") else each for each in found]
            if name == "collections":
                told = [[(each.name, each.documents) for each in rows] for rows in found]
            assert told[0] == told[1], name
        assert many.status().documents == one.status().documents


def test_tools_and_rest_read_shards_as_one_index(written: Library, by_settings: Any) -> None:
    many = opening.opened(by_settings, environment.machine(os.environ), engine=None)
    with closing(many):
        boxes = [Toolbox(written.engine), Toolbox(many)]
        clients = [TestClient(Starlette(routes=routes(box))) for box in boxes]
        tried = 0
        for name, calls in READS.items():
            operation = OPERATIONS[name]
            if "tool" in operation.absent:
                continue
            tried += 1
            replies = [anyio.run(box.call, operation.tool, calls.tool) for box in boxes]
            assert replies[1].error is None, (name, replies[1].structured)
            told = [_comparable(operation, each.structured) for each in replies]
            assert told[1] == told[0], name
            pages = [(each.structured or {}).get("nextCursor") for each in replies]
            if pages[0]:
                both = zip(boxes, pages, strict=True)
                replies = [
                    anyio.run(box.call, operation.tool, {**calls.tool, "cursor": page})
                    for box, page in both
                ]
                told = [_comparable(operation, each.structured) for each in replies]
                assert told[1] == told[0], name
                assert told[0], name
            if operation.tool == "status":
                bodies = [client.get("/status").json() for client in clients]
            else:
                bodies = [c.post(f"/{operation.tool}", json=calls.tool).json() for c in clients]
            bodies = [_comparable(operation, each) for each in bodies]
            assert bodies[1] == bodies[0], name
            assert bodies[0], name
        assert tried >= 9


def _files(places: Path) -> list[tuple[str, int]]:
    """List the files of the index, without the locks beside them."""
    files = [*places.rglob("*.duckdb"), *places.rglob("*.json")]
    return sorted((str(each), each.stat().st_mtime_ns) for each in files)


def test_what_shards_do_not_do_is_refused_in_words(
    places: Path, by_settings: Any, qmd: Qmd
) -> None:
    before = _files(places)
    box = Toolbox(
        opening.opened(by_settings, environment.machine({}), engine=None),
        ServerTools(allow_write=True),
    )
    with package.connect(engine=f"ray:{places}") as kb:
        wrong = []
        for name, calls in REFUSED.items():
            operation = OPERATIONS[name]
            if "command" not in operation.absent:
                words = [*operation.command.split(), *calls.words]
                code, _, err = qmd("--engine", f"ray:{places}", *words)
                wrong += [] if code == 3 and err.startswith(IN_SENTENCES) else [(name, code, err)]
            if "python" not in operation.absent:
                given, named = calls.python
                with pytest.raises(ClusterFailure) as caught:
                    getattr(kb, name)(*given, **named)
                told = str(caught.value)
                wrong += [] if told.startswith(IN_SENTENCES) else [(name, told)]
            if "tool" not in operation.absent:
                reply = anyio.run(box.call, operation.tool, calls.tool)
                told = str(reply.content[0])
                is_said = any(sentence in told for sentence in IN_SENTENCES)
                wrong += [] if reply.error and is_said else [(name, told)]
        assert wrong == []
    box.engine.close()
    assert before == _files(places)
