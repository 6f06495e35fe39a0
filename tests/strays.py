"""What somebody may have put in the place of a file that qmd keeps."""

from __future__ import annotations

import os
from pathlib import Path

THEIRS = "outside"
NOWHERE = "nowhere"


def link(path: Path) -> None:
    """A link to somebody else's file."""
    path.with_name(THEIRS).write_text("theirs")
    path.symlink_to(THEIRS)


def link_to_nothing(path: Path) -> None:
    """A link to a file that whoever writes into it makes."""
    path.symlink_to(NOWHERE)


STRAYS = [link, link_to_nothing, os.mkfifo, Path.mkdir]


def is_untouched(folder: Path) -> bool:
    """Whether what links lead to is as it was."""
    theirs = folder / THEIRS
    return not (folder / NOWHERE).exists() and (
        not theirs.exists() or theirs.read_text() == "theirs"
    )
