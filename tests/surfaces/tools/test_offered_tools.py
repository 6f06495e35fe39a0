"""Which tools agents are offered, whatever protocol brings the call."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qmd.surfaces.tools import schemas
from qmd.surfaces.tools.build_reply import UnknownTool
from qmd.surfaces.tools.dispatch import Toolbox
from qmd.surfaces.tools.schemas.listing import listed
from qmd.surfaces.tools.server_tools import ServerTools
from qmd.text.tokens import estimated_tokens
from tests.surfaces.tools.calling import call, text

CONTRACT = Path(__file__).parents[4] / "shared" / "spec" / "mcp_tools.json"


def test_the_tools_keep_the_contract():
    """Names, titles, schemas and annotations are fixed; sentences and additions are ours."""
    if not CONTRACT.exists():
        pytest.skip("the contract is not here")
    offered = {tool.name: tool for tool in schemas.TOOLS if not tool.optional}
    contract = json.loads(CONTRACT.read_text(encoding="utf-8"))
    assert [tool["name"] for tool in contract] == list(offered)[: len(contract)]
    for promised in contract:
        tool = listed(offered[promised["name"]])
        declared = {
            "name": tool.name,
            "title": tool.title,
            "inputSchema": tool.input,
            "outputSchema": tool.output,
            "annotations": tool.annotations,
        }
        assert list(broken(promised, declared, tool.name)) == []


def test_what_a_model_reads_of_all_tools_is_short(faked):
    """Name, description and input schema, which hosts hand to their model in each conversation."""
    read = [
        json.dumps(
            {"name": tool.name, "description": tool.description, "inputSchema": tool.input},
            separators=(",", ":"),
            ensure_ascii=False,
        )
        for tool in map(listed, Toolbox(faked.engine).tools)
    ]
    assert sum(map(estimated_tokens, read)) <= 1600


def test_a_list_leaves_out_only_what_a_tool_takes(faked):
    for tool in Toolbox(faked.engine, ServerTools(allow_write=True)).tools:
        shown = listed(tool)
        assert tool.unlisted <= tool.input["properties"].keys()
        assert not tool.unlisted & shown.input["properties"].keys()
        assert not set(tool.input.get("required", ())) & tool.unlisted
        for name, schema in shown.input["properties"].items():
            whole = tool.input["properties"][name]
            left_out = {"description"} if name in tool.bare else set()
            assert schema == {key: whole[key] for key in whole if key not in left_out}
        assert '"description": "' not in json.dumps(shown.output)


def test_what_is_not_listed_is_taken_and_named_where_a_name_is_wrong(toolbox):
    assert call(toolbox, "search", query="tea", since="2000", allCopies=True).error is None
    assert "allCopies" in text(call(toolbox, "search", query="tea", nothing=1))


def broken(promised: Any, declared: Any, place: str) -> Iterator[str]:
    """Name each place where a declaration lacks what is promised, or says something else.

    A description may be worded differently; an object may have more properties than promised.
    """
    if isinstance(promised, dict) and isinstance(declared, dict):
        for key, value in promised.items():
            if key == "description" and isinstance(value, str):
                continue
            if key not in declared:
                yield f"{place}.{key} is missing"
            else:
                yield from broken(value, declared[key], f"{place}.{key}")
    elif promised != declared:
        yield f"{place} is {declared!r}, promised {promised!r}"


def test_a_broken_contract_is_told():
    promised = {"properties": {"a": {"type": "integer", "description": "One."}}, "required": ["a"]}
    more = {"a": {"type": "integer", "description": "Other."}, "b": {"type": "string"}}
    assert list(broken(promised, {"properties": more, "required": ["a"]}, "t")) == []
    assert list(broken(promised, {"properties": more, "required": ["a", "b"]}, "t")) != []
    assert list(broken(promised, {"properties": {}, "required": ["a"]}, "t")) != []
    assert (
        list(broken(promised, {"properties": {"a": {"type": "string"}}, "required": ["a"]}, "t"))
        != []
    )


def test_who_may_only_read_is_offered_nothing_that_writes(faked):
    names = [tool.name for tool in Toolbox(faked.engine, ServerTools(read_only=True)).tools]
    assert "submit_experience" not in names
    assert "query_experiences" in names


def test_updating_and_embedding_are_offered_only_where_it_is_allowed(faked):
    assert not any(tool.optional for tool in Toolbox(faked.engine).tools)
    allowed = Toolbox(faked.engine, ServerTools(allow_write=True))
    assert [tool.name for tool in allowed.tools if tool.optional] == [
        *("update", "embed", "put", "remove", "append", "edit", "move", "undo")
    ]


def test_a_tool_answers_to_its_name_with_the_prefix_too(toolbox):
    assert call(toolbox, "qmd_status").error is None


def test_a_tool_that_is_not_offered_is_unknown(faked):
    toolbox = Toolbox(faked.engine, ServerTools(read_only=True))
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
