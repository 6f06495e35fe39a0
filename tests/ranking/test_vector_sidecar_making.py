"""Files in the place of a sidecar of vectors, and its making: damage, kills, races, cleanup."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import xxhash
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.vectors import add
from qmd.named_tuple import NamedTuple
from qmd.ranking import sidecar_file, sidecar_format, vector_sidecar
from qmd.ranking.sidecar_file import Packer, SidecarFile
from qmd.ranking.sidecar_format import VECTORS
from qmd.ranking.vector_matrix import Matrix
from qmd.storage.database import Database
from qmd.storage.file_lock import errand
from tests.ranking.vector_sidecars import (
    QUERIES,
    WIDTH,
    check_answers,
    filled_index,
    is_mapped,
    make_sidecar,
    of_statements,
    sidecar_of,
    some_vectors,
)
from tests.ranking.vector_sidecars import small as small

SHARED = [HealthCheck.function_scoped_fixture]


class Usage(NamedTuple):
    """Room on a disk, in bytes."""

    free: int


@pytest.fixture
def database(tmp_path):
    made = filled_index(tmp_path / "index.duckdb")
    make_sidecar(made)
    made.close()
    yield made
    made.close()


def replaced(database, data):
    """Put another file in the place of the sidecar."""
    sidecar_of(database).unlink(missing_ok=True)
    sidecar_of(database).write_bytes(data)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.999])
def test_a_cut_sidecar_is_not_used(database, share):
    whole = sidecar_of(database).read_bytes()
    sidecar_of(database).write_bytes(whole[: int(share * len(whole))])
    assert not is_mapped(database.path)
    assert check_answers(database.path)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(where=st.floats(0, 1), bit=st.integers(0, 7))
def test_a_damaged_sidecar_is_not_used(database, where, bit):
    whole = sidecar_of(database).read_bytes()
    spoilt = bytearray(whole)
    spoilt[min(int(where * len(whole)), len(whole) - 1)] ^= 1 << bit
    replaced(database, spoilt)
    assert not is_mapped(database.path)
    replaced(database, whole)


NAMES = "ids_1 signs_1 vectors_1 codes_1 scales_1 errors_1".split()


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    name=st.sampled_from(NAMES),
    change=st.sampled_from(["more", "fewer", "other", "backwards", "none", "missing"]),
)
def test_arrays_that_do_not_fit_each_other_are_not_searched(database, name, change):
    """A file with a right checksum, as another program could make it."""
    whole = sidecar_of(database).read_bytes()
    packed = SidecarFile(database.path, VECTORS).mapped()
    assert packed is not None
    arrays = dict(packed.arrays)
    one = arrays[name]
    arrays[name] = {
        "more": np.concatenate((one, one[:1])),
        "fewer": one[:-1],
        "other": one.astype(np.float64),
        "backwards": one[::-1],
        "none": one[:0],
        "missing": one,
    }[change]
    if change == "missing":
        del arrays[name]
    sidecar_of(database).unlink()
    with sidecar_of(database).open("wb") as file:
        packer = Packer(file, VECTORS)
        packer.add(**arrays)
        packer.finish(packed.note)
    known = vector_sidecar.unpacked_vectors(SidecarFile(database.path, VECTORS).mapped())
    if change != "backwards" or name == "ids_1":
        assert known is None
        assert not is_mapped(database.path)
    else:  # what is wrong fits: a search leaves no bounds
        with closing(Database(database.path, warm=True)) as other:
            matrix = Matrix("print", database.path, may_read=False)
            ask = other.read(lambda cursor: matrix.compared(cursor, QUERIES[0], model_id=1))
            assert len(ask.first(5)) <= 5
    replaced(database, whole)


@pytest.mark.parametrize(
    "contents",
    [
        [],
        {"note": {}, "arrays": {}},
        {"note": {"state": ["print", "", 24, 5, "0"], "blocks": 10**9}, "arrays": {}},
        {"note": {"state": ["print", "", 24, 5, "0"], "blocks": "2"}, "arrays": {}},
        {"note": {"state": [], "blocks": 1}, "arrays": {"ids_0": ["<u4", 0, 2**70]}},
        {"note": {"state": ["print", "", -1, 0, "0"], "blocks": 0}, "arrays": {}},
        {"note": {}, "arrays": {"ids_0": ["1" * 5000, 0, 1]}},
    ],
)
def test_a_table_of_contents_of_another_program_is_not_believed(database, contents):
    text = json.dumps(contents).encode()
    data = text + VECTORS.mark + len(text).to_bytes(8, "little")
    replaced(database, data + xxhash.xxh3_128(data).digest())
    assert not is_mapped(database.path)


@pytest.mark.parametrize("change", ["pairs", "more", "shifted"])
def test_a_type_or_a_start_that_no_sidecar_has_is_damage(database, change):
    whole = sidecar_of(database).read_bytes()
    end = len(whole) - sidecar_format.END
    begin = end - int.from_bytes(whole[end + 8 : end + 16], "little")
    contents = json.loads(whole[begin:end])
    for name, (kind, start, count) in contents["arrays"].items():
        contents["arrays"][name] = {
            "pairs": (f"(2,){kind}", start, count // 2),
            "more": (kind, start, -1),
            "shifted": (kind, start + (1 if name == "scales_1" else 0), count),
        }[change]
    text = json.dumps(contents).encode()
    data = whole[:begin] + text + VECTORS.mark + len(text).to_bytes(8, "little")
    replaced(database, data + xxhash.xxh3_128(data).digest())
    assert SidecarFile(database.path, VECTORS).mapped() is None
    assert not is_mapped(database.path)


def test_a_sidecar_of_postings_is_none_of_vectors(database):
    with sidecar_of(database).open("wb") as file:
        Packer(file, sidecar_format.POSTINGS).finish({"state": [], "blocks": 0})
    assert not is_mapped(database.path)


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_no_file_is_left_alone(database, tmp_path, kind):
    sidecar_of(database).unlink()
    elsewhere = tmp_path / "elsewhere"
    if kind == "link":
        elsewhere.write_text("theirs")
        sidecar_of(database).symlink_to(elsewhere)
    elif kind == "pipe":
        os.mkfifo(sidecar_of(database))
    else:
        sidecar_of(database).mkdir()
    assert not is_mapped(database.path)
    assert check_answers(database.path)
    if kind == "link":
        assert elsewhere.read_text() == "theirs"


KILLED = """
import os, signal, sys
from pathlib import Path
from qmd.ranking import sidecar_file, sidecar_format, vector_matrix, vector_sidecar
from qmd.ranking.vector_matrix import Matrix
from qmd.storage.database import Database

