"""A deprecation is declared once, and told on each surface to those who use what is deprecated."""

from __future__ import annotations

import json
import warnings
from typing import Annotated, Any

import anyio
import pytest

import qmd as package
from qmd.declaration.operation import OPERATIONS, Parameter, operation
from qmd.operations.search import search
from qmd.surfaces.cli import derive
from qmd.surfaces.python.derive import awaited
from qmd.surfaces.tools import arguments
from qmd.surfaces.tools.dispatch import Toolbox
from qmd.surfaces.tools.schemas.derive import tool_of
from qmd.surfaces.tools.server_tools import ServerTools
from tests.surfaces.service import service

Words = Annotated[str, Parameter(help="Words.")]
Most = Annotated[int | None, Parameter(help="Results.", deprecated="Use --limit.")]


def old_words(index: Any, words: Words, *, most_words: Most = None) -> str:
    """Find words."""
    return words


def of_rpc(text: str) -> Any:
    """The result in a response of MCP, plain or as an event stream."""
    (data,) = (line.removeprefix("data: ") for line in text.splitlines() if '"result"' in line)
    return json.loads(data)["result"]


@pytest.fixture
def made_up(monkeypatch):
    """An operation that is deprecated, and has a deprecated parameter."""
    monkeypatch.setattr(old_words, "__module__", __name__)
    operation(title="Old words", deprecated="Use `search`.")(old_words)
    yield OPERATIONS["old_words"]
    del OPERATIONS["old_words"]


@pytest.fixture
def since(monkeypatch):
    """`search`, whose parameter `since` is deprecated."""
    declared = OPERATIONS["search"].parameters
    about = declared["since"].about._replace(deprecated="Use after: in the query.")
    changed = declared | {"since": declared["since"]._replace(about=about)}
    monkeypatch.setitem(vars(OPERATIONS["search"]), "parameters", changed)


def test_nothing_is_told_of_what_is_not_used(made_up):
    assert made_up.deprecations(["words"]) == {"": "Use `search`."}
    assert made_up.deprecations(["words", "most_words"]) == {
        "": "Use `search`.",
        "most_words": "Use --limit.",
    }
    assert OPERATIONS["search"].deprecations(["query", "limit"]) == {}


def test_help_and_schema_say_what_is_deprecated(made_up):
    assert made_up.summary == "Find words. Deprecated: Use `search`."
    assert made_up.parameters["most_words"].about.help_on("command") == (
        "Results. Deprecated: Use --limit."
    )
    tool = tool_of(old_words)
    assert tool.description == "Find words. Deprecated: Use `search`."
    assert tool.input["properties"]["mostWords"]["deprecated"] is True
    assert "deprecated" not in tool.input["properties"]["words"]
    assert tool.deprecated == {"": "Use `search`.", "mostWords": "Use --limit."}


def test_a_tool_says_what_a_call_used(made_up):
    tool = tool_of(old_words)
    assert arguments.deprecations(tool, {"words": "tea"}) == (
        "old_words is deprecated: Use `search`.",
    )
    assert arguments.deprecations(tool, {"words": "tea", "most_words": 3})[1:] == (
        '"mostWords" is deprecated: Use --limit.',
    )
    assert arguments.deprecations(tool_of(search), {"query": "tea"}) == ()


def test_the_command_line_tells_it_on_stderr(made_up, capsys):
    derive.warn(made_up, {"words": "tea", "most_words": 3})
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "qmd old-words is deprecated: Use `search`.",
        "--most-words is deprecated: Use --limit.",
    ]


def test_a_search_with_a_deprecated_option_still_finds_and_says_so_once(since, qmd, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "tea.md").write_text("# Tea\n\nGreen tea.\n")
    qmd("collection", "add", tmp_path / "notes")
    code, out, err = qmd("search", "tea", "--since", "2020", "--files")
    assert code == 0
    assert "notes/tea.md" in out
    assert err == "--since is deprecated: Use after: in the query.\n"
    assert qmd("search", "tea", "--files")[2] == ""


def test_python_warns_in_the_line_of_the_caller(since, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "tea.md").write_text("# Tea\n\nGreen tea.\n")
    with package.connect(str(tmp_path / "kb.duckdb")) as kb:
        kb.add_collection(tmp_path / "notes")
        with pytest.warns(DeprecationWarning, match="since") as told:
            assert len(kb.search("tea", since="2020")) == 1
        (only,) = told
        assert str(only.message) == "search(since=) is deprecated: Use after: in the query."
        assert only.filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            kb.search("tea")

    async def ask():
        async with package.open(str(tmp_path / "kb.duckdb")) as kb:
            with pytest.warns(DeprecationWarning, match="since") as told:
                await kb.search("tea", since="2020")
            return told

    (only,) = anyio.run(ask)
    assert only.filename == __file__


def test_a_deprecated_method_warns(made_up):
    call = awaited(old_words)

    class Client:
        """Client without an index: the call ends at the check of it."""

        def _check(self):
            raise LookupError

    async def ask():
        with (
            pytest.warns(DeprecationWarning, match=r"^old_words\(\) is deprecated: Use `search`.$"),
            pytest.raises(LookupError),
        ):
            await call(Client(), "tea")

    anyio.run(ask)


def test_rest_and_mcp_tell_it_beside_the_answer(since, library):
    library.write("tea.md", "# Tea\n\nGreen tea.\n")
    library.update()
    toolbox = Toolbox(library.engine, ServerTools(read_only=True))
    toolbox._by_name["search"] = tool_of(search)
    told = '"since" is deprecated: Use after: in the query.'
    with service(toolbox) as server:
        answer = server.post("/search", {"query": "tea", "since": "2020"})
        assert answer.json()["results"][0]["file"] == "notes/tea.md"
        assert answer.headers["qmd-deprecated"] == told
        assert "qmd-deprecated" not in server.post("/search", {"query": "tea"}).headers
        called = {"name": "search", "arguments": {"query": "tea", "since": "2020"}}
        result = server.post(
            "/mcp",
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called},
            headers={"Accept": "application/json, text/event-stream"},
        )
        result = of_rpc(result.text)
        assert result["_meta"]["qmd/deprecated"] == [told]
        assert result["content"][-1]["text"] == told
