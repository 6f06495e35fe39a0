"""Stand-ins for classes that DuckDB looks up when a statement is given its first value.

It loads the modules `uuid` and `decimal` to compare each value with their classes, which takes
longer than most statements, and keeps what it found. The stand-ins behave as the classes do, whose
modules are loaded if one of them is used.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

CLASSES = {"uuid": "UUID", "decimal": "Decimal"}
"""Classes that are stood in for, by module."""


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
