"""Front of the command line: a running server carries the command out, if there is one.

A server of the same user, the same index and the same code listens on a Unix socket, or on a named
pipe of Windows. The front sends it the arguments, the folder, the environment and facts about the
standard streams, and writes what comes back. If no server answers, or it declines, this process
runs the command.

Nothing but built-in modules is imported: the front is all that most calls load. On Windows, that
is `pipe` and `windows`, too, which load ctypes.

A request is a length of four bytes and fields with NUL between. An answer is a sequence of frames:
a kind of one byte, a length of four bytes, and content. `surfaces/forwarded/` is the other side.
"""

import os
import sys

from qmd import location
from qmd.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    if sys.platform == "win32":
        from qmd.pipe import Pipe

        Link = Pipe
    else:
        from _socket import socket

        Link = socket

PROTOCOL = "qmd-forward-1"

STDOUT, STDERR, STDIN, EXIT, DECLINED, ALIVE = b"o", b"e", b"i", b"x", b"r", b"k"
"""Kinds of frames: output; stdin is wanted; the exit code; run it yourself; the server works."""

MAX_REQUEST = 1 << 18
"""Bytes of a request. A longer command runs by itself."""

MAX_FRAME = 1 << 16
"""Bytes of the content of a frame."""

MAX_STDIN = 1 << 20
"""Bytes of stdin that are sent. A command with more runs by itself."""

SIGN_SECONDS = 2.0
"""Seconds in which a server has to accept a request: a stopped process never does."""

SILENCE_SECONDS = 15.0
"""Seconds after which a server that sends nothing is given up. It sends `ALIVE` each second."""

INCOMPLETE = 2
"""Exit code if the server ended after a part of the output: partly done."""

EXIT_CODES = range(256)
"""Exit codes of a process."""

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 and the number of the signal."""

PREFIXES = ("QMD_", "XDG_", "HF_", "OPENAI_")
ALIKE = frozenset(
    "TZ HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR "
    "http_proxy https_proxy all_proxy no_proxy".split()
)
"""Variables that libraries read from their process: a server has to have the same ones."""

if sys.platform == "win32":  # where names have no case, and `os.environ` gives capitals
    ALIKE = frozenset({*map(str.upper, ALIKE), "USERPROFILE"})

NAMES = ALIKE | {"INDEX_PATH", "HOME", "NO_COLOR", "TERM", "COLUMNS", "LINES"}
"""Variables that a command may depend on, by the beginnings of their names, or whole."""

GLOBAL = ("--index", "--engine")
"""Options with a value that stand before the command, in this order."""

ALLOW_PARTIAL = "--allow-partial"
"""Option of an index of shards, which stands behind those."""

YES = ("1", "true", "yes", "on")

PACKAGE = os.path.dirname(os.path.abspath(__file__))

_PRIME = (1 << 107) - 1
"""A Mersenne prime: the rest of a division by it is a hash without an import."""


def hoisted(arguments: "Sequence[str]") -> list[str]:
    """Move options of all commands in front of the command, and leave `--no-server` out."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    flags = ("--no-server", ALLOW_PARTIAL)
    left = [each for each in arguments[:end] if each not in flags]
    front = []
    for option in GLOBAL:
        for at, each in enumerate(left):
            name, given, value = each.partition("=")
            if name == option and (given or at + 1 < len(left)):
                front += [option, value if given else left[at + 1]]
                del left[at : at + (1 if given else 2)]
                break
    if ALLOW_PARTIAL in arguments[:end]:
        front.append(ALLOW_PARTIAL)
    return [*front, *left, *arguments[end:]]


