"""Files from a hub that listens on this machine."""

from __future__ import annotations

import hashlib
import socket
import struct
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from qmd.errors import HubFailure, ModelUnusable, UsageError
from qmd.models import hub
from qmd.models.hub import HubFile, cached, fetch, parse

URI = "hf:tea/pot-GGUF/sub/pot-q8_0.gguf"
COMMIT = "c0ffee" + "0" * 34
CONTENT = b"GGUF" + bytes(range(256)) * 4000
DIGEST = hashlib.sha256(CONTENT).hexdigest()

LONG = 20
"""Seconds after which something that has to happen is taken for stuck."""


class FakeHub:
    """One file of one repository, and what is to go wrong with it.

    Attributes:
        content: what is sent, whatever the digest says.
        cuts: for each download, bytes after which the connection breaks; then it holds.
        reset: break by a reset, not by closing.
        stalls: bytes after which the next download stands still.
        ranges: whether a part of the file can be asked for.
        refuses: status and error code of every answer, if set.
        storage: address that keeps the file, if not this one.
        seen: method, path and headers of each request.
    """

    def __init__(self):
        self.content, self.digest = CONTENT, DIGEST
        self.commit = COMMIT
        self.cuts = []
        self.reset = False
        self.stalls = None
        self.closed = threading.Event()
        self.ranges = True
        self.refuses = None
        self.busy = 0
        self.storage = None
        self.seen = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # headers and body together, or each waits for the other's receipt

            def do_HEAD(self):
                outer.answer(self)

            def do_GET(self):
                outer.answer(self)

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, request, client_address):
                """Who asked has gone: what some tests do on purpose."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.closed.set()
        self.server.shutdown()
        self.server.server_close()

    @property
    def downloads(self):
        return [headers for method, _, headers in self.seen if method == "GET"]

    def answer(self, request):
        self.seen.append((request.command, request.path, dict(request.headers)))
        common = {
            "X-Repo-Commit": self.commit,
            "X-Linked-Etag": f'"{self.digest}"',
            "X-Linked-Size": str(len(CONTENT)),
            "ETag": f'"{self.digest}"',
        }
        if self.refuses:
            status, code = self.refuses
            self.headers(request, status, {"X-Error-Code": code})
        elif request.command == "HEAD":
            self.headers(request, 200, common, length=len(self.content))
        elif self.storage:
            self.headers(request, 302, {"Location": self.storage + request.path})
        elif self.busy:
            self.busy -= 1
            self.headers(request, 503)
        else:
            self.send(request, common)

    def send(self, request, common):
        wanted = request.headers.get("Range")
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.ranges else 0
        rest = self.content[start:]
        self.headers(request, 206 if wanted and self.ranges else 200, common, length=len(rest))
        if self.stalls:
            stalls, self.stalls = self.stalls, None
            request.wfile.write(rest[:stalls])
            request.wfile.flush()
            self.closed.wait(LONG)
        elif self.cuts:
            request.wfile.write(rest[: self.cuts.pop(0)])
            request.wfile.flush()
            if self.reset:
                linger = struct.pack("ii", 1, 0)
                request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            request.close_connection = True
        else:
            request.wfile.write(rest)

    @staticmethod
    def headers(request, status, headers=(), *, length=0):
        request.send_response(status)
        for name, value in dict(headers).items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(length))
        request.end_headers()


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


def blob(cache):
    return cache / "models--tea--pot-GGUF" / "blobs" / DIGEST


def part(cache):
    return blob(cache).with_name(f"{DIGEST}.incomplete")


def fetched_by_the_hubs_own_tools(fake, cache):
    from huggingface_hub import hf_hub_download
    from huggingface_hub.utils import silent_tqdm

    return hf_hub_download(
        "tea/pot-GGUF",
        "sub/pot-q8_0.gguf",
        cache_dir=cache,
        endpoint=fake.address,
        tqdm_class=silent_tqdm,
    )


def nobody():
    """An address where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


def test_a_uri_names_a_repository_a_file_and_maybe_a_revision():
    assert parse("hf:tea/pot/file.gguf") == HubFile("tea/pot", "file.gguf", None)
    assert parse("hf:tea/pot/a/b.gguf@v1.0") == HubFile("tea/pot", "a/b.gguf", "v1.0")
    assert parse("hf:tea/pot/b.gguf@refs/pr/1") == HubFile("tea/pot", "b.gguf", "refs/pr/1")


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
        parse(uri)
    assert f"'{uri}'" in str(caught.value)
    example = str(caught.value).split("An example: ")[1].split()[0]
    assert parse(example).repo == "ggml-org/embeddinggemma-300M-GGUF"


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
    fake.cuts = [100_000] * (hub.TRIES + 3)
    assert pull().read_bytes() == CONTENT


def test_a_busy_hub_is_asked_again(fake, pull):
    fake.busy = 2
    assert pull().read_bytes() == CONTENT
    assert pull.slept == [1, 2]


def test_a_connection_that_brings_nothing_is_given_up_after_some_tries(fake, cache, pull):
    fake.cuts = [1000] + [0] * 99
    with pytest.raises(HubFailure, match="What has arrived is kept"):
        pull()
    assert len(fake.downloads) == hub.TRIES
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


def test_where_there_are_no_links_the_file_itself_has_the_name(fake, cache, pull, monkeypatch):
    def refuse(*_):
        raise OSError(hub.errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(hub.Path, "symlink_to", refuse)
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
    monkeypatch.setattr(hub, "SECONDS", 0.05)
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(HubFailure, match=r"cannot be reached \(.*timed out"),
    ):
        pull(endpoint=f"http://127.0.0.1:{silent.getsockname()[1]}")


def test_a_download_that_stalls_goes_on_where_it_stands(fake, pull, monkeypatch):
    monkeypatch.setattr(hub, "STALL_SECONDS", 0.05)
    fake.stalls = 300_000
    assert pull().read_bytes() == CONTENT
    assert len(fake.downloads) > 1


def test_offline_nobody_is_asked(fake, cache, pull):
    with pytest.raises(HubFailure, match="stay offline") as caught:
        pull(offline=True)
    assert "run 'qmd models pull'" in str(caught.value)
    assert not fake.seen
    path = pull()
    assert pull(offline=True) == path


def test_a_full_disk_is_told_of_before_the_download(fake, cache, pull, monkeypatch):
    usage = hub.shutil.disk_usage("/")
    monkeypatch.setattr(hub.shutil, "disk_usage", lambda _: usage._replace(free=10))
    with pytest.raises(HubFailure, match=r"1 MB are still to come.* has 0 MB\.\n\nMake room"):
        pull()
    assert not fake.downloads


def test_a_disk_that_fills_up_is_told_of(pull):
    def full(done, total):
        raise OSError(hub.errno.ENOSPC, "No space left on device")

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
    flock = hub.fcntl.flock

    def watched(file, operation):
        if first_inside.is_set():
            second_waits.set()
        flock(file, operation)

    def slowly(done, total):
        first_inside.set()
        assert second_waits.wait(LONG)

    monkeypatch.setattr(hub.fcntl, "flock", watched)
    first = threading.Thread(target=lambda: paths.append(pull(progress=slowly)))
    first.start()
    assert first_inside.wait(LONG)
    second = pull()
    first.join(LONG)
    assert paths == [second]
    assert second.read_bytes() == CONTENT
    assert len(fake.downloads) == 1
