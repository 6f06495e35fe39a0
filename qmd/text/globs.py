"""Glob patterns with `**`, braces and comma lists."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

from qmd.errors import UsageError
from qmd.text import kinds

_ANY_WITH_SUFFIX = re.compile(r"\*\*/\*(?P<suffix>\.[A-Za-z0-9_]+)")

_SET = re.compile(r"\[[!^]?+\]?+(?:\\.|[^\]\\/])*\]")

_MARKS = re.compile(r"[*?\[{\\]")
"""Characters that stand for others in a glob."""

_FOLDERS = r"(?:(?!(?:[/]|^)\.).)*?(?:^|[/]+)"
"""Pattern of `**/` in a glob of wcmatch."""

MOST, MOST_DEPTHS, LONGEST = 200, 6, 4096
"""Alternatives of braces, `**` in a glob, and characters of a glob, at most.

More may take minutes.
"""

Matches = Callable[[str], bool]


_CLASS = re.compile(r"\[[!^]?\]?[^\]\[/{}]*\]")
"""Characters of which one matches, as in `[a,b]`."""


def split_mask(mask: str) -> list[str]:
    """Split a comma list of globs; commas in braces and in `[…]` do not split."""
    parts, depth, start, inside = [], 0, 0, 0
    for at, character in enumerate(mask):
        if at < inside:
            continue
        if character == "[":
            found = _CLASS.match(mask, at)
            inside = found.end() if found else at
        elif character == "{":
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
    composed makes no difference, nor do capital letters in the suffix: `*.md` matches `TEA.MD`.

    Raises:
        UsageError: the patterns stand for too many.
    """
    suffixes = [_ANY_WITH_SUFFIX.fullmatch(pattern) for pattern in patterns]
    if all(suffixes):
        # The usual masks need no library, which takes longer to load than to walk a folder.
        endings = tuple(match["suffix"].lower() for match in suffixes if match)
        longest = max(map(len, endings), default=0)

        def has_suffix(path: str) -> bool:
            known = path.endswith(endings) or path[-longest:].lower().endswith(endings)
            return known and not path.startswith(".") and "/." not in path

        return has_suffix
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
        each = [re.compile(_bounded(pattern)) for pattern in positive]
        return lambda path: any(pattern.fullmatch(path) for pattern in each)

    exact = compiled([_with_low_suffix(pattern) for pattern in patterns])
    # A name may come from a file system that decomposes characters, and a pattern not.
    composed = compiled(
        [unicodedata.normalize("NFC", _with_low_suffix(pattern)) for pattern in patterns]
    )

    def matches(path: str) -> bool:
        path = _with_low_suffix(path)
        return exact(path) or (not path.isascii() and composed(unicodedata.normalize("NFC", path)))

    return matches


def _bounded(pattern: str) -> str:
    """Rewrite a pattern of wcmatch so that many `**` take no longer than one.

    Of `**/a/**/b`, the first folder `a` will do: no other one needs to be tried if no `b` is below
    it.
    """
    first, *between, last = pattern.split(_FOLDERS) if _FOLDERS in pattern else ("", pattern)
    if not between:
        return pattern
    return "".join([first, *(f"(?>{_FOLDERS}{part})" for part in between), _FOLDERS, last])


def _with_low_suffix(path: str) -> str:
    """Lower the case of the suffix of a path or a glob."""
    at = path.rfind(".")
    return path if at < 0 or "/" in path[at:] else path[:at] + path[at:].lower()


def literal_folder(glob: str) -> str:
    """Return the folder that all matches of a glob are in, ending with a /; '' if none is certain.

    Paths that are not ASCII may match from another spelling of it.
    """
    literal = _MARKS.split(glob, maxsplit=1)[0]
    folder = literal[: literal.rfind("/") + 1]
    is_plain = all(part not in ("", ".", "..") for part in folder.split("/")[:-1])
    return folder if is_plain else ""


def taking(mask: str, ignored: Sequence[str], converted: Sequence[str] = ()) -> Matches:
    """Compile the mask and the ignored globs of a collection to one matcher of paths.

    Args:
        mask: globs, and names of groups of kinds such as `documents`.
        converted: globs of files that commands convert, which are documents.
        ignored: globs of excluded files; one with a `/` at the end is a
            folder with all that is below it, as in a .gitignore.
    """
    wanted = _wanted(split_mask(mask), converted)
    if not ignored:
        return wanted
    is_unwanted = ignoring(ignored)
    return lambda path: wanted(path) and not is_unwanted(path)


