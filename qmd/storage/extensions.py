"""Extensions of DuckDB that are used where their binaries are installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import _duckdb

from qmd.errors import ExtensionUnusable
from qmd.storage.cursor import Connection
from qmd.storage.statements import filled

UNCHECKED: dict[str, str | bool | int | float | list[str]] = {"allow_unsigned_extensions": "true"}
"""Settings of an engine that loads one extension and runs only our statements.

To check the signature would take 50 ms; a process that could change the extension could change this
module, too.
"""


def binary(name: str) -> Path | None:
    """Find the binary of an extension for the running DuckDB; None: it is not installed.

    It is taken from the wheel `duckdb-extension-NAME`, else from where DuckDB's own `install` puts
    it.
    """
    file = f"{name}.duckdb_extension"
    folder = Path.home() / ".duckdb" / "extensions"
    found = [*folder.glob(f"v{_duckdb.__version__}/*/{file}")]
    wheel = find_spec(f"duckdb_extension_{name}")
    if wheel is not None and wheel.origin is not None:
        folder = Path(wheel.origin).parent / "extensions"
        found = [*folder.glob(f"v{_duckdb.__version__}/{file}"), *found]
    return found[0] if found else None


def load(connection: Connection, name: str) -> None:
    """Load an extension.

    Raises:
        ExtensionUnusable: it is not installed, there is not enough memory for it, or its file is
            damaged.
    """
    path = binary(name)
    if path is None:
        raise ExtensionUnusable(name, "It is not installed.")
    try:
        connection.execute(filled("store/load_extension", path=path))
    except _duckdb.Error as error:
        raise ExtensionUnusable(name, str(error)) from error
