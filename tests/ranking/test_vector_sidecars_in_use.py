"""Sidecars of vectors of an index with a model: commands, servers, cleanup and doctor."""

from __future__ import annotations

import errno
import os
import shutil
import threading
import time

import pytest

from qmd.operations.cleanup import cleanup
from qmd.operations.doctor import examine
from qmd.operations.index import Index
from qmd.ranking import sidecar_file, vector_matrix, vector_sidecar
from qmd.ranking.sidecar_file import SidecarFile
from qmd.ranking.sidecar_format import VECTORS
from qmd.ranking.vector_matrix import Matrix
from tests.ranking.vector_sidecars import small as small


@pytest.fixture
def filled(faked):
    for number in range(30):
        faked.write(f"{number}.md", f"# Drink {number}\n\nWhat drink {number} is made of.")
    faked.update()
    return faked


def beside(library):
    return SidecarFile(library.engine.place.database, VECTORS)


def test_embed_makes_it_and_a_command_finds_the_same_by_it(filled, monkeypatch):
    monkeypatch.setattr(vector_sidecar, "LEAST", 1000)
    filled.embed()
    assert not beside(filled).path.exists()
    monkeypatch.setattr(vector_sidecar, "LEAST", 1)
    filled.write("30.md", "# Drink 30\n\nNew.")
    filled.update()
    filled.embed()
    assert beside(filled).path.exists()
    (filled.root / "30.md").unlink()
    filled.update()
    filled.engine.close()
    compared = []
    real = Matrix.compared

    def note(*given, **options):
        compared.append(real(*given, **options) is not None)
        return real(*given, **options)

    monkeypatch.setattr(Matrix, "compared", note)
    found = []
    for _ in range(2):
        filled.engine = Index(filled.engine.place, filled.engine.models.machine)
        found.append(filled.nearest("drink 7"))
        filled.engine.close()
        beside(filled).path.unlink(missing_ok=True)
    assert compared == [True, False]
    assert found[0] == found[1]
    assert found[0]


