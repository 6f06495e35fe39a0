"""Rules of a .gitignore take no longer than the path of a file, and mean what git means."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qmd.ingest import git_rules
from qmd.ingest.walk import walk
from qmd.types import Collection

GIT = shutil.which("git")


@pytest.mark.parametrize(
    "rule",
    ["*a" * 40 + "b", "*" * 200 + "b", "x/" + "*?" * 30 + "b", "*" + "?" * 200 + "b"],
)
def test_a_rule_with_many_stars_ends(tmp_path, rule):
    names = ["a" * 200, "a" * 200 + "b"]
    for name in names:
        (tmp_path / "x").mkdir(exist_ok=True)
        (tmp_path / "x" / name).write_text("tea")
    (tmp_path / ".gitignore").write_text(f"{rule}\n")
    found = walk(Collection("notes", str(tmp_path), mask="x/*", respect_gitignore=True))
    assert found.paths == ["x/" + "a" * 200]


@pytest.mark.parametrize("rule", ["**/a/" * 20 + "b.md", "/a/**/" + "a/**/" * 20 + "b.md"])
def test_a_rule_with_folders_at_any_depth_ends(tmp_path, rule):
    folder = tmp_path / ("a/" * 60)
    folder.mkdir(parents=True)
    for name in ("b.md", "c.md"):
        (folder / name).write_text("tea")
    (tmp_path / ".gitignore").write_text(f"{rule}\n")
    found = walk(Collection("notes", str(tmp_path), mask="**/*.md", respect_gitignore=True))
    assert found.paths == ["a/" * 60 + "c.md"]


@pytest.mark.parametrize("rule", ["[[:alpha:]]x", "*[a--b]*c", "[a&&b]", "[a||b]", "[a~~b]"])
def test_a_set_of_characters_in_a_rule_prints_nothing(tmp_path, rule):
    (tmp_path / ".gitignore").write_text(f"{rule}\n")
    program = (
        "import sys; from qmd.ingest.walk import walk; from qmd.types import Collection;"
        "walk(Collection('notes', sys.argv[1], mask='*', respect_gitignore=True))"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""


PARTS = [
    *r"""
* ** /**/ a B ? / [ab] [!a] \* . **/ /** [[:alpha:]] [a\]b] []-] [a- \ é [é] [[:x:]] [[:a] ! #
[A-b] [b-a] [^a] [--0] [a-\c] // *** a**/
""".split(),
    " ",
    "\\ ",
    "\t",
    "\r",
]
PATHS = st.lists(
    st.text(alphabet="abB.*]-é \\\t[#", min_size=1, max_size=5), min_size=1, max_size=4
)


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Ask git which of some paths a rule ignores."""
    root = tmp_path_factory.mktemp("rules")
    subprocess.run([GIT, "init", "-q", root], check=True)

    def ask(rule, paths, *, ignore_case):
        (root / ".git" / "info" / "exclude").write_bytes(rule)
        options = ["-c", f"core.ignorecase={str(ignore_case).lower()}", "-c", "core.excludesFile="]
        command = [GIT, "-C", root, *options, "check-ignore", "--no-index", "-z", "--stdin"]
        given = b"\0".join(paths)
        done = subprocess.run(command, input=given, capture_output=True, check=False)
        assert done.returncode < 2, done.stderr
        return set(done.stdout.split(b"\0")[:-1])

    return ask


def ignored(rule, paths, *, ignore_case):
    """The same, by this reading of the rule."""
    found = git_rules.rules(rule, ignore_case=ignore_case)
    return {
        path
        for path in paths
        for each in found
        if not each.is_negated
        and (
            each.is_about(path, is_folder=False)
            or any(
                each.is_about(path[: slash.start()], is_folder=True)
                for slash in re.finditer(b"/", path)
            )
        )
    }


@pytest.mark.skipif(GIT is None, reason="git is not installed")
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=6).map("".join),
    st.lists(PATHS.map("/".join), min_size=5, max_size=20),
    st.booleans(),
)
def test_a_rule_matches_what_git_matches(asked, rule, paths, ignore_case):
    names = [path for path in paths if not {".", "..", ".git"} & {*path.lower().split("/")}]
    encoded = sorted({name.encode() for name in names})
    if encoded:
        found = ignored(rule.encode(), encoded, ignore_case=ignore_case)
        assert found == asked(rule.encode(), encoded, ignore_case=ignore_case)


@pytest.mark.skipif(GIT is None, reason="git is not installed")
@pytest.mark.parametrize(
    "rule",
    ["**/a/**/b/**/c", "a/**/b/**/c", "**/[ab]*/**/b/**/c", "a/**/**", "a**/b", "a/b**", "b//"],
)
def test_folders_at_any_depth_are_matched_as_by_git(asked, rule):
    paths = [
        "/".join(parts).encode() for size in range(1, 6) for parts in product("abc", repeat=size)
    ]
    found = ignored(rule.encode(), paths, ignore_case=False)
    assert found == asked(rule.encode(), paths, ignore_case=False)
