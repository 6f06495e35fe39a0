"""Load the MCP SDK's server without its client, and without building what is never used."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, UnionType
from typing import Any, Generic, TypeVar, Union, get_origin

T = TypeVar("T")

PACKAGES = ("mcp", "mcp.server")
"""Packages of the SDK whose own code only gathers what users may want from their modules."""


@contextmanager
def light() -> Iterator[None]:
    """Let modules of the SDK be imported without what their packages would import besides.

    `import mcp` loads its client, a second kind of server and an HTTP client: a fifth of the time
    that a client waits for the first answer. Later imports of the packages get them whole.
    Of its hundreds of models, and of unions of them, each is built when it is first used, not when
    it is declared: most never are, and that took another quarter.
    """
    import pydantic

    added = [name for name in PACKAGES if name not in sys.modules]
    for name in added:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        package = ModuleType(name)
        package.__path__ = list(spec.submodule_search_locations or ())
        package.__spec__ = spec
        sys.modules[name] = package
    model, adapter = pydantic.BaseModel, pydantic.TypeAdapter
    before = model.model_config
    model.model_config = before | {"defer_build": True}
    pydantic.TypeAdapter = _later(adapter)  # type: ignore[misc]
    try:
        yield
    finally:
        model.model_config = before
        pydantic.TypeAdapter = adapter  # type: ignore[misc]
        for name in added:
            del sys.modules[name]


def _later(adapter: Any) -> Any:
    """`pydantic.TypeAdapter` that builds itself when it is first used."""

    class Later(adapter[T], Generic[T]):  # type: ignore[misc]
        def __init__(self, type: Any, *, _parent_depth: int = 2, **options: Any) -> None:
            if get_origin(type) in (Union, UnionType):  # what else there is has its own setting
                options.setdefault("config", {"defer_build": True})
            super().__init__(type, _parent_depth=_parent_depth + 1, **options)

    return Later
