"""Settings files of other programs, to which qmd's server is added.

Sources: the documentation of each program, for the place of its file.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any

from qmd import safe_open
from qmd.errors import UsageError
from qmd.surfaces.mcp import client_config
from qmd.surfaces.mcp.client_config import NAME, Client, Entry

LARGEST = 16_000_000
"""Bytes of a settings file."""

_MARK = "\ufeff"


def settings_path(
    client: Client, *, environ: Mapping[str, str], home: Path, project: Path | None
) -> Path:
    """Return the settings file of a client for all projects; that of Claude Code, of this project.

    A link in the place of a file is followed, but for one that leads out of a project, which may
    come from elsewhere.

    Args:
        project: the folder of the index, if it is that of a project.

    Raises:
        UsageError: the file of a project is a link that leads out of it.
    """
    return Path(os.path.realpath(_named(client, environ, home, project)))


def _named(client: Client, environ: Mapping[str, str], home: Path, project: Path | None) -> Path:
    if client is Client.CLAUDE and project:
        file = project / ".mcp.json"
        real = Path(os.path.realpath(file))
        if not real.is_relative_to(os.path.realpath(project)):
            raise UsageError(f"{file} is a link to {real}, outside of the project: not followed.")
        return file
    if client is Client.CLAUDE:
        return home / ".claude.json"
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    programs = {
        "darwin": home / "Library" / "Application Support",
        "win32": Path(environ.get("APPDATA") or home / "AppData" / "Roaming"),
    }.get(sys.platform, config)
    return {
        Client.CLAUDE_DESKTOP: programs / "Claude" / "claude_desktop_config.json",
        Client.CURSOR: home / ".cursor" / "mcp.json",
        Client.VSCODE: programs / "Code" / "User" / "mcp.json",
        Client.CODEX: Path(environ.get("CODEX_HOME") or home / ".codex") / "config.toml",
        Client.GEMINI: home / ".gemini" / "settings.json",
        Client.ZED: config / "zed" / "settings.json",
    }[client]


def read(path: Path) -> str:
    """Read a settings file, with its mark and line ends; one that is not there is empty.

    Raises:
        UsageError: it cannot be read, is no regular file, or is too large.
    """
    try:
        with open(safe_open.opened(path, os.O_RDONLY), "rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise UsageError(f"{path} cannot be read: it has more than {LARGEST:,} bytes.")
        return data.decode()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} cannot be read: it is not UTF-8.") from error


def with_server(client: Client, entry: Entry, text: str, path: Path) -> str:
    """Return the text of a settings file with qmd's server in it; all else stays.

    So do a byte order mark, and line ends of Windows.

    Raises:
        UsageError: it has something that would be lost, such as comments in JSON, or cannot be
            read.
    """
    mark = _MARK if text.startswith(_MARK) else ""
    is_of_windows = "\r\n" in text and text.count("\n") == text.count("\r\n")
    bare = text.removeprefix(mark)
    if is_of_windows:
        bare = bare.replace("\r\n", "\n")
    try:
        whole = _in_toml(entry, bare) if client is Client.CODEX else _in_json(entry, bare)
        whole.encode()  # halves of characters, which JSON can name, cannot be written
        return mark + (whole.replace("\n", "\r\n") if is_of_windows else whole)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        lines = client_config.settings_file(client, entry).rstrip()
        raise UsageError(
            f"{path} cannot be changed without a loss: it has comments, or is not what "
            f"{client.value} reads ({error}).\n\nAdd this by hand:\n\n{lines}"
        ) from error


def write(path: Path, text: str) -> None:
    """Replace a settings file; where it is a link, the file it leads to.

    Raises:
        UsageError: it cannot be written. It is as it was.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        safe_open.atomic_replace(path.resolve(), lambda file: file.write(text))
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def _in_json(entry: Entry, text: str) -> str:
    whole = json.loads(text, **_EXACT) if text.strip() else {}
    if entry.inputs:
        names = [each["id"] for each in entry.inputs]
        others = [each for each in whole.get("inputs", []) if each.get("id") not in names]
        whole["inputs"] = [*others, *entry.inputs]
    whole.setdefault(entry.table, {})[NAME] = entry.server
    indent = re.search(r"^[{[]\r?\n([ \t]+)", text)
    return json.dumps(whole, indent=indent[1] if indent else 2, ensure_ascii=False) + "\n"


def _number(text: str) -> float:
    if json.dumps(float(text)) != text:
        raise ValueError(f"the number {text[:40]} would be written in another form")
    return float(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands there twice")
    return found


_EXACT: dict[str, Any] = {
    "object_pairs_hook": _unique,
    "parse_float": _number,
    "parse_constant": _number,
}
"""Arguments of the JSON reader: what would be written in another form is an error."""


def _in_toml(entry: Entry, text: str) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    if entry.table not in document:
        document[entry.table] = tomlkit.table(is_super_table=True)
    servers = document[entry.table]
    known = servers.get(NAME)
    if not isinstance(known, MutableMapping):
        servers[NAME] = entry.server
        return tomlkit.dumps(document)
    # Comments up to the next table count as part of this one: it is changed, not replaced.
    for key in known.keys() - entry.server.keys():
        del known[key]
    for key, value in entry.server.items():
        if known.get(key) != value:
            known[key] = value
    return tomlkit.dumps(document)
