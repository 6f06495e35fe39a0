"""Calls of tools, without a protocol."""

from __future__ import annotations

import anyio

from qmd.surfaces.tools.dispatch import Toolbox
from qmd.surfaces.tools.reply import Reply

LONG = 100
"""Seconds after which something that has to happen is taken for stuck."""


def call(toolbox: Toolbox, name: str, **arguments: object) -> Reply:
    async def work() -> Reply:
        with anyio.fail_after(LONG):
            return await toolbox.call(name, arguments)

    return anyio.run(work)


def text(reply: Reply) -> str:
    """The first part of an answer."""
    assert isinstance(reply.content[0], str)
    return reply.content[0]
