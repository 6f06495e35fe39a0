"""A tool as clients see it, and the pieces of JSON Schema that say what it takes and gives."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from qmd.named_tuple import NamedTuple

Schema = dict[str, Any]

_NOTHING: Mapping[str, str] = MappingProxyType({})


class Tool(NamedTuple):
    """A tool as clients see it.

    Attributes:
        writes: it changes the index.
        optional: it is only there if the user allows it, and may take as long as it needs.
        asks_models: it may take longer than one that reads the index.
        destructive: it may replace or remove what is there for good.
        aliases: other names that models send, each with the parameter that it means; not listed.
        several: parameters of text that take a list of texts as well.
        bare: parameters whose description lists of tools leave out.
        unlisted: parameters that lists of tools leave out.
        deprecated: what to do instead of a parameter; by "" instead of the tool itself.
    """

    name: str
    title: str
    description: str
    input: Schema
    output: Schema | None = None
    writes: bool = False
    idempotent: bool = True
    optional: bool = False
    asks_models: bool = False
    destructive: bool = False
    aliases: Mapping[str, str] = _NOTHING
    several: frozenset[str] = frozenset()
    bare: frozenset[str] = frozenset()
    unlisted: frozenset[str] = frozenset()
    deprecated: Mapping[str, str] = _NOTHING

    @property
    def annotations(self) -> dict[str, bool]:
        """Hints of the protocol."""
        return {
            "readOnlyHint": not self.writes,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent,
            "openWorldHint": False,
        }


def takes(properties: Mapping[str, Schema], *required: str) -> Schema:
    """Compose the input schema of a tool: these parameters and no others."""
    schema: Schema = {
        "type": "object",
        "properties": dict(properties),
        "additionalProperties": False,
    }
    return schema | ({"required": list(required)} if required else {})


def record(properties: Mapping[str, Schema], *required: str) -> Schema:
    """Compose the schema of an object that may have other properties, too."""
    schema: Schema = {"type": "object", "properties": dict(properties)}
    return schema | ({"required": list(required)} if required else {})


def array(items: Schema, **bounds: int | str) -> Schema:
    """Compose the schema of a list."""
    return {"type": "array", "items": items, **bounds}


def text(description: str | None = None, **bounds: int) -> Schema:
    """Compose the schema of a text."""
    about = {} if description is None else {"description": description}
    return {"type": "string", **bounds, **about}


def integer(description: str | None = None, **bounds: int) -> Schema:
    """Compose the schema of an integer."""
    about = {} if description is None else {"description": description}
    return {"type": "integer", **bounds, **about}


KEPT = array(
    record(
        {
            "folder": text(),
            "documents": integer("That are kept until the user confirms their removal."),
            "files": integer("That are left."),
        },
        *("folder", "documents", "files"),
    ),
    description="Folders that have lost their files all at once.",
)
"""Schema of folders that have lost their files."""


def flag(default: bool, description: str) -> Schema:
    """Yes or no."""
    return {"type": "boolean", "default": default, "description": description}
