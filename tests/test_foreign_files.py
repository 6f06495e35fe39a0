"""Files that others may have written are read within bounds, and lead nowhere."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from qmd.errors import ConfigError, ExportDamaged
from qmd.exchange import manifest
from qmd.models import hub
from qmd.settings import config, trust
from qmd.settings.environment import Place
from qmd.storage.file_lock import FileLock
from qmd.surfaces import formats

NESTED = "[" * 100_000


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place("index", tmp_path / "index.yml", tmp_path / "i.duckdb", None, tmp_path / "trusted")


@pytest.mark.parametrize(
    "text", [b"process 7\x1b]0;title\x07", b"x" * 10_000, b"process 12345678901", b"\xff", b""]
)
def test_a_lock_that_others_have_written_to_names_no_holder(tmp_path, text):
    (tmp_path / "i.duckdb.lock").write_bytes(text)
    assert FileLock(tmp_path / "i.duckdb").holder() is None


@pytest.mark.parametrize("ref", ["../../../../outside", "{}/outside", "..", ".", "a/../../b", "\0"])
def test_a_ref_does_not_lead_out_of_the_cache_of_models(tmp_path, ref):
    cache = tmp_path / "cache" / "hub"
    refs = cache / "models--a--b" / "refs"
    refs.mkdir(parents=True)
    (cache / "models--a--b" / "snapshots").mkdir()
    (refs / "main").write_text(ref.format(tmp_path))
    for folder in (tmp_path / "outside", cache / "models--a--b", cache / "models--a--b" / "b"):
        folder.mkdir(exist_ok=True)
        (folder / "f.gguf").write_bytes(b"GGUF")
    assert hub.cached("hf:a/b/f.gguf", cache) is None


def test_a_model_whose_name_is_longer_than_a_file_may_have_is_not_here(tmp_path):
    (tmp_path / "models--a--b" / "snapshots").mkdir(parents=True)
    assert hub.cached(f"hf:a/b/{'x' * 300}.gguf", tmp_path) is None


@pytest.mark.parametrize("path", ["", ".", "./"])
def test_a_manifest_that_names_no_file_is_refused(tmp_path, path):
    file = {"path": path, "rows": 1, "bytes": 1, "sha256": "0", "digest": "0"}
    table = {"name": "documents", "meaning": "m", "columns": [], "files": [file]}
    document = {
        "format": "qmd export",
        "format_version": 1,
        "qmd_version": "0.1.0",
        "schema_version": 1,
        "index": "index",
        "exported": "2026-01-02",
        "selection": {},
        "settings": {"models": {}, "chunk": {}},
        "tables": [table],
    }
    (tmp_path / manifest.NAME).write_text(json.dumps(document))
    with pytest.raises(ExportDamaged, match="lies outside of the folder"):
        manifest.read_manifest(tmp_path)


def test_a_manifest_with_half_a_character_is_refused(tmp_path):
    document = {
        "format": "qmd export",
        "format_version": 1,
        "qmd_version": "\ud800",
        "schema_version": 1,
        "settings": {"models": {}, "chunk": {}},
    }
    (tmp_path / manifest.NAME).write_text(json.dumps(document))
    with pytest.raises(ExportDamaged, match="surrogates"):
        manifest.read_manifest(tmp_path)


def test_approvals_that_are_nested_too_deeply_are_refused_with_their_file(place):
    place.trusted.write_text(NESTED)
    with pytest.raises(ConfigError, match="trusted"):
        trust.approvals(place)


def test_a_key_of_settings_that_is_a_mapping_is_refused(place):
    for text in ("? {a: {b: c}}\n: 1\n", "{[a]: b}", "a:\n  " + "? " * 90 + "b\n"):
        place.config.write_text(text)
        with pytest.raises(ConfigError, match=r"index\.yml.*a key has to be text"):
            config.load(place)


@pytest.mark.parametrize("value", ["a\rb", "a\r\nb", "\r", "a\nb"])
def test_a_carriage_return_in_csv_stays_in_its_value(value):
    text = formats.as_csv(["name"], [[value], ["x"]], raw_csv=True)
    assert list(csv.reader(io.StringIO(text, newline=""))) == [["name"], [value], ["x"]]
    assert text.endswith("x\n")
