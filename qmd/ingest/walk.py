"""Directory walk: the files of a collection on disk."""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qmd.errors import RootMissing, RootUnreadable
from qmd.reports import Report
from qmd.text import kinds
from qmd.text.globs import ignoring, taking
from qmd.types import Collection, LeftOut

if TYPE_CHECKING:
    import pathspec

EXCLUDED = frozenset({".git", "node_modules", ".cache", "vendor", "dist", "build"})
"""Folders that are never entered. Source: tobi/qmd (MIT), src/store.ts. Dot folders too."""

LARGEST = 64_000_000
"""Bytes of a file that is still indexed: a text of this size is a log or a dump."""

ASTRAY = "a link that leads out of the collection, or nowhere"

_STAR = re.compile(
    r"\[\^/\]\*(?P<fixed>(?:\\.|\[\^?\]?(?:\\.|[^\]\\])*\](?!\*)|[^\\\[/()])*?)(?=\[\^/\]\*)", re.S
)
"""Pattern of a star in a rule of pathspec, and the text up to the next star of the same name."""

LATEST = (1 << 63) - 1
"""Nanoseconds after 1970 that can be stored: a file of a later year than 2262 gets this time, one
of an earlier year than 1677 its negative."""


@dataclass(slots=True)
class Found:
    """Files in columns, to be compared in one statement.

    Attributes:
        paths: relative to the root, with `/`.
        skipped: (path, reason)
        unread: files that could not be read and, with a `/`, folders that could not be
            listed; they and what is below them are not gone.
        began: nanoseconds since the epoch, before the first of them was looked at.
        mask: of the collection.
        passed_over: files that the mask does not take.
        too_large: files over the limit.
        ctimes: nanoseconds: of the last change in any way, which no program can set back, as
            `rsync -t` does with the other time.
    """

    paths: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    mtimes: list[int] = field(default_factory=list)
    inodes: list[int] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    began: int = field(default_factory=time.time_ns)
    mask: str = ""
    passed_over: list[str] = field(default_factory=list)
    too_large: int = 0
    ctimes: list[int] = field(default_factory=list)

    def is_unread(self, path: str) -> bool:
        """Check that a path could not be read, or lies in a folder that could not be listed."""
        return any(
            path == place or (path.startswith(place) and place.endswith("/"))
            for place in self.unread
        )

    @property
    def left_out(self) -> list[LeftOut]:
        """Count the files that are left out, by suffix, the most frequent first."""
        counts = Counter(map(kinds.suffix_of, self.passed_over))
        found = [
            LeftOut(suffix, count, kinds.why_left_out(f"a{suffix}", self.mask))
            for suffix, count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
        ]
        if self.too_large:
            found.append(LeftOut(None, self.too_large, f"over {LARGEST // 1_000_000} MB"))
        return found


def walk(collection: Collection) -> Found:
    """List all files of a collection, sorted by path.

    Raises:
        RootMissing: the folder is not there or no folder.
        RootUnreadable: it cannot be read.
    """
    root = os.path.realpath(collection.root)
    try:
        is_there = Path(root).is_dir()
    except OSError as error:
        raise _unreadable(collection, error) from error
    if not is_there:
        raise RootMissing(collection.name, collection.root)
    found = Found(mask=collection.mask)
    for path, size, mtime, inode, ctime in sorted(
        _files(root, collection, found), key=itemgetter(0)
    ):
        if not path.isprintable() and _undecodable(path):
            found.skipped.append((_shown(path), "the name is not valid UTF-8"))
        elif size > LARGEST:
            shown, limit = size // 1_000_000, LARGEST // 1_000_000
            found.skipped.append((path, f"too large ({shown} MB, the limit is {limit} MB)"))
            found.unread.append(path)
            found.too_large += 1
        else:
            found.paths.append(path)
            found.sizes.append(size)
            found.mtimes.append(mtime if -LATEST < mtime < LATEST else _bounded(mtime))
            found.inodes.append(inode)
            found.ctimes.append(_bounded(ctime))
    return found


