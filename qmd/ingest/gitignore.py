"""Files that git ignores: by .gitignore, info/exclude or core.excludesFile, and not tracked."""

from __future__ import annotations

import os
import re
import stat
import warnings
from collections.abc import Container, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from qmd.ingest.git_index import Tracked, tracked

if TYPE_CHECKING:
    import pathspec

_STAR = re.compile(
    r"\[\^/\]\*(?P<fixed>(?>\\.|\[\^?+\]?+(?:\\.|[^\]\\])*+\](?!\*)|[^\\\[/()])*?)(?=\[\^/\]\*)",
    re.S,
)
"""Pattern of a star in a rule of pathspec, and the text up to the next star of the same name."""

_FOLDERS, _FIRST_FOLDERS = "(?:/.+)?", "^(?:.+/)?"
"""Patterns of `**` in a rule of pathspec, and of one at its beginning."""


_LARGEST = 4_000_000
"""Characters of a file of rules that are read."""

_LONGEST_PATH = 8192
"""Bytes of a path in a file of git."""

_LEADING_ASTRAY = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE"})
"""Variables that name another repository than that of a folder."""


class _Rule(NamedTuple):
    """A rule of a .gitignore.

    Attributes:
        pattern: without a slash at the end of the rule, which pathspec takes for all that is below.
        only_folders: the rule ends with a slash.
    """

    pattern: pathspec.RegexPattern
    only_folders: bool

    def is_about(self, path: str) -> bool:
        """Check that the rule matches a path itself, not a folder of it.

        Args:
            path: with a slash at the end, if it is that of a folder.
        """
        if self.only_folders and not path.endswith("/"):
            return False
        found = self.pattern.match_file(path)
        if found is None:
            return False
        # Where there is such a group, it is the slash behind the folder that matched.
        ends = found.match.groupdict().get("ps_d")
        return ends is None or found.match.end("ps_d") == len(path)


@dataclass(frozen=True, slots=True)
class _Rules:
    """Rules of one .gitignore.

    Attributes:
        prefix: its folder, as seen from the collection.
        patterns: those further down have the last word.
        above: the collection, as seen from its folder, if that is further up.
    """

    prefix: str
    patterns: Sequence[_Rule]
    above: str = ""

    def ignores(self, path: str, is_folder: bool) -> bool | None:
        """Return the verdict on a path, or None without a rule; its folders are checked before."""
        inside = self.above + path[len(self.prefix) :] + ("/" if is_folder else "")
        return _said(self.patterns, inside)


def _said(patterns: Sequence[_Rule], path: str) -> bool | None:
    """Return the verdict of the last pattern that matches the path itself, not a folder of it."""
    for rule in reversed(patterns):
        if rule.is_about(path):
            return rule.pattern.include
    return None


def _is_ignored(rules: tuple[_Rules, ...], path: str, is_folder: bool) -> bool:
    """Return the verdict of the deepest .gitignore with a matching rule."""
    for rule in reversed(rules):
        ignored = rule.ignores(path, is_folder)
        if ignored is not None:
            return ignored
    return False


def _rules(file: str, prefix: str, above: str = "", *, follow: bool = False) -> list[_Rules]:
    """Read the rules of a .gitignore: none or one. See `_Rules`."""
    opener = _followed if follow else _unfollowed
    try:
        with open(file, encoding="utf-8-sig", errors="replace", opener=opener) as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                return []
            lines = opened.read(_LARGEST).split("\n")
    except OSError:
        return []
    patterns = [rule for line in lines for rule in _parsed(line)]
    ways = [above[: slash.end()] for slash in re.finditer("/", above)]
    if any(_said(patterns, way) for way in ways):
        # A collection of an ignored folder is meant to have its files.
        patterns = [each for each in patterns if not any(each.is_about(way) for way in ways)]
    return [_Rules(prefix, patterns, above)]


