"""Script files of a project that a shell command runs, by the words of the command.

A word counts if it is the path of a file inside the project or the collection: `./sync.sh`,
`sh tools/pull.sh`, `cd tools && ./pull.sh`. So does the file that a well-known runner reads:
`make`, `npm run`, `python -m tools.pull`. Variables, patterns and what a script runs in turn are
not followed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from qmd import safe_open
from qmd.named_tuple import NamedTuple

MAX_NESTED_COMMANDS = 4
"""Levels of commands within commands that are examined: `sh -c '…'`."""

READ_BY = {
    "make": ("GNUmakefile", "makefile", "Makefile"),
    "gmake": ("GNUmakefile", "makefile", "Makefile"),
    "just": ("justfile", ".justfile", "Justfile"),
    "npm": ("package.json",),
    "pnpm": ("package.json",),
    "yarn": ("package.json",),
    "rake": ("Rakefile", "rakefile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
}
"""Files that task runners read by default."""

WRITERS = frozenset({"touch", "mkdir", "rm", "rmdir", "tee"})
"""Commands that only create or remove the files that they name."""

COPIERS = frozenset({"cp", "mv", "ln", "install"})
"""Commands that create the last of the files that they name."""

_OPERATOR = re.compile(r"[<>]*[;&|()][<>;&|()]*")
"""Operators after which another command may begin."""

_TO = re.compile(r"[0-9]*(>>|>\||&>|&>>|>)|-o|--output")
"""Operators before the name of an output file.

A file that the command creates is none of its scripts.
"""

_HERE = re.compile(r"^(\$PWD|\$\{PWD\}|\$\(pwd\)|`pwd`)/")


class Script(NamedTuple):
    """A script file that a command runs.

    Attributes:
        name: below the project if it is there, else its whole path.
        target: the same of where it really is, which a link decides.
        digest: SHA-256 of its content; None: it cannot be read, or is no file.
    """

    name: str
    target: str
    digest: str | None


def scripts(command: str, root: Path, project: Path) -> tuple[Script, ...]:
    """Find the script files of a project that a command runs, sorted by name.

    Args:
        root: folder that the command runs in.
    """
    homes = list(dict.fromkeys(Path(os.path.abspath(each)) for each in (root, project)))  # noqa: PTH100
    words = list(dict.fromkeys(_words(command)))
    for word in words:  # folders that it may go to, or name for others to go to
        homes += [place for place in _places(word, homes[:2]) if os.path.isdir(place)]  # noqa: PTH112
    found = {}
    for word in words:
        for path in _places(word, list(dict.fromkeys(homes))):
            if path not in found and _is_runnable(path):
                target = Path(os.path.realpath(path))
                found[path] = Script(
                    _named(path, project), _named(target, project.resolve()), _digest(target)
                )
    return tuple(found[path] for path in sorted(found))


def _words(command: str, depth: int = MAX_NESTED_COMMANDS) -> Iterator[str]:
    """Yield the words of a command that may be paths, including quoted commands."""
    tokens = _tokens(command)
    made = _made(tokens) if "`" not in command else set()
    before = ""
    for at, token in enumerate(tokens):
        written, before = _TO.fullmatch(before), token
        if written or at in made or token.startswith("--output="):
            continue
        word = _HERE.sub("", token)
        yield word
        yield word.strip("`")
        yield word.partition("=")[2]
        yield from READ_BY.get(word.rpartition("/")[2], ())
        module = word.replace(".", "/")
        yield from (f"{module}.py", f"{module}/__main__.py", f"{word}/__main__.py")
        if depth and re.search(r"[\s;&|<>()`'\"]", word):
            yield from _words(word.replace("`", " "), depth - 1)


def _made(tokens: list[str]) -> set[int]:
    """Find the positions of words that name files which the command creates or removes.

    A command would take back its own approval if what it makes counted as a script of it. A word
    with a command inside of it is never one of these.
    """
    made, first, last = set(), "", -1
    for at, token in enumerate([*tokens, ";"]):
        if _OPERATOR.fullmatch(token):
            if first in COPIERS:
                made.add(last)
            first, last = "", -1
        elif not first:
            first = token
        elif "$(" not in token:
            last = at
            if first in WRITERS:
                made.add(at)
        else:
            last = -1
    return made


def _tokens(command: str) -> list[str]:
    """Split a command into words and operators; roughly, if its quotes do not match."""
    # A line break ends a command, which shlex takes for a blank.
    lexer = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:
        return re.findall(r"[<>]+|[;&|()]+|[^\s;&|<>()`'\"]+", command.replace("\n", " ; "))


def _places(word: str, homes: list[Path]) -> Iterator[Path]:
    """Yield the paths of a word below some folders, if inside of the first two."""
    if not word or "\0" in word:
        return
    for home in homes:
        path = Path(os.path.normpath(home / word))
        if any(inside == path or inside in path.parents for inside in homes[:2]):
            yield path


def _is_runnable(path: Path) -> bool:
    """Check that something exists at the path and is no folder. A word may exceed a file name."""
    return os.path.exists(path) and not os.path.isdir(path)  # noqa: PTH110, PTH112


def _named(path: Path, project: Path) -> str:
    return str(path.relative_to(project) if project in path.parents else path)


def _digest(path: Path) -> str | None:
    try:
        with os.fdopen(safe_open.opened(path, os.O_RDONLY), "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
