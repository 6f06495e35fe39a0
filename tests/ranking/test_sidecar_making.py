"""Making and removing sidecars of postings: kills, races, full disks, updates, cleanup."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from qmd.operations.cleanup import cleanup
from qmd.operations.doctor import examine
from qmd.operations.search import search
from qmd.ranking import postings_loader, sidecar_file
from qmd.ranking.lexicon import near
from qmd.ranking.sidecar_file import SidecarFile
from qmd.ranking.sidecar_format import POSTINGS
from qmd.storage.file_lock import errand
from tests.ranking.sidecars import another, answers, mapped, two_notes
from tests.ranking.test_holder import held, hold, sidecar


@pytest.fixture
def warm(library):
    yield from two_notes(library)


def part(library):
    return SidecarFile(library.engine.place.database, POSTINGS).part


KILLED = """
import os, signal, sys
from pathlib import Path
from qmd.operations.index import Index
from qmd.ranking import postings_reader, sidecar_file
from qmd.settings.environment import Machine, Place

folder, name, nth = sys.argv[1:]
home = Path(folder)
place = Place("index", home / "index.yml", home / "index.duckdb", None, home / "trusted.json")
owner, _, name = name.rpartition(".")
owner = {"os": os, "Packer": sidecar_file.Packer, "Path": Path}[owner]
real, calls = getattr(owner, name), 0

def deadly(*arguments, **options):
    global calls
    calls += 1
    if calls == int(nth):
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments, **options)

