"""Messages that are understood without the SDK, whose models take longest to load.

What is read here is a part of what the SDK takes for valid, and means the same to it: the messages
that clients begin with, as they write them. Any other line, right or wrong, is for the SDK.
"""

from __future__ import annotations

import json
from typing import Any

from qmd.named_tuple import NamedTuple
from qmd.surfaces.mcp.talk import is_request_id

_ENVELOPE = {"jsonrpc", "id", "method", "params"}

_MODERN = "io.modelcontextprotocol/"
"""Prefix of the keys by which a request says that it needs no handshake."""

_IMPLEMENTATION = {"name", "version", "title", "description", "websiteUrl"}

_FEATURES: dict[str, set[str] | None] = {
    "roots": {"listChanged"},
    "sampling": {"context", "tools"},
    "elicitation": {"form", "url"},
    "experimental": None,
    "extensions": None,
}
"""Capabilities of clients, with the properties that they may have; None: any."""

MOST_BRACKETS = 150
"""Brackets that a plain message opens at most: the SDK refuses 200 of them within each other."""

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Revisions of the protocol that begin with `initialize`, and have the same results of tools.
Source: the schemas of these revisions; the SDK has one model for all of them, too."""


class PlainMessage(NamedTuple):
    """A request, or a notification if it has no id."""

    method: str
    params: dict[str, Any]
    id: str | int | None


class PlainCall(NamedTuple):
    """A call of a tool.

    Attributes:
        token: with which the client wants to be told of the progress, if it does.
    """

    id: str | int
    name: str
    arguments: dict[str, Any]
    token: str | int | None


def plain_message(line: bytes) -> PlainMessage | None:
    """Parse a request or a notification; None: it is neither, or not plain."""
    if line.count(b"[") + line.count(b"{") > MOST_BRACKETS:
        return None
    try:
        found = json.loads(line.decode(), parse_constant=_refuse, object_pairs_hook=_unique)
        if b"\\u" in line:
            json.dumps(found, ensure_ascii=False).encode()  # has no half of a surrogate
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not found.keys() <= _ENVELOPE:
        return None
    method, params = found.get("method"), found.get("params", {})
    if found.get("jsonrpc") != "2.0" or not isinstance(method, str):
        return None
    if not isinstance(params, dict) or not _has_plain_meta(params):
        return None
    if "id" not in found:
        return PlainMessage(method, params, None)
    return PlainMessage(method, params, found["id"]) if is_request_id(found["id"]) else None


def proposed_version(message: PlainMessage) -> str | None:
    """Return the revision that an `initialize` proposes; None: the message is not plain."""
    params = message.params
    wanted = {"protocolVersion", "capabilities", "clientInfo"}
    if message.id is None or message.method != "initialize" or params.keys() != wanted:
        return None
    version: Any = params["protocolVersion"]
    client = params["clientInfo"]
    is_plain = version in VERSIONS and _is_implementation(client)
    return version if is_plain and _are_capabilities(params["capabilities"]) else None


def plain_call(message: PlainMessage) -> PlainCall | None:
    """Read the parameters of `tools/call`; None: they are not plain."""
    params = message.params
    if message.id is None or not params.keys() <= {"name", "arguments", "_meta"}:
        return None
    name, arguments = params.get("name"), params.get("arguments", {})
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return None
    return PlainCall(message.id, name, arguments, params.get("_meta", {}).get("progressToken"))


def _has_plain_meta(params: dict[str, Any]) -> bool:
    meta = params.get("_meta", {})
    return (
        isinstance(meta, dict)
        and not any(key.startswith(_MODERN) for key in meta)
        and ("progressToken" not in meta or is_request_id(meta["progressToken"]))
    )


def _is_implementation(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and {"name", "version"} <= value.keys() <= _IMPLEMENTATION
        and all(isinstance(each, str) for each in value.values())
    )


def _are_capabilities(value: Any) -> bool:
    return isinstance(value, dict) and all(
        name in _FEATURES and _is_feature(_FEATURES[name], each) for name, each in value.items()
    )


def _is_feature(properties: set[str] | None, value: Any) -> bool:
    if not isinstance(value, dict) or not (properties is None or value.keys() <= properties):
        return False
    return all(
        isinstance(each, bool) if key == "listChanged" and properties else isinstance(each, dict)
        for key, each in value.items()
    )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object.

    Raises:
        ValueError: it has a key twice, of which parsers take the one or the other.
    """
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError
    return made


def _refuse(constant: str) -> None:
    """Refuse what is no JSON: NaN and Infinity.

    Raises:
        ValueError: always.
    """
    raise ValueError(constant)
