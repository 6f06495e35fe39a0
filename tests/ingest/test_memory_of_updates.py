"""Memory of an update of very many files."""

from __future__ import annotations

import gc
import io
import tracemalloc
import weakref
from contextlib import ExitStack, nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.errors import NotEnoughMemory
from qmd.ingest import grouping
from qmd.ingest.folder_changes import Change, FolderChanges
from qmd.ingest.indexed_terms import indexed_vocabulary
from qmd.ingest.memory import keep_memory, return_memory
from qmd.ranking import postings_reader
from qmd.ranking.sidecar_file import Packer
from qmd.ranking.sidecar_format import POSTINGS

KINDS = st.lists(st.sampled_from(["new", "changed", "gone"]), max_size=12)


@given(KINDS)
def test_changes_are_those_that_were_added_in_their_order(kinds):
    paths = [f"{at}.md" for at in range(len(kinds))]
    made = {
        "new": lambda at: Change(at, None, paths[at], None, None),
        "changed": lambda at: Change(at, at, paths[at], "hash", "checksum"),
        "gone": lambda at: Change(None, at, f"gone {at}.md", "hash", "checksum"),
    }
    given_ones = [made[kind](at) for at, kind in enumerate(kinds)]
    changes = FolderChanges(paths)
    changes.add(given_ones)
    assert (list(changes), len(changes)) == (given_ones, len(given_ones))
    assert [changes[at] for at in range(len(kinds))] == given_ones
    assert changes[1:3] == given_ones[1:3]
    assert list(reversed(changes)) == given_ones[::-1]


def test_new_files_are_kept_as_their_places():
    paths = [f"{at}.md" for at in range(50_000)]
    tracemalloc.start()
    try:
        changes = FolderChanges(paths)
        changes.add_new(range(25_000))
        changes.add(Change(at, None, paths[at], None, None) for at in range(25_000, 50_000))
        [taken, _] = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken < 16 * len(paths)
    assert [each.path for each in changes] == paths


def test_the_words_of_an_update_are_free_when_it_is_done(library):
    library.write("a.md", "green tea")
    library.update()
    gc.disable()
    try:
        with ExitStack() as held:
            vocabulary = indexed_vocabulary(library.engine.database, held)
            vocabulary.resolved(["tea", "cup"])
            assert [word for word, _ in vocabulary.take_new()] == ["cup"]
            there = weakref.ref(vocabulary)
            del vocabulary
            assert there() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("change", [keep_memory, return_memory])
def test_the_allocator_is_left_as_it_is_on_windows(monkeypatch, change):
    monkeypatch.setattr("ctypes.CDLL", lambda _: pytest.fail("it cannot load the process itself"))
    with pytest.raises(pytest.fail.Exception):
        change()
    monkeypatch.setattr("sys.platform", "win32")
    change()


def limit(cursor):
    return cursor.connection.execute("select current_setting('memory_limit')").fetchone()[0]


def test_texts_are_grouped_with_less_memory_for_duckdb_than_others_have(library, monkeypatch):
    library.write("a.md", "green tea")
    seen = []
    monkeypatch.setattr(
        grouping, "_is_unsettled", lambda cursor: seen.append(limit(cursor)) or False
    )
    library.update()
    assert set(seen) == {"244.1 MiB"}
    assert library.engine.database.read(limit) == "953.6 MiB"


@pytest.mark.parametrize("fails", [0, 1, 2])
def test_work_for_which_little_memory_is_not_enough_runs_again_with_all_of_it(library, fails):
    database, seen = library.engine.database, []

    def work():
        seen.append(database.read(limit))
        if len(seen) <= fails:
            raise NotEnoughMemory
        return "done"

    with pytest.raises(NotEnoughMemory) if fails > 1 else nullcontext():
        assert database.sparingly(work) == "done"
    assert seen == ["244.1 MiB", "953.6 MiB"][: fails + 1]
    assert database.read(limit) == "953.6 MiB"


@pytest.mark.parametrize("rows", ["DOCUMENTS_AT_ONCE", "WORDS_AT_ONCE"])
def test_a_sidecar_of_rows_in_parts_is_that_of_all_at_once(library, monkeypatch, rows):
    for name in ("a", "b", "c", "d", "e"):
        library.write(f"{name}é.md", f"# Title {name}\n\ngreen tea {name}")
    library.update()

    def packed():
        file = io.BytesIO()
        packer = Packer(file, POSTINGS)
        library.engine.read(
            lambda cursor: postings_reader.pack(cursor, packer, goes_on=lambda: None)
        )
        return file.getvalue()

    whole = packed()
    monkeypatch.setattr(postings_reader, rows, 2)
    assert packed() == whole
    assert "aé.md".encode() in whole