def test_a_checksum_is_compared_once_for_commands_and_again_after_any_change(filled, monkeypatch):
    filled.embed()
    compared = []
    real = sidecar_file._checksum

    def checksum(*given):
        compared.append(given)
        return real(*given)

    monkeypatch.setattr(sidecar_file, "_checksum", checksum)
    place, machine = filled.engine.place, filled.engine.models.machine

    def ask():
        filled.engine.close()
        filled.engine = Index(place, machine)
        del compared[:]
        return filled.nearest("drink 7"), len(compared)

    monkeypatch.setattr("qmd.processes.leave_open", True)  # as in a command
    monkeypatch.setattr(vector_sidecar, "is_settled", lambda _: True)
    monkeypatch.setattr("qmd.storage.saved_facts.is_settled", lambda _: True)
    expected, count = ask()
    assert count == 1
    assert ask() == (expected, 0)
    whole = beside(filled).path.read_bytes()
    with beside(filled).path.open("r+b") as file:  # in place, and as long as before
        file.seek(len(whole) // 2)
        file.write(bytes([whole[len(whole) // 2] ^ 255]))
    assert ask() == (expected, 1)


def test_a_file_whose_time_is_yet_to_come_is_checked_by_each_command(filled, monkeypatch):
    """On Windows, the last of the times of a file is that of its creation."""
    filled.embed()
    compared = []
    real = sidecar_file._checksum
    monkeypatch.setattr(
        sidecar_file, "_checksum", lambda *given: (compared.append(given), real(*given))[1]
    )
    monkeypatch.setattr("qmd.processes.leave_open", True)  # as in a command
    later = time.time_ns() + 3600 * 10**9
    monkeypatch.setattr(vector_sidecar, "is_settled", lambda changed: changed < later)
    monkeypatch.setattr("qmd.storage.saved_facts.is_settled", lambda _: True)
    os.utime(beside(filled).path, ns=(later, later))
    for _ in range(3):
        filled.engine.close()
        filled.engine = Index(filled.engine.place, filled.engine.models.machine)
        assert filled.nearest("drink 7")
    assert len(compared) == 3


def test_cleanup_removes_it(filled):
    filled.embed()
    size = beside(filled).path.stat().st_size
    assert cleanup(filled.engine, dry_run=True).mapped_vectors == size
    assert beside(filled).path.exists()
    assert cleanup(filled.engine).mapped_vectors == size
    assert not beside(filled).path.exists()
    assert cleanup(filled.engine).mapped_vectors == 0


def findings(library):
    return [
        (each.status, each.detail)
        for each in examine(library.engine)
        if each.check == "mapped vectors"
    ]


def test_doctor_tells_what_it_is_worth(filled, monkeypatch):
    monkeypatch.setattr(vector_sidecar, "LEAST", 1000)
    filled.embed()
    assert findings(filled) == []
    monkeypatch.setattr(vector_sidecar, "LEAST", 1)
    assert findings(filled) == [("ok", "not made yet: the next server or 'qmd embed' makes them")]
    filled.embed(force=True)
    [(status, detail)] = findings(filled)
    assert (status, detail.endswith("B")) == ("ok", True)
    beside(filled).path.write_bytes(b"noise")
    assert findings(filled) == [
        ("warning", "index.duckdb.vectors is damaged, or of another program, and not used")
    ]
    beside(filled).path.unlink()
    filled.embed(force=True)
    shutil.copy(beside(filled).path, filled.folder / "copy")
    for number in range(20):
        filled.write(f"more{number}.md", f"# More {number}\n\nOf drinks.")
    filled.update()
    filled.embed()
    shutil.copy(filled.folder / "copy", beside(filled).path)
    assert findings(filled) == [
        ("ok", "of an earlier state: the next server or 'qmd embed' makes them")
    ]


@pytest.fixture
def server(filled):
    """A process that stays, for an index without a sidecar."""
    filled.embed()
    filled.engine.close()
    beside(filled).path.unlink()
    place, machine = filled.engine.place, filled.engine.models.machine
    filled.engine = Index(place, machine, warm=True, stays=True)
    return filled


@pytest.fixture
def held(monkeypatch):
    """List, for each search, True if it had the vectors outside of DuckDB."""
    found = []
    real = Matrix.compared

    def compared(*given, **options):
        made = real(*given, **options)
        found.append(made is not None)
        return made

    monkeypatch.setattr(Matrix, "compared", compared)
    return found


def test_a_server_makes_it_beside_its_searches(server, held):
    expected = server.nearest("drink 7")
    assert not beside(server).path.exists()  # one question is not worth it
    assert server.nearest("drink 7") == expected
    server.engine.vector_indexes.settle()
    assert beside(server).path.exists()
    assert server.nearest("drink 7") == expected
    assert held == [False, False, True]


def test_a_server_that_writers_stop_again_and_again_makes_it_by_a_search(server, held):
    maker = server.engine.vector_indexes._maker
    maker.stopped = 2
    server.nearest("drink 7")
    server.engine.database.is_waited_for = lambda: True
    server.nearest("drink 7")
    maker.settle()
    assert maker.stopped == 3
    assert not beside(server).path.exists()
    server.nearest("drink 7")
    assert beside(server).path.exists()
    assert held == [False, False, True]


def test_a_server_that_cannot_save_it_holds_vectors_in_memory(server, held):
    beside(server).path.mkdir()
    for _ in range(2):
        server.nearest("drink 7")
        server.engine.vector_indexes.settle()
    assert server.engine.vector_indexes._maker.failed
    server.nearest("drink 7")
    assert held == [False, False, True]


@pytest.mark.parametrize("many", [False, True])
def test_a_server_with_a_full_disk_tries_again_once_the_vectors_have_changed(
    server, monkeypatch, many
):
    tries = []

    def full(*_given, **_options):
        tries.append(server.engine.vector_indexes._maker.failed)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(vector_sidecar, "pack_vectors", full)
    if many:
        monkeypatch.setattr(vector_matrix, "MOST", 1)
    for _ in range(6):
        assert server.nearest("drink 7")
        server.engine.vector_indexes.settle()
    assert tries == [False]
    monkeypatch.undo()
    monkeypatch.setattr(vector_sidecar, "LEAST", 1)
    if many:
        monkeypatch.setattr(vector_matrix, "MOST", 1)
    server.write("30.md", "# Drink 30\n\nNew.")
    server.update()
    monkeypatch.setattr(server.engine.vector_indexes, "renew", lambda _: None)
    server.embed()
    for _ in range(3):
        assert server.nearest("drink 7")
        server.engine.vector_indexes.settle()
    assert beside(server).path.exists() == many


def test_a_server_that_ends_does_not_wait_for_it(server, monkeypatch):
    making = threading.Event()

    def endless(*_, goes_on, **__):
        making.set()
        while True:
            goes_on()

    monkeypatch.setattr(vector_sidecar, "pack_vectors", endless)
    server.nearest("drink 7")
    server.nearest("drink 7")
    assert making.wait(30)
    server.engine.close()
    assert not beside(server).path.exists()
    assert not beside(server).part.exists()
