"""Calls of all tools, as a client without manners sends them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from bench.fuzz.library import library
from bench.fuzz.sources import Bytes, Input, Target

EXPECTED = frozenset({"TIMEOUT", "INTERNAL"})
"""Codes of errors that no input may bring about."""


def calls() -> Iterator[Target]:
    """Fuzz calls of all tools: each is answered, and never by an internal error."""
    import anyio

    from qmd.operations import links
    from qmd.surfaces.tools import dispatch
    from qmd.surfaces.tools.dispatch import Toolbox
    from qmd.surfaces.tools.reply_text import MOST_BYTES
    from qmd.surfaces.tools.schemas.listing import listed
    from qmd.surfaces.tools.server_tools import ServerTools

    dispatch.SOON = dispatch.LATER = links.SECONDS = 100.0  # the machine may be busy
    values = ("notes/tea.md", "#", "tea", "notes", "deep", "tag", "*.md", "[", "(", "2024", "new")

    with library(lines=50) as engine, anyio.from_thread.start_blocking_portal() as portal:
        toolbox = Toolbox(engine, ServerTools(allow_write=True))
        tools = [tool for tool in toolbox.tools if tool.name not in ("embed", "update")]

        def made(source: Bytes) -> Input:
            tool = source.pick(tools)
            names = [*tool.input["properties"], *tool.aliases, "x"]
            required = tool.input.get("required", ())
            given = {
                name: source.pick(values) if source.number(0, 2) else source.text()
                for name in required
                if source.number(0, 9)
            }
            given |= source.fields(names, source.number(0, 3))
            return json.dumps(given), tool.name

        def check(text: str, name: str) -> None:
            reply = portal.call(toolbox.call, name, json.loads(text))
            assert reply.content
            assert reply.error is None or reply.error.value not in EXPECTED, reply.content[0]
            parts = [each if isinstance(each, str) else each.text for each in reply.content]
            assert sum(len(each.encode()) for each in parts) <= 2 * MOST_BYTES
            if reply.structured is not None and reply.error is None:
                json.dumps(reply.structured, ensure_ascii=False).encode()
                output = listed(toolbox.tool(name)).output
                assert output is None or set(output.get("required", ())) <= set(reply.structured)

        yield Target(made, check, values, linear=False)
        toolbox.close()
