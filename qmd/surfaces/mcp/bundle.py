"""Bundles (.mcpb) with which Claude Desktop starts this qmd.

A bundle is a zip archive with a manifest. This one has no program in it: its command is the path of
the qmd that wrote it, with the index and the options of that call.

Source: MCPB manifest, version 0.3 (https://github.com/modelcontextprotocol/mcpb).
"""

from __future__ import annotations

import json
import shlex
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from qmd import safe_open
from qmd.errors import UsageError
from qmd.surfaces.mcp.client_config import NAME, Client, stdio_config
from qmd.surfaces.tools.schemas.tool import Tool
from qmd.version import __version__

MANIFEST_VERSION = "0.3"
SUFFIX = ".mcpb"
ENTRY_POINT = "server/qmd"
"""Script in the bundle that does what the command does: the manifest has to name a file."""

MADE = (2025, 1, 1, 0, 0, 0)
"""Time of all files in a bundle, so that the same call writes the same bytes."""


def manifest(
    command: Sequence[str],
    *,
    environ: Mapping[str, str],
    folder: Path | None,
    tools: Sequence[Tool],
    name: str = NAME,
) -> dict[str, Any]:
    """Build the manifest of a bundle.

    Args:
        command: that starts the server.
        environ: variables that the server needs.
        folder: that it has to be started in, if that matters.
        tools: that the server offers.
        name: of the bundle; one for each index.

    Raises:
        UsageError: a part of the command has what the manifest takes for a variable.
    """
    server = stdio_config(Client.CLAUDE_DESKTOP, command, environ=environ, folder=folder).server
    if odd := [each for each in (*command, *environ.values(), str(folder or "")) if "${" in each]:
        raise UsageError(f"A bundle cannot have '${{' in a path: {odd[0]}")
    return {
        "manifest_version": MANIFEST_VERSION,
        "name": name,
        "display_name": "qmd" if name == NAME else f"qmd: {name.removeprefix(NAME + '-')}",
        "version": __version__,
        "description": "Search everything you have written down, on your own machine.",
        "author": {"name": "qmd"},
        "license": "MIT",
        "server": {"type": "binary", "entry_point": ENTRY_POINT, "mcp_config": server},
        "tools": [{"name": tool.name, "description": tool.description} for tool in tools],
        "prompts_generated": True,
        "compatibility": {"platforms": [sys.platform]},
    }


def write_bundle(path: Path, described: Mapping[str, Any]) -> None:
    """Write a bundle; one that is there is replaced.

    Raises:
        UsageError: it cannot be written. What was there is as it was.
    """
    server = described["server"]["mcp_config"]
    line = shlex.join([server["command"], *server["args"]])
    variables = [
        f"export {shlex.quote(f'{key}={value}')}" for key, value in server.get("env", {}).items()
    ]
    script = "\n".join(["#!/bin/sh", *variables, f'exec {line} "$@"', ""])
    files = {"manifest.json": json.dumps(described, indent=2, ensure_ascii=False) + "\n"}
    files[ENTRY_POINT] = script

    def write(file: Any) -> None:
        with zipfile.ZipFile(file.buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in files.items():
                about = zipfile.ZipInfo(name, MADE)
                about.external_attr = (0o100755 if name == ENTRY_POINT else 0o100644) << 16
                about.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(about, text)

    try:
        safe_open.atomic_replace(path, write)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from error