def _parsed(line: str) -> list[_Rule]:
    """Read a line of a .gitignore: one rule or none."""
    import pathspec

    _keep_quiet()
    line = line.removesuffix("\r")
    text = line.rstrip(" ")
    if (len(text) - len(text.rstrip("\\"))) % 2:
        text = line[: len(text) + 1]  # an escaped blank belongs to the name
    only_folders = text.endswith("/") and not text.startswith("#")
    text = text.removesuffix("/")
    if text.endswith("/**"):
        text += "/*"  # not the folder itself, which pathspec would take, too
    with suppress(ValueError, re.error):  # as in git, an invalid line is no rule
        known = pathspec.GitIgnoreSpec.from_lines([text]).patterns
        bounded: list[Any] = [_bounded_rule(each) for each in known]
        return [_Rule(each, only_folders) for each in bounded if each.include is not None]
    return []


@cache
def _keep_quiet() -> None:
    """Leave out warnings of `re` about sets such as `[[:alpha:]]`, as git does."""
    for module in ("pathspec", "qmd.ingest.gitignore"):
        warnings.filterwarnings("ignore", "Possible (nested )?set", FutureWarning, module)


def _bounded_rule(rule: Any) -> Any:
    """Rewrite a rule so that its time is linear in the path, however many `*` or `**` it has.

    Of `*a*b`, the first `a` will do for the first star: it need not be looked for again if no `b`
    comes after it. pathspec does look again, which takes hours for a dozen stars. The same holds
    for the folders between two `**`.
    """
    import pathspec

    if rule.include is None:
        return rule
    regex = _STAR.sub(r"(?>[^/]*?\g<fixed>)", rule.regex.pattern)
    first, *between = regex.split(_FOLDERS)
    if between:
        if first.startswith(_FIRST_FOLDERS):
            first = f"^(?>(?:.+?/)??{first.removeprefix(_FIRST_FOLDERS)}(?=/))"
        *between, last = between
        between = [f"(?>(?:/.+?)??{part}(?=/))" for part in between]
        regex = "".join([first, *between, _FOLDERS, last])
    return pathspec.RegexPattern(re.compile(regex), include=rule.include)


class Checkout:
    """Work tree of a repository.

    Args:
        git: its folder in the repository: `.git`, or what a file of that name leads to.
        prefix: the work tree, as seen from the collection.
        above: the collection, as seen from the work tree, if that is further up.
    """

    def __init__(self, git: str, prefix: str, above: str = "") -> None:
        self._git, self._prefix, self._above = git, prefix, above
        self._tracked: Tracked | None = None

    def tracks(self, path: str) -> bool:
        """Check that git tracks a file."""
        return self._known.has(self._inside(path))

    def tracks_below(self, path: str) -> bool:
        """Check that git tracks something in a folder."""
        return self._known.has_below(self._inside(path))

    @property
    def _known(self) -> Tracked:
        if self._tracked is None:  # most often, nothing is ignored that has to be looked up
            self._tracked = tracked(self._git)
        return self._tracked

    def _inside(self, path: str) -> str:
        return self._above + path[len(self._prefix) :]


class Ignored(NamedTuple):
    """Rules of git for a folder.

    Attributes:
        rules: the last ones decide.
        checkout: the work tree, or None.
        only_tracked: the folder is ignored, but has tracked files.
    """

    rules: tuple[_Rules, ...] = ()
    checkout: Checkout | None = None
    only_tracked: bool = False

    def ignore(self, path: str) -> bool:
        """Check that a file is ignored; those that git tracks are not."""
        return self._matches(path, False) and not (self.checkout and self.checkout.tracks(path))

    def of_folder(self, path: str) -> Ignored | None:
        """Return what is ignored in a folder, or None for all of it."""
        if not self._matches(path, True):
            return self
        is_tracked = self.checkout is not None and self.checkout.tracks_below(path)
        return self._replace(only_tracked=True) if is_tracked else None

    def inside(self, folder: str, prefix: str, names: Container[str]) -> Ignored:
        """Add what a folder itself says.

        Args:
            names: of all that is in the folder.
        """
        here = self
        if prefix and ".git" in names and (git := _repository(folder)):
            here = Ignored(_of_repository(folder, git, prefix), Checkout(git, prefix))
        if ".gitignore" in names and not here.only_tracked:
            here = here._replace(rules=(*here.rules, *_rules(f"{folder}/.gitignore", prefix)))
        return here

    def _matches(self, path: str, is_folder: bool) -> bool:
        if self.only_tracked:
            return True
        return bool(self.rules) and _is_ignored(self.rules, path, is_folder)


