"""Output for people: the one place where text goes to a terminal.

`write` makes visible whatever a text has in it that acts on a terminal. Styling of our own is not
looked for in a text, where a document could have put it: `paint`, `link` and `joined` make `Styled`
texts of parts that were made visible before.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO, cast

from qmd.surfaces import console
from qmd.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


class Styled(str):
    """A text with styling of our own, whose other parts are visible. Only this module makes one."""

    __slots__ = ()


class ForPeople:
    """Stream whose text is for people: `write` guards all that is written to it.

    It stands in front of stderr, where libraries, warnings and tracebacks write as well.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text as `write` does."""
        write(text, self.stream)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts as `write` does."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> object:
        return getattr(self.stream, name)


def write(text: str, stream: TextIO) -> None:
    """Write a text for people: line breaks and tabs stay, other controls become visible."""
    stream.write(text if isinstance(text, Styled) else visible(text))


def out(text: str) -> None:
    """Write a text to stdout. A pipe or a file gets it byte for byte: a program may read it."""
    stream = console.current().out
    if stream.isatty():
        write(text, stream)
    else:
        stream.write(text)


def err(text: str) -> None:
    """Write a text to stderr, which people read wherever it leads."""
    write(text, console.current().err)


def guard_errors() -> None:
    """Let everything that this process writes to stderr pass through `write`."""
    if not isinstance(sys.stderr, ForPeople):
        sys.stderr = cast(TextIO, ForPeople(sys.stderr))


def unguarded_errors() -> TextIO:
    """Return stderr for a library that draws with escape sequences of its own."""
    stream: TextIO = sys.stderr
    return stream.stream if isinstance(stream, ForPeople) else stream


def may_colour(environ: Mapping[str, str], *, errors: bool = False) -> bool:
    """Return whether stdout, or stderr, is a terminal whose user has nothing against colours."""
    here = console.current()
    stream = here.err if errors else here.out
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def width() -> int | None:
    """Return the columns of the terminal that stderr is; None: it is none, or does not tell."""
    return console.current().columns_of_errors()


def paint(text: str, code: str) -> Styled:
    """Colour a text by the parameters of an SGR sequence."""
    return Styled(f"\033[{code}m{joined_styled('', [text])}\033[0m" if text else "")


def paint_matches(text: str, is_match: Callable[[str], object], code: str) -> Styled:
    """Paint the words of a text that match."""
    from qmd.text.tokenizer import runs

    shown, parts, at = visible(text), list[str](), 0
    for start, end in runs(shown):
        if is_match(shown[start:end]):
            parts += [shown[at:start], f"\033[{code}m{shown[start:end]}\033[0m"]
            at = end
    return Styled("".join([*parts, shown[at:]]))


def link(text: str, target: str) -> Styled:
    """Make a text a hyperlink (OSC 8), unless its target could end the sequence."""
    inside = joined_styled("", [text])
    if not (target.isascii() and target.isprintable() and " " not in target):
        return inside
    return Styled(f"\033]8;;{target}\033\\{inside}\033]8;;\033\\")


def joined_styled(separator: str, parts: Iterable[str]) -> Styled:
    """Join texts; those without styling of our own are made visible."""
    between = visible(separator)
    return Styled(
        between.join(part if isinstance(part, Styled) else visible(part) for part in parts)
    )


def ended(text: str) -> str:
    """Return a text with a line break at its end."""
    if text.endswith("\n"):
        return text
    return joined_styled("", [text, "\n"]) if isinstance(text, Styled) else f"{text}\n"
