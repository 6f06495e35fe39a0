"""Models that run in this process."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from qmd.errors import ModelFailure, ModelMissing, ModelUnusable, TextTooLong
from qmd.models.llama import Llama
from qmd.models.llama_bindings import InferenceContext
from qmd.models.passes import SEQUENCES
from qmd.models.registry import Model
from tests.models import reference

SENTENCES = [
    "The staff turnover over the last twelve months was 27 %.",
    "def retry(times: int) -> None: ...",
    "有馬温泉 is written with four characters.",
    "a",
    "# Heading\n\n- one\n- two\n\n| a | b |\n|---|---|\n",
]

KERNELS = 0.999
"""Cosine of two vectors of one text: a quantised model's kernels differ with the batch."""


@pytest.fixture(scope="module")
def small(tiny_embedder):
    model = Llama(tiny(tiny_embedder, context=256))
    yield model
    model.close()


def tiny(path: Path, role: str = "embed", **more: object) -> Model:
    return Model(path.name, role, str(path), **more)  # type: ignore[arg-type]


def test_vectors_equal_those_of_a_plain_forward_pass(tiny_embedder):
    model = Llama(tiny(tiny_embedder))
    made = model.embed(SENTENCES)
    expected = reference.embed(tiny_embedder, [model.tokens(text).tolist() for text in SENTENCES])
    assert ((made * expected).sum(axis=1) >= 0.999).all()


def test_a_vector_does_not_depend_on_its_neighbours_or_their_order(small):
    texts = [f"{sentence} {'and so on ' * n}" for n, sentence in enumerate(SENTENCES * 10)]
    alone = np.concatenate([small.embed([text]) for text in texts[:20]])
    together = small.embed(texts)[:20]
    assert ((alone * together).sum(axis=1) >= KERNELS).all()


def test_vectors_have_length_one(small):
    assert np.linalg.norm(small.embed(SENTENCES), axis=1) == pytest.approx(np.ones(5), abs=1e-5)


def test_a_vector_can_be_cut_to_fewer_dimensions_and_keeps_its_length(tiny_embedder):
    model = Llama(tiny(tiny_embedder, dimensions=16))
    made = model.embed(["car"])
    whole = Llama(tiny(tiny_embedder)).embed(["car"])[:, :16]
    assert made.shape == (1, 16)
    assert made == pytest.approx(whole / np.linalg.norm(whole), abs=1e-5)


def test_no_texts_give_no_vectors(small):
    assert small.embed([]).shape == (0, 64)


def test_an_empty_text_has_a_vector(small):
    assert np.isfinite(small.embed([""])).all()


def test_a_text_that_is_too_long_is_refused_before_the_library_would_end_the_process(small):
    with pytest.raises(TextTooLong) as caught:
        small.embed(["word " * 300])
    assert (caught.value.tokens, caught.value.limit) == (302, 256)


def test_a_text_of_exactly_the_limit_is_taken(small):
    text = "word " * (small.limit - 2)
    assert small.count([text]) == [small.limit]
    assert small.embed([text]).shape == (1, 64)


def test_more_texts_than_one_pass_takes_come_back_in_order(small):
    texts = [f"number {n}" for n in range(3 * SEQUENCES)]
    made = small.embed(texts)
    for place in (0, SEQUENCES, 3 * SEQUENCES - 1):
        alone = small.embed([texts[place]])[0]
        assert float(made[place] @ alone) >= KERNELS
        assert int((made @ alone).argmax()) == place


def test_several_threads_share_a_model(small):
    expected = small.embed(SENTENCES)
    wrong = []

    def work():
        for _ in range(5):
            made = small.embed(SENTENCES)
            if ((made * expected).sum(axis=1) < KERNELS).any():
                wrong.append(made)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_model_in_use_is_closed_only_after_it_has_answered(tiny_embedder):
    model = Llama(tiny(tiny_embedder), workers=1)
    began, go_on = threading.Event(), threading.Event()
    answers = []

    def between():
        began.set()
        assert go_on.wait(20)

    user = threading.Thread(target=lambda: answers.append(model.embed(["tea"], between=between)))
    user.start()
    assert began.wait(20)
    closer = threading.Thread(target=model.close)
    closer.start()

    def ask_until_it_is_refused():
        while closer.is_alive():
            model.count(["tea"])

    with pytest.raises(ModelFailure, match="was closed"):
        ask_until_it_is_refused()
    assert closer.is_alive()
    go_on.set()
    closer.join(20)
    user.join(20)
    assert answers[0].shape == (1, 64)
    assert not closer.is_alive()


def test_what_is_raised_between_two_passes_ends_the_work_and_leaves_the_model_usable(small):
    seen = []

    def stop() -> None:
        seen.append(1)
        if len(seen) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        small.embed([f"{n} {'word ' * 200}" for n in range(50)], between=stop)
    assert small.embed(["tea"]).shape == (1, 64)


def test_a_missing_file_is_an_error_that_names_it(tmp_path):
    with pytest.raises(ModelMissing, match=r"nothing\.gguf does not exist"):
        Llama(tiny(tmp_path / "nothing.gguf"))


def test_a_web_page_saved_as_a_model_is_told_as_such(tmp_path):
    page = tmp_path / "model.gguf"
    page.write_text("<!DOCTYPE html><title>Not found</title>", encoding="utf-8")
    with pytest.raises(ModelUnusable, match="is a web page"):
        Llama(tiny(page))


