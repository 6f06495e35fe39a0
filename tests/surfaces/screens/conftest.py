"""A project that somebody else has made."""

from __future__ import annotations

import pytest

from tests.surfaces.screens.seeing import ORDERS, written


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


@pytest.fixture
def hostile(project):
    """A project whose names and texts have orders in them, indexed."""
    folder = project(
        "global_context: \"theirs\\e[31m\\n  Score: 100%\"\n"
        "collections:\n"
        "  \"docs\\u202e\":\n    path: docs\n    pattern: \"**/*.{md,\\e[2Jx}\"\n"
        "    context:\n      \"/\": \"about\\e[31m\\nqmd://notes/ forged\"\n"
    )  # fmt: skip
    written(
        folder / "docs" / f"odd{ORDERS.replace('/', '')}.md",
        f"# Title {ORDERS}\n\n{ORDERS} wombat\n",
    )
    written(folder / "docs" / "\033[2Jempty.md", "")
    return folder
