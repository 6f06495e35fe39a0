"""Arguments of a call: read generously, checked strictly, all faults told at once.

Models write `"5"` for 5, one string where several may stand, `min_score` for `minScore`: what
is meant is clear, so it is taken. What lies out of bounds is refused, not bent; only a line before
the first means the first.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from qmd.errors import UsageError
from qmd.named_tuple import NamedTuple
from qmd.surfaces.tools.schemas.tool import Schema, Tool

if TYPE_CHECKING:
    from qmd.experiences.contract import Violation

_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


MOST_FAULTS = 20
"""Names that are told to be unknown: to look for what was meant takes time."""

LONGEST_NAME = 100
"""Characters of an unknown name that are looked at."""


MISSPELT = 0.75
"""Similarity from which on a name is another one misspelt: that of `since` and `minScore` is 0.6.
Source: ratio of `difflib`."""


class InvalidArguments(UsageError):
    """Arguments that a tool cannot take; the message has a line for each fault."""


class Fault(NamedTuple):
    """A mistake in one parameter."""

    parameter: str
    text: str


def understood(tool: Tool, given: Mapping[str, Any]) -> tuple[dict[str, Any], list[Fault]]:
    """Map given arguments to the parameters of a tool, with converted values.

    `min_score` is `minScore` if the tool has that, and `top_k` is `limit`: names are taken in any
    case, with `_` or without, and so are the aliases of a parameter. Null is as if it were not
    there.

    Returns:
        The arguments, and what is wrong with the names of others.
    """
    properties: Mapping[str, Schema] = tool.input["properties"]
    spellings = {_plain(alias): name for alias, name in tool.aliases.items()}
    spellings |= {_plain(name): name for name in properties}
    given_as: dict[str, str] = {}
    values: dict[str, Any] = {}
    faults: list[Fault] = []
    for spelling, value in given.items():
        name = spelling if spelling in properties else spellings.get(_plain(spelling), spelling)
        if value is None:
            continue
        if name not in properties:
            if len(faults) < MOST_FAULTS:
                faults.append(Fault(name[:LONGEST_NAME], _unknown(tool, name)))
        elif name in values:
            other = spelling if spelling != name else given_as[name]
            text = f'"{name}" is given twice, also as {_shown(other)}. Give it once.'
            faults.append(Fault(name, text))
        else:
            given_as[name] = spelling
            values[name] = meant(properties[name], value)
    return values, faults


def deprecations(tool: Tool, given: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a sentence for each deprecated thing that a call uses: the tool, or a parameter."""
    if not tool.deprecated:
        return ()
    used = ("", *understood(tool, given)[0])
    return tuple(
        f"{json.dumps(name) if name else tool.name} is deprecated: {tool.deprecated[name]}"
        for name in used
        if name in tool.deprecated
    )


