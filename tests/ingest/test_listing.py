"""Listing of a folder: compiled, and in plain Python."""

from __future__ import annotations

import errno
import os
import tempfile
from contextlib import closing
from pathlib import Path
from threading import active_count, current_thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qmd.ingest import listing
from qmd.ingest.walk import has_files, walk
from qmd.types import Collection

pytestmark = pytest.mark.skipif(listing._compiled is None, reason="nothing was compiled")

MD = frozenset({".md"})


@pytest.fixture
def folder(tmp_path):
    """A folder with a bit of everything."""
    for name in ("b.md", "a.MD", "é.md", "c.txt", ".hidden.md", "md", "x.", "y.md.gz", "z.é"):
        (tmp_path / name).write_text(name)
    (tmp_path / "sub.md").mkdir()
    (tmp_path / "sub.md" / "deep.md").write_text("deep")
    (tmp_path / "link.md").symlink_to("b.md")
    (tmp_path / "nowhere.md").symlink_to("missing")
    (tmp_path / "folders.md").symlink_to("sub.md")
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / ".gitignore").write_text("c*\n")
    os.utime(tmp_path / "b.md", ns=(0, -1))
    return tmp_path


def test_files_with_a_wanted_suffix_are_apart_from_all_others(folder):
    names, others = listing.listed(str(folder), MD)
    assert names == ["a.MD", "b.md", "é.md"]
    found = {each.name: each for each in os.scandir(folder)}
    assert {each.name for each in others} == found.keys() - set(names)
    for each in others:
        assert each.path == found[each.name].path
        assert each.is_symlink() == found[each.name].is_symlink()
        for follow in (False, True):
            here = each.is_dir(follow_symlinks=follow), each.is_file(follow_symlinks=follow)
            there = found[each.name]
            assert here == (
                there.is_dir(follow_symlinks=follow),
                there.is_file(follow_symlinks=follow),
            )


@pytest.mark.parametrize("mask", ["**/*.md", "documents", "**/*.{md,txt}", "sub*/*.md,**/*.txt"])
@pytest.mark.parametrize("ignored", [(), ("b*",), ("sub.md/",)])
@pytest.mark.parametrize("follows", [False, True])
def test_a_walk_finds_the_same_with_and_without(folder, monkeypatch, mask, ignored, follows):
    asked = Collection("n", str(folder), mask=mask, ignored=ignored, follow_symlinks=follows)
    found = walk(asked)
    with monkeypatch.context() as patch:
        patch.setattr(listing, "_compiled", None)
        plain = walk(asked)
    found.began = plain.began
    assert found == plain
    assert found.paths


def test_what_is_no_file_any_more_is_left_out_and_what_is_gone_is_an_error(folder):
    names = ["a.MD", "gone.md", "pipe.md", "b.md", "link.md"]
    found, failed = listing.facts(str(folder), names)
    assert found.paths == ["a.MD", "b.md"]
    info = (folder / "b.md").stat()
    assert [column[1] for column in found.facts] == [
        *(info.st_size, info.st_mtime_ns, info.st_ino, info.st_ctime_ns)
    ]
    [(name, error)] = failed
    assert (name, error.errno) == ("gone.md", errno.ENOENT)


def test_of_a_folder_that_is_gone_all_files_fail(tmp_path):
    found, failed = listing.facts(str(tmp_path / "gone"), ["a.md", "b.md"])
    assert found.paths == []
    assert [(name, error.errno) for name, error in failed] == [
        ("a.md", errno.ENOENT),
        ("b.md", errno.ENOENT),
    ]


@settings(max_examples=60)
@given(st.sets(st.text("ab.éÿ🍵", max_size=11), max_size=9))
def test_names_are_in_the_order_of_their_bytes_each_with_its_own_facts(names):
    with tempfile.TemporaryDirectory() as folder:
        encoded = sorted(os.fsencode(f"{name}z.md") for name in names)
        for size, name in enumerate(encoded):
            Path(folder, os.fsdecode(name)).write_bytes(b"." * size)
        shown = [os.fsdecode(name) for name in encoded if not name.startswith(b".")]
        taken, others = listing.listed(folder, MD)
        assert taken == shown
        assert {each.name for each in others} == {os.fsdecode(name) for name in encoded} - {*shown}
        found, failed = listing.facts(folder, taken)
    assert (found.paths, failed) == (taken, [])
    assert [encoded[size] for size in found.sizes] == [os.fsencode(name) for name in taken]


@pytest.mark.parametrize("kind", ["missing", "file"])
def test_what_is_no_folder_cannot_be_listed(tmp_path, kind):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=kind):
        listing.listed(str(tmp_path / kind), MD)


@pytest.fixture
def many(tmp_path, monkeypatch):
    """Folders of which threads read the facts."""
    monkeypatch.setattr(listing, "MANY_FILES", 10)
    monkeypatch.setattr(listing, "SEVERAL_FILES", 3)
    for number in range(90):
        below = tmp_path / f"{number % 7}" / f"{number:02}"
        below.mkdir(parents=True)
        for name in ("a.md", "b.md", "C.MD", "d.txt")[: 1 + number % 4]:
            (below / name).write_text(f"{number}{name}" * (number + 1))
    return tmp_path


def test_threads_find_the_same_files(many, monkeypatch):
    collection = Collection("many", str(many), "**/*.md")
    begun = []
    read = listing.facts
    monkeypatch.setattr(
        listing, "facts", lambda *asked: begun.append(current_thread().name) or read(*asked)
    )
    found = walk(collection)
    assert len(found.paths) == sum(min(1 + number % 4, 3) for number in range(90))
    assert len(set(begun)) > 1
    monkeypatch.setattr(listing, "MANY_FILES", 1000)
    alone = walk(collection)
    assert found.paths == alone.paths
    assert [list(column) for column in found.facts] == [list(column) for column in alone.facts]


def test_what_threads_cannot_look_at_is_noted(many, monkeypatch):
    read = listing.facts

    def failing(folder, names):
        files, failed = read(folder, names)
        refused = OSError(errno.EIO, "Input/output error", f"{folder}/e.md")
        return files, [*failed, ("e.md", refused)] if folder.endswith("83") else failed

    monkeypatch.setattr(listing, "facts", failing)
    found = walk(Collection("many", str(many), "**/*.md"))
    assert found.skipped == [("6/83/e.md", "Input/output error")]
    assert found.unread == ["6/83/e.md", "6/83/e.md/"]


def test_threads_end_with_a_walk_that_stops_early(many):
    before = active_count()
    assert has_files(Collection("many", str(many), "**/*.md"))
    assert active_count() == before
    with closing(listing.FactsAhead()) as ahead:
        for folder in sorted(many.glob("6/*")):
            wait = ahead.begin(str(folder), [each.name for each in folder.iterdir()])
        assert ahead.has_threads
        assert active_count() > before
        assert wait()[0].paths
    assert active_count() == before


def test_without_further_threads_facts_are_read_by_this_one(many, monkeypatch):
    def refuse(_):
        raise RuntimeError("can't start new thread")

    expected = walk(Collection("many", str(many), "**/*.md")).paths
    monkeypatch.setattr("threading.Thread.start", refuse)
    assert walk(Collection("many", str(many), "**/*.md")).paths == expected
