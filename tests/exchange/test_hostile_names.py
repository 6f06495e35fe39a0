"""Names from elsewhere: no stored path leads out of the folder of its collection."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from functools import partial

import anyio
import pytest

from qmd.errors import ExportDamaged
from qmd.exchange.exporter import Wish
from qmd.ingest.folder_changes import Change
from qmd.ingest.hooks import Hooks
from qmd.ingest.reader import opened
from qmd.ingest.walk import walk
from qmd.operations.documents import below
from qmd.operations.exchange import run_export, run_import
from qmd.operations.search import search
from qmd.storage import document_lookup, maintenance
from qmd.surfaces import render
from qmd.text import paths
from qmd.wording import on_one_line
from tests.exchange.indexes import TEA, empty, retold, told
from tests.exchange.test_refused_import import resigned, unchanged

OUTSIDE = [
    "../secret/key.md",
    "a/../../secret/key.md",
    "..",
    "a/..",
    "/etc/passwd",
    "//etc/passwd",
    "",
    "a//b.md",
    "a/",
    "./a.md",
    "a/./b.md",
    "C:\\secret\\key.md",
    "c:/secret/key.md",
    "C:",
    "..\\secret\\key.md",
    "a\\..\\..\\secret\\key.md",
    "a\0b.md",
    "x" * 256,
    "é" * 128,
    "a/" * 2500 + "b.md",
]

INSIDE = [
    "a.md",
    "a/b.md",
    "..a.md",
    "a..md",
    "a/...",
    "a\\b.md",
    "\\b.md",
    "a\nb.md",
    "Q: a.md",
    "~/a",
    "é",
]
INSIDE += ["x" * 255, "é" * 127, ".a/.b", "-a", "a b", "$(a)", "%2e%2e/a"]


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_path_that_leaves_its_folder_is_no_place(path):
    assert not paths.is_below(path)
    assert paths.place("/notes", path) is None


@pytest.mark.parametrize("path", INSIDE)
def test_any_other_name_is_a_place(path):
    assert paths.place("/notes/", path) == f"/notes/{path}"
    assert os.path.commonpath(["/notes", os.path.normpath(f"/notes/{path}")]) == "/notes"


@pytest.mark.parametrize("root", ["", "notes", "../notes", "~/notes", "/notes\0"])
def test_nothing_is_below_a_folder_that_is_not_absolute(root):
    assert paths.place(root, "a.md") is None


def renamed(engine, path):
    """Give the only document of an index another path, as one from elsewhere could have it."""
    statement = "update documents set path = $path"
    engine.database.write(lambda cursor: cursor.connection.execute(statement, {"path": path}))


@pytest.fixture(scope="module")
def engine(libraries):
    """An index of one document, which gets another path in each test."""
    library = libraries()
    library.write("tea.md", TEA)
    library.update()
    return library.engine


@pytest.mark.parametrize("path", [*OUTSIDE, *INSIDE])
def test_the_index_knows_the_same_paths(engine, path):
    if "\0" in path:
        path = "a/../b"  # DuckDB takes no NUL in a parameter; see the import
    renamed(engine, path)
    stray = engine.read(maintenance.stray_paths)
    assert [each.path for each in stray] == ([] if paths.is_below(path) else [path])


@contextmanager
def watched(folder):
    """Note what is opened or listed in a folder."""
    seen = []
    active = True

    def note(event, arguments):
        if active and event in ("open", "os.scandir", "os.listdir") and arguments:
            name = arguments[0]
            if isinstance(name, str | bytes | os.PathLike):
                real = os.path.realpath(os.fsdecode(name).replace("\0", ""))
                if real.startswith(str(folder)):
                    seen.append(real)

    sys.addaudithook(note)
    try:
        yield seen
    finally:
        active = False


@pytest.mark.parametrize("path", [each for each in OUTSIDE if "\0" not in each])
def test_a_copied_index_reads_and_writes_nothing_outside(one, tmp_path, path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key.md").write_text("# Secret\n\nSwordfish.")
    engine = one.engine
    renamed(engine, path)
    roots = {each.name: each.root for each in engine.folders()}
    with watched(secret) as seen:
        [document] = below(engine, None)
        assert document.path == path
        # What is named is the text in the index, and no file.
        name = f"notes/{path}"
        for wanted in (name, f"qmd://{name}", str(one.root / path)):
            if (found := engine.read(partial(document_lookup.found, name=wanted))) is not None:
                assert found.docid == document.docid
        assert (
            engine.read(
                partial(
                    document_lookup.matching,
                    glob=f"{secret}/*",
                    documents=[document],
                    folder=tmp_path,
                )
            )
            == []
        )
        search(engine, "tea")
        engine.overview()
        link = render.editor_link("file://{path}", roots)
        assert link(name, 1) is None
        run_export(engine, tmp_path / "parted", wish=Wish(parted=True))
        with pytest.raises(ExportDamaged, match="cannot lie below its folder"):
            run_import(empty(tmp_path / "copy"), tmp_path / "parted")
        found = walk(engine.collection("notes"))
        change = Change(0, document.document_id, path, None, None)
        assert opened(change, found, engine.collection("notes"), began=0).vanished
        one.update()
    assert seen == []
    assert one.found("swordfish") == []
    assert [each.path for each in below(engine, None)] == ["tea.md"]
    assert {each.name for each in secret.iterdir()} == {"key.md"}


@pytest.mark.parametrize("name", ["../x", "..", "/x", "a\\b", "a\nb", "a\x1bb", "", "x" * 256])
def test_a_collection_with_a_hostile_name_is_not_imported(old, tmp_path, name):
    text = name.replace("'", "''")
    for table, column in (("documents", "collection"), ("collections", "name")):
        resigned(tmp_path / "out", table, f"select * replace ('{text}' as {column}) from old")
    unchanged(old, tmp_path / "out", ExportDamaged, "cannot be the name of a collection")


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_document_with_a_hostile_path_is_not_imported(old, tmp_path, path):
    text = path.replace("\0", "' || chr(0) || '")
    resigned(tmp_path / "out", "documents", f"select * replace ('{text}' as path) from old")
    shown = on_one_line(path)[:70].replace("\\", r"\\").replace(".", r"\.")
    match = rf"documents: the path '{shown}.*' of collection 'notes' cannot lie below"
    unchanged(old, tmp_path / "out", ExportDamaged, match)


def test_a_context_of_a_hostile_folder_is_not_imported(old, tmp_path):
    made = "select 'notes' as collection, '../x' as prefix, 'b' as body"
    resigned(tmp_path / "out", "contexts", made)
    document = told(tmp_path / "out")
    for table in document["tables"]:
        if table["name"] == "contexts":
            table["files"][0]["rows"] = 1
    retold(tmp_path / "out", **document)
    unchanged(old, tmp_path / "out", ExportDamaged, r"contexts: the path '\.\./x' of collection")


@pytest.mark.parametrize("root", ["notes", "../notes", "~/.ssh"])
def test_a_collection_whose_folder_is_not_absolute_is_not_imported(old, tmp_path, root):
    resigned(tmp_path / "out", "collections", f"select * replace ('{root}' as root) from old")
    unchanged(old, tmp_path / "out", ExportDamaged, "the folder of 'notes' is not an absolute path")


@pytest.mark.parametrize("path", [each for each in OUTSIDE if each])
def test_a_manifest_whose_files_lie_elsewhere_is_refused(old, tmp_path, path):
    document = told(tmp_path / "out")
    document["tables"][0]["files"][0]["path"] = path
    retold(tmp_path / "out", **document)
    unchanged(old, tmp_path / "out", ExportDamaged, "lies outside of the folder")


@pytest.mark.parametrize("kind", ["link", "folder of links", "pipe", "device", "folder"])
def test_what_is_no_file_of_the_export_is_not_opened(old, tmp_path, kind):
    document = told(tmp_path / "out")
    [file] = document["tables"][0]["files"]
    path = tmp_path / "out" / file["path"]
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    path.rename(outside / path.name)
    if kind == "link":
        path.symlink_to(outside / path.name)
    elif kind == "folder of links":
        path.parent.rmdir()
        path.parent.symlink_to(outside)
    elif kind == "pipe":
        os.mkfifo(path)
        file["bytes"] = 0
    elif kind == "device":
        path.symlink_to("/dev/zero")
        file["bytes"] = 0
    else:
        path.mkdir()
    retold(tmp_path / "out", **document)
    with pytest.raises(ExportDamaged, match="it is no file of this folder"):
        run_import(empty(tmp_path / "copy"), tmp_path / "out")


def test_a_link_that_leads_out_is_not_taken_over_by_the_next_export(one, tmp_path):
    run_export(one.engine, tmp_path / "out")
    [file] = (tmp_path / "out" / "documents").iterdir()
    outside = tmp_path / "elsewhere" / file.name
    outside.parent.mkdir()
    file.rename(outside)
    file.symlink_to(outside)
    with watched(outside.parent) as seen:
        again = run_export(one.engine, tmp_path / "out")
    assert (seen, again.written) == ([], 1)
    assert file.is_file()
    assert not file.is_symlink()


@pytest.mark.parametrize("kind", ["pipe", "device", "link"])
def test_a_manifest_that_is_no_file_is_not_read(old, tmp_path, kind):
    path = tmp_path / "out" / "manifest.json"
    path.rename(tmp_path / "manifest.json")
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero" if kind == "device" else tmp_path / "manifest.json")
    with pytest.raises(Exception, match=r"manifest\.json has to be a file") as refused:
        run_import(empty(tmp_path / "copy"), tmp_path / "out")
    assert "Nothing was imported" in str(refused.value)


def test_a_command_that_is_in_the_index_alone_is_not_run(one, tmp_path):
    engine, notices = one.engine, []
    statement = "update collections set update_command = 'touch ran'"
    engine.place.config.unlink()
    engine.database.write(lambda cursor: cursor.connection.execute(statement))
    [collection] = engine.folders()
    assert collection.update_command == "touch ran"
    hooks = Hooks(engine.place, engine.settings, pull=False, told=notices.append)
    anyio.run(hooks.run, collection)
    assert not (one.root / "ran").exists()
    assert "is in the index alone and was left out: touch ran" in notices[0]
    # Nor does it get into the settings that are written anew from the index.
    engine.change(lambda _, document: document.update(query_log=False))
    assert [each.update_command for each in engine.settings().collections] == [None]
    assert "touch ran" not in engine.place.config.read_text()
