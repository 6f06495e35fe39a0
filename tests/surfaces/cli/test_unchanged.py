"""An update that finds nothing new does without DuckDB, and says the same as one with it."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import subprocess
import sys
import time
from functools import partial

import pytest

from qmd.errors import IndexNotWritable
from qmd.ingest import fingerprint
from qmd.ingest.compare import compare
from qmd.ingest.walk import walk
from qmd.models import loader
from qmd.settings import config, environment
from qmd.storage.database import Database
from qmd.storage.file_version import SETTLED_NS, is_settled
from qmd.text.hashes import checksum
from tests import strays

LONG_AGO = 1_600_000_000


class Kept:
    """An index that was compared with its folder, without a difference."""

    def __init__(self, command, root, index):
        self.command, self.root, self.index = command, root, index
        self.note = index.with_name("index.duckdb.compared")

    def put(self, path, text, *, age=LONG_AGO):
        """Write a file as if long ago: one that was written just now is always read again."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        os.utime(file, (age, age))

    def compare(self):
        """Update once to compare, and once more to note."""
        for _ in range(2):
            time.sleep(2 * SETTLED_NS / 1e9)
            assert self.command("update")[0] == 0

    def glance(self, *names):
        here = environment.locate(os.environ, self.root)
        vectors_of = partial(loader.vectors_of, here, environment.machine(os.environ))
        return fingerprint.glance(here, names, vectors_of=vectors_of)

    def is_known(self, *names):
        """Whether the next update would do without DuckDB."""
        return self.glance(*names).reports is not None


@pytest.fixture
def kept(qmd, notes, tmp_path):
    made = Kept(qmd, notes, tmp_path / "index.duckdb")
    for file in notes.rglob("*.md"):
        os.utime(file, (LONG_AGO, LONG_AGO))
    qmd("collection", "add", notes)
    made.compare()
    assert made.is_known()
    return made


@pytest.fixture
def project(kept, monkeypatch):
    """The folder of a project, beside the notes, that may have an index of its own."""
    for name in ("QMD_CONFIG_DIR", "INDEX_PATH"):
        monkeypatch.delenv(name)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    folder = kept.root.parent / "project"
    (folder / ".qmd").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def test_nothing_new_is_found_without_duckdb(kept):
    looked = "import sys; from qmd.surfaces.cli import run; print(run(['update']), end=' ')"
    looked += "; print('_duckdb' in sys.modules, 'anyio' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", looked], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "0 False False"


@pytest.mark.parametrize("options", [[], ["--json"], ["-c", "notes"]])
def test_it_says_what_a_comparison_says(kept, options):
    (kept.root / "link.md").symlink_to("/nowhere.md")
    kept.put("work/large.md", "")
    os.truncate(kept.root / "work" / "large.md", 65_000_000)
    settings = kept.index.parent / "config" / "index.yml"
    settings.write_text(settings.read_text() + "    follow_symlinks: true\n")
    kept.compare()
    assert kept.is_known()
    known = kept.command("update", *options)
    kept.note.unlink()
    assert kept.command("update", *options) == known
    assert "too large" in known[1]
    assert "link.md" in known[1]
    assert known[2] == ""


def test_whatever_changes_is_found(kept):
    def touched():
        os.utime(kept.root / "tea.md", (LONG_AGO + 1, LONG_AGO + 1))

    def rewritten():
        text = (kept.root / "tea.md").read_text()
        (kept.root / "other.md").write_text(text.replace("Green", "Black"))
        os.utime(kept.root / "other.md", (LONG_AGO + 1, LONG_AGO + 1))
        (kept.root / "other.md").replace(kept.root / "tea.md")  # the inode alone

    for change in (
        lambda: kept.put("new.md", "# New\n"),
        lambda: kept.put("tea.md", "# Green tea, and more of it\n"),
        lambda: (kept.root / "new.md").rename(kept.root / "newer.md"),
        (kept.root / "newer.md").unlink,
        touched,
        rewritten,
    ):
        change()
        assert not kept.is_known()
        kept.compare()
        assert kept.is_known()
    assert "notes/tea.md" in kept.command("search", "black tea", "--files")[1]