def has_files(collection: Collection) -> bool:
    """Return whether a folder has a file of its collection with anything in it.

    Raises:
        RootMissing, RootUnreadable: as `walk` does.
    """
    if not Path(collection.root).is_dir():
        raise RootMissing(collection.name, collection.root)
    files = _files(os.path.realpath(collection.root), collection, Found())
    return any(0 < size <= LARGEST for _, size, *_ in files)


def same(collection: Collection, found: Found, unusable: Sequence[tuple[str, str]] = ()) -> Report:
    """Build the report of a collection without changes.

    Args:
        unusable: (path, reason) of files that cannot be indexed.
    """
    return Report(
        collection.name,
        collection.mask,
        unchanged=len(found.paths) - len(unusable),
        skipped=[*found.skipped, *unusable],
        left_out=found.left_out,
    )


def _unreadable(collection: Collection, error: OSError) -> RootUnreadable:
    problem = (error.strerror or str(error)).lower()
    return RootUnreadable(collection.name, collection.root, problem)


def _bounded(mtime: int) -> int:
    return min(max(mtime, -LATEST), LATEST)


def _files(
    root: str, collection: Collection, found: Found
) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield path, size, time, inode and time of the last change of any kind of every regular file.

    Of the others, nothing but their names is looked at.
    """
    wanted = taking(collection.mask, collection.ignored, collection.converted)
    ignores = ignoring(collection.ignored)
    entered = {root}
    above = _rules_above(root) if collection.respect_gitignore else ()
    waiting: list[tuple[str, str, tuple[_Rules, ...]]] = [(root, "", above)]
    while waiting:
        folder, prefix, rules = waiting.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            if folder == root:
                raise _unreadable(collection, error) from error
            found.skipped.append((_shown(prefix), error.strerror or str(error)))
            found.unread.append(prefix)
            continue
        if collection.respect_gitignore:
            rules = (*rules, *_rules(folder + "/.gitignore", prefix))
        folders = []
        for entry in entries:
            path = prefix + entry.name
            follow = False
            try:
                if entry.is_symlink():
                    if not collection.follow_symlinks:
                        continue
                    if not stays_inside(entry.path, root):
                        if wanted(path) and not (rules and _is_ignored(rules, path, False)):
                            found.skipped.append((_shown(path), ASTRAY))
                        continue
                    follow = True
                if entry.is_dir(follow_symlinks=follow):
                    if entry.name in EXCLUDED or entry.name.startswith("."):
                        continue
                    if rules and _is_ignored(rules, path, True):
                        continue
                    real = os.path.realpath(entry.path) if collection.follow_symlinks else path
                    if real not in entered:
                        entered.add(real)
                        folders.append((entry.path, path + "/", rules))
                elif wanted(path) and not (rules and _is_ignored(rules, path, False)):
                    info = entry.stat(follow_symlinks=follow)
                    if stat.S_ISREG(info.st_mode):
                        stats = info.st_size, info.st_mtime_ns, info.st_ino, info.st_ctime_ns
                        yield path, *stats
                elif entry.is_file(follow_symlinks=follow):
                    is_meant = wanted(path) or ignores(path) or entry.name.startswith(".")
                    if not is_meant and not (rules and _is_ignored(rules, path, False)):
                        found.passed_over.append(path)
                elif follow:
                    entry.stat()  # a link that leads nowhere may have led to a folder
            except OSError as error:
                found.skipped.append((_shown(path), error.strerror or str(error)))
                if error.errno != errno.ENOENT:
                    found.unread += [path, path + "/"]
        waiting.extend(reversed(folders))


def stays_inside(path: str, root: str) -> bool:
    """Check that a path leads to a place below a folder, given by its real path."""
    real = os.path.realpath(path)
    return real == root or real.startswith(root.rstrip("/") + "/")


def _undecodable(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return True
    return False


def _shown(path: str) -> str:
    """Format a path for messages; it may contain bytes that are not UTF-8."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True)
