"""Options of HTTP servers: address and access, from the command line and settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qmd.declaration.operation import Parameter
from qmd.errors import UsageError
from qmd.named_tuple import NamedTuple
from qmd.surfaces.cli.common import State
from qmd.surfaces.cli.framework import Whole

if TYPE_CHECKING:
    from qmd.settings.environment import Serving


HOST = "127.0.0.1"
"""Address of HTTP servers, where none is given."""

PORT, LONG_PORT = 8181, 18765
"""Port of `qmd mcp --http`, and of `qmd server`, where none is given."""


class HttpOptions(NamedTuple):
    """Options that only the HTTP server has."""

    host: Annotated[str | None, Parameter(help=f"Address of the HTTP server ({HOST}).")] = None
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            click_type=Whole(0, 65535),
            help=f"Port of the HTTP server ({PORT}; of 'qmd server': {LONG_PORT}).",
        ),
    ] = None
    allow_host: Annotated[
        list[str] | None,
        Parameter(help="Be reached under this name; repeatable.", metavar="NAME", kind="names"),
    ] = None
    allow_origin: Annotated[
        list[str] | None,
        Parameter(help="Let this web page ask; repeatable.", metavar="URL", kind="names"),
    ] = None
    token: Annotated[
        str | None,
        Parameter(help="Every request has to bring it. Others can see it here: prefer QMD_TOKEN."),
    ] = None
    token_file: Annotated[
        Path | None, Parameter(help="File with the token.", metavar="FILE", kind="path")
    ] = None

    def access(self, here: State, port: int) -> Access:
        """Complete them by the settings.

        Args:
            port: where none is given.

        Raises:
            UsageError: see `token_of`.
        """
        settings = settings_of(here)
        return Access(
            HOST if self.host is None else self.host,
            port if self.port is None else self.port,
            self.allow_host or settings.hosts,
            self.allow_origin or settings.origins,
            token_of(self.token, self.token_file, settings),
        )

    def refuse(self, remedy: str) -> None:
        """Refuse those that are given, as no HTTP server runs.

        Raises:
            UsageError: one is given.
        """
        for name, value in self._asdict().items():
            if value not in (None, []):
                refuse_option(f"--{name.replace('_', '-')}", remedy)


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


def refuse_option(name: str, remedy: str) -> None:
    """Refuse an option that only the HTTP server has.

    Raises:
        UsageError: always.
    """
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
