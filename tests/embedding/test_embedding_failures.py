"""What a failure of the model leaves, and how it is told."""

from __future__ import annotations

import queue

import numpy as np
import pytest

from qmd.embedding.pipeline import PROBE
from qmd.errors import ModelFailure
from qmd.settings.environment import Machine
from tests.embedding.embedding import LONG, SMALL, assert_whole, counted, texts, vectors, write_many
from tests.library import Library


def test_a_chunk_that_fails_is_named_and_does_not_stop_the_rest(faked, fake):
    faked.configure(more=SMALL)
    body = "# Long\n\n" + "\n".join(f"line{number} and so on" for number in range(3, 60))
    faked.write("long.md", body)
    write_many(faked, 3)
    fake.refused = {"line37"}
    report = faked.embed()
    made = [text for text in fake.made if text != PROBE]
    [(position, length, line)] = faked.ask(
        "select position, length, line from chunks "
        "where chunk_id not in (select chunk_id from embeddings)"
    )
    assert "line37" in body[position : position + length]
    assert line == body.count("\n", 0, position) + 1
    assert report.failed == [(f"notes/long.md:{line}", "It has no vector for line37.")]
    assert counted(report) == (len(made), 4, 1, 1)
    assert sorted(texts(faked).values()) == sorted(made)
    assert faked.problems() == []


def test_a_chunk_that_failed_is_tried_again_by_the_next_run(faked, fake):
    write_many(faked, 3)
    fake.refused = {"Note 1"}
    faked.embed()
    fake.made.clear()
    assert len(faked.embed().failed) == 1
    assert set(fake.made) == {PROBE}
    fake.refused = set()
    assert counted(faked.embed()) == (1, 3, 0, 0)
    assert_whole(faked)


def test_chunks_that_always_fail_do_not_stop_those_behind_them(faked, fake):
    """They come first in every later run."""
    fake.refused = {"Note"}
    write_many(faked, 5)
    faked.write("tea.md", "# Tea\n\nWith milk.")
    faked.update()
    assert len(faked.embed().failed) == 5
    faked.write("rain.md", "# Rain\n\nFrom the west.")
    faked.update()
    assert counted(faked.embed()) == (1, 7, 5, 5)
    assert set(texts(faked).values()) == {"# Tea\n\nWith milk.", "# Rain\n\nFrom the west."}


def test_a_model_that_does_nothing_is_an_error_however_few_the_chunks(faked, fake):
    fake.refused = {""}
    for number in (1, 4):
        write_many(faked, number)
        with pytest.raises(ModelFailure, match="has no vector"):
            faked.embed()
    assert vectors(faked) == {}
    assert faked.problems() == []


def test_a_model_that_breaks_down_is_an_error_and_what_it_made_is_kept(faked, fake):
    write_many(faked, 30)
    commits = queue.SimpleQueue()

    def break_down(batch, between):
        if batch == 4:
            for _ in range(3):
                commits.get(timeout=LONG)
            fake.refused = {""}

    fake.before = break_down
    with pytest.raises(ModelFailure, match="has no vector"):
        faked.embed(batch_tokens=50, progress=lambda *_: commits.put(None))
    kept = set(vectors(faked))
    assert kept
    fake.refused = set()
    faked.embed()
    assert kept < set(vectors(faked))
    assert_whole(faked)


def test_a_vector_that_is_no_number_never_gets_in(tmp_path, tiny_embedder):
    """The vector of one word in the model's file is not a number."""
    from tests.models import tiny

    good = tiny._direction("horse").tobytes()
    nans = np.full(tiny.WIDTH, np.nan, np.float32).tobytes()
    file = tmp_path / "nan.gguf"
    file.write_bytes(tiny_embedder.read_bytes().replace(good, nans))
    library = Library(tmp_path, Machine({"embed": str(file)}, hub=tmp_path / "hub"))
    library.write("horse.md", "# Horse\n\nA horse.")
    for number in range(5):
        library.write(f"{number}.md", f"# Tea {number}\n\nTea and rain.")
    library.update()
    report = library.embed()
    [(name, why)] = report.failed
    assert name == "notes/horse.md:1"
    assert "without a direction" in why
    assert counted(report) == (5, 6, 1, 1)
    assert all(np.isfinite(vector).all() for vector in vectors(library).values())
    library.engine.close()
