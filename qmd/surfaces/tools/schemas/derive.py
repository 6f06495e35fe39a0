"""Tools derived from operations, and the arguments of an operation from those of a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from qmd.declaration import operation as declaration
from qmd.declaration.operation import REQUIRED, Declared, Operation
from qmd.surfaces.tools.schemas.tool import Schema, Tool, takes

_TYPES: Mapping[str, Schema] = {
    "text": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "choice": {"type": "string"},
    "names": {"type": "array", "items": {"type": "string", "minLength": 1}},
    "day": {"type": "string"},
    "path": {"type": "string", "minLength": 1},
}


def tool_of(
    function: Callable[..., Any],
    output: Schema | None = None,
    extras: Mapping[str, Schema] | None = None,
) -> Tool:
    """Make the tool of an operation.

    Args:
        function: the operation.
        output: JSON Schema of the structured content.
        extras: properties that are of the tool alone, such as how lines are numbered.
    """
    operation = declaration.of(function)
    properties: dict[str, Schema] = {}
    required = []
    declared = operation.parameters_on("tool").values()
    for each in declared:
        if each.about.single:
            properties[each.about.single] = {
                "type": "string",
                "minLength": 1,
                "description": "Search only this collection (same as collections with one name).",
            }
        properties[each.json] = _schema(each)
        if each.default_on("tool") is REQUIRED:
            required.append(each.json)
    return Tool(
        operation.tool,
        operation.title,
        _description(operation),
        takes({**properties, **(extras or {})}, *required),
        output,
        writes=operation.writes,
        idempotent=operation.idempotent,
        optional=operation.guarded,
        asks_models=operation.asks_models,
        destructive=operation.destructive,
        aliases={alias: each.json for each in declared for alias in each.about.aliases},
        bare=frozenset(
            name
            for each in declared
            if each.about.bare
            for name in (each.json, each.about.single)
            if name
        )
        | (extras or {}).keys(),
        unlisted=frozenset(operation.unlisted),
        deprecated={
            operation.parameters[name].json if name else "": advice
            for name, advice in operation.deprecations(each.name for each in declared).items()
        },
        several=frozenset(
            each.json for each in declared if each.kind == "text" and "tool" in each.about.several
        ),
    )


CURSOR = "cursor"
"""Argument with the place where the page before ended."""


def paged(tool: Tool) -> Tool:
    """Return a tool that takes a cursor, which answers name where there is more."""
    properties = {**tool.input["properties"], CURSOR: {"type": "string", "minLength": 1}}
    return tool._replace(
        input={**tool.input, "properties": properties}, unlisted=tool.unlisted | {CURSOR}
    )


def _description(operation: Operation) -> str:
    """Return what a model reads about a tool."""
    if operation.description and operation.deprecated:
        return f"{operation.description} Deprecated: {operation.deprecated}"
    return operation.description or operation.summary


def _schema(declared: Declared) -> Schema:
    """Return the JSON Schema of one parameter."""
    about, default = declared.about, declared.default_on("tool")
    text = about.help_on("tool").format(default=_shown(default))
    described: Schema = {"description": text} if text else {}
    if about.deprecated:
        described["deprecated"] = True
    if about.schema is not None:
        return {**about.schema, **described}
    schema: Schema = dict(_TYPES[declared.kind])
    if declared.choices:
        schema["enum"] = list(declared.choices)
    if declared.kind == "text" and (about.longest is not None or default is REQUIRED):
        schema["minLength"] = 1
    if about.longest is not None:
        schema["maxLength"] = about.longest
    if about.items is not None:
        schema["maxItems"] = about.items
    least, most = about.least, about.most if about.json_most is None else about.json_most
    schema |= {
        name: bound
        for name, bound in (("minimum", least), ("maximum", most))
        if bound is not None and "tool" not in about.unbounded
    }
    if default is not REQUIRED and default is not None:
        schema["default"] = default
    return schema | described


def _shown(default: Any) -> Any:
    return int(default) if isinstance(default, float) and default.is_integer() else default


def arguments_of(operation: Operation, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Make the arguments of an operation of those of a call, which have been checked.

    Args:
        asked: by their names in JSON, with defaults.
    """
    arguments: dict[str, Any] = {}
    for name, declared in operation.parameters.items():
        if "tool" in declared.about.absent:
            if "tool" in declared.about.defaults:
                arguments[name] = declared.default_on("tool")
            continue
        value = asked.get(declared.json)
        if declared.kind == "names":
            one = asked.get(declared.about.single) if declared.about.single else None
            value = tuple(dict.fromkeys([*([one] if one else []), *(value or ())])) or None
        if declared.optional and value == declared.default_on("tool"):
            continue  # the operation decides
        if value is not None:
            arguments[name] = value
    return arguments


def json_name(operation: Operation, parameter: str) -> str:
    """Return the name in JSON of a parameter, for messages."""
    declared = operation.parameters.get(parameter)
    return f'"{declared.json}"' if declared else parameter
