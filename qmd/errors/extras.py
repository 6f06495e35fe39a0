"""Optional dependencies: check, and the command that installs them."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from qmd.errors.usage import UsageError


def command(extra: str | None) -> str:
    """Return the command that installs an extra, by uv or by pip.

    Args:
        extra: None for the packages of each installation.
    """
    wanted = f"'qmd[{extra}]'" if extra else "qmd"
    if find_spec("pip") is None:
        return f"uv pip install --python '{sys.executable}' {wanted}"
    return f"pip install {wanted}"


def check(package: str, module: str, purpose: str, *, extra: str) -> None:
    """Check that an optional package is installed.

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
