"""One command of another process, on the open index of this one."""

from __future__ import annotations

import io
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from qmd import forward
from qmd.errors import QmdError
from qmd.settings import environment
from qmd.storage import cancellation
from qmd.surfaces import console, terminal
from qmd.surfaces.console import NotHere

if TYPE_CHECKING:
    from qmd.models.loader import Models
    from qmd.models.registry import Role
    from qmd.operations.index import Index
    from qmd.settings.environment import Machine, Place
    from qmd.surfaces.forwarded.request import Request
    from qmd.surfaces.forwarded.session import Session

CarryOut = Callable[[Sequence[str]], int | None]
"""Runs a command on the current console and returns its exit code; None: it is not forwarded."""

ROLES: tuple[Role, ...] = ("embed", "rerank", "generate")

_log = logging.getLogger("qmd.forwarded")


class _Output(io.RawIOBase):
    """Standard output or error of the caller."""

    def __init__(self, session: Session, kind: bytes, *, is_terminal: bool) -> None:
        self._session: Session | None = session
        self._kind = kind
        self._is_terminal = is_terminal

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._is_terminal

    def write(self, data: Any, /) -> int:
        content = bytes(data)
        if self._session is not None:
            self._session.output(self._kind, content)
        return len(content)

    def forget(self) -> None:
        """Drop what is still to come."""
        self._session = None


class _Input(io.RawIOBase):
    """Standard input of the caller, which is read whole when a part is wanted."""

    def __init__(self, ask: Callable[[], bytes], *, is_terminal: bool) -> None:
        self._ask = ask
        self._is_terminal = is_terminal
        self._content: io.BytesIO | None = None

    def readable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._is_terminal

    def readinto(self, buffer: Any, /) -> int:
        if self._content is None:
            self._content = io.BytesIO(self._ask())
        return self._content.readinto(buffer)


class Forwarded(console.Console):
    """Console of a command of another process."""

    is_process = False

    def __init__(self, session: Session, request: Request, index: Index) -> None:
        facts = request.streams
        self._request = request
        self._index = index
        self._raw = [
            _Output(session, kind, is_terminal=is_terminal)
            for kind, is_terminal in zip(
                (forward.STDOUT, forward.STDERR), facts.terminals[1:], strict=True
            )
        ]
        self._out = io.TextIOWrapper(
            io.BufferedWriter(self._raw[0], facts.block),
            encoding=facts.encodings[0],
            errors="spelled out",
            newline="\n",
            line_buffering=facts.line_buffering,
            write_through=facts.write_through,
        )
        err = io.TextIOWrapper(
            io.BufferedWriter(self._raw[1]),
            encoding=facts.encodings[1],
            errors="spelled out",
            newline="\n",
            line_buffering=True,
        )
        self._err = cast(TextIO, terminal.ForPeople(err))
        self._stdin = io.TextIOWrapper(
            io.BufferedReader(_Input(session.stdin, is_terminal=facts.terminals[0])),
            encoding=facts.encodings[2],
            errors=facts.stdin_errors,
        )

    @property
    def out(self) -> TextIO:
        """See `Console`."""
        return self._out

    @property
    def err(self) -> TextIO:
        """See `Console`."""
        return self._err

    @property
    def stdin(self) -> TextIO:
        """See `Console`."""
        return self._stdin

    @property
    def environ(self) -> Mapping[str, str]:
        """See `Console`."""
        return self._request.environ

    def folder(self) -> Path:
        """See `Console`."""
        return Path(self._request.folder)

    def columns(self) -> int:
        """See `Console`, and `shutil.get_terminal_size`."""
        try:
            given = int(self.environ.get("COLUMNS", ""))
        except ValueError:
            given = 0
        return given if given > 0 else self._request.streams.columns[0] or 80

    def columns_of_errors(self) -> int | None:
        """See `Console`."""
        return self._request.streams.columns[1] or None

    def index(self, place: Place, machine: Machine) -> Index:
        """See `Console`."""
        models = self._index.models
        # Nothing is fetched from the hub, and only models of an endpoint need its key.
        same = machine._replace(hub_token=models.machine.hub_token)
        if not uses_endpoint(models):
            same = same._replace(key=models.machine.key)
        if place != self._index.place or same != models.machine:
            raise NotHere
        return self._index

    def stay_alone(self) -> None:
        """See `Console`."""
        raise NotHere

    def discard(self) -> None:
        """See `Console`."""
        for raw in self._raw:
            raw.forget()


def uses_endpoint(models: Models) -> bool:
    """Return whether a model of an index is run by an endpoint, which needs a key."""
    try:
        chosen = [models.chosen(role) for role in ROLES]
    except QmdError:
        return True
    return any(model is not None and model.is_remote for model in chosen)


def is_for(index: Index, request: Request) -> bool:
    """Return whether a command would use the same index, settings, approvals and models."""
    environ, folder = request.environ, Path(request.folder)
    if environ.get("QMD_DEBUG") or any(environ.get(n) != os.environ.get(n) for n in forward.ALIKE):
        return False
    arguments = forward.hoisted(request.arguments)
    named = arguments[1] if arguments[:1] == ["--index"] else None
    try:
        place = environment.locate(environ, folder, index=named)
    except QmdError:
        return False
    paths = (place.config, place.trusted, place.home)
    is_absolute = all(path is None or path.is_absolute() for path in paths)
    return is_absolute and place == index.place


def run(session: Session, request: Request, index: Index, carry_out: CarryOut) -> None:
    """Run a command and send its output and exit code.

    If it has to run in the process of its caller, that is told, as long as nothing was printed.
    """
    try:
        here = Forwarded(session, request, index)
    except (LookupError, ValueError):  # an encoding that this Python does not have
        session.send(forward.DECLINED, b"")
        return
    cancellation.CURRENT.set(session.stop)
    console.use(here)
    try:
        code = carry_out(request.arguments)
        here.err.flush()
    except NotHere:
        code = None
    except BrokenPipeError:
        return
    except Exception:
        _log.exception("A command failed in the server; its caller runs it.")
        code = None
    finally:
        here.discard()
    if code is not None:
        session.send(forward.EXIT, str(code).encode())
    elif not session.has_sent:
        session.send(forward.DECLINED, b"")
