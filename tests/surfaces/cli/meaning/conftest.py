"""A few notes, of which some say the same in other words."""

from __future__ import annotations

import pytest


@pytest.fixture
def command(meaning, qmd, monkeypatch, tiny_embedder):
    """Runs a command on the library `meaning`, with its model: indexed, not embedded."""
    monkeypatch.setenv("QMD_CONFIG_DIR", str(meaning.folder))
    monkeypatch.setenv("QMD_EMBED_MODEL", str(tiny_embedder))
    meaning.write("work/car.md", "---\ndate: 2025-03-14\n---\n# Garage\n\nAn automobile is fast.\n")
    meaning.write("tea.md", "# Tea\n\nBrew green tea with hot water.\n")
    meaning.write("home.md", "# Home\n\nA cat sat on the roof.\n")
    meaning.update()
    return qmd


@pytest.fixture
def embedded(meaning, command):
    """The same, embedded."""
    assert meaning.embed().chunks == 3
    return command
