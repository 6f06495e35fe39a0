"""The server, as the client of the Python SDK meets it: in memory, as its child, and over HTTP."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from pathlib import Path

import anyio
import pytest

from qmd.errors import UsageError
from qmd.storage.cancellation import Stopped
from qmd.surfaces.tools import schemas
from qmd.surfaces.tools.dispatch import Toolbox
from qmd.surfaces.tools.schemas.listing import listed
from qmd.surfaces.tools.server_tools import ServerTools
from tests.surfaces.service import service

LONG = 40
"""Seconds after which something that has to happen is taken for stuck."""

MODES = {"legacy": "2025-11-25", "auto": "2026-07-28"}
"""Versions of the protocol, by how a client begins: with a handshake, or with a question."""

NAME = "notes/größe & co/50% naïve?#1.md"
URI = "qmd://notes/gr%C3%B6%C3%9Fe%20%26%20co/50%25%20na%C3%AFve%3F%231.md"

EXPERIENCE = {
    "title": "The kettle hums",
    "problem_description": "It hums when it is half full.",
    "solution": "Fill it to the brim.",
}


@pytest.fixture
def shelf(faked):
    """A library of three notes."""
    faked.write("tea.md", "# Green tea\n\nBrew it at 80 degrees.\n")
    faked.write("a day at the pool.md", "# Pool\n\nSwim after tea.\n")
    faked.write(NAME.removeprefix("notes/"), "# Sizes\n\nKettles come in sizes.\n")
    faked.update()
    return faked


@pytest.fixture(params=MODES)
def talk(request, shelf):
    """Lets a client talk with the server in this process."""
    from mcp import Client

    from qmd.surfaces.mcp.server import make_server

    def talked(work, **options):
        async def main():
            server = make_server(Toolbox(shelf.engine, ServerTools(**options)))
            with anyio.fail_after(LONG):
                async with Client(server, mode=request.param) as client:
                    return await work(client)

        return anyio.run(main)

    return talked


async def fault(request):
    """The error of a request that the protocol refuses."""
    from mcp import MCPError

    with pytest.raises(MCPError) as caught:
        await request
    return caught.value.error


def test_a_client_is_greeted_and_told_what_there_is(talk, request):
    version = MODES[request.node.callspec.params["talk"]]

    async def work(client):
        assert client.protocol_version == version
        assert client.server_info.name == "qmd"
        assert client.instructions.startswith("qmd searches the user's own notes")
        offered = client.server_capabilities.model_dump(exclude_none=True)
        assert set(offered) == {"tools", "resources", "prompts", "completions"}

    talk(work)


def test_tools_are_listed_as_they_are_declared(talk):
    async def work(client):
        offered = (await client.list_tools()).tools
        for tool, declared in zip(offered, map(listed, schemas.TOOLS), strict=True):
            assert tool.name == declared.name
            assert tool.description == declared.description
            assert tool.input_schema == declared.input
            assert tool.output_schema == declared.output
            annotations = tool.annotations.model_dump(by_alias=True, exclude_none=True)
            assert annotations == declared.annotations

    talk(work, allow_write=True)


def test_results_are_for_models_and_for_programs(talk):
    async def work(client):
        result = await client.call_tool("search", {"query": "brew", "limit": "1"})
        [found] = result.structured_content["results"]
        assert found["file"] == "notes/tea.md"
        assert result.content[0].text.startswith('Found 1 result for "brew":\n\n#')
        status = await client.call_tool("status")
        assert status.structured_content["totalDocuments"] == 3

    talk(work)


def test_what_is_wrong_with_a_call_is_a_result_that_a_model_reads(talk):
    async def work(client):
        result = await client.call_tool("search", {"quary": "tea", "limit": 0})
        assert result.is_error
        assert result.meta["qmd/errorCode"] == "INVALID_PARAMS"
        assert len(result.content[0].text.splitlines()) == 3
        result = await client.call_tool("get", {"file": "notes/te.md"})
        assert result.meta["qmd/errorCode"] == "NOT_FOUND"
        assert result.content[0].text.splitlines()[-1] == "  - notes/tea.md"

    talk(work)


def test_a_tool_or_a_prompt_that_is_not_there_is_an_error_of_the_protocol(talk):
    async def work(client):
        error = await fault(client.call_tool("update"))
        assert (error.code, error.message[:21]) == (-32602, "Unknown tool: update.")
        error = await fault(client.get_prompt("quarry"))
        assert (error.code, error.message[:23]) == (-32602, "Unknown prompt: quarry.")

    talk(work)


def test_a_document_is_read_by_a_tool_and_as_a_resource(talk):
    async def work(client):
        [part] = (await client.call_tool("get", {"file": NAME})).content
        assert (part.resource.uri, part.resource.mime_type) == (URI, "text/markdown")
        for uri in (URI, f"qmd://{NAME.replace('%', '%25')}"):
            [contents] = (await client.read_resource(uri)).contents
            assert (contents.uri, contents.text.splitlines()[0]) == (uri, "1: # Sizes")
        uris = [each.uri for each in (await client.list_resources()).resources]
        assert (len(uris), URI in uris) == (3, True)
        [template] = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "qmd://{+path}"
        error = await fault(client.read_resource("qmd://notes/te.md"))
        assert error.code == -32602
        assert error.data["code"] == "NOT_FOUND"
        assert error.data["suggestions"] == ["notes/tea.md"]

    talk(work)


def test_a_resource_that_cannot_be_read_is_not_called_a_mistake_of_the_caller(talk, shelf):
    shelf.engine.place.config.write_text("collections: [")

    async def work(client):
        error = await fault(client.read_resource(URI))
        assert (error.code, error.data["code"]) == (-32603, "CONFIG_ERROR")

    talk(work)


def test_a_resource_that_several_documents_could_be_is_an_error_with_all(talk, shelf):
    shelf.write("deep/tea.md", "# Deep tea\n")
    shelf.write("flat/tea.md", "# Flat tea\n")
    (shelf.root / "tea.md").unlink()
    shelf.update()

    async def work(client):
        error = await fault(client.read_resource("qmd://tea.md"))
        assert error.data["code"] == "AMBIGUOUS_PATH"
        assert error.data["suggestions"] == ["notes/deep/tea.md", "notes/flat/tea.md"]

    talk(work)


def test_the_prompt_names_every_tool(talk):
    async def work(client):
        [prompt] = (await client.list_prompts()).prompts
        [message] = (await client.get_prompt(prompt.name)).messages
        for tool in schemas.TOOLS:
            assert f"- `{tool.name}`" in message.content.text

    talk(work, allow_write=True)


@pytest.mark.parametrize(("names", "prefix"), [("prefixed", "qmd_"), ("both", "")])
def test_all_texts_have_the_names_that_the_client_sees(talk, names, prefix):
    plain = {tool.name for tool in schemas.TOOLS}

    async def work(client):
        [message] = (await client.get_prompt("query")).messages
        guide, instructions = message.content.text, client.instructions
        listed = re.findall(r"^- `(\w+)` \(", guide, re.MULTILINE)
        assert listed == [prefix + tool.name for tool in schemas.TOOLS if not tool.optional]
        for text in (guide, instructions):
            quoted = set(re.findall(r"`(\w+)`", text))
            assert {prefix + name for name in ("search", "vsearch", "query", "get")} <= quoted
            assert not prefix or not quoted & plain
        error = await fault(client.call_tool("serch", {}))
        assert error.message.startswith(f"Unknown tool: serch. Known: {prefix}search, ")

    talk(work, tool_names=names)


def test_who_may_only_read_is_not_told_of_what_writes(talk):
    async def work(client):
        [message] = (await client.get_prompt("query")).messages
        for text in (message.content.text, client.instructions):
            assert "submit" not in text

    talk(work, read_only=True)


def test_a_compact_server_answers_in_text_alone(talk):
    async def work(client):
        assert all(tool.output_schema is None for tool in (await client.list_tools()).tools)
        found = await client.call_tool("search", {"query": "green tea", "limit": 1})
        assert found.structured_content is None
        assert "% notes/tea.md - Green tea" in found.content[0].text
        submitted = await client.call_tool("submit_experience", EXPERIENCE)
        assert submitted.structured_content is None
        assert json.loads(submitted.content[0].text)["success"]

    talk(work, compact=True)


def test_an_experience_that_is_submitted_is_found_by_the_next_query(talk):
    async def work(client):
        submitted = await client.call_tool("submit_experience", EXPERIENCE)
        found = await client.call_tool("query_experiences", {"keywords": "kettle hums"})
        [record] = found.structured_content["data"]["experiences"]
        assert record["id"] == submitted.structured_content["data"]["id"]
        refused = await client.call_tool("submit_experience", {"title": "The kettle hums"})
        assert refused.is_error
        assert refused.structured_content["error"]["code"] == "MISSING_REQUIRED_FIELDS"

    talk(work)


def test_update_and_embed_tell_how_far_they_are(talk, shelf):
    shelf.write("soup.md", "# Soup\n")
    told = []

    async def tell(done, total, message):
        told.append((done, total, message))

    async def work(client):
        await client.call_tool("update", progress_callback=tell)
        [(done, total, collection)] = told  # files that had just been written count as well
        assert (done, collection) == (total, "notes")
        await client.call_tool("embed", progress_callback=tell)
        assert told[-1][0] == told[-1][1]

    talk(work, allow_write=True)


def test_a_long_call_tells_that_it_is_at_work(talk, shelf, monkeypatch):
    monkeypatch.setattr("qmd.surfaces.tools.progress.BEAT", 0.01)
    beaten = threading.Event()
    told = []

    def search(*given, **named):
        assert beaten.wait(LONG)
        raise UsageError("Enough.")

    async def tell(done, total, message):
        told.append((done, message))
        if len(told) == 2:
            beaten.set()

    monkeypatch.setattr("qmd.surfaces.tools.answers.finding.search", search)

    async def work(client):
        result = await client.call_tool("search", {"query": "tea"}, progress_callback=tell)
        assert result.content[0].text == "Enough."
        assert told[:2] == [(0.01, "search: 0.01 s"), (0.02, "search: 0.02 s")]

    talk(work)


def test_a_call_that_is_given_up_stops_in_the_database(talk, shelf, monkeypatch):
    began = anyio.Event()
    stopped = anyio.Event()
    long = "select count(*) from range(50000) a, range(50000) b where a.range + b.range = 7"

    def search(*given, **named):
        anyio.from_thread.run_sync(began.set)
        try:
            shelf.engine.read(lambda cursor: cursor.connection.execute(long).fetchall())
        except Stopped:
            anyio.from_thread.run_sync(stopped.set)
            raise

    monkeypatch.setattr("qmd.surfaces.tools.answers.finding.search", search)

    async def work(client):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "search", {"query": "tea"})
            await began.wait()
            tasks.cancel_scope.cancel()
        await stopped.wait()
        result = await client.call_tool("status")
        assert result.structured_content["totalDocuments"] == 3

    talk(work)


# -- as a child, and over HTTP ---------------------------------------------------------


async def meet(client):
    """The most important parts of a conversation."""
    assert [tool.name for tool in (await client.list_tools()).tools] == [
        f"qmd_{tool.name}" for tool in schemas.TOOLS if not tool.writes
    ]
    found = await client.call_tool("qmd_search", {"query": "brew"})
    assert found.structured_content["results"][0]["file"] == "notes/tea.md"
    [contents] = (await client.read_resource(URI)).contents
    assert "3: Kettles come in sizes." in contents.text
    error = await fault(client.read_resource("qmd://notes/te.md"))
    assert error.data["suggestions"] == ["notes/tea.md"]
    error = await fault(client.call_tool("submit_experience", EXPERIENCE))
    assert error.message.startswith("Unknown tool: submit_experience.")


@pytest.mark.parametrize("mode", MODES)
def test_a_client_starts_the_server_and_ends_it_and_nothing_is_printed(shelf, tmp_path, mode):
    from mcp import Client, StdioServerParameters, stdio_client

    shelf.engine.close()
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "qmd", "mcp", "--read-only", "--tool-names", "prefixed"],
        cwd=tmp_path,
        env={
            **os.environ,
            "QMD_CONFIG_DIR": str(shelf.folder),
            "INDEX_PATH": str(shelf.engine.place.database),
            "PYTHONWARNINGS": "default",
        },
    )
    printed = Path(tmp_path / "printed")

    async def main(errors):
        with anyio.fail_after(LONG):
            async with Client(stdio_client(server, errors), mode=mode) as client:
                await meet(client)

    with printed.open("w") as errors:
        anyio.run(main, errors)
    assert printed.read_text() == ""


@pytest.mark.parametrize("mode", [*MODES, "2026-07-28"])
def test_a_client_finds_the_server_over_http(shelf, mode):
    from mcp import Client

    async def main(url):
        with anyio.fail_after(LONG):
            async with Client(url, mode=mode) as client:
                await meet(client)

    with service(Toolbox(shelf.engine, ServerTools("prefixed", read_only=True))) as server:
        anyio.run(main, f"{server.url}/mcp")
