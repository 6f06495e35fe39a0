"""Paths that choose documents: folders, and globs."""

from __future__ import annotations

import re

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qmd.errors import UsageError
from qmd.text.globs import under_folder

CASES = {
    "docs/api": (
        ["c/docs/api", "c/docs/api/a.md", "docs/api/deep/a.md"],
        ["c/docs/api2/a.md", "c/old/docs/api/a.md"],
    ),
    "docs/api/": (["c/docs/api/a.md"], ["c/docs/apis"]),
    "journal/2024-*": (
        ["c/journal/2024-01.md", "c/journal/2024-q1/a.md"],
        ["c/journal/2023.md", "c/journal/old/2024-01.md"],
    ),
    "*.rst": (["c/a.rst", "c/deep/down/a.rst"], ["c/a.md"]),
    "{a,b}/**/x.md": (["c/a/x.md", "c/b/q/r/x.md"], ["c/d/x.md"]),
    "**/api": (["c/x/y/api/z.md", "c/api"], ["c/apis"]),
    "[!a]*/z": (["c/b/z"], ["c/a/z"]),
    "[!-.]z": (["c/az"], ["c/-z", "c/.z"]),
    "[b-d-]z": (["c/cz", "c/-z"], ["c/az"]),
    "20??/": ([], ["c/20/4"]),
    "a+b (1)": (["c/a+b (1)/q.md"], ["c/aab 1/q.md"]),
    "notes": (["notes/x.md", "c/notes/y.md"], ["c/x/notes/y.md"]),
    r"a\*b": (["c/a*b"], ["c/axb"]),
    "x,y/z": (["c/x/1", "c/y/z/2"], ["c/y/1"]),
    "zu\u0308rich": (["c/z\u00fcrich/a.md"], []),
}


@pytest.mark.parametrize("glob", CASES)
def test_documents_below_a_folder_or_a_glob_match(glob):
    pattern = re.compile(under_folder(glob))
    inside, outside = CASES[glob]
    assert [path for path in inside if not pattern.fullmatch(path)] == []
    assert [path for path in outside if pattern.fullmatch(path)] == []


@pytest.mark.parametrize(
    "path", ["", " , ", "/etc", "~/notes", "./a", "a/../b", "a[", "{a", "[b-a]", "a" * 5000]
)
def test_what_is_no_path_of_a_collection_is_refused(path):
    with pytest.raises(UsageError):
        under_folder(path)


@example("[?-.]")
@example("[--a]")
@example("[!-.]")
@example("[!a-]")
@example("[\\/[]")
@example("[\\/{]")
@given(st.text(st.sampled_from("ab*?[]{}!^-,\\/.()|+日"), max_size=12))
def test_each_pattern_is_a_regular_expression_to_duckdb_as_well(glob):
    try:
        pattern = under_folder(glob)
    except UsageError:
        return
    name = "c/" + glob.replace("\\", "").strip("/, ")
    [found] = duckdb.execute("select regexp_full_match(?, ?)", [name, pattern]).fetchone()
    assert found == bool(re.fullmatch(pattern, name))
