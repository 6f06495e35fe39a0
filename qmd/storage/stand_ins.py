"""Modules that DuckDB loads for the sake of values which qmd never gives it.

When a statement is given its first value, DuckDB loads the modules `uuid` and `decimal` to compare
each value with their classes, which takes longer than most statements, and keeps what it found. The
stand-ins behave as the classes do, whose modules are loaded if one of them is used. It also loads
pandas, which takes several times as long as a search, and pyarrow.dataset with the first table of
pyarrow; it does without either, and asks again the next time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

CLASSES = {"uuid": "UUID", "decimal": "Decimal"}
"""Classes that are stood in for, by module."""

HIDDEN = frozenset({"pandas", "pyarrow.dataset"})
"""Modules that are hidden from DuckDB while they are not loaded."""


class HiddenModules:
    """Import finder that hides modules from what DuckDB loads in a statement of qmd.

    The program around qmd, and the DuckDB that it uses itself, load them as ever.
    """

    @classmethod
    def find_spec(cls, name: str, *_: object) -> ModuleSpec | None:
        """See `importlib.abc.MetaPathFinder`."""
        if name in HIDDEN and _importer().startswith("qmd."):
            raise ModuleNotFoundError("qmd does without it", name=name)
        return None

    @classmethod
    def install(cls) -> None:
        """Put the finder before all others, once."""
        if cls not in sys.meta_path:
            sys.meta_path.insert(0, cls)


def _importer() -> str:
    """Return the module whose statement, or whose call of a library in C, is importing."""
    frame = sys._getframe(2)
    while frame.f_back and frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__"))


class _StandIn(type):
    """Metaclass of a class that is loaded when it is used."""

    def __instancecheck__(cls, value: object) -> bool:
        module = sys.modules.get(cls.__module__)  # without it, there are no instances
        real = getattr(module, cls.__name__, cls)
        return real is not cls and isinstance(value, real)

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        return getattr(import_module(cls.__module__), cls.__name__)(*arguments, **named)


@contextmanager
def stood_in() -> Iterator[None]:
    """Let DuckDB find the stand-ins; does nothing in a process with several threads.

    Another thread that imports one of the modules at this time would get the wrong one.
    """
    absent = [name for name in CLASSES if name not in sys.modules]
    if not absent or len(sys._current_frames()) > 1:
        yield
        return
    for name in absent:
        module = ModuleType(name)
        vars(module)[CLASSES[name]] = _StandIn(CLASSES[name], (), {"__module__": name})
        sys.modules[name] = module
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]
