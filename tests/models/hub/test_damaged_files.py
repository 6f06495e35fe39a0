"""What is not the file that was published is told of, removed or fetched again."""

from __future__ import annotations

import hashlib

import pytest

from qmd.errors import HubFailure, ModelUnusable
from qmd.models.hub import cached
from tests.models.hub.fake_hub import (
    CONTENT,
    DIGEST,
    URI,
    blob,
    fetched_by_the_hubs_own_tools,
    nobody,
    part,
)


def test_a_wrong_byte_is_told_of_and_the_file_removed(fake, cache, pull):
    fake.content = CONTENT[:-1] + b"!"
    with pytest.raises(HubFailure, match=r"not what was published.*removed") as caught:
        pull()
    assert DIGEST in str(caught.value)
    assert hashlib.sha256(fake.content).hexdigest() in str(caught.value)
    assert not part(cache).exists()
    assert cached(URI, cache) is None
    fake.content = CONTENT
    assert pull().read_bytes() == CONTENT


def test_a_file_that_is_not_gguf_is_told_of_and_removed(fake, cache, pull):
    fake.content = b"<html>" + CONTENT[6:]
    fake.digest = hashlib.sha256(fake.content).hexdigest()
    with pytest.raises(ModelUnusable, match="not a GGUF file"):
        pull()
    assert not list(blob(cache).parent.iterdir())
    assert cached(URI, cache) is None


def test_a_file_that_was_damaged_here_is_fetched_again(fake, cache, pull):
    path = pull()
    blob(cache).write_bytes(CONTENT[:-1] + b"!")
    with pytest.raises(ModelUnusable, match=r"damaged.*SHA-256"):
        pull(offline=True)
    with pytest.raises(HubFailure):
        pull(endpoint=nobody())
    assert path.exists()
    assert pull() == path
    assert path.read_bytes() == CONTENT


def test_a_damaged_file_makes_way_for_a_newer_one(fake, cache, pull):
    old = pull()
    blob(cache).write_bytes(CONTENT[:-1] + b"!")
    fake.commit = "d" * 40
    fake.content = CONTENT[:4] + CONTENT[:3:-1]
    fake.digest = hashlib.sha256(fake.content).hexdigest()
    assert pull().read_bytes() == fake.content
    assert cached(URI, cache).read_bytes() == fake.content
    assert not old.is_symlink()
    assert not blob(cache).exists()


def test_a_file_that_is_not_gguf_is_told_of_and_removed_whoever_fetched_it(fake, cache, pull):
    fake.content = b"<html>" + CONTENT[6:]
    fake.digest = hashlib.sha256(fake.content).hexdigest()
    fetched_by_the_hubs_own_tools(fake, cache)
    assert cached(URI, cache) is not None
    with pytest.raises(ModelUnusable, match="not a GGUF file"):
        pull()
    assert cached(URI, cache) is None


def test_a_blob_without_a_name_is_given_one_if_it_is_whole(fake, cache, pull):
    blob(cache).parent.mkdir(parents=True)
    blob(cache).write_bytes(CONTENT)
    assert pull().read_bytes() == CONTENT
    assert not fake.downloads


def test_a_damaged_blob_without_a_name_is_fetched_again(fake, cache, pull):
    blob(cache).parent.mkdir(parents=True)
    blob(cache).write_bytes(CONTENT[1:])
    assert pull().read_bytes() == CONTENT
    assert len(fake.downloads) == 1


def test_a_name_without_a_blob_is_mended(cache, pull):
    path = pull()
    blob(cache).unlink()
    assert cached(URI, cache) is None
    assert pull() == path
    assert path.read_bytes() == CONTENT
    assert path.resolve() == blob(cache).resolve()
