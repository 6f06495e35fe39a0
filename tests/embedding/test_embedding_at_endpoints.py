"""Embedding by an endpoint that does not answer."""

from __future__ import annotations

import threading

import pytest

from qmd.settings.environment import Machine
from tests.embedding.embedding import LONG, counted, write_many
from tests.library import Library
from tests.models.remote.fake_endpoint import FakeEndpoint, embedded


@pytest.fixture
def server():
    fake = FakeEndpoint()
    fake.answer = embedded
    yield fake
    fake.close()


@pytest.fixture
def remote(tmp_path, server):
    """A library whose vectors are made by an endpoint that answers the first so many requests."""
    machine = Machine({"embed": "openai:m"}, hub=tmp_path / "hub", endpoint=server.base_url)
    made = Library(tmp_path, machine)
    yield made
    made.engine.close()


def silent_after(server, requests):
    """Lets it answer so many requests, and no further one.

    Returns:
        An event that is set when there is a further one.
    """
    reached = threading.Event()

    def answer(path, body):
        if len(server.seen) > requests:
            reached.set()
            server.silent.clear()
            server.wait()
        return embedded(path, body)

    server.answer = answer
    return reached


@pytest.mark.parametrize("answered", [0, 1], ids=["at all", "any more"])
def test_a_timeout_ends_the_wait_for_an_endpoint_that_does_not_answer(remote, server, answered):
    write_many(remote, 3)
    silent_after(server, answered)
    report = remote.embed(within=0.5)
    assert report.stopped
    assert counted(report) == (0, 3, 3, 0)
    server.silent.set()
    server.answer = embedded
    assert counted(remote.embed()) == (3, 3, 0, 0)
    assert remote.problems() == []


@pytest.mark.parametrize("answered", [0, 1], ids=["at all", "any more"])
def test_ctrl_c_ends_the_wait_for_an_endpoint_that_does_not_answer(
    remote, server, press_ctrl_c, answered
):
    write_many(remote, 3)
    reached = silent_after(server, answered)
    pressing = threading.Thread(target=lambda: reached.wait(LONG) and press_ctrl_c())
    pressing.start()
    with pytest.raises(KeyboardInterrupt):
        remote.embed()
    assert len(server.seen) == answered + 1
    pressing.join(LONG)
