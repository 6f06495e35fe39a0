"""Reference of the tools, which MCP and REST share, made of their schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from qmd.surfaces.tools.schemas import TOOLS
from qmd.surfaces.tools.schemas.tool import Tool

HEAD = """\
# Tools

What agents call over MCP, and programs as JSON over HTTP: `POST /NAME` with the parameters as an
object (`status` is `GET /status`; `update` and `embed` are there over MCP alone). [The
server](server.md) says how a server is started, and how errors are told. Tools that write are there
with `--allow-write`. A null is as if the parameter were not given.
"""


def page() -> str:
    """Return the whole page."""
    return "\n".join((HEAD, *(line for tool in TOOLS for line in _section(tool))))


def _section(tool: Tool) -> Iterator[str]:
    """Yield the lines about one tool."""
    yield f"## {tool.name}\n"
    facts = [tool.title, "writes" if tool.writes else "reads only"]
    facts += ["with `--allow-write`"] if tool.optional else []
    facts += ["may use a model"] if tool.asks_models else []
    yield f"*{'; '.join(facts)}.*\n"
    yield f"{plain(tool.description)}\n"
    yield from _table("parameter", tool.input)
    if tool.output is not None:
        yield from _results(tool.output)


def _results(schema: dict[str, Any]) -> Iterator[str]:
    """Yield the table of what a tool gives, and of the items of its lists."""
    properties = schema.get("properties", {})
    yield from _table("result", schema)
    for name, each in properties.items():
        items = each.get("items", {})
        if items.get("properties"):
            yield from _table(f"of each item of `{name}`", items)


def _table(first: str, schema: dict[str, Any]) -> Iterator[str]:
    properties = schema.get("properties", {})
    if not properties:
        yield "It takes no parameters.\n"
        return
    required = schema.get("required", ()) if first == "parameter" else ()
    yield f"| {first} | type | |"
    yield "|---|---|---|"
    for name, each in properties.items():
        told = [plain(each.get("description", ""))]
        told += ["Required."] if name in required else []
        if "default" in each and "default" not in told[0]:
            told.append(f"Default: `{json.dumps(each['default'])}`.")
        yield f"| `{name}` | {kind(each)} | {' '.join(filter(None, told))} |"
    yield ""


def kind(schema: dict[str, Any]) -> str:
    """Return the type of a value in words, with its bounds."""
    if "anyOf" in schema:
        return " or ".join(kind(each) for each in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    told = str(schema.get("type", "any"))
    if told == "array":
        return f"array of {kind(schema.get('items', {}))}"
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None:
        return f"{told}, {least} to {most}"
    if least is not None:
        return f"{told}, {least} or more"
    return told


def plain(text: str) -> str:
    """Return text as a cell of a table takes it, on one line."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