class _Rules:
    """Rules of one .gitignore.

    Attributes:
        prefix: its folder, as seen from the collection.
        patterns: those further down have the last word.
        above: the collection, as seen from its folder, if that is further up.
    """

    prefix: str
    patterns: Sequence[pathspec.RegexPattern]
    above: str = ""

    def ignores(self, path: str, is_folder: bool) -> bool | None:
        """Return the verdict on a path, or None without a rule; its folders are checked before."""
        inside = self.above + path[len(self.prefix) :] + ("/" if is_folder else "")
        return _said(self.patterns, inside)


def _said(patterns: Sequence[pathspec.RegexPattern], path: str) -> bool | None:
    """Return the verdict of the last pattern that matches the path itself, not a folder of it."""
    for pattern in reversed(patterns):
        if pattern.include is not None and _is_about(pattern, path):
            return pattern.include
    return None


def _is_about(pattern: pathspec.RegexPattern, path: str) -> bool:
    found = pattern.match_file(path)
    if found is None:
        return False
    # Where there is such a group, it is the slash behind the folder that matched.
    ends = found.match.groupdict().get("ps_d")
    return ends is None or found.match.end("ps_d") == len(path)


def _is_ignored(rules: tuple[_Rules, ...], path: str, is_folder: bool) -> bool:
    """Return the verdict of the deepest .gitignore with a matching rule."""
    for rule in reversed(rules):
        ignored = rule.ignores(path, is_folder)
        if ignored is not None:
            return ignored
    return False


def _rules(file: str, prefix: str, above: str = "") -> list[_Rules]:
    """Read the rules of a .gitignore: none or one. See `_Rules`."""
    try:
        with open(file, encoding="utf-8-sig", errors="replace", opener=_unfollowed) as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                return []
            lines = opened.read().split("\n")
    except OSError:
        return []
    import pathspec

    patterns: list[Any] = []
    for line in lines:
        with suppress(ValueError, re.error):  # as in git, an invalid line is no rule
            patterns += map(_bounded_rule, pathspec.GitIgnoreSpec.from_lines([line]).patterns)
    ways = [above[: slash.end()] for slash in re.finditer("/", above)]
    if any(_said(patterns, way) for way in ways):
        # A collection of an ignored folder is meant to have its files.
        patterns = [each for each in patterns if not any(_is_about(each, way) for way in ways)]
    return [_Rules(prefix, patterns, above)]


def _bounded_rule(rule: Any) -> Any:
    """Rewrite a rule so that its time is linear in the path, however many `*` it has.

    Of `*a*b`, the first `a` will do for the first star: it need not be looked for again if no `b`
    comes after it. pathspec does look again, which takes hours for a dozen stars.
    """
    import pathspec

    if rule.include is None:
        return rule
    regex = _STAR.sub(r"(?>[^/]*?\g<fixed>)", rule.regex.pattern)
    return pathspec.RegexPattern(re.compile(regex), include=rule.include)


def _rules_above(root: str) -> tuple[_Rules, ...]:
    """Read the rules above a collection, up to the top of its work tree.

    Args:
        root: a real path.
    """
    folders = [Path(root), *Path(root).parents]
    tops = [number for number, each in enumerate(folders) if os.path.lexists(each / ".git")]
    if not tops:
        return ()
    rules: list[_Rules] = []
    for folder in reversed(folders[: tops[0] + 1]):
        inside = root[len(str(folder)) :].strip("/")
        above = f"{inside}/" if inside else ""
        if folder == folders[tops[0]]:
            exclude = f"{folder}/.git/info/exclude"
            if os.path.realpath(exclude) == exclude:
                rules += _rules(exclude, "", above)
        if above:
            rules += _rules(f"{folder}/.gitignore", "", above)
    return tuple(rules)


def _unfollowed(path: str, flags: int) -> int:
    """Open a file that may be a link out of the collection, or a pipe that never ends."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