def call(arguments: "Sequence[str]") -> int | None:
    """Have a running server carry a command out.

    Returns:
        Its exit code. None: this process has to run the command, which has printed nothing yet.
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    if "--no-server" in arguments[:end] or os.environ.get("QMD_NO_SERVER", "").lower() in YES:
        return None
    rest = hoisted(arguments)
    of_shards = "--engine" in rest[:4] or ALLOW_PARTIAL in rest[:5]
    if not rest or of_shards or None in (sys.stdin, sys.stdout, sys.stderr):
        return None
    try:
        try:
            folder = os.getcwd()
            index = rest[1] if rest[0] == "--index" else None
            database = location.database_of(os.environ, folder, index)
            link = _connected(endpoint_of(os.environ, database))
            request = _request(arguments, folder) if link is not None else b""
        except (OSError, ValueError, IndexError):
            return None
        if link is None or len(request) > MAX_REQUEST:
            return None
        try:
            return _carried_out(link, request)
        finally:
            link.close()
    except KeyboardInterrupt:
        _complain("Interrupted.")
        return INTERRUPTED


# -- the server ----------------------------------------------------------------------------


def runtime_folder(environ: "Mapping[str, str]") -> str:
    """Return the folder for sockets, which belongs to this user alone."""
    if sys.platform == "win32":
        raise NotImplementedError
    user = os.geteuid()
    given = environ.get("XDG_RUNTIME_DIR") or f"/run/user/{user}"
    if os.path.isabs(given) and os.path.isdir(given):
        return os.path.join(given, "qmd")
    return f"/tmp/qmd-{user}"  # refused unless it belongs to the user


def endpoint_of(environ: "Mapping[str, str]", database: str) -> str:
    """Return the path of the socket or pipe for an index, and for this code: others have another.

    A socket is in a folder of its user. Pipes have no folders, and the user in their names.
    """
    facts = "\0".join((__version__, sys.prefix, PACKAGE, os.path.realpath(database)))
    name = int.from_bytes(facts.encode("utf-8", "surrogateescape"), "big") % _PRIME
    if sys.platform == "win32":
        from qmd import pipe

        return rf"\\.\pipe\qmd-{pipe.user()}-{name:x}"
    return os.path.join(runtime_folder(environ), f"{name:x}.sock")


def is_private(folder: str) -> bool:
    """Return whether a folder belongs to this user, and no other user may enter it."""
    if sys.platform == "win32":
        raise NotImplementedError
    try:
        info = os.lstat(folder)
    except OSError:
        return False
    is_folder = info.st_mode & 0o170000 == 0o040000
    return is_folder and info.st_uid == os.geteuid() and not info.st_mode & 0o077


def user_of(link: "Link") -> int:
    """Return the user of the process at the other end of a Unix socket.

    Raises:
        OSError: the system does not tell.

    Source:
        unix(7), SO_PEERCRED: process, user and group. On macOS and FreeBSD, unix(4),
        LOCAL_PEERCRED: version, user, groups.
    """
    if sys.platform == "win32":
        raise NotImplementedError
    import _socket

    order = sys.byteorder
    if hasattr(_socket, "SO_PEERCRED"):
        facts = link.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    else:
        facts = link.getsockopt(0, 1, 76)
    if len(facts) < 8:
        raise OSError("The user at the other end of the socket is not known.")
    return int.from_bytes(facts[4:8], order)


def is_listening(path: str) -> bool:
    """Return whether a server of this user listens at a socket or pipe."""
    link = _connected(path)
    if link is not None:
        link.close()
    return link is not None


def _connected(path: str) -> "Link | None":
    """Connect to the server of this user; None if there is none, or too many wait for it."""
    if sys.platform == "win32":
        from qmd import pipe

        return pipe.connected(path, SIGN_SECONDS)
    try:
        info = os.lstat(path)
    except OSError:
        return None
    mine = info.st_uid == os.geteuid() and info.st_mode & 0o170000 == 0o140000
    if not mine or not is_private(os.path.dirname(path)):
        return None
    import _socket

    link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        link.setblocking(False)  # where many wait, connecting would wait, too
        link.connect(path)
        if user_of(link) == os.geteuid():
            link.settimeout(SIGN_SECONDS)
            return link
    except OSError:
        pass
    link.close()
    return None


# -- the request ---------------------------------------------------------------------------


def _request(arguments: "Sequence[str]", folder: str) -> bytes:
    """Write a request: facts, the arguments, and the environment as NAME=VALUE."""
    if sys.platform == "win32":
        from qmd import windows

        windows.speak_utf8()
    out, err = sys.stdout, sys.stderr
    facts = [
        PROTOCOL,
        __version__,
        sys.prefix,
        PACKAGE,
        folder,
        "".join("1" if os.isatty(each) else "0" for each in (0, 1, 2)),
        f"{_columns(1)} {_columns(2)} {getattr(os.fstat(1), 'st_blksize', 8192)}",
        f"{out.encoding} {err.encoding} {sys.stdin.encoding} {sys.stdin.errors}",
        f"{out.line_buffering:d}{getattr(out, 'write_through', False):d}",
        str(len(arguments)),
    ]
    variables = [
        f"{name}={value}"
        for name, value in os.environ.items()
        if name in NAMES or name.startswith(PREFIXES)
    ]
    return "\0".join([*facts, *arguments, *variables]).encode("utf-8", "surrogateescape")


def _columns(descriptor: int) -> int:
    """Return the columns of a terminal; 0 if it is none, or does not tell."""
    try:
        return os.get_terminal_size(descriptor).columns
    except OSError:
        return 0


# -- the answer ----------------------------------------------------------------------------


def _carried_out(link: "Link", request: bytes) -> int | None:
    """Send a request and write what comes back; see `call`."""
    has_printed = False
    given: bytes | None = None
    try:
        link.sendall(len(request).to_bytes(4, "big") + request)
        for kind, content in _frames(link):
            if kind == EXIT and int(content) in EXIT_CODES:
                return int(content)
            if kind in (STDOUT, STDERR):
                has_printed = True
                ended = _written(kind, content)
                if ended is not None:
                    return ended
            elif kind == STDIN and given is None:
                given = _all_of_stdin()
                if len(given) > MAX_STDIN:
                    break
                link.sendall(len(given).to_bytes(4, "big") + given)
            elif kind != ALIVE:
                break
            link.settimeout(SILENCE_SECONDS)
    except (OSError, ValueError):
        pass
    if has_printed:
        _complain(
            "The server ended before the command was done: the output is incomplete.\n\n"
            "Run it again; --no-server runs it without a server."
        )
        return INCOMPLETE
    if given is not None:
        _give_back(given)
    return None


def _frames(link: "Link") -> "Iterator[tuple[bytes, bytes]]":
    """Yield the frames of an answer, until the other side ends it.

    Raises:
        ValueError: a frame is longer than it may be.
        OSError: nothing came for too long.
    """
    held = bytearray()
    while True:
        while len(held) >= 5:
            size = int.from_bytes(held[1:5], "big")
            if size > MAX_FRAME:
                raise ValueError("frame too long")
            if len(held) < 5 + size:
                break
            yield bytes(held[:1]), bytes(held[5 : 5 + size])
            del held[: 5 + size]
        data = link.recv(MAX_FRAME + 5)
        if not data:
            return
        held += data


def _written(kind: bytes, content: bytes) -> int | None:
    """Write output as this process would; the exit code if that cannot be done."""
    try:
        _write(1 if kind == STDOUT else 2, content)
    except BrokenPipeError:
        return 0 if kind == STDOUT else None  # the reader has gone (`qmd … | head`)
    except OSError as error:
        if kind == STDOUT:
            _complain(f"The output cannot be written: {error.strerror or error}.")
            return 1
    return None


def _write(descriptor: int, content: bytes) -> None:
    """Write all of some bytes, also to a descriptor that does not block.

    Raises:
        OSError: they cannot be written.
    """
    if sys.platform == "win32":  # the buffers of Python convert what a console shows
        buffer = (sys.stdout if descriptor == 1 else sys.stderr).buffer
        buffer.write(content)
        buffer.flush()
        return
    view = memoryview(content)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:
            import select

            select.select([], [descriptor], [])


def _all_of_stdin() -> bytes:
    if sys.platform == "win32":
        return sys.stdin.buffer.read()
    pieces = []
    while piece := os.read(0, MAX_FRAME):
        pieces.append(piece)
    return b"".join(pieces)


def _give_back(content: bytes) -> None:
    """Let the command of this process read what was read already."""
    import io

    before = sys.stdin
    sys.stdin = io.TextIOWrapper(
        io.BytesIO(content), encoding=before.encoding, errors=before.errors
    )


def _complain(text: str) -> None:
    """Write an error to stderr, as all commands do."""
    first, line, rest = text.partition("\n")
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not os.isatty(2)
    head = first if plain else f"\033[31m{first}\033[0m"
    try:
        _write(2, f"{head}{line}{rest}\n".encode())
    except OSError:
        pass  # a stderr that takes nothing is no reason to fail
