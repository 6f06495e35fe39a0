"""Search by meaning, as a user meets it."""

from __future__ import annotations

import json
import os
import re
import time

import numpy as np
import pytest

from qmd.models.llama import Llama
from qmd.models.registry import Model
from qmd.storage.file_lock import errand
from tests.models import tiny
from tests.surfaces.cli.meaning.said import records, vectors

LONG = 20
"""Seconds after which something that has to happen is taken for stuck."""

NEXT = "Run 'qmd embed' to update embeddings"


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
    near = {file: float(question @ row) for file, row in zip(texts, made, strict=True)}
    expected = {file: max(cosine, 0) for file, cosine in near.items()}
    found = meaning.nearest("fast vehicle")
    assert {each.file: each.score for each in found} == pytest.approx(expected, abs=1e-4)
    assert [each.file for each in found] == sorted(near, key=lambda file: -near[file])


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
    for fusion in ("scores", "rrf"):
        options = ["query", "car", "--per-file", 3, "--fusion", fusion]
        first, second, third, *_ = records(command, *options, "-n", 4)
        assert {each["file"] for each in (first, second, third)} == {"notes/long.md"}
        assert len({each["line"] for each in (first, second, third)}) == 3
        assert "automobile" in first["snippet"]
        assert "automobile" in second["snippet"]
        assert first["score"] == second["score"] == third["score"]
        assert records(command, *options, "-n", 2) == [first, second]
        assert records(command, *options, "--since", "2099-01-01") == []
        every = records(command, "query", "car", "--per-file", 50, "--fusion", fusion, "-n", 60)
        assert {each["file"] for each in every} == {
            f"notes/{n}.md" for n in ("long", "tea", "home")
        }
    assert len(records(command, "query", "tea", "--per-file", 3, "--mode", "fast")) == 2


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


def test_of_a_question_that_is_too_long_the_beginning_is_searched_and_that_is_told(embedded):
    code, out, err = embedded("vsearch", "tea " * 600)
    assert code == 0
    assert out == embedded("vsearch", "tea " * 510)[1] != ""
    assert err == (
        f"Only the beginning of '{('tea ' * 10).rstrip()}…' was searched by meaning: "
        "tiny-embedder.gguf takes 512 tokens.\n"
    )


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
        "model", "chunks", "tokens", "bytes", "seconds", "documents", "lacking",
        "data_documents", "data_bytes", "failed", "notice",
    ]  # fmt: skip
    assert (report["chunks"], report["failed"]) == (3, [])
    assert command("embed", "--timeout", 0)[0] == 0
    assert command("embed", "--timeout", "nan")[0] == 1
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
    assert err.startswith("Another embed of ")
    assert f", process {os.getpid()} (this process)." in err


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
