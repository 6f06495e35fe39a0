"""Settings with which programs of others start qmd's server, or find it."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

NAME = "qmd"
"""Of the server, in the settings of a client."""

TOKEN = "QMD_TOKEN"
"""Variable from which a client takes the token: none is written into a file."""


class Client(StrEnum):
    """A program that can use the server."""

    CLAUDE = "claude"
    CURSOR = "cursor"
    VSCODE = "vscode"
    CODEX = "codex"


def where(client: Client, *, http: bool) -> str:
    """Return the file for the settings of a client."""
    if client is Client.CLAUDE:
        both = "" if http else ", or into claude_desktop_config.json"
        return f".mcp.json of a project (Claude Code){both}"
    return {
        Client.CURSOR: "~/.cursor/mcp.json, or .cursor/mcp.json of a project",
        Client.VSCODE: ".vscode/mcp.json of a project, or 'MCP: Open User Configuration'",
        Client.CODEX: "~/.codex/config.toml",
    }[client]


def command() -> list[str]:
    """Return the command that starts this qmd from any folder."""
    called = Path(sys.argv[0])
    if called.name == "qmd" and shutil.which(str(called)):
        return [str(Path(shutil.which(str(called)) or "").absolute())]
    beside = Path(sys.executable).with_name("qmd")
    # -P: the folder it is started in has no say in what is imported.
    return [str(beside)] if beside.is_file() else [sys.executable, "-P", "-m", "qmd"]


def started(
    client: Client, command: Sequence[str], *, environ: Mapping[str, str], folder: Path | None
) -> str:
    """Build settings for a client that starts the server and uses stdio.

    Args:
        environ: variables that the server needs.
        folder: that it has to be started in, if that matters.
    """
    program, *arguments = command
    has_folder = client in (Client.VSCODE, Client.CODEX)
    if folder is not None and not has_folder:
        line = f"cd {shlex.quote(str(folder))} && exec {shlex.join(command)}"
        program, arguments = "/bin/sh", ["-c", line]
    settings: dict[str, object] = {"command": program, "args": arguments}
    if folder is not None and has_folder:
        settings["cwd"] = str(folder)
    if environ:
        settings["env"] = dict(environ)
    if client is not Client.CODEX:
        settings = {"type": "stdio", **settings}
    return _written(client, settings, {})


def found(client: Client, url: str, *, has_token: bool) -> str:
    """Build settings for a client that connects to a URL.

    Args:
        has_token: whether requests have to bring the token, which is in `QMD_TOKEN`.
    """
    reference = {
        Client.CLAUDE: f"${{{TOKEN}}}",
        Client.CURSOR: f"${{env:{TOKEN}}}",
        Client.VSCODE: "${input:qmd-token}",
        Client.CODEX: "",
    }[client]
    settings: dict[str, object] = {"url": url}
    more: dict[str, object] = {}
    if client in (Client.CLAUDE, Client.VSCODE):
        settings = {"type": "http", **settings}
    if has_token and client is Client.CODEX:
        settings["bearer_token_env_var"] = TOKEN
    elif has_token:
        settings["headers"] = {"Authorization": f"Bearer {reference}"}
        if client is Client.VSCODE:
            asked = {
                "type": "promptString",
                "id": "qmd-token",
                "description": "Token of the qmd server",
                "password": True,
            }
            more["inputs"] = [asked]
    return _written(client, settings, more)


def _written(client: Client, settings: Mapping[str, object], more: Mapping[str, object]) -> str:
    if client is Client.CODEX:
        return _toml(settings)
    key = "servers" if client is Client.VSCODE else "mcpServers"
    return json.dumps({**more, key: {NAME: settings}}, indent=2, ensure_ascii=False) + "\n"


def _toml(settings: Mapping[str, object]) -> str:
    """Write a table of TOML.

    Its strings and arrays of strings have the same form as in JSON.
    """
    lines = [f"[mcp_servers.{NAME}]"]
    tables = []
    for key, value in settings.items():
        if isinstance(value, dict):
            tables.append(f"\n[mcp_servers.{NAME}.{key}]")
            tables += [f"{name} = {_literal(each)}" for name, each in value.items()]
        else:
            lines.append(f"{key} = {_literal(value)}")
    return "\n".join([*lines, *tables]) + "\n"


def _literal(value: object) -> str:
    # The only character that JSON leaves as it is and TOML does not take.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
