"""Exceptions for invalid arguments, queries and settings, and for unknown names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from qmd.errors.base import QmdError, advised
from qmd.quoting import command, line
from qmd.visible import shown
from qmd.wording import amount, on_one_line

MOST_CANDIDATES = 20
"""Documents that an ambiguous name lists at most."""


class UsageError(QmdError):
    """An invalid value, or values that exclude each other."""


class InvalidArgument(UsageError):
    """A value that a parameter of an operation does not take.

    Attributes:
        parameter: its name in Python.
        problem: a sentence without its subject, such as "takes a date, not 'x'."
    """

    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(f"{parameter} {problem}")
        self.parameter = parameter
        self.problem = problem

    def named(self, name: str) -> InvalidArgument:
        """Return the same error with the name that a surface has for the parameter."""
        return InvalidArgument(name, self.problem)


class WriteConflict(UsageError):
    """A document that has been changed since it was read."""


class QueryError(UsageError):
    """A search query that cannot be parsed."""


class SqlError(UsageError):
    """An SQL statement that is not permitted or fails."""


class SqlTimeout(SqlError):
    """An SQL query that exceeded its time limit."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"The query was stopped after {amount(seconds, 'second')}.",
            advice=advised(
                "Ask for less, or give it more time with {}.",
                command="--timeout SECONDS",
                python="timeout=SECONDS",
            ),
        )
        self.seconds = seconds


MORE_MEMORY = advised(
    "Ask for less, or allow it more with {}.", command="--memory SIZE", python="memory=SIZE"
)
"""Advice about a query that needs more memory than it may use."""


class SqlOutOfMemory(SqlError):
    """An SQL query that exceeded its limit of memory or disk."""

    def __init__(self, memory: str, *, disk: str | None = None) -> None:
        also = f", and {disk} on disk" if disk else ""
        super().__init__(f"The query needs more than {memory} of memory{also}.", advice=MORE_MEMORY)
        self.memory = memory
        self.disk = disk


class ConfigError(UsageError):
    """A settings file that cannot be used."""

    def __init__(self, path: Path, problem: str, *, line: int | None = None) -> None:
        where = f"{shown(path)}:{line}" if line is not None else shown(path)
        super().__init__(f"{where}: {problem}")
        self.path = path
        self.line = line


class ConfigEmptied(ConfigError):
    """A settings file that has become empty, most likely by mistake."""

    def __init__(self, path: Path, collections: Sequence[str]) -> None:
        super().__init__(
            path,
            f"it is empty, but the index has {amount(len(collections), 'collection')}, and keeps "
            "them.\n\n"
            "Save again what it said. Or delete it: the next change writes the collections as the "
            "index has them. To remove them all, write 'collections: {}' into it.",
        )
        self.collections = tuple(collections)


class CommandRefused(UsageError):
    """An update command with invisible characters."""

    def __init__(self, collection: str, command: str, config: Path) -> None:
        super().__init__(
            f"The update command of '{shown(collection)}' has characters that cannot be seen, "
            f"and is not run:\n  {shown(command)}\n\n"
            f"Find out where it comes from. If it is meant, take them out of 'update' of "
            f"'{shown(collection)}' in {shown(config)}, or put the command into a script and set "
            f"that: {line('qmd', 'collection', 'update-cmd', shown(collection), 'sh SCRIPT')}"
        )
        self.collection = collection
        self.command = command
        self.config = config


LONGEST_SUGGESTED = 120
"""Characters of a query that a message suggests; a query that was cut would find nothing."""


class NotFound(QmdError):
    """A name without a match."""


class CommandNotFound(NotFound):
    """The command line has no such command."""

    exit_code = 2

    def __init__(self, program: str, name: str, tries: Sequence[str]) -> None:
        message = f"{program} has no command '{shown(name)}'."
        if tries:
            message += f" Try: {', or '.join(tries)}"
        super().__init__(f"{message}\n\nSee '{program} --help'.")
        self.name = name
        self.tries = tuple(tries)


class DocumentNotFound(NotFound):
    """No document has this path or docid."""

    def __init__(
        self, name: str, *, similar: Sequence[str] = (), on_disk: str | None = None
    ) -> None:
        message = f"Document not found: {on_one_line(name)}"
        if on_disk:
            message += f". {on_disk}"
        if similar:
            message += "\n\nDid you mean one of these?\n" + "\n".join(
                f"  - {on_one_line(s)}" for s in similar
            )
        super().__init__(message, advice=None if on_disk else {"command": _searched(name)})
        self.name = name
        self.similar = tuple(similar)
        self.on_disk = on_disk


def _searched(name: str) -> str:
    """Return how to find a document whose name is not known."""
    import re

    words = re.findall(r"\w+", re.sub(r"\.\w+$", "", name.rpartition("/")[2]))
    if name.startswith("#") or not words or len("".join(words)) > LONGEST_SUGGESTED:
        words = ["WORDS"]
    return (
        f"See what there is with 'qmd ls', or look for it with {command('qmd', 'search', *words)}."
    )


class CollectionNotFound(NotFound):
    """No collection has this name."""

    def __init__(self, name: str, *, known: Sequence[str] = ()) -> None:
        hint = (
            f"Known: {', '.join(map(shown, known))}."
            if known
            else "There are none yet. Add one with 'qmd collection add PATH'."
        )
        super().__init__(f"Collection not found: {shown(name)}. {hint}")
        self.name = name
        self.known = tuple(known)


class IndexNotFound(NotFound):
    """No index has this name."""

    def __init__(self, name: str, *, known: Sequence[str] = ()) -> None:
        others = f" Known: {', '.join(map(shown, known))}." if known else ""
        super().__init__(
            f"There is no index '{shown(name)}'.{others}\n\n"
            f"Make one with {command('qmd', '--index', name, 'collection', 'add', 'PATH')}."
        )
        self.name = name
        self.known = tuple(known)


class ContextNotFound(NotFound):
    """No context is set for this path."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"No context is set for {shown(path)}.\n\nSee what is set with 'qmd context list'."
        )
        self.path = path


class Ambiguous(QmdError):
    """Several documents match the name."""

    def __init__(self, name: str, candidates: Sequence[str]) -> None:
        shown = [on_one_line(each) for each in candidates[:MOST_CANDIDATES]]
        if len(candidates) > MOST_CANDIDATES:
            shown.append(f"{len(candidates) - MOST_CANDIDATES} more")
        listed = "\n".join(f"  - {each}" for each in shown)
        super().__init__(
            f"{on_one_line(name)} names {len(candidates)} documents:\n{listed}\n\n"
            "Use one of these names."
        )
        self.name = name
        self.candidates = tuple(candidates)


class AlreadyExists(QmdError):
    """The name is taken."""
