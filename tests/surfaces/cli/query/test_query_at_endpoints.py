"""`qmd query` with models at an endpoint that is slow."""

from __future__ import annotations

import pytest

from tests.models.remote.fake_endpoint import FakeEndpoint


@pytest.fixture
def server():
    fake = FakeEndpoint()
    yield fake
    fake.close()


@pytest.mark.parametrize(
    ("role", "told"),
    [("RERANK", "The results were not reranked"), ("GENERATE", "The question was not expanded")],
)
def test_a_timeout_gives_what_was_found_without_the_model(
    embedded, monkeypatch, server, role, told
):
    server.silent.clear()
    fused = embedded("query", "river today", "--mode", "hybrid", "--json")
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv(f"QMD_{role}_MODEL", "openai:m")
    code, out, err = embedded("query", "river today", "--timeout", 0.1, "--json")
    assert (code, out) == fused[:2]
    assert err == f"{told}. The model took longer than 0.1 s.\n"
