"""Rules of a .gitignore as regular expressions on bytes, in git's reading of them.

They match what git matches, byte by byte: classes such as `[[:alpha:]]`, escapes in sets, blanks at
the end, several stars, and capitals where `core.ignorecase` says so. A match takes time linear in
the path, however many stars a rule has: of `*a*b`, the first `a` will do for the first star, and it
is not looked for again; the same holds for the folders between two `**`.

Source of the rules: gitignore(5), and the behaviour of `git check-ignore`, to which tests compare.
"""

from __future__ import annotations

import re
from functools import cache

from qmd.named_tuple import NamedTuple

_SPECIAL = re.compile(rb"[*?\[\\]")
_NAMED = {
    b"alnum": rb"0-9A-Za-z",
    b"alpha": rb"A-Za-z",
    b"blank": rb" \t",
    b"cntrl": rb"\x00-\x1f\x7f",
    b"digit": rb"0-9",
    b"graph": rb"!-~",
    b"lower": rb"a-z",
    b"print": rb" -~",
    b"punct": rb"!-/:-@\[-`{-~",
    b"space": rb" \t\n\r\f\v",
    b"upper": rb"A-Z",
    b"xdigit": rb"0-9A-Fa-f",
}
"""Classes of characters by their names, in ASCII, as parts of a set."""

_STAR = b"*"
_FOLDERS = b"**"


class _Invalid(Exception):
    """The rule matches nothing."""


class Rule(NamedTuple):
    """A rule of a .gitignore.

    Attributes:
        is_negated: what it matches is not ignored.
        only_folders: it ends with a slash.
        only_name: it is about the last name of a path.
    """

    pattern: re.Pattern[bytes]
    is_negated: bool
    only_folders: bool
    only_name: bool

    def is_about(self, path: bytes, *, is_folder: bool) -> bool:
        """Check that the rule matches a path itself, not a folder of it."""
        if self.only_folders and not is_folder:
            return False
        name = path[path.rfind(b"/") + 1 :] if self.only_name else path
        return self.pattern.fullmatch(name) is not None


def rules(text: bytes, *, ignore_case: bool = False) -> list[Rule]:
    """Read the rules of a file, those that match nothing left out.

    Args:
        ignore_case: capitals and small letters of ASCII are the same.
    """
    lines = text.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return [rule for line in lines if (rule := _rule(line, ignore_case=ignore_case)) is not None]


def _rule(line: bytes, *, ignore_case: bool) -> Rule | None:
    if not line or line.startswith(b"#"):
        return None
    text = _trimmed(line.removesuffix(b"\r"))
    is_negated = text.startswith(b"!")
    text = text.removeprefix(b"!")
    only_folders = text.endswith(b"/")
    text = text.removesuffix(b"/")
    if not text:
        return None
    only_name = b"/" not in text
    try:
        regex = _name(text) if only_name else _path(text.removeprefix(b"/"))
    except _Invalid:
        return None
    flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
    return Rule(_compiled(regex, flags), is_negated, only_folders, only_name)


@cache
def _compiled(regex: bytes, flags: int) -> re.Pattern[bytes]:
    return re.compile(regex, flags)


def _trimmed(line: bytes) -> bytes:
    """Take off the blanks at the end, but for an escaped one."""
    kept = line.rstrip(b" ")
    if kept == line:
        return line
    escapes = len(kept) - len(kept.rstrip(b"\\"))
    return line[: len(kept) + 1] if escapes % 2 else kept


def _path(text: bytes) -> bytes:
    """Convert a rule with a slash in it, which is about a whole path."""
    # What stands before the first mark is compared by itself: so in `a**/b`, `**` begins a rule.
    found = _SPECIAL.search(text)
    if found is None:
        return re.escape(text)
    start, rest = text[: found.start()], text[found.start() :]
    stars = len(rest) - len(rest.lstrip(b"*"))
    if start and not start.endswith(b"/") and stars > 1 and rest[stars : stars + 1] in (b"", b"/"):
        names = rest[stars + 1 :].split(b"/") if rest[stars:] else []
        return re.escape(start) + _folders([_FOLDERS, *names], b".*")
    return _folders(text.split(b"/"), b".+")


