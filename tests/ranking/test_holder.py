"""Postings in memory give what the file gives, and only as long as it is attached."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qmd.errors import QueryError
from qmd.operations.index import Index
from qmd.operations.search import prepare, search
from qmd.ranking import bm25 as ranked
from qmd.ranking import inverted_index, postings, postings_loader, postings_reader, query
from qmd.storage.cancellation import Stopped
from tests.library import Library, examples, staying_attached

WORDS = (
    "error errors handling handle config configuration configured parse_json parseJson C++20 "
    "std::vector <vector> CMake cmakes Zürich 日本語 日本 1.2 the of a tea teas team Running ski "
    "sky"
).split()

bodies = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join)
asked = st.lists(
    st.sampled_from([*WORDS, "conf", "te", "err", "pars", "never", "日"]) | st.just("_ tea"),
    min_size=1,
    max_size=4,
)
QUESTIONS = st.tuples(asked, st.sampled_from(["{}", '"{}"', "-{}", '-"{}"', '{} "tea team"']))


@pytest.fixture
def warm(library):
    """A library whose index stays attached; what is held is read when a test says so."""
    library.engine.close()
    library.engine = engine_of(library)
    library.write("tea.md", "# Green tea\n\nIn a teaPot, with water.")
    library.update()
    yield library
    library.engine.close()


def rested(library):
    """Let the index look as if nobody had written to it for a while."""
    now = time.time()
    os.utime(library.engine.place.database, (now, now - 60))


def engine_of(library):
    """An engine that stays."""
    return Index(library.engine.place, library.engine.models.machine, warm=True, stays=True)


def hold(engine):
    """Have the postings read, and give them."""
    engine.read(lambda cursor: None)
    engine.holder.prepare()
    engine.holder.settle()
    return held(engine)


def sidecar(library):
    """The file of the postings."""
    return library.engine.place.database.with_name("index.duckdb.postings")


def held(engine):
    return engine.database.read(ranked.held)


def answer(engine, text, **options):
    try:
        found = search(engine, text, **options)
    except QueryError as error:
        return str(error)
    return list(found), found.words, found.notice


def take(library, step):
    """Write and remove notes, by name with their texts, and update."""
    for name, body in step.items():
        if body is not None:
            library.write(f"{name}.md", body)
        else:
            (library.root / f"{name}.md").unlink(missing_ok=True)
    library.update()


def query_of(question):
    words, form = question
    first, *others = words
    return " ".join([*others, form.format(first)])


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    history=st.lists(
        st.dictionaries(st.sampled_from("abcdefgh"), bodies | st.none(), min_size=1, max_size=6),
        min_size=1,
        max_size=4,
    ),
    questions=st.lists(QUESTIONS, min_size=4, max_size=12),
    limit=st.integers(1, 6),
    grouped=st.sampled_from([1, 2, inverted_index.GROUPED]),
)
def test_memory_answers_as_the_file_does(history, questions, limit, grouped):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(inverted_index, "GROUPED", grouped)
        library = Library(Path(folder))
        library.configure("more")
        library.write("here.md", "tea team in water", collection="more")
        for step in history:
            take(library, step)
        other = engine_of(library)
        assert hold(other) is not None
        with staying_attached(library.engine.database):
            for question in questions:
                for chosen in (None, "notes"):
                    text = query_of(question)
                    expected = answer(library.engine, text, limit=limit, collection=chosen)
                    assert answer(other, text, limit=limit, collection=chosen) == expected
        assert held(other) is not None
        other.close()
        library.engine.close()


def test_the_file_is_not_asked_for_postings_and_words(warm, monkeypatch):
    expected = answer(warm.engine, "tea teaPot gree")
    warm.engine.database.close()
    assert hold(warm.engine) is not None

    def never(*_, **__):
        raise AssertionError

    for name in ("near", "documents", "any_of", "phrases", "ranked"):
        monkeypatch.setattr(postings.Filed, name, never)
    assert answer(warm.engine, "tea teaPot gree") == expected


def test_positions_beyond_two_bytes_are_kept(warm):
    words = "river bridge window garden letter summer station island morning bottle".split()
    filler = " ".join(words[number % 10] for number in range(66_000))
    warm.write("long.md", f"{filler} first second {filler[:2000]} third")
    warm.write("other.md", f"{filler} second first")
    apart = filler.split()[: (1 << 16)]
    warm.write("apart.md", " ".join(["third", *apart, "fourth"]))
    warm.update()
    questions = ('"first second"', '"second first"', '"third fourth"')
    cold = [answer(warm.engine, text) for text in questions]
    warm.engine.database.close()
    assert hold(warm.engine) is not None
    assert [answer(warm.engine, text) for text in questions] == cold
    files = [[each.file for each in results] for results, _, _ in cold]
    assert files == [["notes/long.md"], ["notes/other.md"], []]


def test_a_phrase_that_begins_without_a_word_is_not_found_in_the_document_before(warm):
    warm.write("b.md", "tea")
    warm.update()
    warm.write("c.md", "# Cup\n\nof tea")
    warm.update()
    for _ in range(2):
        files = [each.file for each in answer(warm.engine, '"_ cup"')[0]]
        assert files == ["notes/c.md"]
        warm.engine.database.close()
        hold(warm.engine)


def test_what_is_held_goes_with_its_state_of_the_index(warm):
    before = hold(warm.engine)
    assert before is not None
    other = engine_of(warm)
    warm.write("new.md", "tea and milk")
    warm.engine, mine = other, warm.engine
    warm.update()
    warm.engine = mine
    other.close()
    assert [each.file for each in search(mine, "milk")] == ["notes/new.md"]
    assert held(mine) not in (None, before)


class Slow:
    """Stands for reading that takes long, and notes whether it left off."""

    def __init__(self, monkeypatch):
        self.began, self.left_off = threading.Event(), threading.Event()
        monkeypatch.setattr(postings_reader, "pack", self.pack)

    def pack(self, cursor, file, *, goes_on):
        self.began.set()
        end = time.monotonic() + 5
        try:
            while time.monotonic() < end:
                goes_on()
        except Stopped:
            self.left_off.set()
            raise
        raise postings_reader.NotWhole


def test_a_writer_is_let_in_while_postings_are_read(warm, monkeypatch):
    slow = Slow(monkeypatch)
    warm.engine.holder.prepare()
    assert slow.began.wait(5)
    warm.write("new.md", "tea and milk")
    warm.update()
    assert slow.left_off.wait(5)
    assert held(warm.engine) is None


def test_readers_do_not_wait_for_postings_of_an_index_that_is_another_one(warm, monkeypatch):
    slow = Slow(monkeypatch)
    warm.engine.holder.prepare()
    assert slow.began.wait(5)
    os.utime(warm.engine.database.path, ns=(1, 1))
    assert warm.found("tea") == ["tea.md"]
    assert slow.left_off.is_set()


def test_a_process_that_ends_does_not_wait_for_postings(warm, monkeypatch):
    slow = Slow(monkeypatch)
    ended = threading.Thread()
    monkeypatch.setattr(threading, "main_thread", lambda: ended)
    warm.engine.holder.prepare()
    warm.engine.holder.settle()
    assert slow.left_off.is_set()


def test_an_engine_can_be_closed_by_who_reads_its_postings(warm, monkeypatch):
    closed = threading.Event()

    def closing(cursor, file, *, goes_on):
        warm.engine.close()  # as a finalizer does, which may run in any thread
        closed.set()
        goes_on()

    monkeypatch.setattr(postings_reader, "pack", closing)
    warm.engine.holder.prepare()
    assert closed.wait(5)
    warm.engine.holder.settle()
    assert warm.engine.database._attached is None


def test_a_search_answers_where_no_thread_can_be_started(warm, monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    warm.engine.read(lambda cursor: None)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        warm.engine.holder.prepare()
        warm.engine.holder.close()
    assert hold(warm.engine) is not None


def test_an_engine_that_closes_does_not_wait_for_postings(warm, monkeypatch):
    reading = threading.Event()

    def endless(cursor, file, *, goes_on):
        reading.set()
        while True:
            goes_on()

    monkeypatch.setattr(postings_reader, "pack", endless)
    warm.engine.holder.prepare()
    assert reading.wait(5)
    warm.engine.close()
    assert warm.engine.holder._reader._thread is None


def test_the_first_search_of_a_server_is_through_before_postings_are_loaded(warm, monkeypatch):
    hold(warm.engine)
    warm.engine.close()
    warm.engine = engine_of(warm)
    monkeypatch.setattr(postings_loader, "PAUSE", 3600)
    monkeypatch.setattr(postings_loader, "LEAD", 3600)
    warm.engine.load_postings(later=True)
    assert warm.found("water") == ["tea.md"]
    assert held(warm.engine) is None
    warm.engine.holder.settle()
    assert held(warm.engine) is not None


def test_postings_are_loaded_soon_after_the_first_search(warm, monkeypatch):
    hold(warm.engine)
    warm.engine.close()
    warm.engine = engine_of(warm)
    loaded = threading.Event()
    monkeypatch.setattr(postings_loader, "PAUSE", 3600)
    monkeypatch.setattr(postings_loader, "LEAD", 0.001)
    load = warm.engine.holder._load
    monkeypatch.setattr(warm.engine.holder, "_load", lambda cursor: (load(cursor), loaded.set()))
    warm.engine.load_postings(later=True)
    warm.found("water")
    assert loaded.wait(5)
    assert held(warm.engine) is not None


def test_a_server_that_closes_does_not_wait_for_a_first_search(warm, monkeypatch):
    hold(warm.engine)
    warm.engine.close()
    warm.engine = engine_of(warm)
    monkeypatch.setattr(postings_loader, "PAUSE", 3600)
    warm.engine.load_postings(later=True)
    assert warm.engine.holder._reader.is_pausing
    warm.engine.close()
    assert warm.engine.holder._reader._thread is None


def test_the_first_search_of_a_large_index_maps_its_postings(warm, monkeypatch):
    hold(warm.engine)
    warm.engine.close()
    warm.engine = engine_of(warm)
    monkeypatch.setattr(postings_loader, "SMALL", 0)
    warm.engine.load_postings(later=True)
    warm.found("water")
    assert held(warm.engine) is not None


def test_the_second_question_makes_it_worth_to_read_all(warm):
    rested(warm)
    search(warm.engine, "tea")
    warm.engine.holder.settle()
    assert held(warm.engine) is None
    search(warm.engine, "tea")  # remembered: nothing is missed
    warm.engine.holder.settle()
    assert held(warm.engine) is None
    search(warm.engine, "water")
    warm.engine.holder.settle()
    assert held(warm.engine) is not None


def test_nothing_is_read_just_after_a_write(warm, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(postings_loader, "QUIET_NS", 3600 * 10**9)
        for number in range(9):
            search(warm.engine, f"tea {number}")
        warm.engine.holder.settle()
        assert held(warm.engine) is None
    rested(warm)
    for number in range(2):
        search(warm.engine, f"water {number}")
    warm.engine.holder.settle()
    assert held(warm.engine) is not None


def test_an_index_of_tomorrow_is_read(warm):
    tomorrow = time.time() + 86_400
    os.utime(warm.engine.place.database, (tomorrow, tomorrow))
    for number in range(2):
        search(warm.engine, f"tea {number}")
    warm.engine.holder.settle()
    assert held(warm.engine) is not None


def test_a_server_reads_all_before_anybody_asks(warm):
    prepare(warm.engine, 10)
    warm.engine.holder.settle()
    assert held(warm.engine) is not None


def test_of_an_index_that_changes_all_is_read_when_as_much_was_asked(warm, monkeypatch):
    rested(warm)
    monkeypatch.setattr(postings_loader, "WORTH", 1)
    hold(warm.engine)
    warm.engine.database.close()
    sidecar(warm).unlink()
    for number in range(5):
        search(warm.engine, f"tea {number}")
    warm.engine.holder.settle()
    assert held(warm.engine) is None
    for number in range(5, 40):
        search(warm.engine, f"tea {number}")
    warm.engine.holder.settle()
    assert held(warm.engine) is not None


def test_where_no_sidecar_can_be_saved_a_small_index_is_held_by_one_process(warm, monkeypatch):
    sidecar(warm).mkdir()
    own = hold(warm.engine)
    assert own is not None
    warm.engine.database.close()
    search(warm.engine, "tea")
    assert held(warm.engine).segments == own.segments  # not read again
    other = engine_of(warm)
    monkeypatch.setattr(postings_loader, "UNSAVED", 0)
    assert hold(other) is None
    assert answer(other, "tea") == answer(warm.engine, "tea")
    other.close()


def test_postings_of_no_document_are_not_held(warm):
    warm.engine.database.write(
        lambda cursor: cursor.connection.execute("update postings set document_id = 99")
    )
    assert hold(warm.engine) is None


def test_an_index_without_documents_has_nothing_to_hold(library):
    library.update()
    engine = engine_of(library)
    assert hold(engine) is None
    engine.close()


def test_a_command_holds_nothing(library):
    library.write("tea.md", "tea")
    library.update()
    for number in range(40):
        search(library.engine, f"tea {number}")
    assert library.engine.holder._missed == 0


def test_what_is_asked_about_one_question_is_missed_once(warm):
    asked = query.parse("tea water")

    def work(cursor):
        ranked.scored(cursor, asked, limit=20)
        ranked.rarest(cursor, asked)

    warm.engine.read(work)
    assert warm.engine.holder._missed == 1


FIRST = """
import os, sys
from pathlib import Path
from qmd.operations.index import Index
from qmd.operations.search import search
from qmd.settings.environment import locate

