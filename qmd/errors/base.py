"""Base class of the exceptions."""

from __future__ import annotations

from qmd.wording import readable


class QmdError(Exception):
    """Base of all exceptions that qmd raises on purpose.

    Args:
        message: what happened; values in it that are very long are cut in the middle.
    """

    exit_code = 1

    def __init__(self, message: str = "", *more: object) -> None:
        super().__init__(readable(message), *more)
