"""Picture files: suffix check, atomic write, colours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from qmd import files
from qmd.errors import UsageError

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Colours that people with any kind of colour vision can distinguish on white.

Source: Okabe and Ito, Color Universal Design (2008), without yellow and black.
"""

OTHERS = "#8C8C8C"
"""Colour of all without one of their own."""


def check_picture(path: Path, forms: Sequence[str]) -> None:
    """Refuse to begin, if the picture could not be written at the end.

    Args:
        forms: endings of files: '.svg'.

    Raises:
        UsageError: its form is unknown, its folder missing, or it is one.
    """
    if path.suffix.lower() not in forms:
        raise UsageError(f"A picture is a file ending in {' or '.join(forms)}, not {path.name}.")
    files.check_writable(path)


MARKS = (
    b'class="qmd-map"',
    b"<dc:title>qmd stats</dc:title>",
    b"Software\0qmd stats",
    b"<dc:title>qmd bench</dc:title>",
    b"Software\0qmd bench",
)
"""Marks near the beginning of our pictures."""

BEGINNING = 8192
"""Bytes of a file that contain one of the marks."""


def check_replaceable(path: Path) -> None:
    """Refuse to replace a file that is no picture of qmd.

    Raises:
        UsageError: there is such a file.
    """
    if files.is_stream(path):
        return
    try:
        with path.open("rb") as file:
            beginning = file.read(BEGINNING)
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"{path} cannot be replaced: {error.strerror}.") from error
    if beginning and not any(mark in beginning for mark in MARKS):
        raise UsageError(
            f"{path} is there already, and no picture of qmd.\n\n"
            "Name another file, or replace this one with --force."
        )


def write(path: Path, content: bytes) -> None:
    """Write a picture that replaces an older file only when complete.

    Raises:
        UsageError: it cannot be written.
    """
    with files.written(path) as file:
        file.write(content)
