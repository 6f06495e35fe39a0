"""The MCP SDK is loaded without what a server never needs."""

from __future__ import annotations

import subprocess
import sys

LOADED = """
import sys
from pydantic import BaseModel, TypeAdapter
from qmd.surfaces.mcp.sdk_import import light
with light():
    import mcp_types
    from qmd.surfaces.mcp.server import make_server
assert "mcp.client" not in sys.modules and "mcp" not in sys.modules
built = [name for name, kind in vars(mcp_types).items()
         if isinstance(kind, type) and issubclass(kind, BaseModel) and kind.__pydantic_complete__]
print(len(built))
unions = [each for name, each in vars(mcp_types._types).items() if name.endswith("_adapter")]
assert unions and not any(each.pydantic_complete for each in unions)
ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
assert mcp_types.client_request_adapter.validate_python(ping).method == "ping"
assert TypeAdapter(int | str).pydantic_complete
class Later(BaseModel):
    text: str
assert Later.__pydantic_complete__
assert mcp_types.TextContent(type="text", text="tea").text == "tea"
import mcp
assert mcp.ClientSession
"""


def test_models_are_built_when_they_are_used_and_others_get_the_packages_whole():
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 30