engine = Index(place, Machine(hub=home / "hub"), warm=True, stays=True)
engine.read(lambda cursor: None)
setattr(owner, name, deadly)
engine.holder.prepare()
engine.holder.settle()
print("lived")
"""


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize(
    ("name", "nth"),
    [
        ("Packer.add", 1),
        ("Packer.add", 7),
        ("Packer._write", 60),
        ("Packer.finish", 1),
        ("os.fsync", 1),
        ("Path.replace", 1),
    ],
)
def test_a_process_killed_while_it_makes_a_sidecar_is_in_nobodys_way(warm, name, nth, before):
    if before:
        hold(warm.engine)
    old = sidecar(warm).read_bytes() if before else None
    if before:  # so that it fits no more
        warm.engine.database.write(
            lambda cursor: cursor.connection.execute(
                "update documents set title = 'Black tea', revision = default"
            )
        )
    warm.engine.database.close()
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(warm.folder), name, str(nth)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == -signal.SIGKILL, done.stderr + done.stdout
    assert part(warm).exists()
    assert (sidecar(warm).read_bytes() if sidecar(warm).exists() else None) == old
    assert not mapped(warm)
    assert hold(warm.engine) is not None
    assert not part(warm).exists()
    assert mapped(warm)


def test_readers_and_a_writer_and_makers_of_sidecars_race(warm):
    """Searches beside a process that makes sidecars give the answers of one state of the index."""
    ends, wrong = threading.Event(), []

    def reads():
        with another(warm) as engine:
            while not ends.is_set():
                found = {each.file for each in search(engine, "counted", limit=50)}
                numbers = sorted(int(each[len("notes/n") : -len(".md")]) for each in found)
                if numbers != list(range(len(numbers))):
                    wrong.append(numbers)
                engine.holder.prepare()

    def spoils():
        path = sidecar(warm)
        while not ends.is_set():
            for data in (b"", b"noise" * 100):
                other = path.with_name("other")
                other.write_bytes(data)
                other.replace(path)
            path.unlink(missing_ok=True)
            ends.wait(0.01)

    threads = [threading.Thread(target=work) for work in (reads, reads, reads, spoils)]
    for each in threads:
        each.start()
    try:
        for number in range(12):
            warm.write(f"n{number}.md", f"counted as {number}")
            warm.update()
    finally:
        ends.set()
        for each in threads:
            each.join()
    assert wrong == []
    hold(warm.engine)
    assert mapped(warm)
    assert len(search(warm.engine, "counted", limit=50)) == 12


def test_two_processes_make_one_sidecar(warm):
    with errand(warm.engine.place.database, "postings.lock"):
        assert hold(warm.engine) is None
        assert not sidecar(warm).exists()
    assert hold(warm.engine) is not None


def test_a_new_sidecar_leaves_the_old_one_to_those_who_have_it_mapped(warm):
    hold(warm.engine)
    before = answers(warm.engine)
    segment = held(warm.engine).segments[0]
    words = near([segment.lexicon], "tea", lambda _: True)
    sidecar(warm).unlink()
    with another(warm) as engine:
        assert hold(engine) is not None
    assert near([segment.lexicon], "tea", lambda _: True) == words
    assert answers(warm.engine) == before


def test_a_full_disk_leaves_what_was_there_and_searches_answer(warm, monkeypatch):
    def full(_self, _data):
        raise OSError(errno.ENOSPC, "No space left on device")

    warm.engine.holder._price = 1000  # searches: no sidecar is made by the way
    expected = answers(warm.engine)
    warm.engine.database.close()
    with monkeypatch.context() as patched:
        patched.setattr(sidecar_file.Packer, "_write", full)
        assert hold(warm.engine) is None
        assert answers(warm.engine) == expected
        warm.engine.holder.settle()  # on a slow machine, searches may have begun another one
    assert not sidecar(warm).exists()
    assert not part(warm).exists()


def test_doctor_tells_of_a_folder_where_no_sidecar_can_be_saved(warm, monkeypatch):
    assert "mapped postings" not in {each.check for each in examine(warm.engine)}
    monkeypatch.setattr("qmd.ranking.postings_sidecar.LARGE", 1)
    assert told(warm) == (
        "ok",
        "not made yet: the next server, or an update of many files, makes them",
        None,
    )
    with monkeypatch.context() as patched:
        patched.setattr(os, "access", lambda path, _: path != warm.folder)
        status, detail, mend = told(warm)
    assert (status, mend) == ("warning", "Check the permissions.")
    assert detail.endswith("reads them from the tables: the folder cannot be changed")
    with monkeypatch.context() as patched:
        patched.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 7}))
        status, detail, mend = told(warm)
    assert (status, mend) == ("warning", "Make room.")
    assert detail.endswith("7 B are free")


def told(library):
    [found] = [each for each in examine(library.engine) if each.check == "mapped postings"]
    return found.status, found.detail, found.mend


def test_doctor_tells_what_a_sidecar_is_worth(warm, monkeypatch):
    hold(warm.engine)
    status, detail, mend = told(warm)
    assert (status, mend) == ("ok", None)
    assert detail.endswith(" KB")
    warm.write("late.md", "milk tea")
    warm.update()
    assert told(warm)[1].endswith("; 1 document came later")
    monkeypatch.setattr("qmd.ranking.postings_sidecar.LARGE", 1)
    warm.engine.database.write(
        lambda cursor: cursor.connection.execute(
            "update documents set title = 'Black tea', revision = default"
        )
    )
    assert (
        told(warm)[1]
        == "of an earlier state: the next server, or an update of many files, makes them"
    )
    sidecar(warm).write_bytes(b"noise")
    assert told(warm) == (
        "warning",
        "index.duckdb.postings is damaged, or of another program, and not used",
        "Run 'qmd cleanup'.",
    )


def test_an_update_makes_the_sidecar_of_a_large_index(library, monkeypatch):
    library.write("tea.md", "green tea")
    library.update()
    assert not sidecar(library).exists()
    monkeypatch.setattr(postings_loader, "LARGE", 2)
    library.write("cup.md", "a cup")
    library.update()
    assert sidecar(library).exists()
    assert mapped(library)
    saved = sidecar(library).stat().st_ino
    library.write("late.md", "milk tea")
    library.update()
    assert sidecar(library).stat().st_ino == saved  # it lacks little


def test_an_update_that_cannot_save_a_sidecar_succeeds(library, monkeypatch):
    monkeypatch.setattr(postings_loader, "LARGE", 2)
    sidecar(library).mkdir()
    library.write("tea.md", "green tea")
    assert library.update().new == 1
    assert library.found("green") == ["tea.md"]


def test_cleanup_removes_a_sidecar(warm):
    hold(warm.engine)
    part(warm).write_bytes(b"of one that was killed")
    size = sidecar(warm).stat().st_size + len(b"of one that was killed")
    assert cleanup(warm.engine, dry_run=True).postings == size
    assert sidecar(warm).exists()
    assert cleanup(warm.engine).postings == size
    assert not sidecar(warm).exists()
    assert not part(warm).exists()
    assert cleanup(warm.engine).postings == 0


def test_a_cleanup_leaves_a_sidecar_that_is_being_made(warm):
    hold(warm.engine)
    with errand(warm.engine.place.database, "postings.lock"):
        assert cleanup(warm.engine).postings == 0
    assert sidecar(warm).exists()


def test_a_sidecar_is_for_the_user_alone(warm):
    hold(warm.engine)
    assert sidecar(warm).stat().st_mode & 0o777 == 0o600


def test_pages_of_the_sidecar_are_released_after_some_searches_and_read_again(warm, monkeypatch):
    monkeypatch.setattr(postings_loader, "MUCH", 1)
    monkeypatch.setattr("qmd.storage.thread_lock.SHED_READS", 3)
    hold(warm.engine)
    warm.engine.database.close()
    expected = answers(warm.engine)
    released = []
    memory = warm.engine.database.read(lambda cursor: cursor.memory)
    [real] = memory.sheds
    memory.sheds[:] = [lambda: released.append(real())]
    for number in range(9):
        search(warm.engine, f"tea {number}")
    assert len(released) >= 2
    warm.engine.database.close()
    assert answers(warm.engine) == expected