def test_a_truncated_file_is_told_as_such(tmp_path, tiny_embedder):
    part = tmp_path / "part.gguf"
    part.write_bytes(tiny_embedder.read_bytes()[:-5000])
    with pytest.raises(ModelUnusable, match=r"(?s)part\.gguf.*models pull"):
        Llama(tiny(part))


def test_a_file_with_only_a_head_is_told_as_such(tmp_path):
    head = tmp_path / "head.gguf"
    head.write_bytes(b"GGUF\x03\x00\x00\x00")
    with pytest.raises(ModelUnusable):
        Llama(tiny(head))


def test_a_model_that_writes_makes_no_vectors(tiny_generator):
    with pytest.raises(ModelUnusable, match="makes no vectors"):
        Llama(tiny(tiny_generator)).embed(["tea"])


def test_a_reranker_makes_no_vectors(tiny_ranker):
    with pytest.raises(ModelUnusable, match="it is a reranker"):
        Llama(tiny(tiny_ranker)).embed(["tea"])


def test_a_ranker_gives_each_passage_a_score_that_depends_on_nothing_else(tiny_ranker):
    model = Llama(tiny(tiny_ranker, "rerank"))
    passages = ["a car", "a cat and a dog", "database"]
    scores = model.score("automobile", passages)
    assert all(0 <= score <= 1 for score in scores)
    assert scores == pytest.approx([model.score("automobile", [p])[0] for p in passages], abs=1e-4)
    assert len(set(scores)) == 3


def test_a_judge_gives_the_probability_of_yes(tiny_judge):
    model = Llama(tiny(tiny_judge, "rerank"))
    scores = model.score("car", ["a car", "a cat"])
    assert all(0 <= score <= 1 for score in scores)
    assert scores[0] != scores[1]


def test_a_model_that_writes_can_judge(tiny_generator):
    model = Llama(tiny(tiny_generator, "rerank"))
    scores = model.score("car", ["a car", "a cat", "a car"])
    assert all(0 < score < 1 for score in scores)
    assert scores[0] == pytest.approx(scores[2], abs=1e-6)


def test_what_prompts_share_is_read_once_and_changes_no_score(tiny_generator, monkeypatch):
    model = Llama(tiny(tiny_generator, "rerank"))
    passages = ["a car", "a cat and a dog", "database"]
    alone = [model.score("car", [passage])[0] for passage in passages]
    read = []
    original = InferenceContext.read
    monkeypatch.setattr(
        InferenceContext,
        "read",
        lambda self, t, between: read.append(len(t)) or original(self, t, between),
    )
    assert model.score("car", passages) == pytest.approx(alone, abs=1e-3)
    assert read[0] > 5 * max(read[1:])


def test_a_long_passage_is_cut_and_a_long_query_refused(tiny_ranker):
    model = Llama(tiny(tiny_ranker, "rerank"))
    assert 0 <= model.score("car", ["car " * 5000])[0] <= 1
    with pytest.raises(TextTooLong):
        model.score("car " * 5000, ["car"])


def test_markup_in_a_passage_is_text(tiny_judge):
    model = Llama(tiny(tiny_judge, "rerank"))
    plain = model.tokens("<|im_end|>", special=False)
    assert len(plain) > len(model.tokens("<|im_end|>", special=False, markup=True)) == 1


def test_what_is_written_follows_the_grammar(tiny_generator):
    model = Llama(tiny(tiny_generator, "generate"))
    grammar = 'root ::= line line\nline ::= ("lex" | "vec") ": " [a-z]{3,8} "\\n"'
    text = model.generate("tea", grammar=grammar, tokens=64)
    lines = text.splitlines()
    assert len(lines) == 2
    assert all(line.startswith(("lex: ", "vec: ")) for line in lines)


def test_the_same_prompt_is_answered_the_same_way(tiny_generator):
    model = Llama(tiny(tiny_generator, "generate"))
    assert model.generate("tea", tokens=12) == model.generate("tea", tokens=12)


def test_a_bad_grammar_and_a_long_prompt_are_refused(tiny_generator):
    model = Llama(tiny(tiny_generator, "generate"))
    with pytest.raises(ModelFailure, match="grammar"):
        model.generate("tea", grammar="root ::= (((")
    with pytest.raises(TextTooLong):
        model.generate("tea " * 5000)


def test_writing_can_be_stopped(tiny_generator):
    model = Llama(tiny(tiny_generator, "generate"))

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.generate("tea", between=stop)


LOADING = """
import json, sys, threading
from qmd.models.llama import Llama
from qmd.models.registry import Model
done = threading.Event()
count = 0
def talk():
    global count
    while not done.is_set():
        sys.stdout.write(json.dumps({"n": count}) + "\\n"); sys.stdout.flush(); count += 1
thread = threading.Thread(target=talk); thread.start()
for _ in range(3):
    model = Llama(Model("tiny", "embed", sys.argv[1])); model.embed(["tea"]); model.close()
done.set(); thread.join()
sys.stderr.write(str(count))
"""


def test_nothing_is_lost_from_stdout_or_added_while_a_model_loads(tiny_embedder):
    command = [sys.executable, "-c", LOADING, str(tiny_embedder)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    numbers = [json.loads(line)["n"] for line in run.stdout.splitlines()]
    assert numbers == list(range(int(run.stderr)))
