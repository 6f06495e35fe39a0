"""What a hub or a disk refuses is told at once, with what to do."""

from __future__ import annotations

import errno
import shutil
import socket
import time

import pytest

from qmd.errors import HubFailure
from qmd.models.hub import download
from tests.models.hub.fake_hub import URI, nobody


@pytest.mark.parametrize(
    ("refused", "told", "mend"),
    [
        (
            (403, "GatedRepo"),
            "asks for your consent",
            "https://huggingface.co/tea/pot-GGUF, set HF_TOKEN",
        ),
        ((401, "RepoNotFound"), "no repository tea/pot-GGUF", "HF_TOKEN"),
        ((404, "EntryNotFound"), "no file sub/pot-q8_0.gguf", "tea/pot-GGUF/tree/main"),
        ((404, "RevisionNotFound"), "no branch, tag or commit main", "tea/pot-GGUF/tree/main"),
        ((403, "Other"), "answered 403", "HF_TOKEN"),
        ((503, "Other"), "answered 503", "run 'qmd models pull' again"),
        ((200, "Captive"), "is not the hub", "login"),
    ],
)
def test_what_the_hub_refuses_is_told_at_once_with_what_to_do(
    fake, cache, pull, refused, told, mend, monkeypatch, capfd
):
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("it waits"))
    fake.refuses = refused
    with pytest.raises(HubFailure, match=f"^The model {URI} could not be fetched: ") as caught:
        pull()
    what, _, then = str(caught.value).partition("\n\n")
    assert told in what
    assert mend in then
    assert not pull.slept
    assert len(fake.seen) == 1
    assert capfd.readouterr() == ("", "")


def test_names_that_lead_out_of_the_cache_are_not_the_hubs(fake, cache, pull):
    fake.commit = "../../.."
    with pytest.raises(HubFailure, match="is not the hub"):
        pull()
    assert not cache.exists()


def test_where_nothing_listens_is_told_at_once(pull, monkeypatch, capfd):
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("it waits"))
    with pytest.raises(HubFailure, match=r"cannot be reached .*refused.*\n\nCheck the network"):
        pull(endpoint=nobody())
    assert not pull.slept
    assert capfd.readouterr() == ("", "")


def test_a_hub_that_does_not_answer_is_told_of(pull, monkeypatch):
    monkeypatch.setattr(download, "SECONDS", 0.05)
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(HubFailure, match=r"cannot be reached \(.*timed out"),
    ):
        pull(endpoint=f"http://127.0.0.1:{silent.getsockname()[1]}")


def test_a_full_disk_is_told_of_before_the_download(fake, cache, pull, monkeypatch):
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=10))
    with pytest.raises(HubFailure, match=r"1 MB are still to come.* has 0 MB\.\n\nMake room"):
        pull()
    assert not fake.downloads


def test_a_disk_that_fills_up_is_told_of(pull):
    def full(done, total):
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(HubFailure, match=r"No space left on device.*\n\nMake room"):
        pull(progress=full)


def test_a_cache_that_cannot_be_written_is_told_of(cache, pull):
    cache.write_text("a file, not a folder")
    with pytest.raises(HubFailure, match=f"{cache}.*\n\nCheck the permissions"):
        pull()


def test_a_mistake_in_our_own_code_stays_one(pull):
    def mistaken(done, total):
        raise TypeError("mistaken")

    with pytest.raises(TypeError, match="mistaken"):
        pull(progress=mistaken)