def read(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """Check the arguments against the tool's declaration, and add defaults.

    Raises:
        InvalidArguments: some are unknown, missing, or not what they should be.
    """
    properties: Mapping[str, Schema] = tool.input["properties"]
    values, misnamed = understood(tool, given)
    faults = [each.text for each in misnamed]
    faults += [
        f'Missing required parameter "{name}" for tool "{tool.name}".'
        for name in tool.input.get("required", ())
        if name not in values
    ]
    for name, schema in properties.items():
        if name in values:
            if schema["type"] == "string" and isinstance(values[name], list):
                if len(values[name]) == 1:
                    [values[name]] = values[name]
                elif name in tool.several:
                    schema = {"type": "array", "items": schema, "minItems": 1}
            faults += _faults(name, schema, values[name])
    if faults:
        raise InvalidArguments("\n".join(faults))
    defaults = {name: each["default"] for name, each in properties.items() if "default" in each}
    return defaults | values


def question_of(asked: Mapping[str, Any]) -> str:
    """Return what a reply calls the question: the query, or the first typed one that is no hyde.

    Raises:
        InvalidArguments: nothing is asked, or the same in two ways.
    """
    plain, typed = asked.get("query"), asked.get("searches")
    if (plain is None) == (typed is None):
        raise InvalidArguments(
            'Give either "query" or "searches"' + (", not both." if plain else ".")
        )
    if plain is not None:
        return str(plain)
    assert typed is not None
    first = next((s for kind in ("lex", "vec") for s in typed if s["type"] == kind), typed[0])
    return str(first["query"])


def of_contract(tool: Tool, given: Mapping[str, Any]) -> tuple[dict[str, Any], list[Violation]]:
    """Split the arguments of tools of experience records from those with unknown names.

    The contract of the records checks the former.
    """
    from qmd.experiences.contract import Violation

    asked, faults = understood(tool, given)
    return asked, [Violation(fault.parameter, fault.text) for fault in faults]


def meant(schema: Schema, value: Any) -> Any:
    """Convert a value to the type of its schema where that is unambiguous."""
    kind = schema.get("type")
    if kind == "integer":
        number = _parsed(value) if isinstance(value, str) else value
        return int(number) if isinstance(number, float) and number.is_integer() else number
    if kind in ("number", "boolean") and isinstance(value, str):
        return _parsed(value.lower() if kind == "boolean" else value)
    if kind == "array":
        items = schema["items"]
        if isinstance(value, str):
            listed = _parsed(value) if value.lstrip().startswith("[") else value
            value = listed if isinstance(listed, list) else value
        if items.get("type") == "object" and (one := meant(items, value)) and isinstance(one, dict):
            return [one]
        if isinstance(value, str) and items.get("type") == "string":
            return [value]
        if isinstance(value, list):
            return [meant(items, item) for item in value]
    if kind == "object" and isinstance(value, str):
        read = _parsed(value)
        return read if isinstance(read, dict) else value
    return value


def _parsed(text: str) -> Any:
    """Parse a text as JSON, or return it unchanged if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


_KINDS: Mapping[str, tuple[str, tuple[type, ...]]] = {
    "string": ("a string", (str,)),
    "integer": ("a whole number", (int,)),
    "number": ("a number", (int, float)),
    "boolean": ("true or false", (bool,)),
    "array": ("an array", (list,)),
    "object": ("an object", (dict,)),
}


def _faults(name: str, schema: Schema, value: Any) -> Iterator[str]:
    """Describe the mistakes in a value, each in a line."""
    word, types = _KINDS[schema["type"]]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        yield f'"{name}" must be {word}, not {_shown(value)}.'
    elif isinstance(value, float) and not math.isfinite(value):
        yield f'"{name}" must be a number, not {value}.'
    elif number:
        if value < schema.get("minimum", value):
            yield f'"{name}" must be at least {schema["minimum"]}, not {_shown(value)}.'
        if value > schema.get("maximum", value):
            yield f'"{name}" must be at most {schema["maximum"]}, not {_shown(value)}.'
    elif isinstance(value, str):
        yield from _faults_of_text(name, schema, value)
    elif isinstance(value, list):
        least, most = schema.get("minItems", 0), schema.get("maxItems", len(value))
        if not least <= len(value) <= most:
            yield f'"{name}" must have {least} to {most} items, not {len(value)}.'
        else:
            for at, item in enumerate(value):
                yield from _faults(f"{name}[{at}]", schema["items"], item)
    elif isinstance(value, dict):
        yield from _faults_of_object(name, schema, value)


def _faults_of_text(name: str, schema: Schema, value: str) -> Iterator[str]:
    if any("\ud800" <= mark <= "\udfff" for mark in value):
        yield f'"{name}" is not valid Unicode text.'
    elif len(value) < schema.get("minLength", 0):
        yield f'"{name}" must not be empty.'
    elif len(value) > schema.get("maxLength", len(value)):
        yield (f'"{name}" must have at most {schema["maxLength"]} characters, not {len(value)}.')
    elif value not in schema.get("enum", [value]):
        yield f'"{name}" must be one of {", ".join(schema["enum"])}, not {_shown(value)}.'


def _faults_of_object(name: str, schema: Schema, value: Mapping[str, Any]) -> Iterator[str]:
    properties = schema["properties"]
    for key in value:
        if key not in properties:
            yield f'"{name}" has an unknown field {_shown(key)}. Valid: {", ".join(properties)}.'
    for key in schema.get("required", ()):
        if value.get(key) is None:
            yield f'"{name}.{key}" is missing.'
    for key, part in properties.items():
        if value.get(key) is not None:
            yield from _faults(f"{name}.{key}", part, value[key])


def _unknown(tool: Tool, name: str) -> str:
    valid = list(tool.input["properties"])
    name = name[:LONGEST_NAME]
    near = get_close_matches(name.lower(), [each.lower() for each in valid], 1, MISSPELT)
    near += get_close_matches(name.lower(), [_snake(each) for each in valid], 1, MISSPELT)
    meant_by = {spelling: each for each in valid for spelling in (each.lower(), _snake(each))}
    hint = f' Did you mean "{meant_by[near[0]]}"?' if near else ""
    listed = f"Valid parameters: {', '.join(valid)}." if valid else "It takes no parameters."
    return f'Unknown parameter {_shown(name)} for tool "{tool.name}".{hint} {listed}'


def _plain(name: str) -> str:
    """Return a name in small letters, without what joins its words."""
    return name[:LONGEST_NAME].replace("_", "").replace("-", "").lower()


def _snake(name: str) -> str:
    return _CAPITAL.sub("_", name).lower()


def _shown(value: Any, most: int = 60) -> str:
    """Format a value as JSON, shortened if it is long."""
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= most else text[:most] + "…"
