"""Search by meaning, as a user meets it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from qmd import extras
from qmd.models.llama import Llama
from qmd.models.registry import Model
from qmd.store.gate import errand
from tests.models import tiny

LONG = 20
"""Seconds after which something that has to happen is taken for stuck."""

NEXT = "Run 'qmd embed' to update embeddings"


@pytest.fixture
def command(meaning, qmd, monkeypatch, tiny_embedder):
    """Runs a command on the library `meaning`, with its model: indexed, not embedded."""
    monkeypatch.setenv("QMD_CONFIG_DIR", str(meaning.folder))
    monkeypatch.setenv("QMD_EMBED_MODEL", str(tiny_embedder))
    meaning.write("work/car.md", "---\ndate: 2025-03-14\n---\n# Garage\n\nAn automobile is fast.\n")
    meaning.write("tea.md", "# Tea\n\nBrew green tea with hot water.\n")
    meaning.write("home.md", "# Home\n\nA cat sat on the roof.\n")
    meaning.update()
    return qmd


@pytest.fixture
def embedded(meaning, command):
    """The same, embedded."""
    assert meaning.embed().chunks == 3
    return command


def records(command, *arguments):
    """What a search gives as JSON."""
    code, out, _ = command(*arguments, "--json")
    assert code == 0
    return json.loads(out)


def vectors(command):
    """What `status` says of vectors."""
    return json.loads(command("status", "--json")[1])["vectors"]


# -- searching -----------------------------------------------------------------


def test_a_synonym_finds_what_no_word_does(embedded):
    assert records(embedded, "search", "quick vehicle") == []
    [record] = records(embedded, "vsearch", "quick", "vehicle")
    assert list(record) == [
        "docid", "score", "file", "line", "title", "context", "snippet", "uri",
    ]  # fmt: skip
    assert (record["file"], record["title"]) == ("notes/work/car.md", "Garage")
    assert "6: An automobile is fast." in record["snippet"].splitlines()
    _, out, _ = embedded("vector-search", "kitten")
    assert out.startswith("notes/home.md:1 #")


def test_a_score_is_the_cosine_of_two_vectors(meaning, embedded, tiny_embedder):
    model = Llama(Model("tiny", "embed", str(tiny_embedder)))
    texts = {
        file: (meaning.folder / file).read_text()
        for file in ("notes/work/car.md", "notes/tea.md", "notes/home.md")
    }
    question, *made = model.embed(["fast vehicle", *texts.values()])
    model.close()
    expected = {file: float(question @ row) for file, row in zip(texts, made, strict=True)}
    found = meaning.nearest("fast vehicle")
    assert {each.file: each.score for each in found} == pytest.approx(expected, abs=1e-4)
    assert [each.file for each in found] == sorted(expected, key=lambda file: -expected[file])


def test_passages_below_a_score_are_left_out(meaning, embedded):
    all_ = records(embedded, "vsearch", "automobile", "--min-score", 0)
    default = records(embedded, "vsearch", "automobile")
    assert len(all_) > len(default) == 1
    assert min(record["score"] for record in default) >= 0.3
    best = meaning.nearest("automobile")[0].score
    assert len(meaning.nearest("automobile", min_score=best)) == 1
    assert meaning.nearest("automobile", min_score=best + 0.001) == []
    _, out, _ = embedded("vsearch", "automobile", "--min-score", 1)
    assert out == "No results found above minimum score threshold.\n"


def test_full_gives_the_body_instead_of_a_snippet(meaning, embedded):
    [record] = records(embedded, "vsearch", "automobile", "--full")
    assert record["body"] == (meaning.root / "work/car.md").read_text()
    assert "snippet" not in record


def test_filters_and_limits_are_those_of_other_searches(embedded):
    for options, files in (
        (["-c", "notes"], 3),
        (["--since", "2025-03-14", "--before", "2025-03-15"], 1),
        (["--before", "2025-03-14"], 0),
        (["-n", "2"], 2),
        (["--all"], 3),
    ):
        found = records(embedded, "vsearch", "automobile", "--min-score", 0, *options)
        assert len(found) == files


def write_long(meaning):
    """A document of many passages, two of them about a car."""
    lines = [f"line {n} tea water rain" for n in range(1, 401)]
    lines[99] = lines[299] = "the automobile engine, the automobile wheel, the automobile brake"
    for near in (98, 100, 298, 300):
        lines[near] = "a vehicle"
    (meaning.root / "work/car.md").unlink()
    meaning.configure(more="chunk: {tokens: 60}")
    meaning.write("long.md", "\n".join(lines))
    meaning.update()
    assert meaning.embed().chunks > 20
    return lines


def test_a_snippet_is_of_the_passage_that_matches_and_its_lines_have_their_true_numbers(
    meaning, command
):
    lines = write_long(meaning)
    for result in meaning.nearest("quick car", per_file=3, limit=2):
        assert result.file == "notes/long.md"
        shown = [line.split(": ", 1) for line in result.snippet.splitlines()]
        assert any("automobile" in text for _, text in shown)
        assert all(lines[int(number) - 1] == text for number, text in shown)
    [record] = records(command, "vsearch", "automobile wheel", "-n", 1)
    assert lines[record["line"] - 1].startswith("the automobile")


def test_a_document_answers_with_one_passage_or_as_many_as_are_asked_for(meaning, command):
    write_long(meaning)
    files = [record["file"] for record in records(command, "vsearch", "car")]
    assert files[0] == "notes/long.md"
    assert len(files) == len(set(files))
    two = records(command, "vsearch", "car", "--per-file", 2)
    of_long = [record for record in two if record["file"] == "notes/long.md"]
    assert len(of_long) == 2
    passages = [each.snippet for each in meaning.nearest("car", per_file=2)[:2]]
    assert len({text for text in passages if "automobile" in text}) == 2


def test_a_question_that_cannot_be_read_is_a_mistake(command):
    for question, message in (
        ("", "no words to look for"),
        (" \n", "no words to look for"),
        ("tea -coffee", "Negation (-term) is not supported in vec/hyde queries"),
        ('tea -"black coffee"', "Negation (-term) is not supported in vec/hyde queries"),
    ):
        code, out, err = command("vsearch", "--", question)
        assert (code, out) == (1, "")
        assert message in err


def test_a_question_that_is_too_long_says_by_how_much(embedded):
    code, out, err = embedded("vsearch", "tea " * 600)
    assert (code, out) == (1, "")
    assert "602 tokens" in err
    assert "512" in err


# -- what is missing -----------------------------------------------------------


def test_without_vectors_a_search_says_how_to_make_them(command):
    for word in ("vsearch", "vector-search"):
        assert command(word, "tea") == (
            1, "", "Vector index not found. Run 'qmd embed' first to create embeddings.\n",
        )  # fmt: skip


def test_an_update_says_how_many_documents_need_vectors(meaning, command):
    assert command("update")[1].splitlines()[-1] == (
        f"All collections updated. {NEXT} (3 documents need vectors)."
    )
    command("embed")
    assert command("update")[1].splitlines()[-1] == "All collections updated."
    meaning.write("new.md", "# New\n\nRain.")
    assert command("update")[1].splitlines()[-1] == (
        f"All collections updated. {NEXT} (1 document needs vectors)."
    )
    (meaning.root / "new.md").unlink()
    assert command("update")[1].splitlines()[-1] == "All collections updated."


def test_a_search_tells_of_documents_without_vectors_and_doctor_does(meaning, embedded):
    meaning.write("new.md", "# New\n\nRain.")
    meaning.update()
    code, out, err = embedded("vsearch", "automobile")
    assert (code, err) == (0, "Documents that lack vectors: 1 of 4. Run 'qmd embed'.\n")
    assert out.startswith("notes/work/car.md")
    findings = {each["check"]: each for each in json.loads(embedded("doctor", "--json")[1])}
    assert findings["vectors"]["detail"] == "documents that lack some: 1 of 4"
    embedded("embed")
    findings = {each["check"]: each for each in json.loads(embedded("doctor", "--json")[1])}
    assert {each["status"] for each in findings.values()} == {"ok"}
    assert findings["vectors"]["detail"] == "4, none is missing"


def test_embed_says_what_it_did(command):
    code, out, err = command("embed")
    assert (code, err) == (0, "")
    did = r"Embedded 3 chunks with tiny-embedder\.gguf in [\d.]+ s \(\d+ tokens, [\d.]+ K?B/s\)\.\n"
    assert re.fullmatch(did, out)
    assert command("embed") == (0, "No vector is missing: 3 documents, tiny-embedder.gguf.\n", "")
    report = json.loads(command("embed", "--force", "--json")[1])
    assert list(report) == [
        "model", "chunks", "tokens", "bytes", "seconds", "documents", "lacking", "failed",
    ]  # fmt: skip
    assert (report["chunks"], report["failed"]) == (3, [])
    code, out, err = command("embed", "-c", "absent")
    assert (code, out) == (1, "")
    assert err == "Collection not found: absent. Known: notes.\n"


def test_a_timeout_is_code_2_and_says_what_is_left(meaning, command):
    meaning.configure("other")
    meaning.write("one.md", "One.", collection="other")
    meaning.update()
    for options, count in (([], 4), (["-c", "notes"], 3)):
        code, out, _ = command("embed", "--timeout", 0, *options)
        assert code == 2
        left = f"Documents that still lack vectors: {count} of {count}. "
        assert out.splitlines()[-1] == f"{left}Run 'qmd embed' again to go on."
    code, out, _ = command("embed", "-c", "notes")
    assert code == 0
    assert "lack vectors" not in out
    assert command("embed")[1].startswith("Embedded 1 chunk with ")


def test_a_second_embedding_at_once_is_code_3_and_names_the_first(meaning, command):
    with errand(meaning.engine.place.database, "embed"):
        code, out, err = command("embed")
    assert (code, out) == (3, "")
    assert err.startswith("Another 'qmd embed' is at work on ")
    assert f"(process {os.getpid()})" in err


def test_ctrl_c_is_code_130_and_what_was_made_is_kept(meaning, command, fake, press_ctrl_c):
    def press(batch, between):
        if batch == 2:
            press_ctrl_c()
            end = time.monotonic() + LONG
            while time.monotonic() < end:
                between()

    for number in range(40):
        meaning.write(f"{number}.md", f"# Note {number}\n\none two three four five six seven.")
    meaning.update()
    fake.before = press
    code, out, err = command("embed", "--batch-tokens", 256)
    assert (code, out) == (130, "")
    assert err == "Interrupted.\n"
    assert meaning.problems() == []
    fake.before = lambda batch, between: None
    assert command("embed")[0] == 0
    assert vectors(command)["vectors"] == 43


def test_a_chunk_that_fails_is_code_2_and_named(meaning, command, tiny_embedder, monkeypatch):
    """One word of this model has a vector that is no number."""
    good = tiny._direction("roof").tobytes()
    nans = np.full(tiny.WIDTH, np.nan, np.float32).tobytes()
    file = meaning.folder / "nan.gguf"
    file.write_bytes(tiny_embedder.read_bytes().replace(good, nans))
    monkeypatch.setenv("QMD_EMBED_MODEL", str(file))
    reason = "The model nan.gguf gave a vector without a direction."
    for chunks in (2, 0):
        code, out, _ = command("embed", "--json")
        report = json.loads(out)
        assert code == 2
        assert report["failed"] == [{"chunk": "notes/home.md:1", "reason": reason}]
        assert (report["chunks"], report["documents"], report["lacking"]) == (chunks, 3, 1)
    code, out, _ = command("embed")
    assert code == 2
    assert f"\n  failed notes/home.md:1: {reason}\n" in out
    assert records(command, "vsearch", "automobile")[0]["file"] == "notes/work/car.md"


# -- models --------------------------------------------------------------------


def test_another_model_makes_vectors_of_its_own_and_cleanup_removes_the_first(
    meaning, embedded, tiny_embedder, monkeypatch
):
    assert vectors(embedded) == {
        "model": "tiny-embedder.gguf", "vectors": 3, "lacking": 0, "stale": 0, "problem": None,
    }  # fmt: skip
    other = meaning.folder / "other.gguf"
    other.write_bytes(tiny_embedder.read_bytes() + b"\0" * 32)
    monkeypatch.setenv("QMD_EMBED_MODEL", str(other))
    assert vectors(embedded) == {
        "model": "other.gguf", "vectors": 0, "lacking": 3, "stale": 3, "problem": None,
    }  # fmt: skip
    code, _, err = embedded("vsearch", "tea")
    assert code == 1
    assert err.startswith(
        "Vector index not found. Run 'qmd embed' first to create embeddings.\n\n"
        "The index has vectors of tiny-embedder.gguf"
    )
    assert json.loads(embedded("cleanup", "--dry-run", "--json")[1])["vectors"] == 0
    assert embedded("embed")[0] == 0
    assert (vectors(embedded)["vectors"], vectors(embedded)["stale"]) == (3, 3)
    assert records(embedded, "vsearch", "automobile")[0]["file"] == "notes/work/car.md"
    assert json.loads(embedded("cleanup", "--dry-run", "--json")[1])["vectors"] == 3
    assert json.loads(embedded("cleanup", "--json")[1])["vectors"] == 3
    assert (vectors(embedded)["vectors"], vectors(embedded)["stale"]) == (3, 0)
    assert meaning.problems() == []


def test_other_chunk_settings_replace_the_vectors_of_the_model(meaning, embedded):
    for more in ("tokens: 100", "overlap: 0.5", "strategy: plain"):
        meaning.configure(more=f"chunk: {{{more}}}")
        assert vectors(embedded)["lacking"] == vectors(embedded)["stale"] == 3
        assert embedded("vsearch", "tea")[0] == 1
        assert embedded("embed")[0] == 0
        assert (vectors(embedded)["vectors"], vectors(embedded)["stale"]) == (3, 0)
    assert records(embedded, "vsearch", "automobile")[0]["file"] == "notes/work/car.md"


def test_a_removed_document_leaves_no_vectors_after_a_cleanup(meaning, embedded):
    (meaning.root / "tea.md").unlink()
    meaning.update()
    assert "notes/tea.md" not in {
        record["file"] for record in records(embedded, "vsearch", "tea", "--min-score", 0)
    }
    assert json.loads(embedded("cleanup", "--json")[1])["vectors"] == 1
    assert vectors(embedded)["vectors"] == 2


def test_a_model_that_cannot_be_used_is_one_error_and_changes_nothing(
    meaning, command, monkeypatch, tiny_generator
):
    page, text = meaning.folder / "page.gguf", meaning.folder / "text.gguf"
    page.write_text("<!DOCTYPE html>")
    text.write_text("hello")
    before = meaning.engine.place.database.read_bytes()
    for model, message in (
        (page, f"The model page.gguf cannot be used: {page} is a web page."),
        (text, f"The model text.gguf cannot be used: {text} is not a GGUF file."),
        (tiny_generator, "The model tiny-generator.gguf cannot be used: it is a model that writes"),
        ("/gone/x.gguf", "The model x.gguf is not here: /gone/x.gguf does not exist."),
        ("hf:foo", "The model hf:foo is not here: 'hf:foo' cannot be read"),
        ("~nobody-of-this-name/x.gguf", "The model x.gguf is not here: "),
        ("nonsense", "Unknown model: nonsense. Known: minilm, embeddinggemma,"),
        ("qwen3-reranker", "qwen3-reranker is a model to rerank, not to embed."),
        ("embeddinggemma", "The model embeddinggemma is not here: hf:"),
    ):
        monkeypatch.setenv("QMD_EMBED_MODEL", str(model))
        code, out, err = command("embed")
        assert (code, out) == (1, "")
        assert err.startswith(message)
    assert meaning.engine.place.database.read_bytes() == before


def test_a_model_that_is_not_here_stops_neither_updates_nor_words_nor_a_look_at_the_index(
    meaning, command, monkeypatch
):
    for model in ("hf:foo", "~nobody-of-this-name/x.gguf", "nonsense", "embeddinggemma"):
        monkeypatch.setenv("QMD_EMBED_MODEL", model)
        meaning.write("new.md", model)
        code, out, err = command("update")
        assert (code, err) == (0, "")
        assert model in out
        assert model in vectors(command)["problem"]
        assert records(command, "search", "automobile")[0]["file"] == "notes/work/car.md"
    assert command("doctor")[0] == 1
    assert command("cleanup")[0] == 0


WITHOUT = """
import sys
sys.modules["llama_cpp"] = None
from qmd.surface.cli import run
codes = [run(arguments.split()) for arguments in sys.argv[1:]]
print(codes)
"""


def test_without_llama_cpp_the_way_to_install_it_is_told_and_words_still_search(embedded):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, "embed -f", "vsearch tea", "search green tea", "doctor"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    missing = (
        "The model tiny-embedder.gguf needs llama-cpp-python, which is not installed.\n\n"
        f"Install it with: {extras.command('llama')}. Keyword search works without it.\n"
    )
    assert done.stderr == missing * 2
    assert "notes/tea.md:1" in done.stdout
    assert "tiny-embedder.gguf needs llama-cpp-python" in done.stdout
    assert done.stdout.endswith("[1, 1, 0, 0]\n")
    assert vectors(embedded)["vectors"] == 3


def test_a_damaged_model_is_one_error_that_has_the_reason(meaning, tiny_embedder, command):
    """In a process of its own: llama.cpp would like to speak for itself."""
    file = meaning.folder / "part.gguf"
    file.write_bytes(tiny_embedder.read_bytes()[:-5000])
    done = subprocess.run(
        [sys.executable, "-m", "qmd", "embed"],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"QMD_EMBED_MODEL": str(file)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("The model part.gguf cannot be used: ")
    assert "not within the file bounds" in done.stderr


def test_the_model_of_a_project_is_used_only_after_approval(
    meaning, command, tiny_embedder, monkeypatch
):
    monkeypatch.delenv("QMD_CONFIG_DIR")
    monkeypatch.delenv("INDEX_PATH")
    monkeypatch.delenv("QMD_EMBED_MODEL")
    monkeypatch.chdir(meaning.root)
    assert command("init")[0] == 0
    config = meaning.root / ".qmd" / "index.yml"
    config.write_text(config.read_text() + f"models:\n  embed: {tiny_embedder}\n")
    assert vectors(command)["model"] == "minilm"
    wanted = f"use for embed: {tiny_embedder}"
    assert f"Left out   {wanted}; approve with 'qmd trust'\n" in command("status")[1]
    assert json.loads(command("status", "--json")[1])["leftOut"] == [wanted]
    assert f"left out: {wanted}\n      Run 'qmd trust'." in command("doctor")[1]
    assert command("trust", "--yes")[0] == 0
    assert "Left out" not in command("status")[1]
    assert json.loads(command("status", "--json")[1])["leftOut"] == []
    assert vectors(command)["model"] == "tiny-embedder.gguf"
    assert command("trust", "revoke")[0] == 0
    assert vectors(command)["model"] == "minilm"
