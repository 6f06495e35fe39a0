"""Resources that are listed, completed and subscribed to, with the client of the Python SDK."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial

import anyio
import pytest

LONG = 100
"""Seconds after which something that has to happen is taken for stuck."""

TEA = "qmd://notes/tea.md"


@pytest.fixture
def shelf(library, tmp_path, monkeypatch):
    library.write("tea.md", "# Tea\n\nGreen tea.\n")
    library.write("größe & co/50%.md", "# Sizes\n")
    for number in range(205):
        library.write(f"day/{number:03}.md", f"# Day {number}\n")
    library.update()
    library.engine.close()
    monkeypatch.setenv("QMD_CONFIG_DIR", str(library.folder))
    monkeypatch.setenv("INDEX_PATH", str(library.engine.place.database))
    return library


def talk(work, *, mode="legacy", heard=None):
    """Let a client talk with a server that it starts."""
    from mcp import Client, StdioServerParameters, stdio_client

    server = StdioServerParameters(
        command=sys.executable, args=["-m", "qmd", "mcp"], env=dict(os.environ)
    )

    async def main():
        with anyio.fail_after(LONG):
            async with Client(stdio_client(server), mode=mode, message_handler=heard) as client:
                await work(client)

    anyio.run(main)


def updated(shelf, name, text):
    """Change a document and the index, by another process."""
    shelf.write(name, text)
    command = [sys.executable, "-m", "qmd", "update"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=LONG)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_documents_are_listed_by_page(shelf, mode):
    async def work(client):
        from mcp import MCPError

        first = await client.list_resources()
        rest = await client.list_resources(cursor=first.next_cursor)
        assert (len(first.resources), len(rest.resources)) == (200, 7)
        assert rest.next_cursor is None
        found = {each.name: each for each in [*first.resources, *rest.resources]}
        assert len(found) == 207
        sizes = found["notes/größe & co/50%.md"]
        assert (sizes.title, sizes.size, sizes.mime_type) == ("Sizes", 8, "text/markdown")
        [contents] = (await client.read_resource(sizes.uri)).contents
        assert contents.text == "1: # Sizes"
        for cursor in ("x", "=", "bm9uZQ"):
            with pytest.raises(MCPError, match="Leave it out to begin anew"):
                await client.list_resources(cursor=cursor)

    talk(work, mode=mode)


def test_arguments_are_completed(shelf):
    async def work(client):
        from mcp import MCPError
        from mcp_types import PromptReference, ResourceTemplateReference

        document = ResourceTemplateReference(uri="qmd://{+path}")

        async def completed(ref, name, value):
            found = (await client.complete(ref, {"name": name, "value": value})).completion
            return found.values, found.total, found.has_more

        assert await completed(document, "path", "notes/te") == (["notes/tea.md"], 1, False)
        assert (await completed(document, "path", "TEA"))[0] == ["notes/tea.md"]
        [sizes] = (await completed(document, "path", "notes/größe"))[0]
        assert sizes == "notes/gr%C3%B6%C3%9Fe%20%26%20co/50%25.md"
        assert (await completed(document, "path", sizes[:20]))[0] == [sizes]
        values, total, more = await completed(document, "path", "notes/day")
        assert (len(values), total, more) == (100, 205, True)
        guide = PromptReference(name="query")
        assert (await completed(guide, "collection", "no"))[0] == ["notes"]
        assert (await completed(guide, "collection", "x")) == ([], 0, False)
        for ref, name in ((document, "x"), (guide, "path"), (PromptReference(name="x"), "x")):
            with pytest.raises(MCPError, match="Nothing completes"):
                await completed(ref, name, "")
        [prompt] = (await client.list_prompts()).prompts
        assert [each.name for each in prompt.arguments] == ["collection"]
        [message] = (await client.get_prompt("query", {"collection": "notes"})).messages
        assert 'Search in the collection "notes" alone' in message.content.text

    talk(work)


@pytest.mark.filterwarnings("ignore:resources/")
def test_a_client_is_told_of_a_document_that_it_subscribed_to(shelf):
    told: list[str] = []
    heard = anyio.Event()

    async def hear(message):
        if getattr(message, "method", "") == "notifications/resources/updated":
            told.append(str(message.params.uri))
            heard.set()

    async def work(client):
        from mcp import MCPError

        await client.subscribe_resource(TEA)
        await client.subscribe_resource("qmd://notes/day/001.md")
        await client.unsubscribe_resource("qmd://notes/day/001.md")
        await anyio.to_thread.run_sync(partial(updated, shelf, "day/001.md", "# Other\n"))
        await anyio.to_thread.run_sync(partial(updated, shelf, "tea.md", "# Tea\n\nBlack tea.\n"))
        await heard.wait()
        assert told == [TEA]
        with pytest.raises(MCPError, match="No resource of this server"):
            await client.subscribe_resource("file:///etc/passwd")

    talk(work, heard=hear)


def test_a_client_of_the_new_protocol_listens_to_changes(shelf):
    async def work(client):
        from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated

        uris = [TEA, "qmd://notes/later.md"]
        async with client.listen(
            resources_list_changed=True, resource_subscriptions=uris
        ) as stream:
            events = []
            await anyio.to_thread.run_sync(partial(updated, shelf, "later.md", "# Later\n"))
            async for event in stream:
                events.append(event)
                if len(events) == 2:
                    break
            assert set(events) == {ResourcesListChanged(), ResourceUpdated(uris[1])}
            await anyio.to_thread.run_sync(partial(updated, shelf, "tea.md", "# Black\n"))
            async for event in stream:
                assert event == ResourceUpdated(TEA)
                break

    talk(work, mode="auto")


def test_without_an_index_nothing_is_listed_and_none_is_made(tmp_path, monkeypatch):
    monkeypatch.setenv("QMD_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("INDEX_PATH", str(tmp_path / "index.duckdb"))

    async def work(client):
        from mcp_types import ResourceTemplateReference

        assert (await client.list_resources()).resources == []
        ref = ResourceTemplateReference(uri="qmd://{+path}")
        found = await client.complete(ref, {"name": "path", "value": ""})
        assert found.completion.values == []

    talk(work)
    assert not list(tmp_path.glob("index.duckdb*"))
