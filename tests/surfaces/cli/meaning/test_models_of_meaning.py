"""The model that search by meaning uses, as a user meets it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from qmd.errors import extras
from tests.surfaces.cli.meaning.said import records, vectors


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
        ("nonsense", "Unknown model: nonsense. Known: minilm, e5, embeddinggemma,"),
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
from qmd.surfaces.cli import run
codes = [run(arguments.split()) for arguments in sys.argv[1:]]
print(codes)
"""


def test_without_llama_cpp_the_way_to_install_it_is_told_and_words_still_search(embedded):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, "embed -f", "vsearch tea", "search green tea", "doctor"],
        cwd=Path(__file__).parents[3],
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
        cwd=Path(__file__).parents[3],
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
