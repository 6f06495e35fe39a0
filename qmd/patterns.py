"""Regular expressions that are compiled when they are first used."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Pattern:
    """Stand-in of a compiled pattern: a command has forty, of which it uses ten.

    Each attribute is looked up once, and then costs what that of a compiled pattern costs.
    """

    def __init__(self, source: str | bytes, flags: int) -> None:
        self._given = source, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # of protocols, such as that of `copy`
            raise AttributeError(name)
        source, flags = self._given
        value = getattr(re.compile(cast("Any", source), flags), name)
        setattr(self, name, value)
        return value


def pattern(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Make a pattern; an error in it is raised when it is first used.

    Args:
        source: see `re`.
        flags: see `re`.
    """
    return cast("re.Pattern[AnyStr]", _Pattern(source, flags))