engine = Index(locate(os.environ, Path.cwd()), warm=True, stays=True)
engine.load_postings(later=True)
assert search(engine, "tea")
print("numpy" in sys.modules)
engine.load_postings()
engine.holder.settle()
print("numpy" in sys.modules)
engine.close()
"""


def test_a_first_search_without_a_sidecar_does_not_wait_for_numpy(warm):
    places = {
        "INDEX_PATH": str(warm.engine.place.database),
        "QMD_CONFIG_DIR": str(warm.folder),
    }
    command = [sys.executable, "-c", FIRST]
    done = subprocess.run(command, env=os.environ | places, capture_output=True, text=True)
    assert (done.stdout.split(), done.stderr) == (["False", "True"], "")


def test_what_is_held_knows_stems_and_leaves_out_what_was_removed_or_is_excluded(warm):
    for name, body in (("gone", "tea milk"), ("new", "old tea milk"), ("run", "running: who runs")):
        warm.write(f"{name}.md", body)
    warm.update()
    (warm.root / "gone.md").unlink()
    warm.write("new.md", "tea with running water")
    warm.update()
    questions = ("milk", "tea", '"tea milk"', "tea -green", '-"in a" tea', "running", "tea -milk")
    for chosen in (None, "notes"):
        warm.engine.database.close()
        cold = [answer(warm.engine, text, collection=chosen) for text in questions]
        warm.engine.database.close()
        assert hold(warm.engine) is not None
        assert [answer(warm.engine, text, collection=chosen) for text in questions] == cold
        files = [[each.file for each in results] for results, _, _ in cold]
        assert files[0] == files[2] == []
        assert files[3] == ["notes/new.md"]
        assert cold[5][1]["runs"] == "running"
