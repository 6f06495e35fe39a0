"""Base class of the exceptions."""

from __future__ import annotations

from qmd.wording import readable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class QmdError(Exception):
    """Base of all exceptions that qmd raises on purpose.

    Args:
        message: the problem, and its remedy if that is the same on each surface; very long values
            are shortened.
        advice: the remedy by surface (`command`, `tool`, `python`), if the surfaces differ.
    """

    exit_code = 1
    _advice: Mapping[str, str] | None = None

    def __init__(
        self, message: str = "", *more: object, advice: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(readable(message), *more)
        if advice:
            self._advice = advice

    def __str__(self) -> str:
        """Return the message for a Python program."""
        return self.told("python")

    def told(self, surface: str) -> str:
        """Return the message for a user of a surface: what happened, then what to do."""
        advice = self._advice.get(surface) if self._advice else None
        return f"{self.message}\n\n{readable(advice)}" if advice else self.message

    @property
    def message(self) -> str:
        """Message without the advice that each surface has in words of its own."""
        return super().__str__()


def advised(text: str, **options: str) -> dict[str, str]:
    """Make advice of a sentence with a gap for an option, and of its name on each surface."""
    return {surface: text.format(option) for surface, option in options.items()}