def _folders(names: list[bytes], all_below: bytes) -> bytes:
    """Convert names of folders, of which `**` stands for any number.

    Args:
        all_below: what `**` at the end stands for.
    """
    groups: list[list[bytes]] = [[]]
    for number, name in enumerate(names):
        if len(name) > 1 and not name.strip(b"*"):
            if number == 0 or len(groups) == 1 or groups[-1]:
                groups.append([])
        else:
            groups[-1].append(_name(name.removesuffix(b"\\") if _is_escaping(name) else name))
    first, *others = (b"/".join(group) for group in groups)
    if not others:
        return first
    *between, last = others
    regex = first + b"/" if first else b""
    regex += b"".join(rb"(?>(?:[^/]+/)*?" + each + b"/)" for each in between)
    return regex + (rb"(?:.*/)?" + last if last else all_below)


def _is_escaping(name: bytes) -> bool:
    """Check that a name ends with a backslash that escapes the slash behind it."""
    return (len(name) - len(name.rstrip(b"\\"))) % 2 == 1


def _name(text: bytes) -> bytes:
    """Convert a name with `*`, `?`, sets and escapes; no more than one star is tried again."""
    pieces = [b""]
    at = 0
    while at < len(text):
        mark = text[at : at + 1]
        at += 1
        if mark == _STAR:
            if pieces[-1] or len(pieces) == 1:
                pieces.append(b"")
        elif mark == b"?":
            pieces[-1] += b"[^/]"
        elif mark == b"[":
            regex, at = _set(text, at)
            pieces[-1] += regex
        else:
            if mark == b"\\":
                mark, at = text[at : at + 1], at + 1
                if not mark:
                    raise _Invalid
            pieces[-1] += re.escape(mark)
    first, *others = pieces
    if not others:
        return first
    *between, last = others
    return first + b"".join(rb"(?>[^/]*?" + each + b")" for each in between) + rb"[^/]*" + last


def _set(text: bytes, at: int) -> tuple[bytes, int]:
    """Convert a set of characters; what it says of slashes does not count.

    Args:
        at: behind the bracket that opens it.

    Returns:
        The set, and the place behind it.
    """
    is_negated = text[at : at + 1] in (b"!", b"^")
    at += is_negated
    members = b""
    before = b""  # member that may begin a range
    first = at
    while True:
        member = text[at : at + 1]
        if not member:
            raise _Invalid
        if member == b"]" and at > first:
            break
        at += 1
        if member == b"-" and before and text[at : at + 1] not in (b"]", b""):
            end, at = _member(text, at)
            if before <= end:
                members += re.escape(before) + b"-" + re.escape(end)
            before = b""
        elif member == b"[" and text[at : at + 1] == b":" and (close := text.find(b"]", at)) >= 0:
            if text[close - 1 : close] == b":" and close - 1 > at:
                named = _NAMED.get(text[at + 1 : close - 1])
                if named is None:
                    raise _Invalid
                members, at, before = members + named, close + 1, b""
            else:
                members, before = members + rb"\[", member
        else:
            if member == b"\\":
                member, at = _member(text, at - 1)
            members, before = members + re.escape(member), member
    if is_negated:
        return b"[^/" + members + b"]", at + 1
    return (rb"(?!/)[" + members + b"]" if members else b"(?!)"), at + 1


def _member(text: bytes, at: int) -> tuple[bytes, int]:
    """Read a character of a set, which may be escaped, and the place behind it."""
    if text[at : at + 1] == b"\\":
        at += 1
    if at >= len(text):
        raise _Invalid
    return text[at : at + 1], at + 1
