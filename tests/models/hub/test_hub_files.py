"""What names a file of a hub, and what is fetched once and found from then on."""

from __future__ import annotations

import errno
import fcntl
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from qmd.errors import HubFailure, UsageError
from qmd.models.hub import cached
from qmd.models.hub.uri import HubFile, parse_uri
from tests.models.hub.fake_hub import (
    COMMIT,
    CONTENT,
    LONG,
    URI,
    blob,
    fetched_by_the_hubs_own_tools,
)


def test_a_uri_names_a_repository_a_file_and_maybe_a_revision():
    assert parse_uri("hf:tea/pot/file.gguf") == HubFile("tea/pot", "file.gguf", None)
    assert parse_uri("hf:tea/pot/a/b.gguf@v1.0") == HubFile("tea/pot", "a/b.gguf", "v1.0")
    assert parse_uri("hf:tea/pot/b.gguf@refs/pr/1") == HubFile("tea/pot", "b.gguf", "refs/pr/1")


@pytest.mark.parametrize(
    "uri",
    [
        "hf:tea/pot",
        "hf:tea/pot:Q8_0",
        "hf:tea/pot.gguf",
        "hf:tea/pot/model.safetensors",
        "hf:tea/pot/file.gguf@",
        "hf:tea/pot//file.gguf",
        "hf:tea/pot/../../file.gguf",
        "hf:tea/pot/file.gguf@../main",
        "hf:../pot/file.gguf",
        "hf:tea--pot/pot/file.gguf",
        "hf:tea/pot/file.gguf@a@b",
        "openai:tea/pot/file.gguf",
        "",
    ],
)
def test_another_uri_is_refused_with_an_example(uri):
    with pytest.raises(UsageError, match="An example: hf:") as caught:
        parse_uri(uri)
    assert f"'{uri}'" in str(caught.value)
    example = str(caught.value).split("An example: ")[1].split()[0]
    assert parse_uri(example).repo == "ggml-org/embeddinggemma-300M-GGUF"


def test_a_file_is_fetched_and_found_from_then_on(fake, cache, pull):
    assert cached(URI, cache) is None
    path = pull()
    assert path == cache / f"models--tea--pot-GGUF/snapshots/{COMMIT}/sub/pot-q8_0.gguf"
    assert path.read_bytes() == CONTENT
    assert cached(URI, cache) == path
    assert path.resolve() == blob(cache).resolve()
    assert list(blob(cache).parent.iterdir()) == [blob(cache)]
    asked = len(fake.seen)
    assert pull() == path
    assert len(fake.seen) == asked


def test_the_hubs_own_tools_find_the_file_too(cache, pull):
    from huggingface_hub import scan_cache_dir, try_to_load_from_cache

    path = pull()
    assert try_to_load_from_cache("tea/pot-GGUF", "sub/pot-q8_0.gguf", cache_dir=cache) == str(path)
    scanned = scan_cache_dir(cache)
    assert [repo.size_on_disk for repo in scanned.repos] == [len(CONTENT)]
    assert not scanned.warnings


def test_a_file_that_the_hubs_own_tools_fetched_is_found(fake, cache):
    assert fetched_by_the_hubs_own_tools(fake, cache) == str(cached(URI, cache))


def test_a_revision_is_fetched_and_found_under_its_name(fake, cache, pull):
    path = pull(f"{URI}@v2")
    assert fake.seen[0][1] == "/tea/pot-GGUF/resolve/v2/sub/pot-q8_0.gguf"
    assert cached(f"{URI}@v2", cache) == path
    assert cached(f"{URI}@{COMMIT}", cache) == path
    assert cached(URI, cache) is None


def test_looking_into_the_cache_does_not_import_the_hubs_library(tmp_path):
    code = (
        "import sys; from pathlib import Path; from qmd.models import hub;"
        f"assert hub.cached({URI!r}, Path({str(tmp_path)!r})) is None;"
        "assert not {'huggingface_hub', 'httpx', 'httpx2'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_progress_ends_at_the_size_and_nothing_is_printed(pull, capfd):
    pull()
    done = [here for here, _ in pull.told]
    assert done == sorted(done)
    assert len(done) > 1
    assert {total for _, total in pull.told} == {len(CONTENT)}
    assert done[-1] == len(CONTENT)
    assert capfd.readouterr() == ("", "")


def test_where_there_are_no_links_the_file_itself_has_the_name(fake, cache, pull, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "symlink_to", refuse)
    path = pull()
    assert path.read_bytes() == CONTENT
    assert not blob(cache).exists()
    assert pull() == path
    assert len(fake.downloads) == 1


def test_a_cache_can_be_moved(cache, pull):
    pull()
    moved = cache.rename(cache.with_name("moved"))
    assert cached(URI, moved).read_bytes() == CONTENT


def test_a_new_commit_does_not_change_a_file_that_is_here(fake, cache, pull):
    path = pull()
    fake.commit = "d" * 40
    assert pull() == path


def test_offline_nobody_is_asked(fake, cache, pull):
    with pytest.raises(HubFailure, match="stay offline") as caught:
        pull(offline=True)
    assert "run 'qmd models pull'" in str(caught.value)
    assert not fake.seen
    path = pull()
    assert pull(offline=True) == path


def test_the_token_goes_to_the_hub_and_not_to_its_storage(fake, make_hub, pull):
    storage = make_hub()
    fake.storage = storage.address
    assert pull(token="hf_secret").read_bytes() == CONTENT
    assert {
        headers.get("Authorization") or headers.get("authorization") for _, _, headers in fake.seen
    } == {"Bearer hf_secret"}
    assert storage.downloads
    assert not any("hf_secret" in str(headers) for headers in storage.downloads)


def test_two_at_once_fetch_a_file_once(fake, cache, pull, monkeypatch):
    """The second waits while the first one downloads, and finds the file when it may go on."""
    first_inside, second_waits, paths = threading.Event(), threading.Event(), []
    flock = fcntl.flock

    def watched(file, operation):
        if first_inside.is_set():
            second_waits.set()
        flock(file, operation)

    def slowly(done, total):
        first_inside.set()
        assert second_waits.wait(LONG)

    monkeypatch.setattr(fcntl, "flock", watched)
    first = threading.Thread(target=lambda: paths.append(pull(progress=slowly)))
    first.start()
    assert first_inside.wait(LONG)
    second = pull()
    first.join(LONG)
    assert paths == [second]
    assert second.read_bytes() == CONTENT
    assert len(fake.downloads) == 1
