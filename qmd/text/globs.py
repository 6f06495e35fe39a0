"""Glob patterns with `**`, braces and comma lists."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

from qmd.errors import UsageError

_ANY_WITH_SUFFIX = re.compile(r"\*\*/\*(?P<suffix>\.[A-Za-z0-9_]+)")

_SET = re.compile(r"\[[!^]?+\]?+(?:\\.|[^\]\\/])*\]")

MOST, MOST_DEPTHS, LONGEST = 200, 6, 4096
"""Alternatives of braces, `**` in a glob, and characters of a glob, at most.

More may take minutes.
"""

Matches = Callable[[str], bool]


def split_mask(mask: str) -> list[str]:
    """Split a comma list of globs; commas in braces do not split."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(mask):
        if character == "{":
            depth += 1
        elif character == "}":
            depth = max(0, depth - 1)
        elif character == "," and depth == 0:
            parts.append(mask[start:at])
            start = at + 1
    parts.append(mask[start:])
    return [part.strip() for part in parts if part.strip()]


def check_mask(mask: str) -> None:
    """Refuse a mask that cannot match any file of a collection.

    Raises:
        UsageError: it is empty, absolute, or leads out of the collection.
    """
    parts = split_mask(mask)
    if not parts:
        raise UsageError("A mask needs at least one pattern, such as '**/*.md'.")
    for part in parts:
        if part.startswith(("/", "~")) or ".." in re.split(r"[/{},]", part):
            raise UsageError(
                f"The mask '{part}' leaves the collection.\n\n"
                "A mask is a glob below the collection's folder, such as 'docs/**/*.md'."
            )


def check_closed(mask: str) -> None:
    """Refuse a mask with an unclosed bracket or brace, which would match literally.

    Raises:
        UsageError: it has one; a name that really has it is matched by one after a backslash.
    """
    for part in split_mask(mask):
        mark = _unclosed(part)
        if mark:
            raise UsageError(
                f"The '{mark}' in the mask '{part}' is never closed.\n\n"
                f"For a name that has one, write '\\{mark}'."
            )


def _unclosed(pattern: str) -> str | None:
    at, braces = 0, 0
    while at < len(pattern):
        match pattern[at]:
            case "\\":
                at += 1
            case "[":
                closed = _SET.match(pattern, at)
                if closed is None:
                    return "["
                at = closed.end() - 1
            case "{":
                braces += 1
            case "}":
                braces = max(0, braces - 1)
        at += 1
    return "{" if braces else None


def matcher(patterns: Sequence[str]) -> Matches:
    """Compile globs to a function that matches relative paths (with `/`).

    A name that begins with a dot is only matched by a pattern that says so. How characters are
    composed makes no difference.

    Raises:
        UsageError: the patterns stand for too many.
    """
    suffixes = [_ANY_WITH_SUFFIX.fullmatch(pattern) for pattern in patterns]
    if all(suffixes):
        # The usual masks need no library, which takes longer to load than to walk a folder.
        endings = tuple(match["suffix"] for match in suffixes if match)
        return lambda path: path.endswith(endings) and not path.startswith(".") and "/." not in path
    from wcmatch import glob
    from wcmatch._wcparse import PatternLimitException

    if any(len(pattern) > LONGEST for pattern in patterns):
        raise _too_many(patterns, f"more than {LONGEST} characters")
    if any(pattern.count("**") > MOST_DEPTHS for pattern in patterns):
        raise _too_many(patterns, f"'**' more than {MOST_DEPTHS} times")
    flags = glob.GLOBSTAR | glob.BRACE | glob.FORCEUNIX

    def compiled(globs: list[str]) -> Matches:
        try:
            positive, _ = glob.translate(globs, flags=flags, limit=MOST)
        except PatternLimitException as error:
            raise _too_many(patterns, f"braces that stand for more than {MOST} globs") from error
        each = [re.compile(pattern) for pattern in positive]
        return lambda path: any(pattern.fullmatch(path) for pattern in each)

    exact = compiled(list(patterns))
    # A name may come from a file system that decomposes characters, and a pattern not.
    composed = compiled([unicodedata.normalize("NFC", pattern) for pattern in patterns])
    return lambda path: (
        exact(path) or (not path.isascii() and composed(unicodedata.normalize("NFC", path)))
    )


def taking(mask: str, ignored: Sequence[str]) -> Matches:
    """Compile the mask and the ignored globs of a collection to one matcher of paths.

    Args:
        ignored: globs of excluded files; one with a `/` at the end is a
            folder with all that is below it, as in a .gitignore.
    """
    wanted = matcher(split_mask(mask))
    folders = [pattern for pattern in ignored if pattern.endswith("/") and pattern.strip("/")]
    names = [pattern for pattern in ignored if pattern not in folders]
    unwanted = [matcher(names)] if names else []
    if folders:
        unwanted.append(_below(folders))
    if not unwanted:
        return wanted
    return lambda path: wanted(path) and not any(is_unwanted(path) for is_unwanted in unwanted)


def _below(folders: Sequence[str]) -> Matches:
    """Match paths below given folders; a bare name matches a folder at any depth."""
    whole = [folder.rstrip("/") for folder in folders]
    is_one = matcher([folder if "/" in folder else f"**/{folder}" for folder in whole])
    return lambda path: any(is_one(path[: part.start()]) for part in re.finditer("/", path))


def matches_nothing(pattern: str) -> bool:
    """Check that a glob cannot match: paths of a collection begin at its folder."""
    return pattern.startswith(("/", "./", "~/")) or ".." in pattern.split("/")


def _too_many(patterns: Sequence[str], what: str) -> UsageError:
    shown = ",".join(patterns)
    shown = shown if len(shown) <= 60 else shown[:60] + "…"
    return UsageError(f"The glob '{shown}' has {what}.\n\nWrite a simpler one, such as '**/*.md'.")
