"""A project that somebody else has made."""

from __future__ import annotations

import pytest

from tests.surfaces.screens.seeing import written


@pytest.fixture
def project(tmp_path, qmd, monkeypatch):
    """Makes a project of an index.yml, and goes there."""
    for name in ("QMD_CONFIG_DIR", "INDEX_PATH", "QMD_DEBUG"):
        monkeypatch.delenv(name, raising=False)

    def make(config):
        folder = tmp_path / "project"
        written(folder / ".qmd" / "index.yml", config)
        written(folder / "docs" / "tea.md", "# Tea\n\nsencha\n")
        monkeypatch.chdir(folder)
        return folder

    return make
