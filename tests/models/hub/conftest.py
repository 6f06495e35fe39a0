"""Hubs, a cache, and what fetches a file."""

from __future__ import annotations

import pytest

from qmd.models.hub import fetch
from tests.models.hub.fake_hub import URI, FakeHub


@pytest.fixture
def make_hub():
    """Makes hubs that listen until the test ends."""
    from huggingface_hub import close_session

    made = []

    def make():
        made.append(FakeHub())
        return made[-1]

    yield make
    close_session()
    for fake in made:
        fake.close()


@pytest.fixture
def fake(make_hub):
    return make_hub()


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "hub"


@pytest.fixture
def pull(fake, cache):
    """Fetches the file; what it waited for is in `pull.slept`, what it told in `pull.told`."""

    def run(uri=URI, *, offline=False, token=None, progress=None, endpoint=None):
        return fetch(
            uri,
            cache,
            offline=offline,
            token=token,
            progress=progress or (lambda *told: run.told.append(told)),
            endpoint=endpoint or fake.address,
            sleep=run.slept.append,
        )

    run.slept, run.told = [], []
    return run
