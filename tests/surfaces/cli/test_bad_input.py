"""Whatever is put before it, the command line says what is wrong and spoils nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import NamedTuple

import duckdb
import pytest

from qmd.ingest import listing
from qmd.storage.migrations import migrations
from qmd.version import __version__


class Said(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def qmd(qmd, tmp_path, monkeypatch):
    """The command line. An error that it has no words for fails the test."""
    monkeypatch.delenv("QMD_DEBUG", raising=False)
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        said = Said(*qmd(*arguments))
        assert "Traceback" not in said.out + said.err
        assert "a mistake in qmd" not in said.err
        return said

    return call


@pytest.fixture
def notes(tmp_path):
    """A folder with one good file."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tea.md").write_text("# Tea\n\nsencha\n")
    return folder


@pytest.fixture
def indexed(qmd, notes, tmp_path):
    """The index of that folder."""
    assert qmd("collection", "add", "notes").code == 0
    return tmp_path / "index.duckdb"


@pytest.fixture
def disk(qmd, tmp_path, monkeypatch):
    """A disk of 10 MB, with the index on it."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted("-t", "tmpfs", "-o", "size=10m", "tmpfs", folder)
    monkeypatch.setenv("INDEX_PATH", str(folder / "index.duckdb"))
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def mounted(*arguments):
    command = ["mount", *map(str, arguments)]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=10)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"mounting is not permitted: {error}")


def files(qmd, query):
    """The files that a search finds."""
    said = qmd("search", query, "--json")
    assert (said.code, said.err) == (0, "")
    return [record["file"] for record in json.loads(said.out)]


@pytest.mark.parametrize(
    ("path", "what"), [("nowhere", "does not exist."), ("notes/tea.md", "is not a folder.")]
)
def test_what_is_no_folder_cannot_be_added(qmd, notes, path, what):
    said = qmd("collection", "add", path)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith(f"{path} {what}\n\n")


@pytest.mark.parametrize("arguments", [["get", b"\xe9"], ["collection", "add", "."]])
def test_what_is_no_utf_8_is_refused_and_changes_nothing(qmd, indexed, arguments):
    folder = indexed.parent / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    command = [sys.executable, "-m", "qmd", *arguments]
    said = subprocess.run(command, capture_output=True, cwd=folder)
    assert (said.returncode, said.stdout) == (1, b"")
    assert b"not valid" in said.stderr
    assert b"Traceback" not in said.stderr
    assert files(qmd, "sencha") == ["notes/tea.md"]


@pytest.mark.parametrize("mask", ["../**", "**/../*.md", "/etc/*.md", "~/*.md", "{..,a}/*.md"])
def test_a_mask_that_leaves_the_folder_is_refused(qmd, notes, tmp_path, mask):
    said = qmd("collection", "add", "notes", "--mask", mask)
    assert (said.code, said.out) == (1, "")
    assert "leaves the collection" in said.err
    assert not (tmp_path / "config" / "index.yml").exists()


@pytest.mark.parametrize("name", ["mask", "ignore"])
def test_a_mask_that_would_take_for_ever_is_refused(qmd, notes, tmp_path, name):
    bomb = "{a,b}" * 40
    said = qmd("collection", "add", "notes", "--mask", bomb)
    assert (said.code, said.out) == (1, "")
    assert "Write a simpler one" in said.err
    assert not (tmp_path / "config" / "index.yml").exists()
    qmd("collection", "add", "notes")
    config = tmp_path / "config" / "index.yml"
    mask = f"pattern: '{bomb}'" if name == "mask" else f"ignore: ['{bomb}']"
    config.write_text(f"collections:\n  notes:\n    path: {notes}\n    {mask}\n")
    said = qmd("update")
    assert said.code == 2
    assert "Write a simpler one" in said.out
    assert files(qmd, "sencha") == ["notes/tea.md"]


@pytest.mark.parametrize(
    ("function", "path"), [("open", "notes/deep/cup.md"), ("scandir", "notes/deep/")]
)
def test_what_may_not_be_read_keeps_its_documents(qmd, notes, monkeypatch, function, path):
    (notes / "deep").mkdir()
    (notes / "deep" / "cup.md").write_text("# Cup\n\nceladon\n")
    qmd("collection", "add", "notes")
    (notes / "deep" / "cup.md").write_text("# Cup\n\nceladon and raku\n")
    permitted = getattr(os, function)

    def asked(which, *rest, **named):
        if str(which).endswith(path.rstrip("/")):
            raise PermissionError(13, "Permission denied", which)
        return permitted(which, *rest, **named)

    monkeypatch.setattr(listing, "_compiled", None)
    monkeypatch.setattr(os, function, asked)
    said = qmd("update")
    assert said.code == 0
    assert "0 removed, 1 skipped" in said.out
    assert f"  skipped {path}: permission denied\n" in said.out.replace("Perm", "perm")
    assert files(qmd, "celadon") == ["notes/deep/cup.md"]


ODD_FILES = [
    (b"oolong\0\1\2", "skipped notes/odd.md: not a text file", []),
    (b"", "skipped notes/odd.md: empty", []),
    ("\ufeff\u3000\n".encode(), "skipped notes/odd.md: empty", []),
    (b"Caf\xe9 oolong", "note notes/odd.md: read as Windows-1252", ["notes/odd.md"]),
    (b"---\n\t- x: : y\n---\noolong", "note notes/odd.md: frontmatter is", ["notes/odd.md"]),
    (b"---\na: [b\n---\noolong", "note notes/odd.md: frontmatter is not", ["notes/odd.md"]),
]


@pytest.mark.parametrize(("data", "told", "found"), ODD_FILES)
def test_an_odd_file_is_told_of_and_indexed_if_it_has_text(qmd, notes, data, told, found):
    (notes / "odd.md").write_bytes(data)
    said = qmd("collection", "add", "notes")
    assert said.code == 0
    assert f"{1 + len(found)} new, 0 updated, 0 unchanged" in said.out
    assert f"\n  {told}" in said.out
    assert files(qmd, "oolong") == found


def test_a_file_that_grows_too_large_is_named_and_keeps_its_document(qmd, notes, indexed):
    os.truncate(notes / "tea.md", 70_000_000)
    said = qmd("update")
    assert said.code == 0
    assert "  skipped notes/tea.md: too large (70 MB, the limit is 64 MB)\n" in said.out
    assert files(qmd, "sencha") == ["notes/tea.md"]


@pytest.mark.parametrize("year", [-1, 1600, 1969, 2100, 2300, 9999, 50_000])
def test_a_file_is_indexed_whatever_its_time_says(qmd, notes, year):
    (notes / "cup.md").write_text("# Cup\n\nceladon\n")
    moment = (year - 1970) * 31_556_952
    os.utime(notes / "cup.md", (moment, moment))  # the file system may bend it
    assert "2 new" in qmd("collection", "add", "notes").out
    assert "2 unchanged" in qmd("update").out
    assert files(qmd, "celadon") == ["notes/cup.md"]
    assert qmd("ls", "notes").code == qmd("status").code == 0
    (notes / "cup.md").write_text("# Cup\n\nraku\n")
    os.utime(notes / "cup.md", (moment, moment))
    assert "1 updated" in qmd("update").out
    assert files(qmd, "raku") == ["notes/cup.md"]


@pytest.mark.parametrize("follow", [False, True])
def test_a_link_that_leads_out_of_the_folder_is_not_read(qmd, notes, tmp_path, follow):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("# Secret\n\noolong\n")
    (notes / "file.md").symlink_to(outside / "secret.md")
    (notes / "folder").symlink_to(outside)
    (notes / "loop").symlink_to(notes)
    (notes / "nowhere.md").symlink_to(outside / "gone.md")
    settings = tmp_path / "config" / "index.yml"
    settings.parent.mkdir()
    settings.write_text(
        f"collections:\n  notes:\n    path: {notes}\n    follow_symlinks: {str(follow).lower()}\n"
    )
    assert "1 new" in qmd("update").out
    assert files(qmd, "oolong secret") == []


@pytest.mark.parametrize(
    "name",
    [
        *("new\nline.md", "quo'te\".md", "100% sure.md", "#1.md", "a?b=c&d.md", "[x]{y},z*.md"),
        *("\\back.md", " blank .md", "-dash.md", "b\u0301.md", "🍵.md", "tab\tand\x1bescape.md"),
    ],
)
def test_a_file_with_an_odd_name_is_found_and_got_by_it(qmd, notes, name):
    (notes / name).write_text("# Odd\n\noolong\n")
    assert "2 new" in qmd("collection", "add", "notes").out
    assert files(qmd, "oolong") == [f"notes/{name}"]
    [record] = json.loads(qmd("search", "oolong", "--json").out)
    for asked in (f"notes/{name}", record["uri"], record["docid"]):
        assert qmd("get", asked) == (0, "# Odd\n\noolong\n", "")


def test_a_name_that_is_no_utf_8_is_shown_with_its_bytes(qmd, notes):
    (notes / os.fsdecode(b"caf\xe9.md")).write_text("oolong")
    said = qmd("collection", "add", "notes")
    assert said.code == 0
    assert "  skipped notes/caf\\xe9.md: the name is not valid UTF-8\n" in said.out


def test_a_folder_that_has_vanished_is_a_failure_that_removes_nothing(qmd, notes, indexed):
    (notes.parent / "cups").mkdir()
    qmd("collection", "add", "cups")
    notes.rename(notes.parent / "elsewhere")
    said = qmd("update")
    assert said.code == 2
    assert f"Failed: The folder of collection 'notes' is missing: {notes}" in said.out
    assert "cups (documents)\nIndexed: " in said.out
    assert said.err == "Not updated: notes\n"
    assert files(qmd, "sencha") == ["notes/tea.md"]


every_command = pytest.mark.parametrize(
    "command", [("search", "tea"), ("update",), ("collection", "rm", "notes")], ids=" ".join
)


@every_command
@pytest.mark.parametrize("share", [0.02, 0.5])
def test_an_index_that_was_cut_short_is_refused_and_not_touched(qmd, indexed, command, share):
    os.truncate(indexed, int(share * indexed.stat().st_size))
    refused(qmd, indexed, command, "cannot be read: ")


@every_command
@pytest.mark.parametrize("data", [b"tea\n", bytes(9000), b"SQLite format 3\0" + bytes(9000)])
def test_a_foreign_file_instead_of_an_index_is_refused_and_not_touched(qmd, indexed, command, data):
    indexed.write_bytes(data)
    refused(qmd, indexed, command, "it is not a valid DuckDB database file!")


LAST = migrations()[-1].version
OTHERS = {
    "drop table schema_migrations": "it is a DuckDB database, but not one of qmd's.",
    "insert into schema_migrations values (9999, 'new', '', '9.9.9', now())": (
        f"has schema 9999; this qmd {__version__} knows schemas up to {LAST}.\n\n"
        "Install the qmd that wrote it (9.9.9) or a later one, or choose another index"
    ),
    f"insert into schema_migrations values (9998, 'new', '', '{__version__}', now())": (
        f"has schema 9998; this qmd {__version__} knows schemas up to {LAST}.\n\n"
        "Install the newer qmd that wrote it, or choose another index"
    ),
    "update schema_migrations set digest = '' where version = 2": (
        "Migration 0002_postings has changed since it ran on"
    ),
}


@every_command
@pytest.mark.parametrize("change", OTHERS)
def test_an_index_that_is_not_this_qmds_is_refused_and_not_touched(qmd, indexed, command, change):
    with duckdb.connect(str(indexed)) as other:
        other.execute(change)
    refused(qmd, indexed, command, OTHERS[change])


@every_command
def test_the_log_of_another_index_is_told_of_and_kept(qmd, indexed, command):
    log = indexed.with_name(indexed.name + ".wal")
    with duckdb.connect() as other:
        other.execute(f"attach '{indexed.parent}/other.duckdb' as o (storage_version 'v1.5.0')")
        other.execute("pragma disable_checkpoint_on_shutdown")
        other.execute("create table o.cups (cup integer)")
    shutil.copy(indexed.with_name("other.duckdb.wal"), log)
    said = qmd(*command)
    assert said.code == 3
    assert "index.duckdb.wal beside it is of another index" in said.err
    assert "\n\nMove index.duckdb.wal away" in said.err
    log.rename(indexed.with_name("away"))
    assert files(qmd, "sencha") == ["notes/tea.md"]


def refused(qmd, index, command, problem):
    """A command says this of the index, how to go on, and has not changed a byte of it."""
    before = index.read_bytes()
    said = qmd(*command)
    what, _, mend = said.err.partition("\n\n")
    assert str(index) in what
    assert problem in said.err
    assert mend
    assert said.code == 3
    assert index.read_bytes() == before
    assert not index.with_name(index.name + ".wal").exists()


@pytest.mark.parametrize("locks", [True, False])
def test_an_index_on_read_only_media_is_searched_but_not_changed(qmd, notes, disk, locks):
    qmd("collection", "add", "notes")
    for lock in () if locks else ("lock", "readers"):
        (disk / f"index.duckdb.{lock}").unlink()
    mounted("-o", "remount,ro", disk)
    assert files(qmd, "sencha") == ["notes/tea.md"]
    assert "1 unchanged" in qmd("update").out
    (notes / "cup.md").write_text("# Cup\n\nceladon\n")
    said = qmd("update")
    assert said.code == 3
    assert "Read-only file system\n\nNothing is lost. " in said.err
    assert files(qmd, "celadon sencha") == ["notes/tea.md"]
    said = qmd("context", "add", "/", "Drinks")
    assert said.code == 3
    assert qmd("context", "list").out.startswith("No contexts yet.")


def test_a_read_only_index_is_searched_with_the_settings_it_has(qmd, notes, disk, tmp_path):
    qmd("collection", "add", "notes")
    mounted("-o", "remount,ro", disk)
    [config] = tmp_path.rglob("index.yml")
    config.write_text("global_context: Drinks\n" + config.read_text())
    assert files(qmd, "sencha") == ["notes/tea.md"]


@pytest.mark.parametrize(
    ("words", "free"), [(0, 0), (3000, 250_000), (100_000, 0), (100_000, 1_000_000)]
)
def test_on_a_full_disk_an_update_fails_in_words_and_works_again_with_room(
    qmd, notes, disk, words, free
):
    qmd("collection", "add", "notes")
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(shutil.disk_usage(disk).free - free))
    new = " ".join(f"w{at * 999_983}" for at in range(words))
    (notes / "cup.md").write_text(f"# Cup\n\n{new} celadon\n")
    for _ in range(2):
        said = qmd("update")
        assert said.code == 3
        assert "cannot be written: " in said.err
        assert "No space left on device\n\nNothing is lost. " in said.err
        assert files(qmd, "celadon sencha") == ["notes/tea.md"]
    ballast.unlink()
    (notes / "cup.md").write_text("# Cup\n\nceladon\n")
    assert "1 new" in qmd("update").out
    assert files(qmd, "celadon") == ["notes/cup.md"]
    assert qmd("doctor").code == 0


def test_an_import_that_has_no_room_replaces_nothing(qmd, notes, disk, tmp_path):
    qmd("collection", "add", "notes")
    new = " ".join(f"w{at * 999_983}" for at in range(3000))
    (notes / "cup.md").write_text(f"# Cup\n\n{new} celadon\n")
    qmd("update")
    assert qmd("export", str(tmp_path / "export")).code == 0
    [index] = disk.rglob("index.duckdb")
    before = index.read_bytes()
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(shutil.disk_usage(disk).free - 700_000))
    said = qmd("import", str(tmp_path / "export"), "--replace")
    assert said.code == 3
    assert "No space left on device" in said.err
    assert index.read_bytes() == before
    ballast.unlink()
    assert qmd("import", str(tmp_path / "export"), "--replace").code == 0
    assert files(qmd, "celadon") == ["notes/cup.md"]


@pytest.mark.parametrize(
    "words",
    [
        ("get", 4000 * "a"),
        ("get", "notes/" + "/".join(20 * [200 * "b"])),
        ("get", f"notes/tea.md:{4000 * 'a'}"),
        ("multi-get", 4000 * "a" + "*"),
        ("multi-get", 4000 * "a" + ",x"),
        ("ls", 4000 * "a"),
        ("search", "tea", "-c", 4000 * "a"),
        ("search", "tea", "--since", 4000 * "a"),
        ("search", "tea", "--filter", 4000 * "a"),
        ("search", f"path:{4000 * 'a'} ("),
        ("grep", "(" + 4000 * "a"),
        ("sql", "select * from " + 4000 * "a"),
        ("sql", f"select '{4000 * 'a'}'::integer"),
        ("collection", "add", "/" + "/".join(20 * [200 * "b"])),
        ("collection", "remove", 4000 * "a"),
        ("context", "add", 4000 * "a", "x"),
        ("put", 4000 * "a"),
        ("import", "/tmp/" + 4000 * "a"),
        ("export", "/tmp/" + 4000 * "a"),
        ("similar", 4000 * "a"),
        ("embed", "--model", 4000 * "a"),
        (4000 * "a",),
        ("--" + 4000 * "a",),
    ],
)
def test_a_value_of_4000_characters_does_not_fill_the_screen(qmd, indexed, words):
    code, out, err = qmd(*words)
    assert code in (0, 1, 2)
    assert len(out + err) < 2500
    assert "Traceback" not in err
    assert "mistake" not in err
