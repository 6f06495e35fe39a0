"""Files that git ignores: by .gitignore, info/exclude or core.excludesFile, and not tracked."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Container, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from qmd import safe_open
from qmd.ingest import git_rules
from qmd.ingest.git_index import Tracked, tracked
from qmd.ingest.git_rules import Rule
from qmd.named_tuple import NamedTuple
from qmd.text import paths

_LARGEST = 4_000_000
"""Bytes of a file of rules that are read."""

_LONGEST_PATH = 8192
"""Bytes of a path in a file of git."""

_TRUE = frozenset({"true", "yes", "on", "1"})

_LEADING_ASTRAY = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE"})
"""Variables that name another repository than that of a folder."""


@dataclass(frozen=True, slots=True)
class _Rules:
    """Rules of one .gitignore.

    Attributes:
        prefix: its folder, as seen from the collection.
        patterns: those further down have the last word.
        above: the collection, as seen from its folder, if that is further up.
    """

    prefix: str
    patterns: Sequence[Rule]
    above: str = ""

    def ignores(self, path: str, is_folder: bool) -> bool | None:
        """Return the verdict on a path, or None without a rule; its folders are checked before."""
        inside = os.fsencode(self.above + path[len(self.prefix) :])
        return _said(self.patterns, inside, is_folder=is_folder)


def _said(patterns: Sequence[Rule], path: bytes, *, is_folder: bool) -> bool | None:
    """Return the verdict of the last rule that matches the path itself, not a folder of it."""
    for rule in reversed(patterns):
        if rule.is_about(path, is_folder=is_folder):
            return not rule.is_negated
    return None


def _is_ignored(rules: tuple[_Rules, ...], path: str, is_folder: bool) -> bool:
    """Return the verdict of the deepest .gitignore with a matching rule."""
    for rule in reversed(rules):
        ignored = rule.ignores(path, is_folder)
        if ignored is not None:
            return ignored
    return False


def _rules(
    file: str, prefix: str, above: str = "", *, follow: bool = False, fold: bool = False
) -> list[_Rules]:
    """Read the rules of a .gitignore: none or one. See `_Rules`."""
    opener = _followed if follow else _unfollowed
    try:
        with open(file, "rb", opener=opener) as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                return []
            text = opened.read(_LARGEST)
    except OSError:
        return []
    patterns = git_rules.rules(text, ignore_case=fold)
    ways = [os.fsencode(above[: slash.start()]) for slash in re.finditer("/", above)]
    if any(_said(patterns, way, is_folder=True) for way in ways):
        # A collection of an ignored folder is meant to have its files.
        patterns = [
            rule for rule in patterns if not any(rule.is_about(way, is_folder=True) for way in ways)
        ]
    return [_Rules(prefix, patterns, above)]


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
        fold: capitals and small letters are the same: `core.ignorecase`.
    """

    rules: tuple[_Rules, ...] = ()
    checkout: Checkout | None = None
    only_tracked: bool = False
    fold: bool = False

    @property
    def is_empty(self) -> bool:
        """True if no file is ignored."""
        return not (self.only_tracked or self.rules)

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
            known = _settings(folder)
            rules = _of_repository(git, prefix, known=known)
            here = Ignored(rules, Checkout(git, prefix), fold=known.fold)
        if ".gitignore" in names and not here.only_tracked:
            own = _rules(f"{folder}/.gitignore", prefix, fold=here.fold)
            here = here._replace(rules=(*here.rules, *own))
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
    top = paths.slashed(folders[tops[0]])
    inside = root[len(top) :].strip("/")
    way = f"{inside}/" if inside else ""
    git = _repository(top)
    known = _settings(top) if git else None
    fold = known is not None and known.fold
    rules = [*_of_repository(git or f"{top}/.git", "", way, known=known)]
    for folder in reversed(folders[1 : tops[0] + 1]):
        inside = root[len(str(folder)) :].strip("/")
        rules += _rules(f"{folder}/.gitignore", "", f"{inside}/", fold=fold)
    return Ignored(tuple(rules), Checkout(git, "", way) if git else None, fold=fold)


class _Settings(NamedTuple):
    """Settings of git for a work tree.

    Attributes:
        users: file of rules that the user has for all repositories.
        fold: `core.ignorecase`, which git sets where the file system takes no notice of case.
    """

    users: str | None = None
    fold: bool = False


def _of_repository(
    git: str, prefix: str, above: str = "", *, known: _Settings | None
) -> tuple[_Rules, ...]:
    """Read the rules of a repository outside of its work tree, the least ones first.

    Args:
        known: settings of the repository; None: the folder is no repository.
    """
    rules: list[_Rules] = []
    common, fold = git, False
    if known is not None:
        common = paths.real(os.path.join(git, _line(f"{git}/commondir")))  # noqa: PTH118
        fold = known.fold
        if known.users:
            rules += _rules(known.users, prefix, above, follow=True, fold=fold)
    exclude = f"{common}/info/exclude"
    if paths.real(exclude) == paths.slashed(exclude):
        rules += _rules(exclude, prefix, above, fold=fold)
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


def _settings(folder: str) -> _Settings:
    """Ask git for the settings of a repository that its rules depend on."""
    import subprocess

    # Neither of them may lead git to another repository: qmd may run in one of its hooks.
    kept = {name: value for name, value in os.environ.items() if name not in _LEADING_ASTRAY}
    asked = r"^core\.(excludesfile|ignorecase)$"
    home = kept.get("XDG_CONFIG_HOME") or os.path.join(kept.get("HOME", ""), ".config")  # noqa: PTH118
    users = f"{home}/git/ignore" if paths.is_absolute(home) else None
    fold = False
    with suppress(OSError, ValueError, subprocess.SubprocessError):
        done = subprocess.run(
            ["git", "-C", folder, "config", "-z", "--type=path", "--get-regexp", asked],
            env=kept,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=10,
            check=False,
        )
        for line in os.fsdecode(done.stdout).split("\0")[:-1]:
            name, _, value = line.partition("\n")
            if name == "core.ignorecase":
                fold = value.lower() in _TRUE
            else:
                users = os.path.join(folder, value) if value else None  # noqa: PTH118
    return _Settings(users, fold)


def _unfollowed(path: str, flags: int) -> int:
    """Open a file that may be a link out of the collection, or a pipe that never ends."""
    return os.open(path, flags | safe_open.UNFOLLOWED | safe_open.AT_ONCE)


def _followed(path: str, flags: int) -> int:
    """Open a file of the user, which may be a link."""
    return os.open(path, flags | safe_open.AT_ONCE)
