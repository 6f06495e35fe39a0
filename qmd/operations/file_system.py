"""File system that a folder lies on."""

from __future__ import annotations

from pathlib import Path

NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "fuse.sshfs", "afpfs"})
"""File systems on which locks cannot be trusted."""


def file_system(folder: Path) -> str | None:
    """Return the type of the file system of a folder, where the system tells."""
    try:
        mounts = Path("/proc/mounts").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    best, kind = "", None
    whole = str(folder.resolve()) + "/"
    for line in mounts:
        _, point, name, *_ = line.split()
        if whole.startswith(point.rstrip("/") + "/") and len(point) >= len(best):
            best, kind = point, name
    return kind
