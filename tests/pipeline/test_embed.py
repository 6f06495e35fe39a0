"""Embedding: what is made, what is kept, and what a failure leaves."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from qmd.environment import Machine
from qmd.errors import (
    JobRunning,
    ModelFailure,
    ModelUnusable,
    NotEmbedded,
    TextTooLong,
    VectorsRemoved,
)
from qmd.models.registry import EMBEDDING_GEMMA
from qmd.pipeline.embed import PROBE, TITLE_SHARE
from qmd.store import embeddings, maintenance
from qmd.store.gate import errand
from tests.library import FakeEmbedder, Library, drawn

LONG = 20
"""Seconds after which something that has to happen is taken for stuck."""

SMALL = "chunk: {tokens: 20, overlap: 0}"
"""Settings: a chunk has 18 words at most."""


def write_many(library, count, *, first=0):
    """Documents of ten words each, all different."""
    for number in range(first, first + count):
        library.write(f"{number:03}.md", f"# Note {number}\n\none two three four five six seven.")
    library.update()


def lacking(library):
    """Documents that lack vectors."""
    _, state = library.engine.vectors()
    return state.lacking


def texts(library):
    """The text of each chunk that has a vector, by chunk_id."""
    rows = library.ask(
        "select chunk_id, body[position + 1 : position + length] from chunks "
        "join embeddings using (chunk_id) join content using (hash) order by chunk_id"
    )
    return dict(rows)


def vectors(library):
    """The vector of each chunk, by chunk_id."""
    rows = library.ask("select chunk_id, vector from embeddings")
    return {chunk_id: np.array(vector, np.float32) for chunk_id, vector in rows}


def assert_whole(library):
    """Every document has its vectors, and each is that of its text."""
    assert lacking(library) == 0
    assert library.problems() == []
    made, expected = vectors(library), texts(library)
    assert set(made) == set(expected)
    for chunk_id, text in expected.items():
        assert made[chunk_id] == pytest.approx(drawn(text, 16), abs=1e-6)


def counted(report):
    """The numbers of a report that say how far it came."""
    return report.chunks, report.documents, report.lacking, len(report.failed)


# -- what is made --------------------------------------------------------------


def test_every_chunk_gets_the_vector_of_its_text(faked, fake):
    faked.configure(more=SMALL)
    faked.write("long.md", "# Long\n\n" + "\n\n".join(f"Part {n} {'word ' * 12}" for n in range(9)))
    write_many(faked, 3)
    report = faked.embed()
    assert counted(report) == (len(fake.made), 4, 0, 0)
    assert report.chunks > 4
    assert report.tokens == sum(fake.count(fake.made))
    assert report.bytes == sum(len(text.encode()) for text in fake.made)
    assert_whole(faked)


def test_what_has_vectors_is_not_embedded_again(faked, fake):
    write_many(faked, 3)
    faked.embed()
    fake.made.clear()
    assert counted(faked.embed()) == (0, 3, 0, 0)
    assert fake.made == []


def test_an_empty_library_is_embedded_at_once(faked, fake):
    faked.update()
    assert counted(faked.embed()) == (0, 0, 0, 0)


def test_equal_passages_of_two_documents_are_embedded_once(faked, fake):
    faked.configure(more="chunk: {tokens: 40, overlap: 0}")
    for name in ("a", "b"):
        faked.write(f"{name}.md", f"# {name}\n\n{'own ' * 30}\n# Shared\n\n{'all ' * 24}")
    faked.update()
    report = faked.embed()
    both = [text for text in texts(faked).values() if "Shared" in text]
    assert len(both) == 2
    assert [text for text in fake.made if "Shared" in text] == both[:1] == both[1:]
    assert report.chunks == len(fake.made) + 1
    assert_whole(faked)


def test_equal_documents_share_their_vectors(faked, fake):
    for name in ("a.md", "b/a.md"):
        faked.write(name, "# Same\n\nThe same words.")
    faked.update()
    assert counted(faked.embed()) == (1, 2, 0, 0)
    assert {result.file for result in faked.nearest("words")} == {"notes/a.md", "notes/b/a.md"}


def test_a_renamed_document_keeps_its_vectors(faked, fake):
    write_many(faked, 2)
    faked.embed()
    before = vectors(faked).keys()
    (faked.root / "000.md").rename(faked.root / "new.md")
    faked.update()
    fake.made.clear()
    assert counted(faked.embed()) == (0, 2, 0, 0)
    assert fake.made == []
    assert vectors(faked).keys() == before
    assert "notes/new.md" in {result.file for result in faked.nearest("one two")}


def test_a_changed_document_needs_only_its_own_vectors(faked, fake):
    write_many(faked, 3)
    faked.embed()
    fake.made.clear()
    faked.write("001.md", "# Changed\n\nOther words.")
    faked.update()
    assert lacking(faked) == 1
    assert counted(faked.embed()) == (1, 3, 0, 0)
    assert fake.made == ["# Changed\n\nOther words."]
    assert faked.problems() == []


def test_only_the_collections_that_are_named_are_embedded(faked, fake):
    faked.configure("work")
    faked.write("plan.md", "# Plan\n\nOf work.", collection="work")
    write_many(faked, 2)
    report = faked.embed("work")
    assert fake.made == ["# Plan\n\nOf work."]
    assert counted(report) == (1, 3, 2, 0)
    assert not report.stopped


def test_force_removes_nothing_if_the_model_does_not_work(faked, fake):
    write_many(faked, 2)
    faked.embed()
    first = set(vectors(faked))
    fake.refused = {""}
    with pytest.raises(ModelFailure):
        faked.embed(force=True)
    assert set(vectors(faked)) == first


def test_force_makes_all_anew_or_those_of_a_collection(faked, fake):
    faked.configure("work")
    faked.write("plan.md", "# Plan\n\nOf work.", collection="work")
    write_many(faked, 2)
    faked.embed()
    first = set(vectors(faked))
    fake.made.clear()
    assert counted(faked.embed("work", force=True)) == (1, 3, 0, 0)
    assert fake.made == [PROBE, "# Plan\n\nOf work."]
    second = set(vectors(faked))
    assert len(first & second) == 2
    assert counted(faked.embed(force=True)) == (3, 3, 0, 0)
    assert not second & set(vectors(faked))
    assert_whole(faked)


def test_progress_is_told_after_each_commit_and_never_passes_its_end(faked, fake):
    write_many(faked, 6)
    told = []
    faked.embed(batch_tokens=22, progress=lambda done, total: told.append((done, total)))
    assert len(told) == 3
    assert told == sorted(told)
    assert all(done <= total for done, total in told)
    assert told[-1][0] == told[-1][1]


def test_chunks_that_an_english_model_cannot_read_are_counted(tmp_path, fake):
    library = Library(tmp_path, Machine(hub=tmp_path / "hub"))
    library.write("onsen.md", "# 温泉\n\n有馬温泉へ行きました。")
    for name in ("tea", "rain"):
        library.write(f"{name}.md", f"# {name}\n\nIn English.")
    library.update()
    assert library.embed().foreign == 1
    library.engine.close()


# -- the model and its limits --------------------------------------------------


def test_no_text_has_more_tokens_than_the_model_takes(faked, fake):
    fake.limit = 24
    faked.write("long.md", "# Long\n\n" + "word " * 500)
    faked.update()
    assert faked.embed().failed == []
    assert max(fake.count(fake.made)) <= 24


def test_a_model_is_prompted_as_it_wants_and_a_title_leaves_room_for_the_passage(tmp_path, fake):
    """A heading may be as long as a document. The first note here has nothing else."""
    hub = tmp_path / "hub" / "models--ggml-org--embeddinggemma-300M-GGUF"
    file = hub / "snapshots" / "c0ffee" / "embeddinggemma-300M-Q8_0.gguf"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"GGUF")
    (hub / "refs").mkdir()
    (hub / "refs" / "main").write_text("c0ffee")
    library = Library(tmp_path, Machine(hub=tmp_path / "hub"))
    library.configure(more="chunk: {tokens: 40}")
    library.write("line.md", "# " + "word " * 3000)
    library.write("tea.md", "# Tea\n\nWith milk.")
    library.update()
    assert library.engine.models.space().model.name == EMBEDDING_GEMMA.name
    report = library.embed()
    assert (report.lacking, report.failed) == (0, [])
    assert "title: Tea | text: # Tea\n\nWith milk." in fake.made
    title = ("word " * 3000)[: int(40 * TITLE_SHARE)]
    assert f"title: {title} | text: # word" in "\n".join(fake.made)
    assert len(fake.made) < 150
    library.nearest("is there milk")
    assert fake.made[-1] == "task: search result | query: is there milk"
    library.engine.close()


def test_a_grapheme_that_is_too_long_for_the_model_is_named_and_the_rest_is_embedded(faked, fake):
    fake.count = lambda texts: [len(text) for text in texts]
    faked.write("marks.md", "# Marks\n\ntea\n\na" + "\u0301" * 100 + "\n\nrain")
    faked.write("tea.md", "# Tea\n\nA cup of tea.")
    faked.update()
    report = faked.embed()
    assert report.failed == [("notes/marks.md:5", str(TextTooLong(101, 60)))]
    assert counted(report)[1:] == (2, 1, 1)
    assert {result.file for result in faked.nearest("tea")} == {"notes/marks.md", "notes/tea.md"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("one character", "x"),
        ("emoji", "🍵👩‍👩‍👧‍👦🇯🇵"),
        ("punctuation", "...!!! --- ???"),
        ("Chinese and Japanese", "有馬温泉は日本三古泉の一つ。山中的热水。" * 40),
        ("a single line", "tea river mountain " * 16_000),
        ("no words that the model knows", "zyxwvu " * 400),
        ("invisible", "\ufeff\u200b\u200b"),
        ("a carriage return and a form feed", "a\r\n\x0cb\r\n"),
    ],
)
def test_any_document_gets_its_vectors(meaning, name, text):
    meaning.write("odd.md", text)
    meaning.write("tea.md", "# Tea\n\nA cup of tea.")
    meaning.update()
    report = meaning.embed()
    assert (report.documents, report.lacking, report.failed) == (2, 0, [])
    lengths = [np.linalg.norm(vector) for vector in vectors(meaning).values()]
    assert lengths == pytest.approx(np.ones(len(lengths)), abs=1e-5)
    assert {result.file for result in meaning.nearest("tea")} == {"notes/odd.md", "notes/tea.md"}


@pytest.mark.parametrize("kind", ["generator", "ranker", "judge"])
def test_a_model_that_makes_no_vectors_is_refused_before_anything_is_written(
    tmp_path, request, kind
):
    file = request.getfixturevalue(f"tiny_{kind}")
    library = Library(tmp_path, Machine({"embed": str(file)}, hub=tmp_path / "hub"))
    write_many(library, 2)
    before = (tmp_path / "index.duckdb").read_bytes()
    with pytest.raises(ModelUnusable, match="makes no vectors of texts"):
        library.embed()
    assert (tmp_path / "index.duckdb").read_bytes() == before
    library.engine.close()


# -- failures ------------------------------------------------------------------


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


# -- interruptions -------------------------------------------------------------


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
from qmd.environment import Machine
from qmd.models import choice
from tests.library import FakeEmbedder, Library

def stop(batch, between):
    if batch == 6:
        print("at work", flush=True)
        sys.stdin.read()

fake = FakeEmbedder()
fake.before = stop
choice.embedder = lambda model, machine, *, limit: fake
folder = Path(sys.argv[1])
machine = Machine({"embed": str(folder / "fake.gguf")}, hub=folder / "hub")
Library(folder, machine).embed(batch_tokens=50)
"""


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


