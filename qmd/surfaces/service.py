"""Services of the user: a systemd unit or a launchd agent that watches, embeds and serves an index.

Nothing here needs root: both managers keep services of a user in the user's home.
"""

from __future__ import annotations

import hashlib
import os
import plistlib
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from qmd import safe_open
from qmd.errors import ServerFailure, UsageError
from qmd.named_tuple import NamedTuple
from qmd.settings.environment import Place
from qmd.visible import hidden, shown

SECONDS = 60
"""Time limit for a command of the manager."""


_NO_XML = frozenset("\ufffe\uffff")
"""Characters that a property list cannot have, besides those that cannot be seen."""


class Service(NamedTuple):
    """A service, as its manager is told.

    Attributes:
        file: that describes it.
        text: content of the file.
        begin: commands that start it now and at each login.
        end: commands that stop it for good.
        forget: commands for when the file is gone.
        ask: command that succeeds while it runs.
    """

    name: str
    file: Path
    text: str
    begin: tuple[tuple[str, ...], ...]
    end: tuple[tuple[str, ...], ...]
    forget: tuple[tuple[str, ...], ...]
    ask: tuple[str, ...]


def of(place: Place, words: Sequence[str], environ: Mapping[str, str], home: Path) -> Service:
    """Describe the service of an index to the manager of this system.

    Args:
        words: command that runs until it is ended.
        environ: variables that it needs.

    Raises:
        UsageError: there is no manager, or a path cannot be written into its file.
    """
    given = (*words, *environ.values(), str(place.project or ""))
    strange = [each for each in given if hidden(each) or _NO_XML & set(each)]
    if strange:
        raise UsageError(
            f"{shown(strange[0])} has invisible characters, and cannot be in a service."
        )
    digest = hashlib.sha256(os.fsencode(os.path.realpath(place.database))).hexdigest()[:8]
    stem = re.sub(r"[^\w.-]", "-", place.name, flags=re.ASCII)[:40]
    if sys.platform == "darwin":
        return _agent(f"qmd.{stem}-{digest}", place, words, environ, home)
    if shutil.which("systemctl") is None:
        raise UsageError(
            "There is neither systemd nor launchd here.\n\n"
            "Have 'qmd watch --embed' started at login in another way."
        )
    return _unit(f"qmd-{stem}-{digest}", place, words, environ, home)


def _unit(
    name: str, place: Place, words: Sequence[str], environ: Mapping[str, str], home: Path
) -> Service:
    lines = [
        "[Unit]",
        f"Description=qmd for {_specifiers(str(place.database))}",
        "",
        "[Service]",
        f"ExecStart={' '.join(_quoted(each).replace('$', '$$') for each in words)}",
        *(f"Environment={_quoted(f'{name}={value}')}" for name, value in environ.items()),
        *([f"WorkingDirectory={_specifiers(str(place.project))}"] if place.project else []),
        "Restart=on-failure",
        "RestartSec=10",
        "",
        "[Install]",
        "WantedBy=default.target",
        "",
    ]
    manager = ("systemctl", "--user")
    unit = f"{name}.service"
    return Service(
        name,
        Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "systemd" / "user" / unit,
        "\n".join(lines),
        ((*manager, "daemon-reload"), (*manager, "enable", unit), (*manager, "restart", unit)),
        ((*manager, "disable", "--now", unit),),
        ((*manager, "daemon-reload"),),
        (*manager, "is-active", "--quiet", unit),
    )


def _agent(
    name: str, place: Place, words: Sequence[str], environ: Mapping[str, str], home: Path
) -> Service:
    facts: dict[str, object] = {
        "Label": name,
        "ProgramArguments": list(words),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ProcessType": "Background",
    }
    if environ:
        facts["EnvironmentVariables"] = dict(environ)
    if place.project is not None:
        facts["WorkingDirectory"] = str(place.project)
    if sys.platform == "win32":
        raise NotImplementedError
    file = home / "Library" / "LaunchAgents" / f"{name}.plist"
    domain = f"gui/{os.getuid()}"
    return Service(
        name,
        file,
        plistlib.dumps(facts).decode(),
        (("launchctl", "bootstrap", domain, str(file)),),
        (("launchctl", "bootout", f"{domain}/{name}"),),
        (),
        ("launchctl", "print", f"{domain}/{name}"),
    )


def _specifiers(text: str) -> str:
    """Escape what systemd replaces. Source: systemd.unit(5), Specifiers."""
    return text.replace("%", "%%")


def _quoted(text: str) -> str:
    """Quote a word of a unit. Source: systemd.syntax(7), Quoting."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{_specifiers(escaped)}"'


def install(service: Service) -> None:
    """Write the file of a service and start it.

    Raises:
        UsageError: the file cannot be written.
        ServerFailure: the manager refuses.
    """
    is_new = not service.file.exists()
    try:
        service.file.parent.mkdir(parents=True, exist_ok=True)
        safe_open.atomic_replace(service.file, lambda file: file.write(service.text), mode=0o600)
    except OSError as error:
        raise UsageError(f"{service.file} cannot be written: {error.strerror or error}.") from error
    if not is_new and service.begin[0][0] == "launchctl":
        _told(service.end[0])  # it takes a new file for none as long as the old one is loaded
    for command in service.begin:
        _run(command)


def remove(service: Service) -> bool:
    """Stop a service for good and remove its file; False if there is none.

    Raises:
        ServerFailure: the manager refuses.
    """
    if not service.file.exists():
        return False
    for command in service.end:
        _told(command)  # it may not run
    service.file.unlink()
    for command in service.forget:
        _run(command)
    return True


def is_active(service: Service) -> bool:
    """Ask the manager for the state of a service."""
    return _told(service.ask).returncode == 0


def _run(command: Sequence[str]) -> None:
    done = _told(command)
    if done.returncode:
        said = shown(done.stderr.strip() or f"exit code {done.returncode}", most=1000)
        raise ServerFailure(f"'{' '.join(command)}' failed: {said}")


def _told(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a command of the manager.

    Raises:
        ServerFailure: it is not there, or does not end.
    """
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServerFailure(f"'{' '.join(command)}' failed: {error}") from error
