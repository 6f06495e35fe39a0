"""Which files a mask means."""

from __future__ import annotations

import unicodedata
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from wcmatch import glob

from qmd.errors import UsageError
from qmd.text.globs import check_closed, check_mask, matcher, matches_nothing, split_mask, taking

NAME = st.text(".abm_dtx-\n é", min_size=1, max_size=6)
PATH = st.lists(NAME | st.sampled_from(["a.md", ".md", ".git"]), min_size=1, max_size=4).map(
    "/".join
)


def reference(path, patterns):
    return glob.globmatch(
        path, patterns, flags=glob.GLOBSTAR | glob.BRACE | glob.FORCEUNIX, limit=0
    )


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ("**/*.md", ["**/*.md"]),
        ("a.md,*.txt", ["a.md", "*.txt"]),
        (" a.md , , b.md ,", ["a.md", "b.md"]),
        ("{a,b}.md,c.md", ["{a,b}.md", "c.md"]),
        ("{a,{b,c}},d", ["{a,{b,c}}", "d"]),
        ("a},b", ["a}", "b"]),
        ("", []),
    ],
)
def test_a_mask_is_split_at_commas_outside_braces(mask, expected):
    assert split_mask(mask) == expected


@pytest.mark.parametrize("mask", ["**/*.md", "a..b/*", "...", "docs/{a,b}/*.md", "*.md,*.txt"])
def test_a_mask_below_the_folder_is_accepted(mask):
    check_mask(mask)


@pytest.mark.parametrize(
    "mask", ["{a,b}" * 30, "x/{1..1000000000}.md", "**/" * 30 + "a", "{a,/" * 9999]
)
def test_a_mask_that_stands_for_too_many_is_refused_at_once(mask):
    with pytest.raises(UsageError, match=r"^The glob .* has .*\n\nWrite a simpler one"):
        matcher([mask])


@pytest.mark.parametrize("mask", ["**/a/" * 6 + "b.md", "{a,b}/**/a/**/*a*/**/a/**/[ab]/**/a/b.md"])
def test_a_mask_with_folders_at_any_depth_ends(mask):
    is_one = matcher([mask])
    assert is_one("a/" * 60 + "b.md")
    assert not is_one("a/" * 60 + "c.md")


@given(
    st.lists(
        st.sampled_from(["**/", "/**/", "**", "*", "a/", "b", ".a/", "[ab.]", "?"]), max_size=8
    ),
    st.lists(st.text("ab.", min_size=1, max_size=3), min_size=1, max_size=9).map("/".join),
)
@settings(deadline=None)
def test_a_mask_with_many_stars_means_what_the_library_means(parts, path):
    mask = "".join(parts)
    if mask.count("**") <= 6 and mask:
        assert matcher([mask])(path) == reference(path, [mask])


@pytest.mark.parametrize("mask", ["**/a/**/b/**/c", "a/**/b/**/c", "**/a*/**/.a/**/b", "**/*/**/a"])
def test_folders_at_any_depth_are_matched_as_by_the_library(mask):
    is_one = matcher([mask])
    names = ["a", "b", "c", ".a"]
    paths = ["/".join(parts) for size in range(1, 6) for parts in product(names, repeat=size)]
    expected = [path for path in paths if reference(path, [mask])]
    assert expected
    assert [path for path in paths if is_one(path)] == expected


@pytest.mark.parametrize("mask", ["", "  ", ",,"])
def test_an_empty_mask_is_refused(mask):
    with pytest.raises(UsageError, match="at least one pattern"):
        check_mask(mask)


@pytest.mark.parametrize(
    ("mask", "culprit"),
    [
        ("/etc/*", "/etc/*"),
        ("~/notes/*.md", "~/notes/*.md"),
        ("../**", "../**"),
        ("a/../b.md", "a/../b.md"),
        ("{..,a}/*.md", "{..,a}/*.md"),
        ("*.md,../*.md", "../*.md"),
    ],
)
def test_a_mask_that_leaves_the_collection_is_refused_by_name(mask, culprit):
    with pytest.raises(UsageError) as refused:
        check_mask(mask)
    assert str(refused.value).startswith(f"The mask '{culprit}' leaves the collection.")


@given(PATH, st.lists(st.sampled_from([".md", ".txt", ".t", ".m"]), min_size=1, max_size=3))
@example("a.md\n", [".md"])
@example(".a/b.md", [".md"])
@settings(deadline=None, max_examples=300)
def test_the_usual_masks_mean_what_wcmatch_means(path, suffixes):
    patterns = [f"**/*{suffix}" for suffix in suffixes]
    assert matcher(patterns)(path) == reference(path, patterns)


@given(
    PATH,
    st.lists(
        st.sampled_from(["*.md", "**", "a/**", "**/.*", "{a,b}/**/*.{md,txt}", "[ab]*", "?.md"]),
        min_size=1,
        max_size=3,
    ),
)
@example("a.md\n", ["*.md"])
@settings(deadline=None, max_examples=300)
def test_other_masks_mean_what_wcmatch_means(path, patterns):
    assert matcher(patterns)(path) == reference(path, patterns)


