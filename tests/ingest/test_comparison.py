"""A folder beside the index: what is little, and what cannot be indexed as it is."""

from __future__ import annotations

import os

import pytest

from qmd.errors import CollectionNotFound
from qmd.ingest import commit, fingerprint
from qmd.ingest.compare import Comparison, compare, is_little
from qmd.ingest.converters import Converters
from qmd.ingest.extractor import Readers
from qmd.ingest.folder_changes import Change
from qmd.ingest.walk import FileTable, walk
from qmd.reports import Report
from qmd.types import Collection

NOTES = Collection("notes", "/notes")
SECOND = 1_000_000_000


def found(sizes, *, mtimes=(), began=10 * SECOND, skipped=()):
    paths = [f"{number}.md" for number in range(len(sizes))]
    times = list(mtimes) or [SECOND] * len(sizes)
    return FileTable(paths, list(sizes), times, [1] * len(sizes), list(skipped), [], began)


def changes(*places):
    return [Change(place, None, f"{place}.md", None, None) for place in places]


def comparison(files, *places):
    return Comparison(NOTES, files, changes(*places))


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([2_000_000], True),
        ([2_000_001], False),
        ([1_000_000, 1_000_000], True),
        ([1_000_000, 1_000_001], False),
        ([1] * 2000, True),
        ([1] * 2001, False),
        ([], True),
    ],
)
def test_two_million_bytes_in_two_thousand_files_are_little(sizes, expected):
    compared = comparison(found(sizes), *range(len(sizes)))
    assert is_little([compared]) is expected


def test_what_is_little_is_added_up_over_folders_and_counts_what_has_changed_alone():
    half = comparison(found([1_000_001, 9_000_000]), 0, None)
    assert is_little([half])
    assert not is_little([half, half])


def test_a_report_of_no_changes_says_what_is_there():
    files = found([1, 2], skipped=[("x.md", "unreadable")])
    assert comparison(files).nothing_changed == Report(
        "notes", "**/*.md", unchanged=2, skipped=[("x.md", "unreadable")]
    )
    assert comparison(files, 0).nothing_changed is None


@pytest.mark.parametrize(
    ("refused", "noted", "expected"),
    [
        ([], [], False),
        ([("x.md", "unreadable")], [("x.md", "unreadable")], False),
        ([("x.md", "unreadable")], [], True),
        ([], [("x.md", "unreadable")], True),
        ([("x.md", "unreadable")], [("x.md", "too large")], True),
        ([], [("0.md/inside.txt", "too large")], False),
        ([], [("gone.zip/inside.txt", "too large")], True),
    ],
)
def test_files_that_could_not_be_read_are_compared_with_those_that_are_noted(
    refused, noted, expected
):
    assert Comparison(NOTES, found([1], skipped=refused), [], unread=noted).forgets is expected


def report(*read):
    return Report("notes", "**/*.md", skipped=[("x.md", "unreadable"), *read])


EMPTY, TEXT = ("0.md", "empty"), ("1.md", "not a text file")


def test_files_that_stay_unusable_are_told_with_their_reasons():
    files = found([0, 9], skipped=[("x.md", "unreadable")])
    assert comparison(files, 0, 1).unusable(report(EMPTY, TEXT)) == [EMPTY, TEXT]
    assert comparison(files, 0).unusable(report(EMPTY)) == [EMPTY]


def test_other_changes_are_looked_at_again():
    files = found([0, 9], skipped=[("x.md", "unreadable")])
    assert comparison(files, 0, 1).unusable(report(EMPTY)) is None  # the other one was indexed
    busy = report(("0.md", "busy"))
    busy.passing.append(("0.md", "busy"))
    assert comparison(files, 0).unusable(busy) is None


@pytest.mark.parametrize(("age", "expected"), [(50_000_000, [EMPTY]), (49_999_999, None)])
def test_a_file_that_was_written_50_milliseconds_before_may_change_and_look_the_same(age, expected):
    files = found(
        [0, 5],
        mtimes=[10 * SECOND - age, 10 * SECOND],
        skipped=[("x.md", "unreadable")],
    )
    assert comparison(files, 0).unusable(report(EMPTY)) == expected


def test_what_another_process_has_indexed_since_the_walk_is_not_gone(library):
    def write(name):
        """As if long ago: what was written just now is looked at again."""
        library.write(name, name)
        os.utime(library.root / name, (1_600_000_000, 1_600_000_000))

    write("old.md")
    library.write("staying.txt", "other files say that the disk is there")
    collection = library.engine.collection("notes")
    before = walk(collection)
    write("new.md")
    library.update()
    assert not compare(library.engine.database, collection, before).changes
    (library.root / "old.md").unlink()
    before = walk(collection)
    (library.root / "new.md").unlink()
    found = compare(library.engine.database, collection, before).changes
    assert [(each.place, each.path) for each in found] == [(None, "old.md")]
    found = compare(library.engine.database, collection).changes
    assert [(each.place, each.path) for each in found] == [(None, "new.md"), (None, "old.md")]


def test_files_are_read_again_where_what_has_read_them_is_there_no_more(library):
    for name in ("a.md", "b.md", "c.md"):
        library.write(name, "tea")
        os.utime(library.root / name, (1_600_000_000, 1_600_000_000))
    library.update()
    library.engine.database.write(
        lambda cursor: cursor.connection.execute(
            "update documents set reader = 'mine 1' where path = 'b.md'"
        )
    )
    collection = library.engine.collection("notes")

    def places(*tags):
        readers = Readers(None, Converters([], tags))
        found = compare(library.engine.database, collection, readers=readers).changes
        return [(each.place, each.path) for each in found]

    assert places("mine 1") == []
    assert places("mine 2") == [(1, "b.md")]
    (library.root / "c.md").unlink()
    for name in ("a.md", "b.md"):
        library.write(name, "green tea")
    assert places("mine 2") == [(0, "a.md"), (1, "b.md"), (None, "c.md")]
    found = compare(library.engine.database, collection).changes  # without commands of the user
    assert [each.path for each in found] == ["a.md", "b.md", "c.md"]


def test_notes_of_files_that_can_be_read_by_now_are_to_be_removed(library):
    library.write("a.md", "tea")
    os.utime(library.root / "a.md", (1_600_000_000, 1_600_000_000))
    library.update()
    collection = library.engine.collection("notes")
    assert compare(library.engine.database, collection).is_told
    library.engine.database.write(
        lambda cursor: commit.note_left_out(cursor, "notes", [], [], [("a.md", "unreadable")])
    )
    assert not compare(library.engine.database, collection).is_told


def test_a_collection_that_another_process_has_removed_is_not_compared(library):
    library.update()
    gone = library.engine.collection("notes")._replace(name="gone")
    with pytest.raises(CollectionNotFound):
        compare(library.engine.database, gone)


def test_a_digest_tells_apart_what_differs_in_any_column():
    columns = (["a", "b"], [1, 2], [3, 4], [5, 6])
    other = (["a", "c"], [1, 9], [3, 9], [5, 9])
    digests = {fingerprint._digest(FileTable(*columns))}
    for at in range(4):
        digests.add(fingerprint._digest(FileTable(*columns[:at], other[at], *columns[at + 1 :])))
    assert len(digests) == 5
    assert fingerprint._digest(FileTable(*columns)) in digests
    assert fingerprint._digest(
        FileTable(["x"], [2**40], [-1], [2**64 - 1])
    )  # any number there can be
