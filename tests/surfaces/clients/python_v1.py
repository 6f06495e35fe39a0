"""What a client of the Python SDK 1.x and the server say to each other.

Run by the Python of an environment with `mcp` 1.x, with a JSON object in the file that is its
argument: how the server is started (`command`, `args`, `cwd`, `env`) or reached (`url`), the
declared `tools`, and the file `started` in which the slow update command says its process id.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

import anyio
from mcp import ClientSession, McpError, StdioServerParameters, stdio_client, types
from mcp.client.streamable_http import streamable_http_client

LONG = 60
"""Seconds after which something that has to happen is taken for stuck."""

TRIAL = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))


@asynccontextmanager
async def connected():
    """A session with the server, and what it prints on stderr if it was started for it."""
    if TRIAL["url"]:
        async with (
            streamable_http_client(TRIAL["url"]) as (read, write, _),
            ClientSession(read, write) as session,
        ):
            yield session
        return
    server = StdioServerParameters(**{key: TRIAL[key] for key in ("command", "args", "env", "cwd")})
    printed = Path(TRIAL["cwd"]) / "printed"
    with printed.open("w+") as errors:
        async with stdio_client(server, errors) as streams, ClientSession(*streams) as session:
            yield session
    assert printed.read_text() == "", printed.read_text()


async def answered(session, name, **arguments):
    """The result of a call that succeeds."""
    result = await session.call_tool(name, arguments)
    assert not result.isError, result
    return result


async def refused(session, name, **arguments):
    """Code and text of a result that is an error."""
    result = await session.call_tool(name, arguments)
    assert result.isError, result
    return result.meta["qmd/errorCode"], result.content[0].text


async def failed(request):
    """The error of a request that the protocol refuses."""
    try:
        await request
    except McpError as error:
        return error.error
    raise AssertionError("it did not fail")


async def introduces_itself(session):
    greeting = await session.initialize()
    assert greeting.serverInfo.name == "qmd"
    assert greeting.protocolVersion == "2025-11-25", greeting.protocolVersion
    assert greeting.instructions.startswith("qmd searches the user's own notes")


async def lists_its_tools(session):
    listed = (await session.list_tools()).tools
    assert [
        tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed
    ] == TRIAL["tools"]


async def searches(session):
    result = await answered(session, "search", query="green tea", limit=1)
    [found] = result.structuredContent["results"]
    assert (found["file"], found["title"]) == ("notes/tea.md", "Green tea")
    assert result.content[0].text.startswith('Found 1 result for "green tea":\n\n#')
    code, text = await refused(session, "search", quary="tea", limit=0)
    assert code == "INVALID_PARAMS"
    assert len(text.splitlines()) == 3, text
    error = await failed(session.call_tool("serch", {"query": "tea"}))
    assert (error.code, error.message[:20]) == (-32602, "Unknown tool: serch."), error


async def reads(session):
    name = "notes/größe & co/50% naïve?#1.md"
    [part] = (await answered(session, "get", file=name)).content
    resource = part.resource.model_dump(mode="json", by_alias=True)
    assert (resource["name"], resource["title"]) == (name, "Sizes"), resource
    uri = "qmd://notes/gr%C3%B6%C3%9Fe%20%26%20co/50%25%20na%C3%AFve%3F%231.md"
    assert resource["uri"] == uri, resource
    [contents] = (await session.read_resource(part.resource.uri)).contents
    assert "3: Shoes and kettles" in contents.text
    missing = types.AnyUrl("qmd://notes/te.md")
    error = await failed(session.read_resource(missing))
    assert error.code == -32602
    assert error.data["suggestions"] == ["notes/tea.md"], error
    template = (await session.list_resource_templates()).resourceTemplates[0]
    assert template.uriTemplate == "qmd://{+path}"
    code, text = await refused(session, "get", file="notes/te.md")
    assert (code, text.splitlines()[0]) == ("NOT_FOUND", "Document not found: notes/te.md")
    parts = (await answered(session, "multi_get", pattern="*.md", maxLines=1)).content
    assert [part.type for part in parts] == ["text", "resource"], parts


async def guides(session):
    [prompt] = (await session.list_prompts()).prompts
    [message] = (await session.get_prompt(prompt.name)).messages
    assert "## Search Strategy" in message.content.text


async def keeps_experiences(session):
    lacking = await session.call_tool("submit_experience", {"title": "The kettle hums"})
    assert lacking.isError
    assert lacking.structuredContent["error"]["code"] == "MISSING_REQUIRED_FIELDS"
    await answered(
        session,
        "submit_experience",
        title="The kettle hums",
        problem_description="It hums when it is half full.",
        solution="Fill it to the brim.",
    )
    found = await answered(session, "query_experiences", keywords="kettle")
    assert found.structuredContent["data"]["total"] == 1, found


async def updates(session):
    (Path(TRIAL["cwd"]) / "notes" / "soup.md").write_text("# Soup\n\nPeel the pumpkin.\n")
    told = []

    async def progress(done, total, message):
        told.append((done, total, message))

    arguments = {"collections": ["notes"]}
    result = await session.call_tool("update", arguments, progress_callback=progress)
    assert result.structuredContent["collections"][0]["new"] == 1, result
    [(done, total, collection)] = told  # files that had just been written count as well
    assert (done, collection) == (total, "notes"), told
    made = await answered(session, "embed")
    assert made.structuredContent["lacking"] == 0, made
    found = await answered(session, "vsearch", query="how do I make a hot drink", minScore=0)
    assert found.structuredContent["results"][0]["file"] == "notes/tea.md", found
    status = await answered(session, "status")
    assert status.structuredContent["needsEmbedding"] == 0, status


async def stops_what_is_cancelled(session):
    if TRIAL["url"]:
        return  # nothing connects two requests there
    async with anyio.create_task_group() as tasks:
        number = session._request_id
        tasks.start_soon(session.call_tool, "update", {"collections": ["slow"]})
        process = await anyio.to_thread.run_sync(begun)
        params = types.CancelledNotificationParams(requestId=number)
        cancelled = types.CancelledNotification(params=params)
        await session.send_notification(types.ClientNotification(cancelled))
        await anyio.to_thread.run_sync(ended, process)
        await answered(session, "update", collections=["notes"])
        tasks.cancel_scope.cancel()


def begun():
    """The slow update command, as soon as it runs."""
    file = Path(TRIAL["started"])
    for _ in range(LONG * 100):
        if file.exists():
            return int(file.read_text())
        time.sleep(0.01)
    raise AssertionError("it does not begin")


def ended(process):
    """Waits until a process is no more."""
    for _ in range(LONG * 100):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    raise AssertionError("it does not end")


STEPS = (
    introduces_itself,
    lists_its_tools,
    searches,
    reads,
    guides,
    keeps_experiences,
    updates,
    stops_what_is_cancelled,
)


async def main():
    with anyio.fail_after(LONG):
        async with connected() as session:
            for step in STEPS:
                print(step.__name__.replace("_", " "), flush=True)
                await step(session)


print("mcp", version("mcp"))
anyio.run(main)
