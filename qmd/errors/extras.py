"""Optional dependencies: check, and the command that installs them."""

from __future__ import annotations

import json
import shlex
import sys
from importlib.util import find_spec

from qmd.errors.usage import UsageError

DISTRIBUTION = "qmd-duckdb"
"""Name on the package index, where `qmd` is another project."""


def command(extra: str | None, *, again: bool = False) -> str:
    """Return the command that installs an extra, by uv or by pip, from where qmd came from.

    Args:
        extra: None for the packages of each installation.
        again: also where it seems to be installed.
    """
    wanted = _source(f"[{extra}]" if extra else "")
    if find_spec("pip") is None:
        python = shlex.quote(sys.executable)
        return f"uv pip install {'--reinstall ' * again}--python {python} {wanted}"
    return f"pip install {'--force-reinstall ' * again}{wanted}"


def _source(extra: str) -> str:
    """Return what pip has to be given: a folder, an address, or the name on the package index.

    Args:
        extra: in brackets, or empty.

    Source:
        The file direct_url.json of an installation: PEP 610.
    """
    from importlib.metadata import PackageNotFoundError, distribution

    name = DISTRIBUTION + extra
    try:
        origin = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        origin = {}
    url = origin.get("url", "")
    if url.startswith("file:"):
        from urllib.parse import urlsplit
        from urllib.request import url2pathname

        path = shlex.quote(url2pathname(urlsplit(url).path) + extra)
        return f"-e {path}" if origin.get("dir_info", {}).get("editable") else path
    if "vcs_info" in origin:
        facts = origin["vcs_info"]
        revision = facts.get("requested_revision") or facts["commit_id"]
        return shlex.quote(f"{name} @ {facts['vcs']}+{url}@{revision}")
    return shlex.quote(f"{name} @ {url}" if url else name)


def require_extra(package: str, module: str, purpose: str, *, extra: str) -> None:
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