def test_files_that_cannot_be_indexed_are_read_once(kept):
    kept.put("empty.md", " \n")
    kept.put("work/binary.md", "a\0b")
    kept.compare()
    assert kept.is_known()
    known = kept.command("update"), kept.command("update", "--json")
    kept.note.unlink()
    assert (kept.command("update"), kept.command("update", "--json")) == known
    assert "2 skipped" in known[0][1]
    assert "notes/work/binary.md: not a text file" in known[0][1]
    kept.put("empty.md", "# Full\n", age=LONG_AGO + 1)
    assert "1 new" in kept.command("update")[1]


def test_files_that_may_be_read_some_day_are_tried_each_time(kept, monkeypatch):
    def locked(path, flags, *more, **options):
        if str(path).endswith("locked.md"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, flags, *more, **options)

    kept.put("locked.md", "# Locked\n")
    opened = os.open
    with monkeypatch.context() as patched:
        patched.setattr(os, "open", locked)
        kept.compare()
        assert "permission denied" in kept.command("update")[1]
    assert not kept.is_known()
    assert "1 new" in kept.command("update")[1]


def test_an_empty_file_of_tomorrow_is_read_each_time(kept):
    kept.put("empty.md", "", age=time.time() + 86_400)
    kept.compare()
    assert not kept.is_known()


def test_a_file_written_just_now_is_not_relied_on(kept):
    (kept.root / "new.md").write_text("# New\n")
    assert kept.command("update")[0] == 0
    assert not kept.is_known()


def test_another_state_of_the_index_is_compared(kept):
    before = kept.index.with_name("before.duckdb")
    shutil.copy2(kept.index, before)
    kept.command("collection", "rename", "notes", "papers")
    assert not kept.is_known()
    kept.compare()
    assert kept.is_known()
    before.replace(kept.index)
    assert not kept.is_known()
    assert kept.command("update")[0] == 0
    kept.index.unlink()
    assert not kept.is_known()
    assert "3 new" in kept.command("update")[1]


def test_a_copy_of_the_index_in_its_place_is_compared(kept):
    copy = kept.index.with_name("copy.duckdb")
    shutil.copy2(kept.index, copy)
    copy.replace(kept.index)
    assert not kept.is_known()


def test_an_index_with_the_time_of_another_is_compared(kept):
    info = kept.index.stat()
    kept.index.touch()
    os.utime(kept.index, ns=(info.st_atime_ns, info.st_mtime_ns))
    assert not kept.is_known()


def test_nothing_is_noted_of_an_index_of_tomorrow(kept):
    tomorrow = time.time() + 86_400
    os.utime(kept.index, (tomorrow, tomorrow))
    kept.note.unlink()
    kept.compare()
    assert not kept.note.exists()


def test_a_log_beside_the_index_is_compared(kept):
    kept.index.with_name("index.duckdb.wal").write_bytes(b"")
    assert not kept.is_known()


def test_nothing_is_known_of_an_index_whose_settings_are_in_its_tables_alone(kept):
    kept.compare()
    environment.locate(os.environ, kept.root).config.unlink()
    assert kept.glance().state is None


def test_other_settings_are_compared(kept, monkeypatch, tiny_embedder):
    settings = kept.index.parent / "config" / "index.yml"
    text = settings.read_text()
    settings.write_text(text.replace("pattern: documents", "pattern: work/*.md"))
    assert not kept.is_known()
    assert "2 removed" in kept.command("update")[1]
    settings.write_text(text)
    kept.compare()
    assert kept.is_known()
    monkeypatch.setenv("QMD_EMBED_MODEL", str(tiny_embedder))
    assert not kept.is_known()
    monkeypatch.setenv("QMD_EMBED_MODEL", "/nowhere.gguf")
    assert not kept.is_known()
    assert "/nowhere.gguf" in kept.command("update")[1]
    monkeypatch.delenv("QMD_EMBED_MODEL")
    assert kept.is_known()
    monkeypatch.setattr(fingerprint, "__version__", "9.9.9")
    assert not kept.is_known()


