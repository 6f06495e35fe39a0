"""Pauses of the lock between processes, by a clock that only they move."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from qmd.errors import IndexBusy, JobRunning
from qmd.storage import file_lock
from qmd.storage.file_lock import FileLock, dictionary, errand

pytestmark = pytest.mark.usefixtures("pauses")


class Clock:
    """Stands in for the module `time`.

    Attributes:
        now: seconds.
        slept: seconds of each pause.
        jitter: nanoseconds, of which the last three digits make pauses differ: at 500, none does.
        before: called before each pause.
    """

    def __init__(self):
        self.now = 100.0
        self.slept = []
        self.jitter = 500
        self.before = lambda: None

    def monotonic(self):
        return self.now

    def monotonic_ns(self):
        return self.jitter

    def sleep(self, seconds):
        self.before()
        self.slept.append(pytest.approx(seconds, rel=1e-6))
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    names = {name: getattr(made, name) for name in ("monotonic", "monotonic_ns", "sleep")}
    monkeypatch.setattr(file_lock, "time", SimpleNamespace(**names))
    return made


@pytest.fixture
def index(tmp_path):
    return tmp_path / "index.duckdb"


def write(gate, clock, *, seconds=0.01):
    """Write, and let five milliseconds go by."""
    gate.shut()
    clock.now += seconds
    gate.open()
    clock.now += 0.005


def test_a_writer_stays_away_for_20_milliseconds_after_writes_of_50(clock, index):
    writer = FileLock(index)
    for _ in range(4):
        write(writer, clock)
    assert clock.slept == []  # after 60 milliseconds, of which the last 5 were a rest
    write(writer, clock)
    assert clock.slept == [0.015]
    for _ in range(3):
        write(writer, clock)
    assert clock.slept == [0.015]
    write(writer, clock)
    assert clock.slept == [0.015, 0.015]


def test_a_writer_stays_away_after_one_long_write(clock, index):
    writer = FileLock(index)
    write(writer, clock, seconds=0.046)
    write(writer, clock)
    assert clock.slept == [0.015]


def test_a_writer_that_was_away_for_long_enough_does_not_pause(clock, index):
    writer = FileLock(index)
    writer.shut()
    writer.open()
    clock.now += 0.021
    writer.shut()
    assert clock.slept == []


def test_a_first_turn_begins_without_a_pause_however_young_the_clock_is(clock, index):
    clock.now = 0.5
    FileLock(index).shut()
    assert clock.slept == []


def test_another_writer_gets_in_during_the_pause(clock, index):
    first, second = FileLock(index), FileLock(index)
    first.shut()
    clock.now += 0.05
    first.open()
    clock.before = lambda: (second.shut(), setattr(clock, "before", second.open))
    first.shut()
    # The pause of 20 ms, in which the other came; then one look at the lock that it has.
    assert clock.slept == [0.02, 0.002]


def wait_in_vain(index, *, patience):
    """Wait for a writer that stays, as a reader."""
    writer = FileLock(index)
    writer.shut()
    with pytest.raises(IndexBusy):
        FileLock(index, patience=patience).enter_to_read()
    writer.open()


def test_pauses_grow_by_a_third_from_2_to_10_milliseconds(clock, index):
    wait_in_vain(index, patience=0.06)
    growing = [0.002, 0.0026, 0.00338, 0.004394, 0.0057122, 0.00742586, 0.009653618]
    assert clock.slept == [*growing, 0.01, 0.01, 0.01]  # 35.2 ms, and 30


@pytest.mark.parametrize(("jitter", "factor"), [(1_000, 0.75), (7_250, 0.875), (999, 1.2495)])
def test_pauses_of_several_that_wait_differ_by_a_quarter(clock, index, jitter, factor):
    clock.jitter = jitter
    wait_in_vain(index, patience=0.02)
    assert clock.slept[:3] == [0.002 * factor, 0.0026 * factor, 0.00338 * factor]


def test_the_longest_pause_is_shorter_than_the_time_a_writer_stays_away(clock, index):
    clock.jitter = 999
    wait_in_vain(index, patience=0.2)
    assert clock.slept[-1] == 0.012495  # below 0.02


def test_a_wait_counts_from_when_it_is_said_to_have_begun(clock, index):
    writer = FileLock(index)
    writer.shut()
    reader = FileLock(index, patience=1)
    with pytest.raises(IndexBusy, match=rf"for 7 seconds by .*process {os.getpid()}"):
        reader.enter_to_read(began=clock.now - 7)
    with pytest.raises(IndexBusy, match=rf"for 5 seconds by .*process {os.getpid()}"):
        reader.shut(began=clock.now - 5)
    writer.enter_to_write(began=clock.now - 9)
    other = FileLock(index, patience=1)
    with pytest.raises(IndexBusy, match="has been held for 3 seconds"):
        other.enter_to_write(began=clock.now - 3)  # readers leave no name
    assert clock.slept == []


def test_patience_that_is_just_used_up_is_not_over(clock, index):
    writer = FileLock(index)
    writer.shut()
    clock.before = writer.open
    FileLock(index, patience=1).enter_to_read(began=clock.now - 1)
    assert clock.slept == [0.002]


def test_a_gate_has_patience_for_30_seconds(clock, index):
    writer = FileLock(index)
    writer.shut()
    reader = FileLock(index)
    with pytest.raises(IndexBusy):
        reader.enter_to_read(began=clock.now - 30.5)
    clock.before = writer.open
    reader.enter_to_read(began=clock.now - 29.5)


def test_a_long_job_is_refused_after_ten_looks(clock, index):
    with errand(index, "embed"), pytest.raises(JobRunning), errand(index, "embed"):
        pass
    assert clock.slept == [0.002] * 10


def test_an_update_waits_for_a_cleanup_that_forgets_words_and_a_cleanup_does_not_wait(clock, index):
    forgetting = dictionary(index, shared=False)
    assert forgetting.__enter__()
    with dictionary(index, shared=False) as may_forget:
        assert not may_forget
    assert clock.slept == []
    clock.before = lambda: forgetting.__exit__(None, None, None) if len(clock.slept) == 2 else None
    with dictionary(index, shared=True) as may_know:
        assert may_know
    assert clock.slept == [0.002, 0.002, 0.002]
