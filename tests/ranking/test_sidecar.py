"""A sidecar of postings is used as far as it fits the index, and never else."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import xxhash
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qmd.operations.cleanup import cleanup
from qmd.operations.doctor import examine
from qmd.operations.index import Index
from qmd.operations.search import search
from qmd.ranking import postings_file, postings_loader, postings_reader
from qmd.ranking.postings_loader import part_path
from qmd.storage.file_lock import errand
from tests.library import Library
from tests.ranking.test_holder import (
    QUESTIONS,
    answer,
    bodies,
    engine_of,
    held,
    hold,
    query_of,
    sidecar,
)

ASKED = ("tea", '"green tea"', "tea -water", "wate", "teaPot", "milk cup")


@pytest.fixture
def warm(library):
    """A library of two notes, whose index stays attached."""
    library.engine.close()
    library.engine = engine_of(library)
    library.write("tea.md", "# Green tea\n\nIn a teaPot, with water.")
    library.write("cup.md", "A cup of milk, and of green tea.")
    library.update()
    yield library
    library.engine.close()


@contextmanager
def another(library, *, stays=True):
    """An engine as another process would have it."""
    made = Index(library.engine.place, library.engine.models.machine, warm=True, stays=stays)
    try:
        yield made
    finally:
        made.close()


def answers(engine):
    return [answer(engine, text) for text in ASKED]


def mapped(library):
    """Whether a new process can use the sidecar; it answers as the tables do."""
    with another(library) as engine, another(library) as other:
        other.database.missed = None
        engine.holder._price = 1000  # searches: no new one is made by the way
        expected = answers(other)
        assert held(other) is None
        assert answers(engine) == expected
        return held(engine) is not None


# -- any history ------------------------------------------------------------------------


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    history=st.lists(
        st.tuples(
            st.dictionaries(st.sampled_from("abcdefgh"), bodies | st.none(), max_size=6),
            st.sampled_from(["", "", "save", "save", "cleanup", "copy", "restore"]),
        ),
        min_size=1,
        max_size=6,
    ),
    questions=st.lists(QUESTIONS, min_size=3, max_size=8),
    limit=st.integers(1, 6),
)
def test_a_sidecar_of_any_time_answers_as_the_tables_do(history, questions, limit):
    with tempfile.TemporaryDirectory() as folder:
        library = Library(Path(folder))
        library.write("here.md", "tea team in water")
        copy = Path(folder) / "copy"
        for step, then in history:
            for name, body in step.items():
                if body is not None:
                    library.write(f"{name}.md", body)
                else:
                    (library.root / f"{name}.md").unlink(missing_ok=True)
            library.update()
            if then == "save":
                sidecar(library).unlink(missing_ok=True)
                with another(library) as engine:
                    assert hold(engine) is not None
            elif then == "cleanup":
                kept = sidecar(library).read_bytes() if sidecar(library).exists() else b""
                cleanup(library.engine)
                assert not sidecar(library).exists()
                sidecar(library).write_bytes(kept)
            elif then == "copy" and sidecar(library).exists():
                shutil.copy(sidecar(library), copy)
            elif then == "restore" and copy.exists():
                shutil.copy(copy, sidecar(library))
            with another(library) as engine:
                for question in questions:
                    text = query_of(question)
                    expected = answer(library.engine, text, limit=limit)
                    assert answer(engine, text, limit=limit) == expected
        library.engine.close()


def test_a_sidecar_serves_all_processes_and_later_ones(warm):
    assert hold(warm.engine) is not None
    saved = sidecar(warm).read_bytes()
    assert mapped(warm)
    warm.write("late.md", "milk tea")
    warm.update()
    assert mapped(warm)  # with one document that it lacks
    (warm.root / "tea.md").unlink()
    warm.update()
    assert mapped(warm)
    assert sidecar(warm).read_bytes() == saved


def test_a_sidecar_from_before_a_change_of_a_document_it_has_is_made_anew(warm):
    hold(warm.engine)
    saved = sidecar(warm).read_bytes()
    warm.engine.database.write(
        lambda cursor: cursor.connection.execute("update documents set title = 'Black tea'")
    )
    assert not mapped(warm)
    assert hold(warm.engine) is not None
    assert sidecar(warm).read_bytes() != saved
    assert mapped(warm)


@pytest.mark.parametrize(
    "change",
    [
        "update words set term_id = term_id + 1 where word = 'tea'",
        "delete from words where word = 'tea'",
        "update counters set value = value + 1 where name = 'stale_postings'",
        "update documents set path_start = path_start + 1",
        "update documents set lang = 'de'",
    ],
)
def test_whatever_postings_depend_on_is_compared(warm, change):
    hold(warm.engine)
    assert mapped(warm)
    warm.engine.database.write(lambda cursor: cursor.connection.execute(change))
    with another(warm) as engine:
        search(engine, "tea")
        assert held(engine) is None


def test_much_that_is_new_makes_another_sidecar_worth_it(warm, monkeypatch):
    monkeypatch.setattr(postings_reader, "FEW", 1)
    hold(warm.engine)
    saved = sidecar(warm).read_bytes()
    warm.write("late.md", "milk tea")
    warm.update()
    assert mapped(warm)
    warm.write("later.md", "milk tea")
    warm.update()
    assert not mapped(warm)
    hold(warm.engine)
    assert sidecar(warm).read_bytes() != saved


# -- files that are no such sidecar --------------------------------------------------------


def test_the_sidecar_of_another_index_is_not_used(warm, tmp_path_factory):
    other = Library(tmp_path_factory.mktemp("other"))
    other.engine.close()
    other.engine = engine_of(other)
    for name in ("tea.md", "cup.md"):
        other.write(name, "Foreign tea, with quite other water and milk in a teaPot cup.")
    other.update()
    assert hold(other.engine) is not None
    shutil.copy(sidecar(other), sidecar(warm))
    other.engine.close()
    assert not mapped(warm)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.9, 0.999])
def test_a_cut_sidecar_is_not_used(warm, share):
    hold(warm.engine)
    whole = sidecar(warm).read_bytes()
    sidecar(warm).write_bytes(whole[: int(share * len(whole))])
    assert not mapped(warm)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.floats(0, 1), bit=st.integers(0, 7))
def test_a_damaged_sidecar_is_not_used(warm, where, bit):
    if not sidecar(warm).exists():
        hold(warm.engine)
    whole = sidecar(warm).read_bytes()
    spoilt = bytearray(whole)
    spoilt[min(int(where * len(whole)), len(whole) - 1)] ^= 1 << bit
    sidecar(warm).unlink()
    sidecar(warm).write_bytes(spoilt)
    assert not mapped(warm)
    sidecar(warm).unlink()
    sidecar(warm).write_bytes(whole)


NAMES = (
    "ids lengths path_starts body_starts matter digests word_terms words words_bounds title_bounds "
    "hash_bounds terms_3 bounds_3 places_3 slots_3 doubled_3 counts_3 positions_3 wide_3 beyond_3"
).split()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(NAMES),
    change=st.sampled_from(["more", "fewer", "high", "negative", "floats", "backwards", "none"]),
)
def test_arrays_that_do_not_fit_each_other_are_not_searched(warm, name, change):
    """A file with a right checksum, as another program could make it."""
    if not sidecar(warm).exists():
        hold(warm.engine)
    whole = sidecar(warm).read_bytes()
    with postings_file.opened(sidecar(warm)) as descriptor:
        packed = postings_file.mapped(descriptor)
    assert packed is not None
    arrays = dict(packed.arrays)
    one = arrays[name]
    arrays[name] = {
        "more": np.concatenate((one, one[:1], one[:1])),
        "fewer": one[:-1],
        "high": (one + 60_000).astype(one.dtype) if one.dtype.itemsize > 1 else one | 128,
        "negative": -one.astype(np.int64) - 1,
        "floats": one.astype(np.float32),
        "backwards": one[::-1],
        "none": one[:0],
    }[change]
    sidecar(warm).unlink()
    with sidecar(warm).open("wb") as file:
        packer = postings_file.Packer(file)
        packer.add(**arrays)
        packer.finish(packed.note)
    try:
        with another(warm) as engine:
            for text in ASKED:  # some arrays may be wrong and yet fit: nothing else goes wrong
                answer(engine, text)
    finally:
        sidecar(warm).unlink()
        sidecar(warm).write_bytes(whole)


def test_a_term_below_0_is_not_believed(warm):
    """Such a number stands for what was counted during a search."""
    hold(warm.engine)
    with postings_file.opened(sidecar(warm)) as descriptor:
        packed = postings_file.mapped(descriptor)
    assert packed is not None
    arrays = dict(packed.arrays)
    arrays["word_terms"] = -arrays["word_terms"] - 1
    sidecar(warm).unlink()
    with sidecar(warm).open("wb") as file:
        packer = postings_file.Packer(file)
        packer.add(**arrays)
        packer.finish(packed.note)
    assert not mapped(warm)


@pytest.mark.parametrize(
    "contents",
    [
        [],
        {},
        {"arrays": {}},
        {"note": {}, "arrays": {}},
        {"note": {"state": [], "parts": 8}, "arrays": {"ids": ["|u1", 0, 10**12]}},
        {"note": 1, "arrays": {"ids": ["|O", 0, 1]}},
        {"note": 1, "arrays": {"ids": ["<f8", -8, 1]}},
        {"note": 1, "arrays": {"ids": ["<u4", 0, 2**70]}},
        {"note": 1, "arrays": []},
        "[" * 100_000,
    ],
)
def test_a_table_of_contents_of_another_program_is_not_believed(warm, contents):
    text = (contents if isinstance(contents, str) else json.dumps(contents)).encode()
    data = text + postings_file.MARK + len(text).to_bytes(8, "little")
    sidecar(warm).write_bytes(data + xxhash.xxh3_128(data).digest())
    assert not mapped(warm)


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_no_file_is_left_alone(warm, tmp_path, kind):
    elsewhere = tmp_path / "elsewhere"
    if kind == "link":
        elsewhere.write_text("theirs")
        sidecar(warm).symlink_to(elsewhere)
    elif kind == "pipe":
        os.mkfifo(sidecar(warm))
    else:
        sidecar(warm).mkdir()
    assert not mapped(warm)
    hold(warm.engine)
    if kind == "link":
        assert elsewhere.read_text() == "theirs"


# -- killed, raced, without room ------------------------------------------------------------

KILLED = """
import os, signal, sys
from pathlib import Path
from qmd.operations.index import Index
from qmd.ranking import postings_file, postings_reader
from qmd.settings.environment import Machine, Place

