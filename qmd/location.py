"""Path of the index file that a command is for, from its environment, folder and `--index`.

Only `os` is imported: the front of the command line asks this before anything else is loaded.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

LOCAL_FOLDER = ".qmd"
"""Folder of a project's own index."""


def database_of(environ: "Mapping[str, str]", folder: str, index: str | None = None) -> str:
    """Return the path of an index file: `--index`, else the project's, else the user's.

    Args:
        folder: that the command is run in.
        index: name that `--index` gives.
    """
    home = environ.get("HOME") or os.path.expanduser("~")
    if index is None and environ.get("INDEX_PATH"):
        return os.path.join(folder, expanded(environ["INDEX_PATH"], home))
    if index is None and not environ.get("QMD_CONFIG_DIR"):
        project = project_of(folder)
        if project is not None:
            return os.path.join(project, LOCAL_FOLDER, "index.duckdb")
    cache = environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    return os.path.join(folder, cache, "qmd", f"{index or 'index'}.duckdb")


def expanded(path: str, home: str) -> str:
    """Expand a leading `~` or `~name`; one of an unknown user stays as it is."""
    if path == "~" or path.startswith("~/"):
        return os.path.join(home, path[1:].lstrip("/"))
    return os.path.expanduser(path)


def project_of(folder: str) -> str | None:
    """Return the nearest folder, from this one upwards, that has an index of its own."""
    while True:
        local = os.path.join(folder, LOCAL_FOLDER)
        try:
            is_there = _is_file(os.path.join(local, "index.yml"))
        except PermissionError:  # reading it will report the error; no other index is meant
            is_there = os.path.isdir(local)
        if is_there:
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _is_file(path: str) -> bool:
    """Return whether there is a file.

    Raises:
        PermissionError: the user must not look.
    """
    try:
        return os.stat(path).st_mode & 0o170000 == 0o100000
    except PermissionError:
        raise
    except (OSError, ValueError):
        return False
