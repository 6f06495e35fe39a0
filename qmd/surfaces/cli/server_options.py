"""Options of servers: tools, address and access, from the command line and settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from qmd.errors import UsageError
from qmd.surfaces.cli.common import State

if TYPE_CHECKING:
    from qmd.settings.environment import Serving


class ToolNames(StrEnum):
    """Names under which the tools are listed."""

    PLAIN = "plain"
    PREFIXED = "prefixed"
    BOTH = "both"


class Tools(NamedTuple):
    """The tools that are offered, and their names."""

    names: ToolNames
    read_only: bool
    allow_write: bool
    compact: bool
    confirm: bool

    @property
    def arguments(self) -> list[str]:
        """Options of a command line that offers the same tools."""
        words = ["--tool-names", self.names.value] if self.names is not ToolNames.PLAIN else []
        words += ["--read-only"] if self.read_only else []
        words += ["--allow-write"] if self.allow_write else []
        words += ["--compact"] if self.compact else []
        return words + (["--confirm"] if self.confirm else [])


class Access(NamedTuple):
    """The address of a server, and the permitted clients."""

    host: str
    port: int
    hosts: Sequence[str]
    origins: Sequence[str]
    token: str | None

    @property
    def arguments(self) -> list[str]:
        """Options of a command line with the same address and clients, without the token."""
        words = ["--host", self.host, "--port", str(self.port)]
        words += [word for host in self.hosts for word in ("--allow-host", host)]
        return words + [word for origin in self.origins for word in ("--allow-origin", origin)]


def settings_of(here: State) -> Serving:
    """Read the variables of servers from the environment."""
    from qmd.settings import environment

    return environment.serving(here.environ)


def tools_of(
    names: ToolNames = ToolNames.PLAIN,
    *,
    read_only: bool = False,
    allow_write: bool = False,
    compact: bool = False,
    confirm: bool = False,
) -> Tools:
    """Choose the tools by the options.

    Raises:
        UsageError: they contradict each other.
    """
    if read_only and allow_write:
        raise UsageError("--read-only and --allow-write contradict each other.")
    if confirm and not allow_write:
        raise UsageError("--confirm is about tools that write: add --allow-write.")
    return Tools(names, read_only, allow_write, compact, confirm)


def refuse(options: Mapping[str, object], remedy: str) -> None:
    """Refuse options that only the HTTP server has.

    Raises:
        UsageError: one is given.
    """
    for name, value in options.items():
        if value is not None:
            raise UsageError(f"{name} is for the HTTP server. {remedy}")


def token_of(given: str | None, file: Path | None, settings: Serving) -> str | None:
    """Choose the token that requests must have.

    Raises:
        UsageError: it is given twice, cannot be read, or cannot be sent in a header.
    """
    if given is not None and file is not None:
        raise UsageError("Give either --token or --token-file.")
    if file is not None:
        try:
            given = file.expanduser().read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError, RuntimeError) as error:
            reason = {
                UnicodeDecodeError: "it is not UTF-8 text",
                RuntimeError: "there is no such home",
            }.get(type(error)) or getattr(error, "strerror", None)
            raise UsageError(f"The token cannot be read from {file}: {reason}.") from error
    token = settings.token if given is None else given
    if token is not None and not (token and all("!" <= mark <= "~" for mark in token)):
        raise UsageError(
            "A token has one or more letters, digits and signs of ASCII, and no blanks.\n\n"
            "This makes one: openssl rand -hex 32"
        )
    return token