def test_the_number_without_vectors_is_that_of_now(kept, monkeypatch, fake, tmp_path):
    (tmp_path / "fake.gguf").write_bytes(b"GGUF")
    monkeypatch.setenv("QMD_EMBED_MODEL", str(tmp_path / "fake.gguf"))
    kept.compare()
    assert "3 documents need vectors" in kept.command("update")[1]
    assert kept.command("embed")[0] == 0
    kept.compare()
    assert kept.is_known()
    assert kept.command("update")[1].endswith("All collections updated.\n")


def test_names_are_looked_at(kept):
    assert kept.is_known("notes")
    assert not kept.is_known("nots")
    assert not kept.is_known("notes", "nots")
    code, _, err = kept.command("update", "-c", "nots")
    assert (code, "nots" in err) == (1, True)
    more = kept.root.parent / "more"
    more.mkdir()
    kept.command("collection", "add", more)
    kept.compare()
    assert kept.is_known()
    assert kept.is_known("more")
    assert "[2/2] notes" in kept.command("update")[1]
    (kept.root / "tea.md").unlink()
    assert kept.is_known("more")
    assert not kept.is_known("notes")
    assert not kept.is_known()
    kept.put("tea.md", "# Tea\n")
    kept.command("update")
    time.sleep(2 * SETTLED_NS / 1e9)
    for name in ("notes", "more"):  # which may be noted one by one
        assert not kept.is_known()
        kept.command("update", "-c", name)
    assert kept.is_known()


def test_a_command_of_a_collection_is_run_each_time(kept):
    settings = kept.index.parent / "config" / "index.yml"
    settings.write_text(settings.read_text() + "    update: echo again\n")
    (kept.root.parent / "more").mkdir()
    kept.command("collection", "add", kept.root.parent / "more")
    kept.compare()
    kept.command("update", "-c", "more")
    assert kept.is_known("more")
    assert not kept.is_known()
    assert not kept.glance().found  # which the command may change
    assert "again" in kept.command("update")[2]


def test_git_is_asked_each_time_if_it_is_wanted(kept):
    (kept.root / ".git").mkdir()
    assert kept.command("update", "--pull")[0] == 2
    assert kept.command("update")[0] == 0


def test_a_folder_that_is_gone_is_told_of(kept):
    shutil.rmtree(kept.root)
    code, _, err = kept.command("update")
    assert (code, err) == (2, "Not updated: notes\n")


def test_a_note_that_is_none_is_not_believed(kept):
    text = kept.note.read_text()
    note = json.loads(text.partition("\n")[2])
    texts = ["", "{}", "[]", "[[], 1]", "[1]", json.dumps(note[:-1]), "[" * 200_000]
    texts.append(json.dumps(note).replace(f" {note[-1]}]", " 1e999]"))
    note[1]["notes"][1] = [["nowhere.md", "of another folder"]]
    texts.append(json.dumps(note))
    wrong = [f"{checksum(each.encode())}\n{each}" for each in texts]
    for each in (*wrong, "", text[:-1], text + " ", text.replace("notes", "motes"), "\0" * 200):
        kept.note.write_text(each)
        assert not kept.is_known()
        assert kept.command("update")[0] == 0
        assert kept.note.read_text() == text
    kept.note.write_bytes(b"\xff" + text.encode())
    assert not kept.is_known()


def test_nobody_else_reads_a_note(kept):
    assert stat.S_IMODE(kept.note.stat().st_mode) == 0o600


@pytest.mark.parametrize("put", [strays.link, os.mkfifo])
def test_what_is_in_the_place_of_a_note_is_neither_read_nor_written(kept, put):
    kept.note.unlink()
    put(kept.note)
    assert not kept.is_known()
    assert kept.command("update")[0] == 0
    assert strays.is_untouched(kept.note.parent)
    assert not kept.is_known()


def test_nothing_is_noted_of_what_somebody_changes_meanwhile(kept, monkeypatch):
    kept.note.unlink()
    noted = fingerprint.note

    def late(place, before, known, **vectors):
        kept.index.touch()
        time.sleep(2 * SETTLED_NS / 1e9)
        noted(place, before, known, **vectors)

    monkeypatch.setattr(fingerprint, "note", late)
    assert kept.command("update")[0] == 0
    assert not kept.note.exists()


