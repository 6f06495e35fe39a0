"""The files of a collection, as they are on disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from qmd.errors import RootMissing, RootUnreadable
from qmd.ingest import listing
from qmd.ingest.walk import ASTRAY, EXCLUDED, LARGEST, walk
from qmd.types import Collection

DENIED = PermissionError(13, "Permission denied")


@pytest.fixture(autouse=True, params=["compiled", "plain"])
def _way(request, monkeypatch):
    """Walk with the compiled listing, and without."""
    if request.param == "plain":
        monkeypatch.setattr(listing, "_compiled", None)
    elif listing._compiled is None:
        pytest.skip("nothing was compiled")


def make(root, *paths, text="tea"):
    """Files with the word tea in them, or another text."""
    for path in paths:
        file = Path(root, path)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        except OSError:
            pytest.skip("this file system refuses names that are not UTF-8")
    return root


def found_in(root, **options):
    return walk(Collection("notes", str(root), **options))


def paths(root, **options):
    return sorted(found_in(root, **options).paths)


def test_a_file_comes_with_what_tells_whether_it_changed(tmp_path):
    found = found_in(make(tmp_path, "a.md"))
    info = (tmp_path / "a.md").stat()
    assert (found.paths, [*found.sizes]) == (["a.md"], [len("tea")])
    assert ([*found.mtimes], [*found.inodes]) == ([info.st_mtime_ns], [info.st_ino])
    assert found.skipped == found.unread == []


def test_files_come_in_order_of_their_paths(tmp_path):
    make(tmp_path, "b.md", "a/z.md", "a/b/c.md", "a-b.md", "c/a.md")
    assert found_in(tmp_path).paths == paths(tmp_path)


@pytest.mark.parametrize("folder", [*sorted(EXCLUDED), ".obsidian", "..."])
def test_an_excluded_folder_is_not_entered_at_any_depth(tmp_path, folder):
    make(tmp_path, f"{folder}/a.md", f"sub/{folder}/x/b.md", f"x{folder}/c.md")
    for mask in ("**/*.md", f"**/*.md,{folder}/**,**/.*/*"):
        assert paths(tmp_path, mask=mask) == [f"x{folder}/c.md"]


def test_a_mask_is_a_union_and_ignored_globs_are_taken_from_it(tmp_path):
    make(tmp_path, "a.md", "b.txt", "c.rst", "Archive/d.md", "x/e.md", "x/draft-f.md")
    options = {"mask": "**/*.{md,rst}, *.txt", "ignored": ("Archive/**", "**/{draft,old}-*")}
    assert paths(tmp_path, **options) == ["a.md", "b.txt", "c.rst", "x/e.md"]


def test_a_mask_that_leads_out_finds_nothing(tmp_path):
    make(tmp_path, "out.md", "root/in.md")
    assert paths(tmp_path / "root", mask="../**,../*.md,/**/*.md") == []


def test_symlinks_are_passed_over_unless_they_are_asked_for(tmp_path):
    make(tmp_path, "real/a.md")
    (tmp_path / "link.md").symlink_to("real/a.md")
    (tmp_path / "real/up").symlink_to("../real")
    assert paths(tmp_path) == ["real/a.md"]
    assert paths(tmp_path, follow_symlinks=True) == ["link.md", "real/a.md"]


def test_a_symlink_that_leads_out_is_never_followed(tmp_path):
    make(tmp_path, "out/a.md", "root-2/b.md", "root/in.md")
    for name, target in [("file.md", "../out/a.md"), ("sibling", "../root-2"), ("twice", "out")]:
        (tmp_path / "root" / name).symlink_to(target)
    (tmp_path / "root/out").symlink_to(tmp_path / "out")
    found = found_in(tmp_path / "root", follow_symlinks=True)
    assert found.paths == ["in.md"]
    assert found.skipped == [("file.md", ASTRAY)]
    assert found_in(tmp_path / "root").skipped == []


def test_symlinks_in_a_circle_end(tmp_path):
    make(tmp_path, "a/b/c.md")
    for name, target in [("b/up", "../.."), ("b/me", "../b"), ("x.md", "y.md"), ("y.md", "x.md")]:
        (tmp_path / "a" / name).symlink_to(target)
    found = found_in(tmp_path, follow_symlinks=True)
    assert found.paths == ["a/b/c.md"]
    assert [path for path, _ in found.skipped] == ["a/x.md", "a/y.md"]


def test_a_root_may_be_a_symlink_and_lie_in_an_excluded_folder(tmp_path):
    make(tmp_path, ".cache/build/a.md")
    (tmp_path / "link").symlink_to(".cache/build")
    assert paths(tmp_path / "link") == paths(tmp_path / ".cache/build") == ["a.md"]


def test_only_regular_files_are_found(tmp_path):
    make(tmp_path, "a.md", "folder.md/b.md")
    os.mkfifo(tmp_path / "pipe.md")
    assert paths(tmp_path) == ["a.md", "folder.md/b.md"]


def test_gitignore_counts_only_if_it_is_asked_for_and_below_its_folder(tmp_path):
    make(tmp_path, "a.md", "x/a.md", "x/b.md", "x/y/b.md", "z/b.md", "old/c.md", "z/old")
    make(tmp_path, ".gitignore", text="/a.md\nold/\n# no rule\n")
    make(tmp_path, "x/.gitignore", text="b.md\n!/b.md\n")
    kept = ["x/a.md", "x/b.md", "z/b.md", "z/old"]
    assert paths(tmp_path, mask="**", respect_gitignore=True) == kept
    assert paths(tmp_path, mask="**") == sorted([*kept, "a.md", "old/c.md", "x/y/b.md"])


def test_the_gitignore_of_a_folder_overrules_those_above_it(tmp_path):
    make(tmp_path, "a.md", "x/a.md", "x/b.md")
    make(tmp_path, ".gitignore", text="*.md\n!b.md\n")
    make(tmp_path, "x/.gitignore", text="!a.md\nb.md\n")
    assert paths(tmp_path, respect_gitignore=True) == ["x/a.md"]


@pytest.mark.parametrize("before", ["!\n", "\\\n", "[z-a]\n", "\ufeff"])
def test_what_makes_no_sense_in_a_gitignore_is_passed_over(tmp_path, before):
    make(make(tmp_path, "a.md", "b.md"), ".gitignore", text=f"{before}a.md\n")
    assert paths(tmp_path, respect_gitignore=True) == ["b.md"]


def test_a_gitignore_above_counts_up_to_the_top_of_the_work_tree(tmp_path):
    top = tmp_path / "tree"
    make(top, "a/docs/1.md", "a/docs/2.md", "a/docs/3.md", "a/docs/4.md", "a/docs/x/5.md")
    make(tmp_path, ".gitignore", text="*\n")
    make(top, ".gitignore", text="2.md\n/3.md\n/a/docs/x/\n")
    make(top, "a/.gitignore", text="!2.md\ndocs/4.md\n")
    root = top / "a/docs"
    everything = ["1.md", "2.md", "3.md", "4.md", "x/5.md"]
    assert paths(root, respect_gitignore=True) == everything  # it is in no work tree
    make(top, ".git/info/exclude", text="1.md\n")
    assert paths(root, respect_gitignore=True) == ["2.md", "3.md"]
    assert paths(root) == everything
    make(root, ".gitignore", text="!1.md\n!4.md\n")
    assert paths(root, respect_gitignore=True) == ["1.md", "2.md", "3.md", "4.md"]
    assert paths(top, respect_gitignore=True) == [f"a/docs/{number}.md" for number in range(1, 5)]


@pytest.mark.parametrize("file", [True, False])
def test_a_work_tree_may_be_one_of_another_and_ends_there(tmp_path, file):
    make(tmp_path, ".gitignore", text="*.md\n")
    make(tmp_path, ".git/HEAD", "module/docs/a.md")
    assert paths(tmp_path / "module/docs", respect_gitignore=True) == []
    make(tmp_path, "module/.git" if file else "module/.git/HEAD")
    assert paths(tmp_path / "module/docs", respect_gitignore=True) == ["a.md"]
    assert paths(tmp_path / "module", respect_gitignore=True) == ["docs/a.md"]


@pytest.mark.parametrize("rule", ["out/", "/out", "out/docs", "**", "docs"])
def test_a_folder_that_is_ignored_is_a_collection_all_the_same(tmp_path, rule):
    make(tmp_path, ".git/HEAD", "out/docs/a.md", "out/docs/b.md", "out/docs/c/d.md")
    make(tmp_path, ".gitignore", text=f"{rule}\nb.md\n")
    assert paths(tmp_path / "out/docs", respect_gitignore=True) == ["a.md", "c/d.md"]


def test_a_gitignore_that_leaves_some_in_counts_above_too(tmp_path):
    make(tmp_path, ".git/HEAD", "docs/a.md", "docs/b.txt")
    make(tmp_path, ".gitignore", text="*\n!*/\n!*.md\n")
    assert paths(tmp_path / "docs", mask="**", respect_gitignore=True) == ["a.md"]
    assert paths(tmp_path, mask="**", respect_gitignore=True) == ["docs/a.md"]


def test_a_gitignore_that_leads_elsewhere_is_not_read(tmp_path):
    make(make(tmp_path, "root/a.md", "root/docs/b.md"), ".gitignore", text="*.md\n")
    everything = ["a.md", "docs/b.md"]
    assert paths(tmp_path / "root", respect_gitignore=True) == everything
    (tmp_path / "root/.gitignore").symlink_to("../.gitignore")
    assert paths(tmp_path / "root", respect_gitignore=True) == everything
    make(tmp_path, "elsewhere/info/exclude", text="*.md\n")
    (tmp_path / "root/.git").symlink_to("../elsewhere")
    assert paths(tmp_path / "root", respect_gitignore=True) == everything
    assert paths(tmp_path / "root/docs", respect_gitignore=True) == ["b.md"]


def test_a_gitignore_that_is_no_file_is_not_read(tmp_path):
    make(tmp_path, "a.md", "b/c.md", "b/.gitignore/d")
    os.mkfifo(tmp_path / ".gitignore")
    assert paths(tmp_path, respect_gitignore=True) == ["a.md", "b/c.md"]


def test_a_name_with_any_legal_byte_is_kept_or_named(tmp_path):
    codes = [code for code in range(1, 256) if chr(code) != "/"]
    make(tmp_path, *(os.fsdecode(b"n%c.md" % code) for code in codes), os.fsdecode(b"\xe9/a.md"))
    found = found_in(tmp_path)
    assert found.paths == [f"n{chr(code)}.md" for code in codes if code < 128]
    assert {reason for _, reason in found.skipped} == {"the name is not valid UTF-8"}
    named = [f"n\\x{code:x}.md" for code in range(128, 256)]
    assert [path for path, _ in found.skipped] == [*named, "\\xe9/a.md"]


def test_names_beyond_ascii_are_kept_byte_for_byte(tmp_path):
    names = ["cafe\u0301.md", "café.md", "茶 🍵.md", "A.md", "a.md", "#1 & [2] (3) 100%_.md"]
    assert paths(make(tmp_path, *names)) == sorted(names)


@pytest.mark.parametrize("root", ["missing", "file.md", "dangling"])
def test_a_root_that_is_no_folder_is_an_error_that_names_it(tmp_path, root):
    make(tmp_path, "file.md")
    (tmp_path / "dangling").symlink_to("missing")
    with pytest.raises(RootMissing, match="Nothing was removed") as missing:
        walk(Collection("notes", str(tmp_path / root)))
    assert f"The folder of collection 'notes' is missing: {tmp_path / root}\n\n" in str(
        missing.value
    )


@pytest.mark.parametrize("call", ["scandir", "stat"])
def test_a_root_that_cannot_be_read_is_an_error_that_names_it(tmp_path, monkeypatch, call):
    def refuse(*_, **__):
        raise DENIED

    make(tmp_path, "a.md")
    with monkeypatch.context() as patch:
        patch.setattr(listing, "_compiled", None)
        patch.setattr(os, call, refuse)
        with pytest.raises(RootUnreadable, match="Nothing was removed") as refused:
            walk(Collection("notes", str(tmp_path)))
    problem = f"'notes' cannot be read (permission denied): {tmp_path}\n\n"
    assert problem in str(refused.value)


def test_a_folder_that_cannot_be_listed_is_named(tmp_path, monkeypatch):
    make(tmp_path, "a.md", "b/c.md")
    listed = os.scandir

    def scandir(path):
        if Path(path) == tmp_path / "b":
            raise DENIED
        return listed(path)

    with monkeypatch.context() as patch:
        patch.setattr(listing, "_compiled", None)
        patch.setattr(os, "scandir", scandir)
        found = found_in(tmp_path)
    assert (found.paths, found.unread) == (["a.md"], ["b/"])
    assert found.skipped == [("b/", "Permission denied")]


@pytest.mark.parametrize("kind_is_known", [True, False])
def test_a_file_whose_status_cannot_be_read_is_not_taken_for_gone(
    tmp_path, monkeypatch, kind_is_known
):
    class Entry:
        name, path = "a.md", str(tmp_path / "a.md")

        def is_symlink(self):
            return False

        def is_dir(self, *, follow_symlinks):
            return False if kind_is_known else self.stat(follow_symlinks=follow_symlinks)

        def stat(self, *, follow_symlinks):
            raise DENIED

    with monkeypatch.context() as patch:
        patch.setattr(listing, "_compiled", None)
        patch.setattr(os, "scandir", lambda _: [Entry()])
        found = found_in(tmp_path)
    assert (found.paths, found.skipped) == ([], [("a.md", "Permission denied")])
    assert "a.md" in found.unread


def test_of_files_that_are_not_wanted_only_the_names_are_looked_at(tmp_path, monkeypatch):
    class Entry:
        path = ""

        def __init__(self, name):
            self.name = name

        def is_symlink(self):
            return False

        def is_dir(self, *, follow_symlinks):
            return False

        def is_file(self, *, follow_symlinks):
            return True  # which the listing of a folder tells

        def stat(self, *, follow_symlinks):
            assert self.name == "a.md"
            return tmp_path.stat()  # no file: nothing is found

    with monkeypatch.context() as patch:
        patch.setattr(listing, "_compiled", None)
        patch.setattr(os, "scandir", lambda _: map(Entry, ["a.md", "a.png", "b.md"]))
        found = found_in(tmp_path, ignored=("b.md",))
    assert (found.paths, found.skipped) == ([], [])
    assert found.passed_over == ["a.png"]


def test_a_link_that_leads_nowhere_is_named_where_links_are_followed(tmp_path):
    for name in ("folder", "a.md"):
        (tmp_path / name).symlink_to("missing")
    found = found_in(tmp_path, follow_symlinks=True)
    assert [path for path, _ in found.skipped] == ["a.md", "folder"]
    assert found_in(tmp_path).skipped == []


def test_a_file_that_is_too_large_is_named_and_not_taken_for_gone(tmp_path):
    for name, size in [("log.md", LARGEST + 1), ("most.md", LARGEST)]:
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)
    found = found_in(tmp_path)
    assert (found.paths, found.unread) == (["most.md"], ["log.md"])
    assert found.skipped == [("log.md", "too large (64 MB, the limit is 64 MB)")]
