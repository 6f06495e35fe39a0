"""What embedding makes, and what it keeps."""

from __future__ import annotations

from itertools import pairwise

import pytest

from qmd.embedding import pipeline
from qmd.embedding.pipeline import PROBE
from qmd.errors import ModelFailure
from qmd.settings.environment import Machine
from tests.embedding.embedding import (
    SMALL,
    assert_whole,
    counted,
    lacking,
    texts,
    vectors,
    write_many,
)
from tests.library import Library


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
    assert counted(report) == (1, 1, 0, 0)
    assert not report.stopped
    assert lacking(faked) == 2


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
    assert counted(faked.embed("work", force=True)) == (1, 1, 0, 0)
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


def test_the_steps_tell_of_documents_passages_and_the_file_in_hand(faked, fake):
    write_many(faked, 6)
    steps = []
    faked.embed(batch_tokens=22, detail=steps.append)
    first, last = steps[0], steps[-1]
    assert (first.bytes, first.documents, first.passages, first.file) == (0, 0, 0, None)
    assert {step.total_documents for step in steps} == {6}
    assert steps == sorted(steps, key=lambda step: step.passages)
    assert (last.documents, last.passages, last.total_passages) == (6, 6, 6)
    assert steps[1].documents < 6
    assert steps[1].file.startswith("notes/")


def test_the_first_commits_are_small_and_grow(faked, fake, monkeypatch):
    monkeypatch.setattr(pipeline, "FIRST_TOKENS", 20)
    write_many(faked, 30)
    steps = []
    faked.embed(batch_tokens=10_000, detail=steps.append)
    made = [after.passages - before.passages for before, after in pairwise(steps)]
    assert sum(made) == 30
    assert made[0] < made[1] < made[2]


def test_chunks_that_an_english_model_cannot_read_are_counted(tmp_path, fake):
    library = Library(tmp_path, Machine({"embed": "minilm"}, hub=tmp_path / "hub"))
    library.write("onsen.md", "# 温泉\n\n有馬温泉へ行きました。")
    for name in ("tea", "rain"):
        library.write(f"{name}.md", f"# {name}\n\nIn English.")
    library.update()
    assert library.embed().foreign == 1
    library.engine.close()