folder, name, nth = sys.argv[1:]
home = Path(folder)
place = Place("index", home / "index.yml", home / "index.duckdb", None, home / "trusted.json")
owner, _, name = name.rpartition(".")
owner = {"os": os, "Packer": postings_file.Packer, "Path": Path}[owner]
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
            lambda cursor: cursor.connection.execute("update documents set title = 'Black tea'")
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
    assert part_path(warm.engine.place.database).exists()
    assert (sidecar(warm).read_bytes() if sidecar(warm).exists() else None) == old
    assert not mapped(warm)
    assert hold(warm.engine) is not None
    assert not part_path(warm.engine.place.database).exists()
    assert mapped(warm)


def test_readers_and_a_writer_and_makers_of_sidecars_race(warm):
    """Answers are those of some state that the writer made, whoever is at the sidecar."""
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
    with errand(warm.engine.place.database, postings_loader.LOCK):
        assert hold(warm.engine) is None
        assert not sidecar(warm).exists()
    assert hold(warm.engine) is not None


def test_a_new_sidecar_leaves_the_old_one_to_those_who_have_it_mapped(warm):
    hold(warm.engine)
    before = answers(warm.engine)
    segment = held(warm.engine).segments[0]
    words = segment.lexicon.near("tea", None)
    sidecar(warm).unlink()
    with another(warm) as engine:
        assert hold(engine) is not None
    assert segment.lexicon.near("tea", None) == words
    assert answers(warm.engine) == before