# -- other models, other settings ----------------------------------------------


def test_vectors_made_with_other_settings_stay_until_the_new_ones_are_complete(faked, fake):
    write_many(faked, 3)
    faked.embed()
    faked.configure(more=SMALL)
    fake.refused = {"Note 1"}
    faked.embed()
    stored = faked.engine.read(embeddings.models)
    assert sorted(each.embeddings for each in stored) == [2, 3]
    fake.refused = set()
    faked.embed()
    [only] = faked.engine.read(embeddings.models)
    assert only.fingerprint == faked.engine.models.space().fingerprint
    assert (only.chunks, only.embeddings) == (3, 3)
    assert_whole(faked)


def test_vectors_of_another_model_stay_beside_and_are_never_mixed(faked, fake):
    write_many(faked, 3)
    faked.embed()
    other = faked.folder / "other.gguf"
    other.write_bytes(b"GGUF, but another")
    second = FakeEmbedder(dimensions=8)
    library = Library(faked.folder, Machine({"embed": str(other)}, hub=faked.folder / "hub"))
    library.engine.models._loaded["embed"] = library.engine.models.space().fingerprint, second
    with pytest.raises(NotEmbedded, match=r"(?s)Run 'qmd embed' first.*vectors of fake\.gguf"):
        library.nearest("one two")
    assert library.embed().chunks == 3
    for each, dimensions in ((library, 8), (faked, 16)):
        found = each.nearest("one two")
        assert len(found) == 3
        for result in found:
            text = (each.folder / result.file).read_text()
            expected = drawn("one two", dimensions) @ drawn(text, dimensions)
            assert result.score == pytest.approx(expected, abs=1e-6)
    assert faked.problems() == []
    library.engine.close()


def test_vectors_that_got_another_width_are_made_again(faked, fake):
    """As when an endpoint puts another model in the place of one."""
    write_many(faked, 3)
    faked.embed()
    fake.dimensions = 8
    fake.vector = lambda text: drawn(text, 8)
    with pytest.raises(NotEmbedded):
        faked.nearest("one two")
    assert counted(faked.embed()) == (3, 3, 0, 0)
    assert len(faked.nearest("one two")) == 3
    assert {len(vector) for vector in vectors(faked).values()} == {8}
    assert faked.problems() == []