def test_the_usual_masks_need_no_library(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "wcmatch", None)
    matches = matcher(["**/*.md", "**/*.txt"])
    assert matches("a/b.txt")
    with pytest.raises(ImportError):
        matcher(["**/*.md", "docs/*"])


@pytest.mark.parametrize("path", [".a.md", "b/.a.md", ".b/a.md", "a/.b/c/a.md", "b/.md"])
def test_a_name_that_begins_with_a_dot_is_not_matched_by_a_star(path):
    assert not matcher(["**/*.md"])(path)
    assert not matcher(["**/*.md", "**/x"])(path)


def test_a_pattern_that_says_so_matches_a_name_that_begins_with_a_dot():
    matches = matcher(["**/.*.md", ".notes/*.md"])
    assert matches(".a.md")
    assert matches("b/.a.md")
    assert matches(".notes/a.md")
    assert not matches(".other/a.md")


def test_two_stars_reach_into_folders_and_one_does_not():
    assert matcher(["**/*.md"])("a.md")
    assert matcher(["docs/**/*.md"])("docs/a/b/c.md")
    assert matcher(["docs/**/*.md"])("docs/c.md")
    assert not matcher(["docs/*.md"])("docs/a/c.md")


def test_braces_are_alternatives():
    matches = matcher(["{docs,notes/**}/*.{md,txt}"])
    assert all(map(matches, ["docs/a.md", "docs/a.txt", "notes/x/a.txt"]))
    assert not any(map(matches, ["docs/a.rst", "docs/x/a.md", "a.md"]))


def test_case_and_brackets_are_taken_as_they_are_written():
    assert not matcher(["A/*.md"])("a/b.md")
    assert not matcher(["a*"])("A")
    assert matcher(["[[]draft[]].md"])("[draft].md")
    assert matcher(["**/*.md"])("[draft] (1) #2 & 100%_.md")


def test_an_exclamation_mark_is_no_negation():
    assert not matcher(["*.md", "!a.md"])("b.txt")
    assert matcher(["*.md", "!a.md"])("a.md")


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("written", ["NFC", "NFD"])
@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("**/résumé*.md", "d/résumé 1.md"),
        ("d/r?sum?s/*", "d/résumés/a.md"),
        ("d/[é-ê]/*", "d/é/a.md"),
    ],
)
def test_how_characters_are_composed_makes_no_difference(form, written, pattern, path):
    matches = matcher([unicodedata.normalize(written, pattern)])
    assert matches(unicodedata.normalize(form, path))
    assert not matches("d/resume.md")


@pytest.mark.parametrize(
    ("mask", "mark"),
    [("[a", "["), ("a,**/[b*.md", "["), ("[!]x", "["), ("[a/b]", "["), ("*.{md,txt", "{")],
)
def test_a_mark_that_is_never_closed_is_told_with_what_a_name_that_has_it_needs(mask, mark):
    with pytest.raises(UsageError) as caught:
        check_closed(mask)
    assert f"The '{mark}' in the mask" in str(caught.value)
    assert str(caught.value).endswith(f"write '\\{mark}'.")


@pytest.mark.parametrize(
    ("mask", "path"),
    [
        ("[ab]*.md", "a.md"),
        ("[]a].md", "].md"),
        ("[!a].md", "b.md"),
        (r"\[a.md", "[a.md"),
        ("[[]a.md", "[a.md"),
        ("a].md", "a].md"),
        ("{a,b}.{md,txt}", "b.txt"),
        (r"\{a.md", "{a.md"),
        ("a}.md", "a}.md"),
    ],
)
def test_a_mark_that_is_closed_or_meant_as_it_is_is_accepted(mask, path):
    check_closed(mask)
    assert matcher(split_mask(mask))(path)


@pytest.mark.parametrize(
    ("ignored", "gone"),
    [
        ("private/", {"private/a.md", "private/x/.b.md", "work/private/c.md"}),
        ("work/private/", {"work/private/c.md"}),
        ("pri*/", {"private/a.md", "private/x/.b.md", "work/private/c.md"}),
        ("**/x/", {"private/x/.b.md"}),
        ("private", set()),
        ("/", set()),
        ("private/*", {"private/a.md"}),
    ],
)
def test_a_slash_in_the_end_means_a_folder_with_all_below_it(ignored, gone):
    paths = {"private/a.md", "private/x/.b.md", "work/private/c.md", "private.md", "a/private"}
    takes = taking("**,**/.*", [ignored])
    assert {path for path in paths if not takes(path)} == gone
    takes = taking("**,**/.*", [ignored, "private.md"])
    assert {path for path in paths if not takes(path)} == gone | {"private.md"}


@pytest.mark.parametrize("pattern", ["/private/", "./a.md", "~/notes/x.md", "../x/**", "a/../b"])
def test_a_glob_that_begins_elsewhere_than_at_the_collection_matches_nothing(pattern):
    assert matches_nothing(pattern)


@pytest.mark.parametrize("pattern", ["private/", "~$*", "**/a.md", "..."])
def test_other_globs_may_match_something(pattern):
    assert not matches_nothing(pattern)
