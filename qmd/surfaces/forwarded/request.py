"""Request of a front: the command, and the process that it comes from."""

from __future__ import annotations

import os
from collections.abc import Mapping

from qmd.forward import PROTOCOL
from qmd.named_tuple import NamedTuple


class Streams(NamedTuple):
    """Facts about the standard streams of the caller.

    Attributes:
        terminals: whether stdin, stdout and stderr are terminals.
        columns: of stdout and stderr; 0: they do not tell.
        block: bytes that stdout is buffered by.
        encodings: of stdout, stderr and stdin.
        stdin_errors: what is done with bytes of stdin that are no text.
        line_buffering, write_through: see `io.TextIOWrapper`, of stdout.
    """

    terminals: tuple[bool, bool, bool]
    columns: tuple[int, int]
    block: int
    encodings: tuple[str, str, str]
    stdin_errors: str
    line_buffering: bool
    write_through: bool


class Request(NamedTuple):
    """A command and its caller, as a front sends them.

    Attributes:
        code: version, environment and folder of the code that the caller runs.
        folder: that the command is run in.
    """

    code: tuple[str, str, str]
    folder: str
    streams: Streams
    arguments: tuple[str, ...]
    environ: Mapping[str, str]


def parse_request(content: bytes) -> Request:
    """Read a request.

    Raises:
        ValueError: it is none, or one of another protocol.
    """
    fields = content.decode("utf-8", "surrogateescape").split("\0")
    if fields[0] != PROTOCOL or len(fields) < 10:
        raise ValueError("not a request")
    version, prefix, package, folder, terminals, sizes, encodings, buffering = fields[1:9]
    count = int(fields[9])
    arguments, variables = fields[10 : 10 + count], fields[10 + count :]
    if not os.path.isabs(folder):  # noqa: PTH117  # a text, as it is
        raise ValueError("not a whole path")
    if count < 0 or len(arguments) < count:
        raise ValueError("arguments are missing")
    of_out, of_err, block = map(int, sizes.split(" "))
    out, err, stdin, errors = encodings.split(" ")
    first, second, third = (each == "1" for each in terminals)
    lines, through = (each == "1" for each in buffering)
    streams = Streams(
        (first, second, third),
        (of_out, of_err),
        min(max(block, 1024), 1 << 20),
        (out, err, stdin),
        errors,
        lines,
        through,
    )
    environ = dict(each.split("=", 1) for each in variables)
    return Request((version, prefix, package), folder, streams, tuple(arguments), environ)