def test_what_another_process_has_indexed_meanwhile_is_not_gone(kept, monkeypatch):
    looked = fingerprint.glance

    def early(*arguments, **more):
        found = looked(*arguments, **more)
        kept.put("came.md", "# Came late\n")
        monkeypatch.setattr(fingerprint, "glance", looked)
        assert "2 new" in kept.command("update")[1]
        return found

    monkeypatch.setattr(fingerprint, "glance", early)
    kept.put("other.md", "# Other\n")
    assert "0 removed" in kept.command("update")[1]
    assert "came.md" in kept.command("search", "late", "--files")[1]


def test_what_was_indexed_since_the_folder_was_walked_is_not_gone(library):
    library.write("tea.md", "# Tea\n")
    os.utime(library.root / "tea.md", (LONG_AGO, LONG_AGO))
    library.update()
    [collection] = library.engine.folders()
    found = walk(collection)
    library.write("came.md", "# Came late\n")
    library.update()
    assert [each.path for each in compare(library.engine.database, collection, found).changes] == []


def test_nothing_is_noted_of_settings_that_the_index_does_not_have(kept, monkeypatch):
    settings = kept.index.parent / "config" / "index.yml"
    settings.write_text(settings.read_text().replace("pattern: documents", 'pattern: "*.md"'))
    kept.note.unlink()

    def full(self, work):
        raise IndexNotWritable(self.path, "the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(Database, "write", full)
        assert "(documents)" in kept.command("update")[1]
    assert not kept.note.exists()
    assert "1 removed" in kept.command("update")[1]


def test_settings_that_change_while_they_are_read_are_compared(kept, monkeypatch):
    load = config.load

    def late(place):
        text = place.config.read_text()
        place.config.write_text(f"{text}# later\n")
        return load(place)

    monkeypatch.setattr(config, "load", late)
    assert not kept.is_known()


def test_what_cannot_be_noted_takes_nothing_from_the_report(kept, monkeypatch):
    kept.note.unlink()

    def unreadable(index, collections=None):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("qmd.surfaces.cli.update.vector_status", unreadable)
    code, out, err = kept.command("update", "--json")
    assert (code, json.loads(out)[0]["unchanged"], err) == (0, 3, "")
    assert not kept.note.exists()


def test_a_broken_list_of_approvals_stops_only_what_needs_one(kept, project, qmd):
    (project / "in").mkdir()
    (project / ".qmd" / "index.yml").write_text(
        "collections:\n  inner:\n    path: in\n  outer:\n    path: ../notes\n"
    )
    assert qmd("trust", "--yes")[0] == 0
    made = Kept(qmd, project, project / ".qmd" / "index.duckdb")
    made.compare()
    assert made.is_known()
    [approvals] = kept.root.parent.rglob("trusted.json")
    approvals.write_text("{broken")
    made.put("in/new.md", "# New\n")
    code, out, _ = made.command("update")
    assert (code, "1 new" in out, "trusted.json" in out) == (2, True, True)


def test_who_cannot_read_the_index_is_told(kept, monkeypatch):
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, *more: path != kept.index and real(path, *more))
    assert not kept.is_known()


def test_lines_end_without_blanks(kept, monkeypatch):
    monkeypatch.setenv("QMD_EMBED_MODEL", "/nowhere.gguf")
    lines = kept.command("update")[1].splitlines()
    assert "All collections updated." in lines
    assert [line for line in lines if line != line.rstrip()] == []


def test_times_that_may_come_again_are_not_relied_on():
    now = time.time_ns()
    assert not is_settled(now)
    assert not is_settled(now + 10**12)
    assert is_settled(now - 2 * SETTLED_NS - 1)
    last = now // 10**9 * 10**9
    assert not is_settled(last - 10**9)
    assert is_settled(last - 3 * 10**9)


def test_a_project_is_asked_for_each_time(project, monkeypatch, qmd):
    (project / ".qmd" / "index.yml").write_text("collections:\n  notes:\n    path: ../notes\n")
    monkeypatch.setenv("QMD_TRUST_LOCAL_CONFIG", "1")
    made = Kept(qmd, project, project / ".qmd" / "index.duckdb")
    made.compare()
    assert made.is_known()
    monkeypatch.delenv("QMD_TRUST_LOCAL_CONFIG")
    assert not made.is_known()
    code, out, _ = made.command("update")
    assert (code, "qmd trust" in out) == (2, True)
