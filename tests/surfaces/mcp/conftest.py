"""Servers of an index with one document."""

from __future__ import annotations

import pytest

from tests.surfaces.mcp.server_process import Server


@pytest.fixture
def serve(library, tmp_path, monkeypatch):
    """Starts servers of an index with one document."""
    library.write("tea.md", "# Tea\n\nGreen tea.\n")
    library.update()
    library.engine.close()
    monkeypatch.setenv("QMD_CONFIG_DIR", str(library.folder))
    monkeypatch.setenv("INDEX_PATH", str(library.engine.place.database))
    started = []

    def start(*command: str) -> Server:
        started.append(Server(*command, cwd=tmp_path))
        return started[-1]

    yield start
    for server in started:
        server.close()
