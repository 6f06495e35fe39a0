"""An endpoint, and models that it runs."""

from __future__ import annotations

import pytest

from qmd.models.endpoint import Endpoint
from qmd.models.registry import Model
from qmd.models.remote import RemoteEmbedder, RemoteReranker
from tests.models.remote.fake_endpoint import KEY, FakeEndpoint


@pytest.fixture
def server():
    fake = FakeEndpoint()
    yield fake
    fake.close()


@pytest.fixture
def make(server):
    """Makes models at the endpoint; what they waited for is in `make.slept`."""
    made = []

    def build(kind, *, key=KEY, base_url=None, name="m", dimensions=None, context=None):
        role = {RemoteEmbedder: "embed", RemoteReranker: "rerank"}.get(kind, "generate")
        model = Model(name, role, f"openai:{name}", dimensions=dimensions, context=context)
        made.append(kind(model, Endpoint(base_url or server.base_url, key), sleep=slept.append))
        return made[-1]

    build.slept = slept = []
    yield build
    for model in made:
        model.close()
