"""Packages that only some installations have, and how to add them to this one."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from qmd.errors.usage import UsageError


def command(extra: str | None) -> str:
    """What adds an extra of qmd to this installation: uv makes some that have no pip.

    Args:
        extra: None for what each installation should have.
    """
    wanted = f"'qmd[{extra}]'" if extra else "qmd"
    if find_spec("pip") is None:
        return f"uv pip install --python '{sys.executable}' {wanted}"
    return f"pip install {wanted}"


def check(package: str, module: str, purpose: str, *, extra: str) -> None:
    """Refuse to begin without a package.

    Args:
        purpose: what it does, after "which".
        extra: that installs it.

    Raises:
        UsageError: it is not installed; with the command that installs it.
    """
    if find_spec(module) is None:
        raise UsageError(
            f"{package} is not installed, which {purpose}.\n\nInstall it with: {command(extra)}"
        )
