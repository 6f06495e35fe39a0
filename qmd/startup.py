"""Start and end of the command-line process: streams, skipped imports, exit."""

from __future__ import annotations

import codecs
import gc
import io
import os
import sys
from _thread import allocate_lock
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any


NO_MEMORY = (
    b"There is not enough memory.\n\nThe index stays whole. End other programs, or raise the limit "
    b"of memory (ulimit -v), and try again.\n"
)


class _Spared:
    """Import finder that makes modules empty, or loads them later.

    The bindings of llama.cpp load a class above them, with templates and caches of its own: three
    quarters of their time, and qmd does not use it. `urllib.parse`, which `pathlib` loads, takes
    `ipaddress` for addresses in brackets alone.
    """

    EMPTY = frozenset({"llama_cpp.llama"})
    LATER = frozenset({"ipaddress"})

    @classmethod
    def find_spec(cls, name: str, *_: object) -> ModuleSpec | None:
        """See `importlib.abc.MetaPathFinder`."""
        if name not in cls.EMPTY and name not in cls.LATER:
            return None
        from importlib.machinery import ModuleSpec

        loader = _Later() if name in cls.LATER else _Empty()
        return ModuleSpec(name, loader)  # type: ignore[arg-type]  # they do what a loader does


class _Later:
    """Loader of a module that is executed when something of it is first used."""

    def create_module(self, _: ModuleSpec) -> None:
        """See `importlib.abc.Loader`."""

    def exec_module(self, module: ModuleType) -> None:
        """See `importlib.abc.Loader`."""
        turn = allocate_lock()

        def load(name: str) -> Any:
            from importlib.machinery import PathFinder

            with turn:  # another thread waits until all of the module is there
                if "__getattr__" in vars(module):
                    usual = PathFinder.find_spec(module.__name__)
                    if usual is not None and usual.loader is not None:
                        usual.loader.exec_module(module)
                    del vars(module)["__getattr__"]
            return getattr(module, name)

        vars(module)["__getattr__"] = load


class _Empty:
    """Loader of an empty module."""

    def create_module(self, _: ModuleSpec) -> None:
        """See `importlib.abc.Loader`."""

    def exec_module(self, _: ModuleType) -> None:
        """See `importlib.abc.Loader`."""


def _fill_gaps() -> None:
    """Open /dev/null for standard streams that are closed (`qmd … >&-`).

    A file that is opened later would get the number of one, and all that a library prints.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            free = os.open(os.devnull, os.O_RDWR)  # the lowest number that there is
            os.set_inheritable(free, True)
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, os.fdopen(free, mode, encoding="utf-8"))


def _spell_out() -> None:
    r"""Escape characters that the stream's encoding lacks, as JSON does: `\u65e5`."""
    codecs.register_error("spelled out", _spelled)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="spelled out")
    if sys.platform == "win32":
        from qmd import windows

        windows.speak_utf8()


def _spelled(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)), error.end


def _write_version() -> bool:
    """Write the version without loading the command line; False if it cannot be written."""
    from qmd.version import __version__

    try:
        os.write(sys.stdout.fileno(), f"qmd {__version__}\n".encode())
    except OSError:
        return False
    return True


def run(begin: Callable[[], None]) -> None:
    """Run the command line and end the process with its exit code.

    Args:
        begin: lets Ctrl-C raise KeyboardInterrupt; called when the command has been loaded.
    """
    _fill_gaps()
    _spell_out()
    if sys.argv[1:] in (["--version"], ["-V"], ["version"]) and _write_version():
        os._exit(0)
    # Nothing that one command makes is worth collecting, and taking it all down at the end
    # takes as long as a search: both are left to the operating system.
    gc.disable()
    # A linear-algebra library that starts a thread per core costs more than all it does here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.meta_path.insert(0, _Spared)
    if sys.platform != "win32":
        # Functions of a library are resolved when first called: DuckDB has 24,000, of which a
        # search calls few. Python's own setting is to resolve all of them.
        sys.setdlopenflags(os.RTLD_LAZY)
    try:
        from qmd import processes
        from qmd.surfaces import cli, terminal

        terminal.guard_errors()
        processes.leave_open = True
        processes.name_process("qmd", *cli.verbs(sys.argv[1:]))
        code = cli.run(sys.argv[1:], begin)
    except KeyboardInterrupt:  # after the command has ended
        with suppress(OSError):
            sys.stderr.write("Interrupted.\n")
        code = 130
    except MemoryError:  # too little even to tell of the first one
        with suppress(OSError):
            os.write(2, NO_MEMORY)
        code = 1
    with suppress(OSError, KeyboardInterrupt):
        sys.stderr.flush()
    os._exit(code)
