"""The option `path`: the same documents on each surface."""

from __future__ import annotations

import json

import anyio
import pytest

from qmd.surfaces.python.clients import AsyncKnowledgeBase
from qmd.surfaces.tools.dispatch import Toolbox
from tests.surfaces.service import service

FOUND = ["docs/api/tea.md", "docs/api/v2/tea.md"]


@pytest.fixture
def shelf(meaning):
    """Four notes about tea in three folders, with vectors."""
    for name in ("tea.md", "old/docs/api/tea.md", *FOUND):
        meaning.write(name, f"# Tea of {name}\n\nGreen tea is brewed at 80 degrees.\n")
    meaning.update()
    meaning.embed()
    return meaning


def paths(files):
    return sorted(file.partition("/")[2] for file in files)


@pytest.mark.parametrize("search", ["search", "vector_search", "query"])
def test_in_python(shelf, search):
    async def work():
        kb = AsyncKnowledgeBase(shelf.engine)
        return await getattr(kb, search)("green tea", path="docs/api", min_score=0.0)

    assert paths(result.file for result in anyio.run(work)) == FOUND


@pytest.mark.parametrize("tool", ["search", "vsearch", "query"])
def test_as_a_tool(shelf, tool):
    async def work():
        given = {"query": "green tea", "path": "docs/*", "minScore": 0}
        return await Toolbox(shelf.engine).call(tool, given)

    reply = anyio.run(work)
    assert reply.error is None
    assert paths(result["file"] for result in reply.structured["results"]) == FOUND


@pytest.mark.parametrize("route", ["/search", "/vsearch", "/query"])
def test_over_http(shelf, route):
    with service(Toolbox(shelf.engine)) as made:
        answer = made.post(route, {"query": "green tea", "path": "docs/api", "minScore": 0})
    assert paths(result["file"] for result in answer.json()["results"]) == FOUND


@pytest.mark.parametrize("function", ["bm25", "vsearch", "hybrid"])
def test_in_sql(shelf, function):
    from qmd.operations.sql import sql

    query = f"select file from {function}('green tea', path := $path)"
    rows = sql(shelf.engine, query, {"path": "docs/api"})
    assert paths(row["file"] for row in rows) == FOUND


@pytest.mark.parametrize("command", ["search", "query"])  # no model is set up for the third
def test_on_the_command_line(shelf, command, qmd, monkeypatch):
    monkeypatch.setenv("INDEX_PATH", str(shelf.engine.place.database))
    monkeypatch.setenv("QMD_CONFIG_DIR", str(shelf.engine.place.config.parent))
    asked = (command, "green tea", "--path", "docs/api", "--json", "--min-score", "0")
    code, found, _ = qmd(*asked)
    assert code == 0
    assert paths(result["file"] for result in json.loads(found)) == FOUND
