"""A download that breaks or stalls goes on where it stands."""

from __future__ import annotations

import pytest

from qmd.errors import HubFailure
from qmd.models.hub import cached, download
from tests.models.hub.fake_hub import CONTENT, URI, part


@pytest.mark.parametrize("reset", [False, True])
def test_a_cut_connection_goes_on_where_it_broke(fake, cache, pull, reset, capfd):
    fake.cuts, fake.reset = [300_000, 200_000], reset
    path = pull()
    assert path.read_bytes() == CONTENT
    starts = [headers["Range"] for headers in fake.downloads]
    assert starts[0] == "bytes=0-"
    assert len(starts) == 3
    if not reset:  # a reset may overtake what was sent before it
        assert starts[1:] == ["bytes=300000-", "bytes=500000-"]
    assert capfd.readouterr() == ("", "")


def test_a_connection_may_break_more_often_as_long_as_something_arrives(fake, pull):
    fake.cuts = [100_000] * (download.TRIES + 3)
    assert pull().read_bytes() == CONTENT


def test_a_busy_hub_is_asked_again(fake, pull):
    fake.busy = 2
    assert pull().read_bytes() == CONTENT
    assert pull.slept == [1, 2]


def test_a_connection_that_brings_nothing_is_given_up_after_some_tries(fake, cache, pull):
    fake.cuts = [1000] + [0] * 99
    with pytest.raises(HubFailure, match="What has arrived is kept"):
        pull()
    assert len(fake.downloads) == download.TRIES
    assert pull.slept == [1, 2, 4, 8]
    assert part(cache).read_bytes() == CONTENT[:1000]
    assert cached(URI, cache) is None


def test_an_interrupted_download_goes_on_the_next_time(fake, cache, pull):
    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pull(progress=interrupt)
    here = part(cache).stat().st_size
    assert 0 < here < len(CONTENT)
    assert cached(URI, cache) is None
    assert pull().read_bytes() == CONTENT
    assert fake.downloads[-1]["Range"] == f"bytes={here}-"
    assert pull.told[0][0] > here


def test_a_server_that_only_sends_whole_files_is_asked_for_the_whole(fake, cache, pull):
    fake.ranges = False
    part(cache).parent.mkdir(parents=True)
    part(cache).write_bytes(b"x" * 1000)
    assert pull().read_bytes() == CONTENT


def test_a_whole_file_that_was_not_put_in_its_place_is_not_sent_again(fake, cache, pull):
    part(cache).parent.mkdir(parents=True)
    part(cache).write_bytes(CONTENT)
    assert pull().read_bytes() == CONTENT
    assert not fake.downloads


def test_more_than_the_file_is_thrown_away(fake, cache, pull):
    part(cache).parent.mkdir(parents=True)
    part(cache).write_bytes(CONTENT + b"x")
    assert pull().read_bytes() == CONTENT


def test_a_download_that_stalls_goes_on_where_it_stands(fake, pull, monkeypatch):
    monkeypatch.setattr(download, "STALL_SECONDS", 0.05)
    fake.stalls = 300_000
    assert pull().read_bytes() == CONTENT
    assert len(fake.downloads) > 1
