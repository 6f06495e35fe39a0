"""Rules of a .gitignore take no longer than the path of a file, and mean what git means."""

from __future__ import annotations

import subprocess
import sys
from itertools import product

import pathspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.ingest.gitignore import _bounded_rule
from qmd.ingest.walk import walk
from qmd.types import Collection


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


PARTS = ["*", "**", "/**/", "a", "b", "?", "/", "[ab]", "[!a]", "\\*", ".", "**/", "/**"]
PATHS = st.lists(st.text(alphabet="ab.*", min_size=1, max_size=6), min_size=1, max_size=4).map(
    "/".join
)


@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=9).map("".join), PATHS)
def test_a_bounded_rule_matches_what_the_rule_matches(rule, path):
    for pattern in pathspec.GitIgnoreSpec.from_lines([rule]).patterns:
        bounded = _bounded_rule(pattern)
        assert bounded.include == pattern.include
        if pattern.include is not None:
            one, other = bounded.match_file(path), pattern.match_file(path)
            assert (one is None) == (other is None)


@pytest.mark.parametrize("rule", ["**/a/**/b/**/c", "a/**/b/**/c", "**/[ab]*/**/b/**/c", "a/**/**"])
def test_folders_at_any_depth_are_matched_as_before(rule):
    [pattern] = pathspec.GitIgnoreSpec.from_lines([rule]).patterns
    bounded = _bounded_rule(pattern)
    paths = ["/".join(parts) for size in range(1, 7) for parts in product("abc", repeat=size)]
    assert [path for path in paths if bounded.match_file(path)] == [
        path for path in paths if pattern.match_file(path)
    ]
