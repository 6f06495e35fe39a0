"""Cosines of passages taken at random, beside which others are judged."""

from __future__ import annotations

import numpy as np
import pytest

from qmd.embedding import cosines, vectors
from qmd.embedding.cosines import USUAL, Cosines


def test_a_cosine_is_worth_what_it_would_be_worth_in_the_usual_distribution():
    assert USUAL == (0.15, 0.12)
    assert [USUAL.similarity(each) for each in (-0.5, 0.15, 0.6, 1.5)] == [
        0,
        0.15,
        pytest.approx(0.6),
        1,
    ]
    narrow = Cosines(0.80, 0.02)
    # No spread above the mean, two of them, and five.
    assert [narrow.similarity(each) for each in (0.80, 0.84, 0.90)] == pytest.approx(
        [0.15, 0.39, 0.75]
    )


def vectors_of(chance, count):
    made = chance.normal(size=(count, 8)) + 2
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def test_they_are_those_of_each_pair_of_vectors():
    made = vectors_of(np.random.default_rng(5), 40)
    pairs = [a @ b for n, a in enumerate(made) for b in made[:n]]
    found = cosines.measured([("", vector) for vector in made])
    assert found == pytest.approx((np.mean(pairs), np.std(pairs)), abs=1e-5)


def test_a_model_with_a_prompt_for_questions_is_asked_the_beginnings_of_passages():
    chance = np.random.default_rng(7)
    made, asked = vectors_of(chance, 80), vectors_of(chance, cosines.QUESTIONS)
    told = []
    rows = [(f"text {number}", vector) for number, vector in enumerate(made)]
    found = cosines.measured(rows, ask=lambda texts: told.extend(texts) or asked)
    assert told == [f"text {number}" for number in range(64)]
    pairs = [a @ b for n, a in enumerate(asked) for m, b in enumerate(made) if n != m]
    assert found == pytest.approx((np.mean(pairs), np.std(pairs)), abs=1e-5)


@pytest.mark.parametrize(
    "made", [np.eye(29, dtype=np.float32), np.ones((50, 1), np.float32)], ids=["few", "equal"]
)
def test_too_little_tells_nothing(made):
    own = Cosines(0.8, 0.02)
    assert cosines.measured([("", vector) for vector in made]) == USUAL
    assert cosines.measured([("", vector) for vector in made], usual=own) == own


def test_they_are_kept_for_each_model_and_go_with_it(library):
    library.write("tea.md", "tea")
    library.update()
    write, read = library.engine.database.write, library.engine.read
    assert read(lambda cursor: cosines.of(cursor, 3)) == USUAL
    for found in (Cosines(0.8, 0.02), Cosines(0.7, 0.03)):
        write(lambda cursor, found=found: cosines.keep(cursor, found, model_id=3))
        assert read(lambda cursor: cosines.of(cursor, 3)) == found
        assert read(lambda cursor: cosines.of(cursor, 4)) == USUAL
    write(lambda cursor: vectors.remove(cursor, model_id=3))
    assert read(lambda cursor: cosines.of(cursor, 3)) == USUAL


def test_a_beginning_is_text_without_front_matter_and_marks_of_headings(faked):
    faked.write("tea.md", "---\ntags: [drink]\n---\n## Green tea\n\nBrew it.")
    faked.write("pot.md", "A pot.")
    faked.update()
    faked.embed()

    def beginnings(cursor):
        return cursor.run("embeddings/first_passages", model_id=1, limit=9, count=8)

    found = faked.engine.read(beginnings)
    assert sorted(text for text, _ in found) == ["A pot.", "Green"]
