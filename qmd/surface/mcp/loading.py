"""Load the MCP SDK's server without its client, and without building what is never used."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

PACKAGES = ("mcp", "mcp.server")
"""Packages of the SDK whose own code only gathers what users may want from their modules."""


@contextmanager
def light() -> Iterator[None]:
    """Let modules of the SDK be imported without what their packages would import besides.

    `import mcp` loads its client, a second kind of server and an HTTP client: a fifth of the time
    that a client waits for the first answer. Whoever imports the packages later gets them whole.
    Of its hundreds of models each is built when it is first used, not when it is declared: most
    never are, and that took another quarter.
    """
    from pydantic import BaseModel

    added = [name for name in PACKAGES if name not in sys.modules]
    for name in added:
        spec = importlib.util.find_spec(name)
        assert spec is not None
        package = ModuleType(name)
        package.__path__ = list(spec.submodule_search_locations or ())
        package.__spec__ = spec
        sys.modules[name] = package
    before = BaseModel.model_config
    BaseModel.model_config = before | {"defer_build": True}
    try:
        yield
    finally:
        BaseModel.model_config = before
        for name in added:
            del sys.modules[name]
