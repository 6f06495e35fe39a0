"""Base class of the exceptions."""

from __future__ import annotations

from qmd.wording import readable


class QmdError(Exception):
    """Base of all exceptions that qmd raises on purpose.

    Args:
        message: the problem and its remedy; very long values are shortened.
    """

    exit_code = 1

    def __init__(self, message: str = "", *more: object) -> None:
        super().__init__(readable(message), *more)
