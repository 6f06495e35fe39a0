"""A batch of files becomes the same rows, compiled or not; what is little is done at once."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import _duckdb
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from qmd.errors import CollectionNotFound
from qmd.ingest import at_once, batches, inversion, outlines
from qmd.ingest import commit as documents
from qmd.ingest import compare as comparing
from qmd.ingest.batch_tables import batch, texts_of
from qmd.ingest.batches import Batches
from qmd.ingest.compare import compare, is_little
from qmd.ingest.extractor import Extractor, Readers
from qmd.ingest.folder_changes import Change
from qmd.ingest.reader import opened, parsed
from qmd.ingest.vocabulary import Vocabulary
from qmd.ingest.walk import FileTable, walk
from qmd.operations import collections
from qmd.operations.collections import rename_collection
from qmd.operations.update import compare_folders, update_small
from qmd.storage.cursor import Cursor
from qmd.storage.database import Database
from qmd.text.stems import terms
from qmd.types import Collection
from tests.library import Library

NAMES = st.sampled_from(
    ["a", "ab", "a b", "a-b", "a/b", "b", "é", "ê", "日", "日本", "😀", "\uffee"]
)

WORDS = [
    "Tea",
    "tea_pot",
    "parseHTTP2",
    "日本語",
    "Zürich",
    "[link](tea.md)",
    "#tag",
    "`code`",
    "7",
    "\n# Pot\n",
    "\n\t# code\n",
    "\n\n",
    "'",
    '"',
    "\\",
]
NOTES = st.lists(
    st.one_of(
        st.lists(
            st.sampled_from(WORDS),
            max_size=30,
        ).map(" ".join),
        st.text(max_size=40),
        st.just("---\ntitle: Cups\ntags: [a]\ndate: 2025-03-04\n---\n# Cups\n\x1e [a](b\x1ec)\n"),
    ),
    min_size=1,
    max_size=6,
)


def files(folder, texts):
    """The files of some texts, read, and what they say of themselves."""
    found = FileTable()
    for number, text in enumerate(texts):
        file = folder / f"{number}-note.md"
        file.write_bytes(text.encode("utf-8", "replace"))
        info = file.stat()
        found.paths.append(file.name)
        found.sizes.append(info.st_size)
        found.mtimes.append(info.st_mtime_ns)
        found.inodes.append(info.st_ino)
        found.ctimes.append(info.st_ctime_ns)
    collection = Collection("notes", str(folder), "**/*.md")
    read = [
        opened(Change(place, place or None, path, None, None), found, collection, began=0)
        for place, path in enumerate(found.paths)
    ]
    return [parsed(file) for file in read if file.text is not None]


def relations(made):
    """The rows of a batch."""
    cursor = Cursor(_duckdb.connect(":memory:"))
    found = {}
    for part in ("incoming", "texts", "postings"):
        with cursor.staged(part=getattr(made, part)):
            found[part] = cursor.connection.execute("from part").fetchall()
    return found


@pytest.mark.parametrize("named", [True, False])
@settings(deadline=None, max_examples=50)
@given(texts=NOTES)
def test_a_batch_is_the_same_either_way(tmp_path_factory, texts, named):
    made = files(tmp_path_factory.mktemp("notes"), texts)
    assume(made)
    fast = batch("notes", texts_of(made, named=named), Vocabulary(terms))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inversion, "Words", None)
        patch.setattr(outlines, "_compiled", None)
        plain = batch("notes", texts_of(made, named=named), Vocabulary(terms))
    assert relations(fast) == relations(plain)
    assert {body for _, body, _ in relations(fast)["texts"]} == {item.file.text for item in made}
    assert (fast.documents, fast.replaces) == (plain.documents, plain.replaces)
    assert sorted(fast.learnt) == sorted(plain.learnt)


def rows(library):
    """Rows of the index, without the inodes and times of files and without random numbers."""
    return {
        table: library.ask(f"select {columns} from {table} order by all")
        for table, columns in {
            "content": "*",
            "postings": "*",
            "documents": "* exclude (inode, ctime_ns, revision)",
            "words": "*",
        }.items()
    }


TEXTS = {
    "tea.md": "# Tea\n\nA [cup](cup.md) of tea_leaves, 'quoted' \"twice\" \\ and\ttabs.\n",
    "日本.md": "# 日本\n\nお茶 🍵 #tag\n",
    "front.md": "---\ntitle: It's\ndate: 2025-02-03\nn: 1e400\n---\nX\u2028y\ufffd\n",
}


def test_the_index_has_the_same_rows_either_way(tmp_path, monkeypatch):
    found = []
    for way in ("compiled", "plain"):
        if way == "plain":
            monkeypatch.setattr(inversion, "Words", None)
            monkeypatch.setattr(outlines, "_compiled", None)
        folder = tmp_path / way
        folder.mkdir()
        library = Library(folder)
        for name, text in TEXTS.items():
            library.write(name, text)
            os.utime(library.root / name, (1_700_000_000, 1_700_000_000))
        library.update()
        found.append(rows(library))
        assert library.problems() == []
    assert found[0] == found[1]
    assert len(found[0]["postings"]) > 20


def test_postings_of_documents_that_are_not_accepted_are_left_out(library, monkeypatch):
    put, times = documents.put, []

    def meanwhile(cursor, batch):
        if not times:
            cursor.connection.execute(
                "update documents set document_id = document_id + 100 where path = 'b.md'"
            )
        times.append(batch.documents)
        return put(cursor, batch)

    for name in "abc":
        library.write(f"{name}.md", f"# {name}\n\nfirst\n")
    library.update()
    for name in "abc":
        library.write(f"{name}.md", f"# {name}\n\nsecond {name * 5}\n")
    monkeypatch.setattr(documents, "put", meanwhile)
    report = library.update()
    assert times == [3, 1]
    assert report.updated == 3
    assert library.found("bbbbb") == ["b.md"]
    assert len(library.found("second")) == 3


def compared(library):
    [collection] = library.engine.folders()
    return compare(library.engine.database, collection)


def carried_out(library, comparison):
    return at_once.carry_out(
        library.engine.database,
        comparison,
        Readers(Extractor(library.engine.database.path)),
    )


def test_words_of_a_batch_that_is_not_accepted_are_learnt_for_the_next(library, monkeypatch):
    monkeypatch.setattr(batches, "BATCH_FILES", 1)
    commit, accepted = Batches.commit, []

    def overtaken(self, files, batch):
        if not accepted:
            accepted.append(None)
            library.write("a.md", "# a\n\noolong\n")
            found = compared(library)
            first = [change for change in found.changes if change.path == "a.md"]
            carried_out(library, found._replace(changes=first))
        accepted.append(commit(self, files, batch))
        return accepted[-1]

    for name in "ab":
        library.write(f"{name}.md", f"# {name}\n\nsencha {name * 5}\n")
    monkeypatch.setattr(Batches, "commit", overtaken)
    library.update()
    assert accepted[:4] == [None, True, False, True]
    assert (library.found("sencha"), library.found("bbbbb")) == (["b.md"], ["b.md"])
    assert library.found("oolong") == ["a.md"]
    assert library.problems() == []
    once = "select word from words group by word having count(*) = 1"
    assert {("sencha",), ("aaaaa",), ("bbbbb",), ("oolong",)} <= set(library.ask(once))


def test_small_changes_are_carried_out_at_once(library):
    for name in "abcd":
        library.write(f"{name}.md", f"# {name}\n\nleaf {name}\n")
    report = carried_out(library, compared(library))
    assert (report.new, report.unchanged) == (4, 0)
    library.write("a.md", "# a\n\nbud\n")
    (library.root / "b.md").unlink()
    (library.root / "c.md").rename(library.root / "e.md")
    (library.root / "f.md").write_bytes(b"\0")
    report = carried_out(library, compared(library))
    assert (report.new, report.updated, report.renamed, report.removed) == (0, 1, 1, 1)
    assert (report.unchanged, report.skipped) == (1, [("f.md", "not a text file")])
    assert sorted(library.found("leaf")) == ["d.md", "e.md"]
    assert library.problems() == []


@pytest.mark.parametrize("at_once", [1, 2, 7, 42])
def test_changes_are_the_same_whether_few_files_differ_or_all_are_compared(
    library, monkeypatch, at_once
):
    library.configure("other")
    for number in range(40):
        library.write(f"{number}.md", f"# {number}\n")
        library.write(f"{number}.md", f"# {number}\n", collection="other")
    library.write("a (b), c's/日本.md", "odd")
    for file in library.folder.rglob("*.md"):
        os.utime(file, (1_600_000_000, 1_600_000_000))  # what was written just now is read again
    library.update()
    library.write("1.md", "changed, and longer")
    (library.root / "2.md").unlink()
    (library.root / "3.md").rename(library.root / "three.md")
    library.write("a (b), c's/日本.md", "odder")
    library.write("new.md", "new")
    library.engine.database.write(
        lambda cursor: cursor.connection.execute(
            "update documents set ctime_ns = null where path = '5.md'"  # of an earlier version
        )
    )
    few = list(compare_folders(library.engine)["notes"].changes)
    paths = ["1.md", "2.md", "3.md", "5.md", "a (b), c's/日本.md", "new.md", "three.md"]
    assert [change.path for change in few] == paths
    assert [change.document_id is None for change in few].count(True) == 2
    monkeypatch.setattr(documents, "AT_A_GLANCE", at_once)
    assert list(compare_folders(library.engine)["notes"].changes) == few


@settings(max_examples=30)
@given(
    before=st.sets(NAMES, max_size=8), after=st.sets(NAMES, max_size=8), at_once=st.integers(1, 9)
)
def test_all_that_came_and_went_is_found_in_parts(before, after, at_once):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        library = Library(Path(folder))
        for name in before:
            library.write(f"{name}.md", f"# {name}\n")
        library.update()
        for name in before - after:
            (library.root / f"{name}.md").unlink()
        for name in after - before:
            library.write(f"{name}.md", f"# {name}\n")
        patched.setattr(documents, "AT_A_GLANCE", at_once)
        [collection] = library.engine.folders()
        files = walk(collection)
        columns = {
            name: getattr(files, name) for name in ("paths", "sizes", "mtimes", "inodes", "ctimes")
        }
        changes = library.engine.database.read(
            lambda cursor: documents.changes(cursor, collection="notes", **columns)
        )
        library.engine.close()
    gone = [change.path for change in changes if change.place is None]
    new = [change.path for change in changes if change.document_id is None]
    assert gone == sorted(f"{name}.md" for name in before - after)
    assert new == sorted(f"{name}.md" for name in after - before)


@pytest.mark.parametrize(
    ("files", "changed", "shares"), [(4, 1, [True]), (4, 4, [True, False]), (3, 1, [])]
)
def test_an_update_of_few_files_of_many_is_shared_out(library, monkeypatch, files, changed, shares):
    for number in range(files):
        library.write(f"{number}.md", "before")
        os.utime(library.root / f"{number}.md", (1_600_000_000, 1_600_000_000))
    library.update()
    for number in range(changed):
        library.write(f"{number}.md", f"longer, and after: {number}")
    told = []
    monkeypatch.setattr(documents, "AT_A_GLANCE", 3)
    monkeypatch.setattr(comparing, "LITTLE_FILES", 3)
    monkeypatch.setattr(Database, "share_out", lambda _, is_shared_out: told.append(is_shared_out))
    assert len(compared(library).changes) == changed
    assert told == shares
    library.update()
    assert told[-1] is False  # what puts the index in order counts on one thread


def test_what_another_process_changed_meanwhile_is_compared_again(library):
    library.write("a.md", "# a\n\nleaf\n")
    before = compared(library)
    library.update()
    library.write("a.md", "# a\n\nbud\n")
    report = carried_out(library, before)
    assert (report.new, report.updated) == (0, 1)
    assert len(library.found("bud")) == 1


def test_a_collection_that_is_removed_meanwhile_is_named(library):
    library.write("a.md", "# a\n\nleaf\n")
    before = compared(library)
    collections.remove_collection(library.engine, "notes")
    with pytest.raises(CollectionNotFound):
        carried_out(library, before)


def test_what_is_little_is_told_by_all_that_has_to_be_read(library):
    library.configure("other")
    library.write("a.md", "x" * 1_200_000)
    library.write("b.md", "y" * 800_000, collection="other")
    engine = library.engine
    assert is_little(compare_folders(engine).values())
    library.write("c.md", "z", collection="other")
    assert not is_little(compare_folders(engine).values())
    library.update()
    for file in ("notes/a.md", "other/b.md", "other/c.md"):
        (library.folder / file).unlink()
    assert is_little(compare_folders(engine).values())
    for number in range(2001):
        library.write(f"{number}.md", "x")
    assert not is_little(compare_folders(engine).values())


@pytest.mark.parametrize("named", [False, True])
def test_of_several_collections_one_that_is_gone_keeps_no_other_from_its_update(library, named):
    library.configure("other", "third")
    for collection in ("notes", "other", "third"):
        library.write("a.md", "leaf", collection=collection)
    engine = library.engine
    names = ["notes", "other", "third"] if named else []
    compared = compare_folders(engine, names)
    begun, told = [], []
    rename_collection(engine, "other", "another")
    reports, others = update_small(
        engine,
        names,
        compared,
        begun=lambda collection: begun.append(collection.name),
        told=lambda collection, _: told.append(collection.name),
    )
    assert begun == ["notes", "other", "third"]
    assert [report.new for report in reports if not report.failure] == [1, 1]
    assert others == ([] if named else ["another"])
    assert told == (begun if named else ["notes", "third"])
    assert [report.collection for report in reports if report.failure] == ["other"] * named
