"""Embedding that is interrupted, ended by a timeout, killed, or done by two at once."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from qmd.embedding import vectors as embeddings
from qmd.errors import JobRunning, VectorsRemoved
from qmd.operations.vectors import active_fingerprint
from qmd.storage import maintenance
from qmd.storage.file_lock import errand
from tests.embedding.embedding import (
    LONG,
    assert_whole,
    counted,
    lacking,
    texts,
    vectors,
    write_many,
)


def work(between):
    """As a model does that has much to do, and asks whether to go on."""
    end = time.monotonic() + LONG
    while time.monotonic() < end:
        between()


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_interruption_costs_no_more_than_the_batch_at_work(faked, fake, press_ctrl_c, error):
    write_many(faked, 30)
    commits = queue.SimpleQueue()

    def before(batch, between):
        if batch == 4:
            for _ in range(3):
                commits.get(timeout=LONG)
            if error is RuntimeError:
                raise error
            press_ctrl_c()
            work(between)

    fake.before = before
    with pytest.raises(error):
        faked.embed(batch_tokens=50, progress=lambda *_: commits.put(None))
    assert 0 < lacking(faked) < 30
    assert sorted(texts(faked).values()) == sorted(fake.made)
    fake.before = lambda batch, between: None
    faked.embed()
    assert set(Counter(fake.made).values()) == {1}
    assert len(fake.made) == 30
    assert_whole(faked)


def test_a_timeout_of_nothing_stops_before_the_first_batch_and_says_so(faked, fake):
    write_many(faked, 3)
    report = faked.embed(within=0)
    assert report.stopped
    assert counted(report) == (0, 3, 3, 0)
    assert fake.made == []
    assert not faked.embed().stopped
    assert_whole(faked)


def test_a_timeout_reaches_a_model_at_work(faked, fake):
    write_many(faked, 3)

    fake.before = lambda batch, between: work(between)
    report = faked.embed(within=0.1)
    assert report.stopped
    assert counted(report) == (0, 3, 3, 0)
    fake.before = lambda batch, between: None
    faked.embed()
    assert_whole(faked)


def test_who_calls_again_and_again_comes_to_the_end_however_little_time_there_is(faked, fake):
    write_many(faked, 3)
    reports = [faked.embed(batch_tokens=1, within=0, something=True) for _ in range(3)]
    assert [(report.chunks, report.lacking) for report in reports] == [(1, 2), (1, 1), (1, 0)]
    assert reports[0].stopped
    assert_whole(faked)


KILLED = """
import sys
from pathlib import Path
from qmd.settings.environment import Machine
from qmd.models import selection
from tests.library import FakeEmbedder, Library

def stop(batch, between):
    if batch == 6:
        print("at work", flush=True)
        sys.stdin.read()

