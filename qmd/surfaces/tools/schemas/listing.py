"""Tools as they are listed: each token of the list is read in each conversation.

A tool takes more than its listing has. Left out are descriptions of parameters whose name and type
say all, parameters that few calls need, and descriptions of what programs read.
"""

from __future__ import annotations

from typing import Any

from qmd.surfaces.tools.schemas.tool import Schema, Tool

OPEN = frozenset({"grep", "similar", "links", "context", "ls"})
"""Tools whose listing does not say that it has all: others are listed as clients expect them."""


def listed(tool: Tool) -> Tool:
    """Return a tool with the schemas that lists of tools show."""
    properties = {
        name: _without_description(schema) if name in tool.bare else schema
        for name, schema in tool.input["properties"].items()
        if name not in tool.unlisted
    }
    taken = {**tool.input, "properties": properties}
    if tool.name in OPEN:
        del taken["additionalProperties"]
    output = None if tool.output is None else _bare(tool.output)
    return tool._replace(input=taken, output=output)


def _without_description(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key != "description"}


def _bare(schema: Any) -> Any:
    """Return a schema without descriptions; a property may be called so."""
    if isinstance(schema, list):
        return [_bare(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _bare(each) for name, each in value.items()}
        if key == "properties"
        else _bare(value)
        for key, value in schema.items()
        if key != "description"
    }
