"""What all errors that qmd raises on purpose have in common."""

from __future__ import annotations


class QmdError(Exception):
    """Base of all errors that qmd raises on purpose."""

    exit_code = 1
