"""Which tools agents are offered, whatever protocol brings the call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qmd.surfaces.tools import schemas
from qmd.surfaces.tools.build_reply import UnknownTool
from qmd.surfaces.tools.dispatch import Toolbox
from tests.surfaces.tools.calling import call, text

CONTRACT = Path(__file__).parents[4] / "shared" / "spec" / "mcp_tools.json"


def test_the_tools_are_those_of_the_contract():
    if not CONTRACT.exists():
        pytest.skip("the contract is not here")
    declared = [
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.input,
            **({"outputSchema": tool.output} if tool.output else {}),
            "annotations": tool.annotations,
        }
        for tool in schemas.TOOLS
        if not tool.optional
    ]
    assert declared == json.loads(CONTRACT.read_text(encoding="utf-8"))


def test_who_may_only_read_is_offered_nothing_that_writes(faked):
    names = [tool.name for tool in Toolbox(faked.engine, read_only=True).tools]
    assert "submit_experience" not in names
    assert "query_experiences" in names


def test_updating_and_embedding_are_offered_only_where_it_is_allowed(faked):
    assert not any(tool.optional for tool in Toolbox(faked.engine).tools)
    allowed = Toolbox(faked.engine, allow_write=True)
    assert [tool.name for tool in allowed.tools if tool.optional] == ["update", "embed"]


def test_a_tool_answers_to_its_name_with_the_prefix_too(toolbox):
    assert call(toolbox, "qmd_status").error is None


def test_a_tool_that_is_not_offered_is_unknown(faked):
    toolbox = Toolbox(faked.engine, read_only=True)
    for name in ("submit_experience", "update", "qmd_", "nothing"):
        with pytest.raises(UnknownTool, match=r"Known: search, vsearch"):
            call(toolbox, name)


def test_before_the_first_call_the_index_is_not_there(tmp_path, faked):
    toolbox = Toolbox(faked.engine)
    assert not faked.engine.place.database.exists()
    call(toolbox, "status")
    assert faked.engine.place.database.exists()


def test_what_is_wrong_is_told_of_the_tool_as_it_was_called(toolbox):
    reply = call(toolbox, "qmd_search", query="tea", limmit=1)
    assert text(reply).startswith('Unknown parameter "limmit" for tool "qmd_search".')
