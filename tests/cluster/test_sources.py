"""Sources and targets of a build that are no folder: object stores, and Parquet."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

from qmd.cluster import build_lock, store
from qmd.cluster.manifest import BuildManifest, ShardFile
from qmd.cluster.store import ShardStore
from qmd.errors import BuildTakenOver, ClusterFailure

Qmd = Callable[..., tuple[int, str, str]]

TEXTS = [
    ("tea/green.md", "# Green tea\n\nwater of eighty degrees\n", {"date": "2024-05-01", "rank": 3}),
    ("tea/black", "# Black tea\n\nboiling water\n", None),
    ("stone.md", "# Quartz\n\nquartz and feldspar\n", {"tags": ["stone"], "rank": None}),
]


def _parquet(path: Path, texts: list[tuple[str, str, object]]) -> Path:
    rows = {
        "path": [each[0] for each in texts],
        "text": [each[1] for each in texts],
    }
    if any(each[2] for each in texts):
        rows["metadata"] = [json.dumps(each[2]) if each[2] else None for each in texts]
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(rows), path)
    return path


def _files(qmd: Qmd, kb: object, words: str) -> list[str]:
    code, out, err = qmd("--engine", f"shards:{kb}", "search", words, "--json")
    assert code == 0, err
    return sorted(each["file"] for each in json.loads(out))


def test_texts_of_parquet_are_built_and_brought_up_to_date(qmd: Qmd, tmp_path: Path) -> None:
    source = tmp_path / "texts.parquet"
    _parquet(source / "part-0.parquet", TEXTS[:2])
    _parquet(source / "part-1.parquet", TEXTS[2:])
    kb = tmp_path / "kb"
    code, out, err = qmd("cluster", "build", source, "--to", kb, "--shards", "2")
    assert (code, "3 documents in 2 shards" in out) == (0, True), err
    assert _files(qmd, kb, "water") == ["texts/tea/black.md", "texts/tea/green.md"]
    code, out, _ = qmd(
        "--engine", f"shards:{kb}", "search", "tea", "--filter", "rank = 3", "--json"
    )
    assert [each["file"] for each in json.loads(out)] == ["texts/tea/green.md"]
    code, out, _ = qmd("--engine", f"shards:{kb}", "search", "tea", "--before", "2024-06", "--json")
    assert [each["file"] for each in json.loads(out)] == ["texts/tea/green.md"]
    # A text goes, another one comes: the shard of the third stays as it is.
    code, out, _ = qmd("cluster", "build", source, "--to", kb)
    assert "0 built, 2 as before" in out
    _parquet(source / "part-0.parquet", [("new.md", "# New\n\nwater and salt\n", {"rank": 1})])
    code, out, _ = qmd("cluster", "build", source, "--to", kb)
    assert "2 documents" in out
    assert _files(qmd, kb, "water") == ["texts/new.md"]


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"path": ["a"], "body": ["b"]}, "has no column 'text'"),
        ({"path": ["../a.md"], "text": ["b"]}, "has the path ../a.md, which is none in it"),
        ({"path": ["/etc/a"], "text": ["b"]}, "has the path /etc/a.md, which is none in it"),
        ({"path": ["a.md", "a.md"], "text": ["b", "c"]}, "has the path a.md twice"),
        ({"path": [1], "text": ["b"]}, "path and text have to be text"),
    ],
)
def test_parquet_that_makes_no_sense_is_refused(
    columns: dict[str, list[object]], problem: str, qmd: Qmd, tmp_path: Path
) -> None:
    source = tmp_path / "texts.parquet"
    pq.write_table(pa.table(columns), source)
    code, _, err = qmd("cluster", "build", source, "--to", tmp_path / "kb")
    assert (code, problem in err) == (1, True), err
    assert not (tmp_path / "kb" / "manifest.json").exists()
    (tmp_path / "no.parquet").write_bytes(b"PAR1 but not really")
    code, _, err = qmd("cluster", "build", tmp_path / "no.parquet", "--to", tmp_path / "kb")
    assert (code != 0, "no.parquet cannot be read or written" in err) == (True, True), err


# -- S3, by moto on loopback ---------------------------------------------------------------


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    if find_spec("moto") is None:
        pytest.skip("moto is not installed: pip install 'qmd-duckdb[dev]'")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                if server.poll() is not None:
                    pytest.fail("moto does not start")
                time.sleep(0.1)
        yield f"127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


@pytest.fixture
def bucket(endpoint: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """A bucket of its own for a test, which the environment leads to."""
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{endpoint}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    name = "b" + format(abs(hash(request.node.name)), "x")
    _s3().create_dir(name)
    return name


def _s3() -> fs.FileSystem:
    return fs.S3FileSystem(
        endpoint_override=os.environ["AWS_ENDPOINT_URL"].removeprefix("http://"),
        scheme="http",
        region="us-east-1",
        access_key="test",
        secret_key="test",
        allow_bucket_creation=True,
    )


def _put(path: str, text: str) -> None:
    with _s3().open_output_stream(path) as stream:
        stream.write(text.encode())


def _names(path: str) -> list[str]:
    found = _s3().get_file_info(fs.FileSelector(path, recursive=True, allow_not_found=True))
    return sorted(each.path for each in found if each.type == fs.FileType.File)


def test_shards_in_s3_are_built_from_s3_and_searched(bucket: str, qmd: Qmd) -> None:
    for path, text, _ in TEXTS:
        _put(f"{bucket}/texts/{path}", text)
    source, kb = f"s3://{bucket}/texts", f"s3://{bucket}/kb"
    code, out, err = qmd("cluster", "build", source, "--to", kb, "--shards", "2", "--mask", "**/*")
    assert (code, "3 documents in 2 shards" in out) == (0, True), err
    assert _files(qmd, kb, "water") == ["texts/tea/black", "texts/tea/green.md"]
    code, out, _ = qmd("cluster", "verify", kb)
    assert (code, out) == (0, "2 of 2 shards are whole.\n")
    # Shards are cached under their checksums; a search copies none of them again.
    found = ShardStore(kb)
    manifest = found.manifest()
    cached = [found.local(each) for each in manifest.shards]
    assert [each.name for each in cached] == [f"{each.sha256}.duckdb" for each in manifest.shards]
    _s3().delete_file(f"{bucket}/kb/{manifest.shards[0].file}")
    assert _files(qmd, kb, "water") == ["texts/tea/black", "texts/tea/green.md"]
    # Without the copy, what is missing is told by name.
    cached[0].unlink()
    code, _, err = qmd("--engine", f"shards:{kb}", "search", "water")
    assert (code, "shard-0000.duckdb is not the shard" in err) == (3, True), err
    assert "there is no such object" in err


def test_the_manifest_of_s3_is_written_last_and_in_one_step(
    bucket: str, qmd: Qmd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# A\n\ntea\n")
    kb = f"s3://{bucket}/kb"
    assert qmd("cluster", "build", notes, "--to", kb, "--shards", "2")[0] == 0
    before = ShardStore(kb).manifest()
    (notes / "b.md").write_text("# B\n\ntea and salt\n")
    upload = store._upload
    uploaded: list[str] = []

    def failing(system: object, source: Path, target: str) -> None:
        if len(uploaded) == 1:
            raise OSError("the network is gone")
        uploaded.append(target)
        upload(system, source, target)

    monkeypatch.setattr(store, "_upload", failing)
    code, _, err = qmd("cluster", "build", notes, "--to", kb)
    assert (code, "cannot be read or written: the network is gone" in err) == (3, True), err
    assert ShardStore(kb).manifest() == before
    assert _files(qmd, kb, "tea") == ["notes/a.md"]
    monkeypatch.undo()


def test_an_update_of_s3_from_a_machine_without_the_work_goes_on_from_what_is_there(
    bucket: str, qmd: Qmd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(6):
        (notes / f"{number}.md").write_text(f"# {number}\n\ntea {number}\n")
    kb = f"s3://{bucket}/kb"
    assert qmd("cluster", "build", notes, "--to", kb, "--shards", "2")[0] == 0
    first = ShardStore(kb).manifest()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
    code, out, err = qmd("cluster", "build", notes, "--to", kb)
    assert (code, "0 built, 2 as before" in out) == (0, True), err
    for step in range(3):
        (notes / "0.md").write_text(f"# 0\n\nsalt {step}\n")
        assert qmd("cluster", "build", notes, "--to", kb)[0] == 0
    builds = {name.split("/")[3] for name in _names(f"{bucket}/kb/builds")}
    assert len(builds) == 2  # and the first one is gone
    assert first.build not in builds
    assert _files(qmd, kb, "salt") == ["notes/0.md"]


def test_a_copy_that_is_of_another_build_is_refused(bucket: str, qmd: Qmd, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# A\n\ntea\n")
    kb = f"s3://{bucket}/kb"
    assert qmd("cluster", "build", notes, "--to", kb)[0] == 0
    found = ShardStore(kb)
    [shard] = found.manifest().shards
    data = bytearray(found.local(shard).read_bytes())
    data[-100] ^= 1
    with _s3().open_output_stream(f"{bucket}/kb/{shard.file}") as stream:
        stream.write(bytes(data))
    found.local(shard).unlink()
    with pytest.raises(ClusterFailure, match="its checksum differs; it may be of another build"):
        found.local(shard)
    assert list(found.folder.glob("*.duckdb")) == list(found.folder.glob("*.part")) == []


def test_files_beside_copies_of_shards_go_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = ShardStore(f"file://{tmp_path}/store")
    found.folder.mkdir(parents=True)
    suffixes = ["", ".vectors", ".vectors.part", ".vectors.lock", ".postings", ".lock", ".readers"]
    kept, gone = ("a" * 64, "b" * 64)
    beside = [f"{kept}.duckdb{suffix}" for suffix in suffixes]
    others = ["manifest.json", f"{gone}.123.part"]  # of another process, which copies it
    orphans = [f"{gone}.duckdb{suffix}" for suffix in suffixes] + [f"{'c' * 64}.duckdb.vectors"]
    for name in beside + others + orphans:
        (found.folder / name).touch()
    shard = ShardFile(0, "builds/1/0.duckdb", 1, kept, "", 1, 1)
    found.tidy(BuildManifest("1", 1, "1", "notes", "", "*.md", None, (shard,)))
    assert sorted(each.name for each in found.folder.iterdir()) == sorted(beside + others)


def test_a_store_that_is_not_there_is_told(qmd: Qmd, monkeypatch: pytest.MonkeyPatch) -> None:
    code, _, err = qmd("--engine", "shards:ftp://host/kb", "search", "tea")
    assert (code, "ftp://host/kb cannot be used" in err) == (3, True), err
    code, _, err = qmd("--engine", "shards:file:///nowhere/kb", "search", "tea")
    assert (code, "has no index of shards that can be used: it has no manifest" in err) == (3, True)


# -- two builds at the same time --------------------------------------------------------------


def _notes(folder: Path) -> Path:
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\ntea\n")
    return folder


def test_a_second_build_to_a_folder_is_told_of_the_first(qmd: Qmd, tmp_path: Path) -> None:
    notes, kb = _notes(tmp_path / "notes"), tmp_path / "kb"
    kb.mkdir()
    with build_lock.holding(str(kb), kb):
        code, out, err = qmd("cluster", "build", notes, "--to", kb)
        assert (code, out) == (3, "")
        assert re.search(
            rf"Another build writes to {kb}: .*, process {os.getpid()} \(this process\), "
            r"since 20\d\d-\d\d-\d\d \d\d:\d\d UTC\.",
            err,
        ), err
    assert qmd("cluster", "build", notes, "--to", kb)[0] == 0


def test_a_killed_build_blocks_no_other_one_in_a_folder(qmd: Qmd, tmp_path: Path) -> None:
    notes, kb = _notes(tmp_path / "notes"), tmp_path / "kb"
    kb.mkdir()
    held = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, time, pathlib\n"
            "from qmd.cluster.build_lock import holding\n"
            "with holding(sys.argv[1], pathlib.Path(sys.argv[1])):\n"
            "    print('held', flush=True)\n"
            "    time.sleep(600)\n",
            str(kb),
        ],
        stdout=subprocess.PIPE,
    )
    try:
        assert held.stdout is not None
        assert held.stdout.readline() == b"held\n"
        code, _, err = qmd("cluster", "build", notes, "--to", kb)
        assert (code, f"process {held.pid}, since" in err) == (3, True), err
    finally:
        held.kill()
        held.wait()
        held.stdout.close()
    assert qmd("cluster", "build", notes, "--to", kb)[0] == 0


def test_a_second_build_to_a_store_is_told_of_the_first(
    bucket: str, qmd: Qmd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes, kb = _notes(tmp_path / "notes"), f"s3://{bucket}/kb"
    elsewhere = tmp_path / "cache of another machine"
    with build_lock.holding(kb, elsewhere):
        code, out, err = qmd("cluster", "build", notes, "--to", kb)
        assert (code, out) == (3, "")
        assert re.search(
            rf"Another build writes to {kb}: .*, process {os.getpid()} on .*, since 20.* UTC\.", err
        ), err
        assert len(_names(f"{bucket}/kb/locks")) == 1  # the second has taken back its own
    assert _names(f"{bucket}/kb/locks") == []
    assert qmd("cluster", "build", notes, "--to", kb)[0] == 0
    assert _names(f"{bucket}/kb/locks") == []


def _left_behind(bucket: str, folder: Path) -> str:
    """Hold a prefix, and leave its ticket as a killed build does."""
    with build_lock.holding(f"s3://{bucket}/kb", folder):
        [path] = _names(f"{bucket}/kb/locks")
        with _s3().open_input_stream(path) as stream:
            text = stream.read().decode()
    _put(path, text)
    return path


def test_the_ticket_of_a_killed_build_counts_for_ten_minutes(
    bucket: str, qmd: Qmd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes, kb = _notes(tmp_path / "notes"), f"s3://{bucket}/kb"
    left = _left_behind(bucket, tmp_path / "cache of another machine")
    code, _, err = qmd("cluster", "build", notes, "--to", kb)
    assert (code, "Another build writes to" in err) == (3, True), err
    # With the same cache folder, which one build uses at a time, it is known to have ended.
    with build_lock.holding(kb, tmp_path / "cache of another machine"):
        assert left not in _names(f"{bucket}/kb/locks")
    left = _left_behind(bucket, tmp_path / "cache of another machine")
    monkeypatch.setattr(build_lock, "VOID_SECONDS", -1.0)
    assert qmd("cluster", "build", notes, "--to", kb)[0] == 0
    assert left not in _names(f"{bucket}/kb/locks")


def test_a_ticket_is_renewed_and_one_that_was_taken_is_not_made_again(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = threading.Semaphore(0)
    write = build_lock._Ticket._write

    def counted(ticket: build_lock._Ticket) -> None:
        write(ticket)
        written.release()

    monkeypatch.setattr(build_lock._Ticket, "_write", counted)
    monkeypatch.setattr(build_lock, "RENEW_SECONDS", 0.01)
    with build_lock.holding(f"s3://{bucket}/kb", tmp_path / "cache") as check:
        assert all(written.acquire(timeout=60) for _ in range(3))
        check()
    monkeypatch.setattr(build_lock, "RENEW_SECONDS", 600.0)
    with build_lock.holding(f"s3://{bucket}/kb", tmp_path / "cache") as check:
        [path] = _names(f"{bucket}/kb/locks")
        _s3().delete_file(path)
        with pytest.raises(BuildTakenOver, match="was not heard of for ten minutes"):
            check()


def test_a_build_that_was_taken_over_is_not_published(
    bucket: str, qmd: Qmd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes, kb = _notes(tmp_path / "notes"), f"s3://{bucket}/kb"
    assert qmd("cluster", "build", notes, "--to", kb)[0] == 0
    before = ShardStore(kb).manifest()
    (notes / "b.md").write_text("# B\n\ntea\n")
    monkeypatch.setattr(build_lock._Ticket, "_is_there", lambda ticket: False)
    code, _, err = qmd("cluster", "build", notes, "--to", kb)
    assert (code, "this one is not published" in err) == (3, True), err
    assert ShardStore(kb).manifest() == before
    monkeypatch.undo()
