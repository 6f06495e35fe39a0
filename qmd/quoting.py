"""Shell quoting of commands that messages suggest."""

from __future__ import annotations


def line(*words: str) -> str:
    """Join words to a shell command, each quoted as a shell needs it."""
    from shlex import join

    return join(words)


def command(*words: str) -> str:
    """Join words to a shell command in quotation marks."""
    text = line(*words)
    mark = '"' if "'" in text else "'"
    return f"{mark}{text}{mark}"