def taken_suffixes(mask: str) -> frozenset[str]:
    """Return suffixes, in small letters, of files that a mask takes in every folder.

    It may take others, too. Names and folders that begin with a dot are apart.
    """
    parts = split_mask(mask)
    found = [_ANY_WITH_SUFFIX.fullmatch(part) for part in parts]
    own = frozenset(match["suffix"].lower() for match in found if match)
    return own | kinds.suffixes_of([part for part in parts if kinds.is_group(part)])


def ignoring(ignored: Sequence[str]) -> Matches:
    """Compile the ignored globs of a collection to a matcher. See `taking`."""
    folders = [pattern for pattern in ignored if pattern.endswith("/") and pattern.strip("/")]
    names = [pattern for pattern in ignored if pattern not in folders]
    ways = [matcher(names)] if names else []
    if folders:
        ways.append(_below(folders))
    return lambda path: any(way(path) for way in ways)


def _wanted(parts: Sequence[str], converted: Sequence[str]) -> Matches:
    groups = [part for part in parts if kinds.is_group(part)]
    patterns = [part for part in parts if part not in groups]
    if not groups:
        return matcher(patterns)
    ways = [kinds.taking(groups)]
    if patterns:
        ways.append(matcher(patterns))
    if converted:
        is_converted = matcher(converted)
        ways.append(lambda path: is_converted(path) or is_converted(path.rpartition("/")[2]))
    return ways[0] if len(ways) == 1 else lambda path: any(way(path) for way in ways)


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


_TOKEN = re.compile(
    r"\\.|\*\*/?|\*|\?|\[(?P<not>[!^])?(?P<set>\][^\]/]*|[^\]/]+)\]|[{},]|[^\\*?\[{},]+|.", re.S
)

_TRANSLATED = {"*": "[^/]*", "?": "[^/]", "**": ".*", "**/": "(?:.*/)?", "{": "(?:", "}": ")"}


def under_folder(pattern: str) -> str:
    """Return a regular expression for documents under a folder, or that a glob matches.

    It is for `collection/path`, and of the kind that RE2 understands. The pattern begins in the
    collection, or with its name; a glob without `/` matches at any depth, as in a .gitignore.
    What lies below a folder that matches, matches as well.

    Raises:
        UsageError: the pattern is empty or too long, names a path on disk, is never closed, or has
            a range that ends before it begins.
    """
    parts = [part.removesuffix("/") for part in split_mask(unicodedata.normalize("NFC", pattern))]
    if not any(parts) or len(pattern) > LONGEST:
        problem = f"is longer than {LONGEST} characters" if any(parts) else "is empty"
        raise UsageError(
            f"The path {problem}.\n\nName a folder or a glob, such as 'journal/2024-*'."
        )
    check_closed(pattern)
    found = []
    for part in filter(None, parts):
        if part.startswith(("/", "~", "./")) or ".." in part.split("/"):
            raise UsageError(
                f"'{part}' is a path on disk.\n\nName a folder as it is called below that of its "
                "collection, such as 'docs/api', or a glob such as 'journal/2024-*'."
            )
        anywhere = "/" not in part and any(mark in part for mark in "*?[")
        found.append(("(?:.*/)?" if anywhere else "(?:[^/]*/)?") + _regular(part))
    return f"(?s:(?:{'|'.join(found)})(?:/.*)?)"


def _regular(glob: str) -> str:
    """Translate a glob to a regular expression.

    Raises:
        UsageError: a range ends before it begins, or a brace is never closed.
    """
    parts, depth = [], 0
    for token in _TOKEN.finditer(glob):
        text = token[0]
        if token["set"] is not None:
            parts.append(f"[{'^/' if token['not'] else ''}{_members(token['set'], glob)}]")
        elif text == "," and depth:
            parts.append("|")
        elif text in _TRANSLATED and (text != "}" or depth):
            depth += {"{": 1, "}": -1}.get(text, 0)
            parts.append(_TRANSLATED[text])
        else:
            parts.append(re.escape(text.removeprefix("\\")))
    if depth:
        raise UsageError(
            f"The '{{' in '{glob}' is never closed.\n\nFor a name that has one, write '\\{{'."
        )
    return "".join(parts)


def _members(found: str, glob: str) -> str:
    """Translate the characters between brackets: single ones, and ranges such as `a-z`.

    Raises:
        UsageError: a range ends before it begins.
    """
    parts = []
    for first, last, one in re.findall(r"(.)-(.)|(.)", found, re.S):
        if first > last:
            raise UsageError(
                f"The range '{first}-{last}' in '{glob}' ends before it begins.\n\n"
                f"Write [{last}-{first}], or put a '-' that stands for itself last."
            )
        parts.append("-".join(map(_escaped, (first, last))) if first else _escaped(one))
    return "".join(parts)


def _escaped(character: str) -> str:
    return f"\\{character}" if character in "\\[]^-&|~" else character