path, name, nth = sys.argv[1:]
vector_sidecar.LEAST, vector_sidecar.BLOCK = 1, 64
owner, _, name = name.rpartition(".")
owner = {"os": os, "Packer": sidecar_file.Packer, "Path": Path}[owner]
real, calls = getattr(owner, name), 0

def deadly(*arguments, **options):
    global calls
    calls += 1
    if calls == int(nth):
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments, **options)

setattr(owner, name, deadly)
matrix = Matrix("print", Path(path))
Database(Path(path), warm=True).read(
    lambda cursor: matrix.save(cursor, model_id=1, goes_on=lambda: None)
)
print("lived")
"""


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize(
    ("name", "nth"),
    [
        ("Packer.add", 2),
        ("Packer._write", 20),
        ("Packer.finish", 1),
        ("os.fsync", 1),
        ("Path.replace", 1),
    ],
)
def test_a_process_killed_while_it_makes_a_sidecar_is_in_nobodys_way(database, name, nth, before):
    old = sidecar_of(database).read_bytes() if before else None
    if not before:
        sidecar_of(database).unlink()
    add(database, 201, some_vectors(5, 100))  # so that it fits no more
    database.close()
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(database.path), name, str(nth)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == -signal.SIGKILL, done.stderr + done.stdout
    part = SidecarFile(database.path, VECTORS).part
    assert part.exists()
    assert (sidecar_of(database).read_bytes() if before else None) == old
    assert not is_mapped(database.path)
    assert make_sidecar(database) is not None
    database.close()
    assert not part.exists()
    assert is_mapped(database.path)


def test_readers_and_a_writer_and_makers_of_sidecars_race(database):
    """Searches beside processes that make sidecars give the answers of one state of the index."""
    ends, wrong = threading.Event(), []

    def reads():
        with closing(Database(database.path, warm=True)) as own:
            matrix = Matrix("print", database.path)

            def both(cursor):
                compared = matrix.compared(cursor, QUERIES[0], model_id=1)
                return compared.first(9), of_statements(cursor, QUERIES[0], 9)

            while not ends.is_set():
                ours, theirs = own.read(both)
                if ours != theirs:
                    wrong.append((ours, theirs))

    def spoils():
        path = sidecar_of(database)
        while not ends.is_set():
            for data in (b"", b"noise" * 100):
                other = path.with_name("other")
                other.write_bytes(data)
                other.replace(path)
            path.unlink(missing_ok=True)
            ends.wait(0.01)

    threads = [threading.Thread(target=work) for work in (reads, reads, spoils)]
    for each in threads:
        each.start()
    try:
        for number in range(8):
            add(database, 201 + 40 * number, some_vectors(number, 40))
    finally:
        ends.set()
        for each in threads:
            each.join()
    assert wrong == []
    database.close()
    assert check_answers(database.path)


def test_where_another_process_makes_it_vectors_are_read_into_memory(database):
    sidecar_of(database).unlink()
    with errand(database.path, "vectors.lock"):
        assert check_answers(database.path)
        assert not sidecar_of(database).exists()


def test_a_full_disk_leaves_what_was_there_and_searches_answer(database, monkeypatch):
    def full(_self, _data):
        raise OSError(errno.ENOSPC, "No space left on device")

    sidecar_of(database).unlink()
    monkeypatch.setattr(sidecar_file.Packer, "_write", full)
    assert check_answers(database.path)
    assert not sidecar_of(database).exists()
    assert not SidecarFile(database.path, VECTORS).part.exists()


def test_it_is_not_begun_where_the_disk_has_no_room_for_it(database, monkeypatch):
    sidecar_of(database).unlink()
    needed = 200 * (5 * WIDTH + vector_sidecar.EACH)
    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage(free=needed - 1))
    monkeypatch.setattr(vector_sidecar, "pack_vectors", None)
    assert check_answers(database.path)
    monkeypatch.undo()
    monkeypatch.setattr(vector_sidecar, "LEAST", 1)
    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage(free=needed))
    assert check_answers(database.path)
    assert sidecar_of(database).exists()


def test_two_threads_map_it_once(database, monkeypatch):
    mapped = []
    real = SidecarFile.mapped

    def slowly(self, **options):
        mapped.append(self.path)
        time.sleep(0.05)
        return real(self, **options)

    monkeypatch.setattr(SidecarFile, "mapped", slowly)
    sidecar = vector_sidecar.VectorSidecar(database.path)
    found, begin = [], threading.Barrier(4)

    def search():
        begin.wait()
        found.append(database.read(lambda cursor: sidecar.current(cursor.memory)))

    threads = [threading.Thread(target=search) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(mapped) == 1
    assert [each is found[0] for each in found] == [True] * 4
