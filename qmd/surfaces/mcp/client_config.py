"""Settings with which programs of others start qmd's server, or find it."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from qmd.errors import UsageError
from qmd.named_tuple import NamedTuple

NAME = "qmd"
"""Of the server, in the settings of a client."""

TOKEN = "QMD_TOKEN"
"""Variable from which a client takes the token: none is written into a file."""


class Client(StrEnum):
    """A program that can use the server."""

    CLAUDE = "claude"
    CLAUDE_DESKTOP = "claude-desktop"
    CURSOR = "cursor"
    VSCODE = "vscode"
    CODEX = "codex"
    GEMINI = "gemini"
    ZED = "zed"


class Entry(NamedTuple):
    """Settings of a client for the server.

    Attributes:
        table: key that has all servers.
        server: the value for `qmd` in it.
        inputs: what the client has to ask for, of VS Code.
    """

    table: str
    server: dict[str, object]
    inputs: tuple[dict[str, object], ...] = ()


_TABLES = {Client.VSCODE: "servers", Client.CODEX: "mcp_servers", Client.ZED: "context_servers"}
"""Keys of the tables of servers; of other clients it is `mcpServers`."""


def where(client: Client, *, http: bool) -> str:
    """Return the file for the settings of a client."""
    if client is Client.CLAUDE:
        both = "" if http else ", or into claude_desktop_config.json"
        return f".mcp.json of a project (Claude Code){both}"
    return {
        Client.CLAUDE_DESKTOP: "claude_desktop_config.json",
        Client.CURSOR: "~/.cursor/mcp.json, or .cursor/mcp.json of a project",
        Client.VSCODE: ".vscode/mcp.json of a project, or 'MCP: Open User Configuration'",
        Client.CODEX: "~/.codex/config.toml",
        Client.GEMINI: "~/.gemini/settings.json, or .gemini/settings.json of a project",
        Client.ZED: "~/.config/zed/settings.json",
    }[client]


def server_command() -> list[str]:
    """Return the command that starts this qmd from any folder."""
    called = Path(sys.argv[0])
    if called.name == "qmd" and shutil.which(str(called)):
        return [str(Path(shutil.which(str(called)) or "").absolute())]
    beside = Path(sys.executable).with_name("qmd")
    # -P: the folder it is started in has no say in what is imported.
    return [str(beside)] if beside.is_file() else [sys.executable, "-P", "-m", "qmd"]


def stdio_config(
    client: Client, command: Sequence[str], *, environ: Mapping[str, str], folder: Path | None
) -> Entry:
    """Build settings for a client that starts the server and uses stdio.

    Args:
        environ: variables that the server needs.
        folder: that it has to be started in, if that matters.
    """
    program, *arguments = command
    has_folder = client in (Client.VSCODE, Client.CODEX, Client.GEMINI)
    if folder is not None and not has_folder:
        line = f"cd {shlex.quote(str(folder))} && exec {shlex.join(command)}"
        program, arguments = "/bin/sh", ["-c", line]
    settings: dict[str, object] = {"command": program, "args": arguments}
    if folder is not None and has_folder:
        settings["cwd"] = str(folder)
    if environ:
        settings["env"] = dict(environ)
    if client is Client.ZED:
        settings = {"source": "custom", **settings}
    elif client in (Client.CLAUDE, Client.CURSOR, Client.VSCODE):
        settings = {"type": "stdio", **settings}
    return Entry(_TABLES.get(client, "mcpServers"), settings)


def http_config(client: Client, url: str, *, has_token: bool) -> Entry:
    """Build settings for a client that connects to a URL.

    Args:
        has_token: whether requests have to bring the token, which is in `QMD_TOKEN`.

    Raises:
        UsageError: the client only starts servers, or has no way to name a token.
    """
    if client is Client.CLAUDE_DESKTOP:
        raise UsageError("Claude Desktop starts the server itself: leave out --http.")
    if client is Client.ZED and has_token:
        raise UsageError("Zed has no way to name a token: leave out --http, or the token.")
    reference = {
        Client.CLAUDE: f"${{{TOKEN}}}",
        Client.CURSOR: f"${{env:{TOKEN}}}",
        Client.VSCODE: "${input:qmd-token}",
        Client.GEMINI: f"${TOKEN}",
    }.get(client, "")
    settings: dict[str, object] = {"httpUrl" if client is Client.GEMINI else "url": url}
    inputs: tuple[dict[str, object], ...] = ()
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
            inputs = (asked,)
    return Entry(_TABLES.get(client, "mcpServers"), settings, inputs)


def settings_file(client: Client, entry: Entry) -> str:
    """Write settings as a file that says nothing else."""
    if client is Client.CODEX:
        return _toml(entry.server)
    more = {"inputs": entry.inputs} if entry.inputs else {}
    whole = {**more, entry.table: {NAME: entry.server}}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


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
