"""Commands that messages suggest."""

from __future__ import annotations


def line(*words: str) -> str:
    """A command, with each word as a shell takes it."""
    from shlex import join

    return join(words)


def command(*words: str) -> str:
    """The same in quotation marks."""
    text = line(*words)
    mark = '"' if "'" in text else "'"
    return f"{mark}{text}{mark}"
