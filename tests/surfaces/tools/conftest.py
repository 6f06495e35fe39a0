"""A toolbox with three documents."""

from __future__ import annotations

import pytest

from qmd.surfaces.tools.dispatch import Toolbox


@pytest.fixture
def toolbox(faked):
    faked.write("tea.md", "# Green tea\n\nBrew it at 80 degrees.\nNever boil it.\n")
    faked.write("deep/ünï code.md", "# Umlauts\n\nÜber den Tee.\n")
    faked.write("pool.md", "# Pool\n\nSwim after tea.\n")
    faked.update()
    return Toolbox(faked.engine)