fake = FakeEmbedder()
fake.before = stop
selection.embedder = lambda model, machine, *, limit: fake
folder = Path(sys.argv[1])
machine = Machine({"embed": str(folder / "fake.gguf")}, hub=folder / "hub")
Library(folder, machine).embed(batch_tokens=50)
"""


def test_vectors_made_anew_are_a_draft_until_all_are_made(faked, fake):
    write_many(faked, 6)
    faked.embed()
    first = set(vectors(faked))
    fake.made.clear()
    found = faked.nearest("seven")

    def fail(batch, between):
        if len(fake.made) > 3:
            raise RuntimeError

    fake.before = fail
    with pytest.raises(RuntimeError):
        faked.embed(force=True, batch_tokens=22)
    assert lacking(faked) == 0
    assert first < set(vectors(faked))
    assert faked.nearest("seven") == found
    assert faked.problems() == []
    fake.before = lambda batch, between: None
    faked.write("new.md", "# New\n\nWritten meanwhile.")
    faked.update()
    assert faked.embed(force=True).chunks < 7
    made = Counter(text for text in fake.made if text.startswith("# "))
    assert (len(made), set(made.values())) == (7, {1})
    assert not first & set(vectors(faked))
    assert_whole(faked)


def begin_anew(faked, fake, *names):
    """Make vectors anew, of one of the documents, and end."""
    fake.made.clear()
    fake.before = lambda batch, between: work(between) if len(fake.made) > 1 else None
    report = faked.embed(*names, force=True, batch_tokens=11, within=1, something=True)
    assert (report.stopped, report.draft, report.chunks) == (True, True, 1)
    fake.before = lambda batch, between: None


def test_a_draft_is_spared_until_a_cleanup_while_nobody_works_on_it(faked, fake):
    write_many(faked, 3)
    faked.embed()
    first = set(vectors(faked))
    begin_anew(faked, fake)
    clean = partial(
        maintenance.clean, faked.engine.database, space=active_fingerprint(faked.engine)
    )
    with errand(faked.engine.place.database, "embed"):
        assert clean().vectors == 0
    assert counted(faked.embed()) == (0, 3, 0, 0)
    assert first < set(vectors(faked))
    assert faked.problems() == []
    assert clean().vectors == 1
    assert set(vectors(faked)) == first
    assert_whole(faked)


def test_a_cleanup_spares_a_draft_that_is_begun_while_it_merges(faked, fake, monkeypatch):
    write_many(faked, 3)
    faked.embed()
    begin_anew(faked, fake)
    with ExitStack() as work:

        def merge(database, **_):
            work.enter_context(errand(database.path, "embed"))

        monkeypatch.setattr(maintenance, "merge", merge)
        space = active_fingerprint(faked.engine)
        assert maintenance.clean(faked.engine.database, space=space).vectors == 0


def test_a_draft_of_more_replaces_nothing_that_it_has_only_begun(faked, fake):
    faked.configure("work")
    faked.write("plan.md", "# Plan\n\nOf work.", collection="work")
    write_many(faked, 5)
    faked.embed()
    first = set(vectors(faked))
    begin_anew(faked, fake)
    fake.made.clear()
    assert counted(faked.embed("work", force=True)) == (1, 1, 0, 0)
    assert len(first & set(vectors(faked))) == 4
    assert_whole(faked)


def test_a_passage_that_the_model_refuses_now_keeps_the_vector_that_it_has(faked, fake):
    write_many(faked, 3)
    faked.embed()
    first = set(vectors(faked))
    fake.refused = {"Note 1"}
    report = faked.embed(force=True)
    assert counted(report) == (2, 3, 0, 1)
    assert len(first & set(vectors(faked))) == 1
    assert_whole(faked)


def test_vectors_made_anew_have_numbers_that_are_new(faked, fake):
    write_many(faked, 3)
    faked.embed()
    begin_anew(faked, fake)
    write_many(faked, 3, first=3)
    faked.embed()
    highest = max(vectors(faked))
    faked.embed(force=True)
    assert min(vectors(faked)) > highest
    write_many(faked, 1, first=6)
    faked.embed()
    assert_whole(faked)


def test_a_run_that_was_killed_is_gone_on_with(faked, fake):
    write_many(faked, 30)
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(faked.folder)],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdout.readline() == b"at work\n"
        process.kill()
    kept = set(texts(faked).values())
    assert kept
    assert faked.problems() == []
    faked.embed()
    assert not kept & set(fake.made)
    assert len(kept) + len(fake.made) == 30
    assert_whole(faked)


def test_two_at_once_are_refused_and_the_first_is_named(faked, fake):
    write_many(faked, 1)
    with (
        errand(faked.engine.place.database, "embed"),
        pytest.raises(
            JobRunning, match=rf"Another 'qmd embed' is at work .*\(process {os.getpid()}\)"
        ) as caught,
    ):
        faked.embed()
    assert caught.value.exit_code == 3
    assert counted(faked.embed()) == (1, 1, 0, 0)


def test_vectors_that_another_process_removes_meanwhile_are_not_added_to_another_model(faked, fake):
    write_many(faked, 3)

    def another_model_takes_the_number(batch, between):
        fake.before = lambda batch, between: None
        space = faked.engine.models.space()

        def work(cursor):
            [stored] = embeddings.models(cursor)
            embeddings.remove(cursor, model_id=stored.model_id)
            other = space._replace(fingerprint="another")
            assert embeddings.meet(cursor, other, fake.dimensions) == stored.model_id

        faked.engine.database.write(work)

    fake.before = another_model_takes_the_number
    with pytest.raises(VectorsRemoved, match=r"(?s)removed while .* Run 'qmd embed' again"):
        faked.embed()
    assert vectors(faked) == {}
    assert faked.problems() == []
    assert counted(faked.embed()) == (3, 3, 0, 0)


def test_a_document_that_goes_while_it_is_embedded_leaves_an_index_that_is_whole(faked, fake):
    write_many(faked, 3)

    def remove(batch, between):
        fake.before = lambda batch, between: None
        (faked.root / "001.md").unlink()
        faked.update()
        maintenance.clean(faked.engine.database)

    fake.before = remove
    assert counted(faked.embed()) == (3, 2, 0, 0)
    assert len(vectors(faked)) == 2
    assert faked.problems() == []
    assert {result.file for result in faked.nearest("one")} == {"notes/000.md", "notes/002.md"}
