"""The model that needs no download."""

from __future__ import annotations

from hashlib import file_digest

from qmd.models.registry import EMBEDDED_DIGEST, EMBEDDED_FILE, MINILM


def test_the_embedded_model_is_the_file_that_its_digest_names():
    with EMBEDDED_FILE.open("rb") as file:
        assert file_digest(file, "sha256").hexdigest() == EMBEDDED_DIGEST


def test_the_embedded_model_is_as_large_as_the_registry_says():
    assert EMBEDDED_FILE.stat().st_size == MINILM.size