def test_a_full_disk_leaves_what_was_there_and_searches_answer(warm, monkeypatch):
    def full(_self, _data):
        raise OSError(errno.ENOSPC, "No space left on device")

    warm.engine.holder._price = 1000  # searches: no sidecar is made by the way
    expected = answers(warm.engine)
    warm.engine.database.close()
    with monkeypatch.context() as patched:
        patched.setattr(postings_file.Packer, "_write", full)
        assert hold(warm.engine) is None
        assert answers(warm.engine) == expected
    assert not sidecar(warm).exists()
    assert not part_path(warm.engine.place.database).exists()


def test_doctor_tells_of_a_folder_where_no_sidecar_can_be_saved(warm, monkeypatch):
    assert "mapped postings" not in {each.check for each in examine(warm.engine)}
    monkeypatch.setattr("qmd.ranking.postings_sidecar.LARGE", 1)
    assert told(warm) == ("ok", "not made yet: the next server or update makes them", None)
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
        lambda cursor: cursor.connection.execute("update documents set title = 'Black tea'")
    )
    assert told(warm)[1] == "of an earlier state: the next server or update makes them"
    sidecar(warm).write_bytes(b"noise")
    assert told(warm) == (
        "warning",
        "index.duckdb.postings is damaged, or of another program, and not used",
        "Run 'qmd cleanup'.",
    )


# -- made by updates, removed by cleanup -------------------------------------------------------


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
    part_path(warm.engine.place.database).write_bytes(b"of one that was killed")
    size = sidecar(warm).stat().st_size + len(b"of one that was killed")
    assert cleanup(warm.engine, dry_run=True).postings == size
    assert sidecar(warm).exists()
    assert cleanup(warm.engine).postings == size
    assert not sidecar(warm).exists()
    assert not part_path(warm.engine.place.database).exists()
    assert cleanup(warm.engine).postings == 0


def test_a_cleanup_leaves_a_sidecar_that_is_being_made(warm):
    hold(warm.engine)
    with errand(warm.engine.place.database, postings_loader.LOCK):
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
    real = memory.shed
    assert real is not None
    memory.shed = lambda: released.append(real())
    for number in range(9):
        search(warm.engine, f"tea {number}")
    assert len(released) >= 2
    warm.engine.database.close()
    assert answers(warm.engine) == expected