NOTHING = Ignored()
"""Nothing is ignored."""


def above(root: str) -> Ignored:
    """Return what is ignored by rules above a collection, up to the top of its work tree.

    Args:
        root: a real path.
    """
    folders = [Path(root), *Path(root).parents]
    tops = [number for number, each in enumerate(folders) if os.path.lexists(each / ".git")]
    if not tops:
        return NOTHING
    top = str(folders[tops[0]])
    inside = root[len(top) :].strip("/")
    way = f"{inside}/" if inside else ""
    git = _repository(top)
    rules = [*_of_repository(top, git or f"{top}/.git", "", way, is_whole=git is not None)]
    for folder in reversed(folders[1 : tops[0] + 1]):
        inside = root[len(str(folder)) :].strip("/")
        rules += _rules(f"{folder}/.gitignore", "", f"{inside}/")
    return Ignored(tuple(rules), Checkout(git, "", way) if git else None)


def _of_repository(
    folder: str, git: str, prefix: str, above: str = "", *, is_whole: bool = True
) -> tuple[_Rules, ...]:
    """Read the rules of a repository outside of its work tree, the least ones first.

    Args:
        is_whole: it is a repository, for which the user's own rules hold.
    """
    rules: list[_Rules] = []
    common = git
    if is_whole:
        common = os.path.realpath(os.path.join(git, _line(f"{git}/commondir")))  # noqa: PTH118
        if users := _users_file(folder):
            rules += _rules(users, prefix, above, follow=True)
    exclude = f"{common}/info/exclude"
    if os.path.realpath(exclude) == exclude:
        rules += _rules(exclude, prefix, above)
    return tuple(rules)


def _repository(folder: str) -> str | None:
    """Return the folder in the repository of a work tree, or None."""
    git = f"{folder}/.git"
    if Path(git).is_file():  # of a submodule, or a further work tree
        begin, _, place = _line(git).partition("gitdir: ")
        if begin or not place:
            return None
        git = os.path.join(folder, place)  # noqa: PTH118
    return git if os.path.lexists(f"{git}/HEAD") else None


def _line(file: str) -> str:
    """Read the line of a small file; '' without one."""
    try:
        with open(file, "rb", opener=_unfollowed) as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                return ""
            return os.fsdecode(opened.read(_LONGEST_PATH)).rstrip("\r\n").replace("\0", "")
    except OSError:
        return ""


def _users_file(folder: str) -> str | None:
    """Return the file of rules that the user has for all repositories: `core.excludesFile`."""
    import subprocess

    # Neither of them may lead git to another repository: qmd may run in one of its hooks.
    kept = {name: value for name, value in os.environ.items() if name not in _LEADING_ASTRAY}
    command = ["git", "-C", folder, "config", "--type=path", "--get", "core.excludesFile"]
    with suppress(OSError, ValueError, subprocess.SubprocessError):
        done = subprocess.run(
            command,
            env=kept,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=10,
            check=False,
        )
        if done.returncode == 0:
            name = os.fsdecode(done.stdout.removesuffix(b"\n"))
            return os.path.join(folder, name) if name else None  # noqa: PTH118
    home = kept.get("XDG_CONFIG_HOME") or os.path.join(kept.get("HOME", ""), ".config")  # noqa: PTH118
    return f"{home}/git/ignore" if home.startswith("/") else None


def _unfollowed(path: str, flags: int) -> int:
    """Open a file that may be a link out of the collection, or a pipe that never ends."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def _followed(path: str, flags: int) -> int:
    """Open a file of the user, which may be a link."""
    return os.open(path, flags | os.O_NONBLOCK)
