"""Build of an index in shards: interruption, changes, damage."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from qmd.cluster import manifest as manifests
from qmd.cluster import shard_builder
from qmd.cluster.build import one_by_one
from qmd.cluster.numbers import numbers_by_shard, overall_number, shard_of
from qmd.cluster.shard import NEAREST, ROWS, Shard, ShardRequest
from qmd.cluster.store import ShardStore
from qmd.cluster.verify import verify
from qmd.errors import NotAManifest, ShardDamaged
from qmd.operations.search import search
from qmd.ranking.postings_loader import Holder
from qmd.ranking.vector_indexes import VectorIndexes
from qmd.ranking.vector_matrix import Matrix
from tests.cluster import corpus
from tests.library import FakeEmbedder, Library

Qmd = Callable[..., tuple[int, str, str]]


def test_numbers_of_all_shards_are_split_and_joined_again() -> None:
    numbers = [3, 8, 9, 100]
    parts = numbers_by_shard(numbers, 4)
    again = [overall_number(each, shard, 4) for shard, own in enumerate(parts) for each in own]
    assert sorted(again) == numbers
    assert shard_of(b"tea", 8) == shard_of(b"tea", 8) < 8


def _write(library: Library, count: int = 12) -> None:
    for number in range(count):
        library.write(f"{number}.md", f"# Note {number}\n\ntea {number} water\n")


def _nothing(folder: Path) -> list[str | None]:
    return [each.problem for each in verify(folder, lambda done, total: None)]


def test_a_second_build_makes_nothing_again(library: Library) -> None:
    _write(library)
    first = corpus.build_shards(library, 4)
    files = [corpus.folder_of(library, 4) / each.file for each in first.manifest.shards]
    times = [file.stat().st_mtime_ns for file in files]
    second = corpus.build_shards(library, 4)
    assert (first.built, first.kept) == (4, 0)
    assert (second.built, second.kept) == (0, 4)
    assert second.manifest == first.manifest
    assert [file.stat().st_mtime_ns for file in files] == times


def test_a_build_goes_on_where_it_was_interrupted(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(library)

    def some(tasks: list[shard_builder.ShardTask], progress: object) -> None:
        one_by_one(tasks[:2], lambda step, done, total: None)
        raise KeyboardInterrupt

    monkeypatch.setattr("qmd.cluster.build.build.__defaults__", (some,))
    with pytest.raises(KeyboardInterrupt):
        corpus.build_shards(library, 4)
    with pytest.raises(NotAManifest, match="has no manifest"):
        manifests.read(corpus.folder_of(library, 4))
    monkeypatch.undo()
    built = corpus.build_shards(library, 4)
    assert (built.built, built.kept) == (2, 2)
    assert built.manifest.documents == 12


def test_changes_of_files_reach_the_shards(library: Library) -> None:
    _write(library)
    before = corpus.build_shards(library, 4)
    library.write("3.md", "# Other\n\ncoffee instead\n")
    (library.root / "5.md").unlink()
    library.write("new.md", "# New\n\na new note about coffee\n")
    library.update()
    built = corpus.build_shards(library, 4)
    assert built.manifest.build != before.manifest.build
    assert built.manifest.documents == 12
    index = corpus.opened(library, built)
    for text in ("coffee", "tea", "note"):
        assert list(search(index, text)) == list(search(library.engine, text))
    index.close()
    assert _nothing(corpus.folder_of(library, 4)) == [None] * 4


def test_nothing_that_stays_is_embedded_again(faked: Library, fake: FakeEmbedder) -> None:
    _write(faked)
    corpus.build_shards(faked, 4, embeds=True)
    assert len(fake.made) == 12
    fake.made.clear()
    faked.write("new.md", "# New\n\na new note about coffee\n")
    built = corpus.build_shards(faked, 4, embeds=True)
    assert len(fake.made) == 1
    assert sum(each.vectors for each in built.manifest.shards) == 13


def test_no_shard_gets_a_file_of_vectors_that_its_build_would_remove(
    faked: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    monkeypatch.setattr(VectorIndexes, "renew", lambda *given: made.append(given))
    monkeypatch.setattr(Holder, "renew", lambda *given: made.append(given))
    _write(faked)
    corpus.build_shards(faked, 2, embeds=True)
    assert made == []


def test_a_shard_makes_its_file_of_vectors_beside_its_searches(
    faked: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qmd.ranking.vector_sidecar.LEAST", 1)
    _write(faked)
    built = corpus.build_shards(faked, 1, embeds=True)
    path = corpus.folder_of(faked, 1) / built.manifest.shards[0].file
    beside = path.with_name(f"{path.name}.vectors")
    vector = json.dumps(FakeEmbedder().vector("green tea").tolist())
    asked = {"model_id": 1, "vector": vector, "depth": 5, "chunks": None}
    held = []
    real = Matrix.compared

    def compared(*given: Any, **options: Any) -> Any:
        held.append((found := real(*given, **options)) is not None)
        return found

    monkeypatch.setattr(Matrix, "compared", compared)
    with closing(Shard(path)) as shard:
        first = shard.answer(ShardRequest(ROWS, (NEAREST, asked)))
        shard.settle()
        assert beside.exists()
        assert shard.answer(ShardRequest(ROWS, (NEAREST, asked))) == first
    assert len(first) == 5
    assert held == [False, True]


def test_the_build_before_stays_until_the_next_but_one(library: Library) -> None:
    _write(library)
    made = []
    for number in range(3):
        library.write("changing.md", f"# Changing\n\nstate {number}\n")
        made.append(corpus.build_shards(library, 2).manifest.build)
    builds = corpus.folder_of(library, 2) / "builds"
    assert sorted(each.name for each in builds.iterdir()) == sorted(made[1:])


def test_a_truncated_shard_is_refused_by_name(library: Library) -> None:
    _write(library)
    built = corpus.build_shards(library, 2)
    folder = corpus.folder_of(library, 2)
    path = folder / built.manifest.shards[1].file
    path.write_bytes(path.read_bytes()[:-4096])
    with pytest.raises(ShardDamaged, match=r"shard-0001.duckdb is not the shard .* bytes instead"):
        corpus.opened(library, built)
    first, second = _nothing(folder)
    assert first is None
    assert second is not None
    assert "bytes instead of" in second


def test_a_changed_byte_is_found_by_its_checksum(library: Library) -> None:
    _write(library)
    built = corpus.build_shards(library, 2)
    folder = corpus.folder_of(library, 2)
    path = folder / built.manifest.shards[0].file
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)
    first, second = _nothing(folder)
    assert first is not None
    assert "its checksum differs" in first
    assert second is None


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"format": 2}, "its layout has version 2, and this qmd reads 1"),
        ({"schema": 9999}, "its shards have schema 9999"),
        ({"shards": []}, "it has 0 shards"),
        ({"shards": None}, "makes no sense"),
        ({"build": 7}, "build is int"),
    ],
)
def test_a_manifest_of_another_kind_is_refused(
    change: dict[str, object], problem: str, library: Library
) -> None:
    _write(library, 3)
    corpus.build_shards(library, 1)
    path = corpus.folder_of(library, 1) / manifests.NAME
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(NotAManifest, match=problem):
        manifests.read(path.parent)


def test_a_manifest_leads_to_no_file_outside_of_its_folder(library: Library) -> None:
    _write(library, 3)
    corpus.build_shards(library, 1)
    path = corpus.folder_of(library, 1) / manifests.NAME
    record = json.loads(path.read_text())
    for stray in ("../index.duckdb", "/etc/passwd", "a/../../b"):
        record["shards"][0]["file"] = stray
        path.write_text(json.dumps(record))
        with pytest.raises(NotAManifest, match="outside of its folder"):
            manifests.read(path.parent)
    for stray in ("a\0b", "a\n.duckdb", "\ud800.duckdb"):
        record["shards"][0]["file"] = stray
        path.write_text(json.dumps(record))
        with pytest.raises(NotAManifest, match="characters that cannot be seen"):
            manifests.read(path.parent)


def test_the_commands_build_show_check_and_search(qmd: Qmd, tmp_path: Path) -> None:
    notes, target = tmp_path / "notes", tmp_path / "kb"
    notes.mkdir()
    for number in range(6):
        (notes / f"{number}.md").write_text(f"# Note {number}\n\ntea {number}\n")
    code, out, _ = qmd("cluster", "build", notes, "--to", target, "--shards", "2")
    assert (code, "6 documents in 2 shards" in out) == (0, True)
    code, out, _ = qmd("cluster", "build", notes, "--to", target)
    assert (code, "0 built, 2 as before" in out) == (0, True)
    code, out, _ = qmd("cluster", "status", target)
    assert (code, "builds/" in out, "6 documents" in out) == (0, True, True)
    code, out, _ = qmd("cluster", "verify", target)
    assert (code, out) == (0, "2 of 2 shards are whole.\n")
    code, out, _ = qmd("--engine", f"shards:{target}", "search", "tea 3", "--json")
    assert code == 0
    assert json.loads(out)[0]["file"] == "notes/3.md"
    code, out, _ = qmd("search", "tea 3", "--json", f"--engine=shards:{target}")
    assert json.loads(out)[0]["file"] == "notes/3.md"
    code, out, _ = qmd("--engine", f"shards:{target}", "get", "notes/3.md")
    assert (code, "# Note 3" in out) == (0, True)
    code, out, _ = qmd("--engine", f"shards:{target}", "ls", "notes")
    assert (code, out.count("notes/") + out.count(".md") > 5) == (0, True)
    code, out, _ = qmd("--engine", f"shards:{target}", "status")
    assert (code, "6" in out) == (0, True)


def test_index_yml_names_the_engine(qmd: Qmd, tmp_path: Path) -> None:
    notes, target = tmp_path / "notes", tmp_path / "kb"
    notes.mkdir()
    (notes / "a.md").write_text("# A\n\ntea\n")
    assert qmd("cluster", "build", notes, "--to", target)[0] == 0
    config = tmp_path / "config"
    config.mkdir()
    (config / "index.yml").write_text(f"engine:\n  shards:\n    from: {target}\n")
    code, out, _ = qmd("search", "tea", "--json")
    assert json.loads(out)[0]["file"] == "notes/a.md"
    code, out, _ = qmd("sql", "select file from documents", "--format", "json")
    assert json.loads(out) == [{"file": "notes/a.md"}]
    for command in (
        ("update",),
        ("embed",),
        ("cleanup",),
        ("put", "notes/b.md"),
        ("collection", "add", notes),
        ("collection", "remove", "notes"),
        ("context", "add", "notes", "text"),
    ):
        code, out, err = qmd(*command)
        assert (code != 0, "only read" in err) == (True, True), (command, out, err)
    for command in (
        ("doctor",),
        ("export", tmp_path / "x"),
    ):
        code, out, err = qmd(*command)
        assert (code != 0, "cannot be done over the shards" in err) == (True, True), (out, err)


def test_mistakes_are_told_in_words(qmd: Qmd, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# A\n\ntea\n")
    cases = [
        (("cluster", "build", notes, "--to", tmp_path / "kb", "--shards", "3"), "no power of two"),
        (("cluster", "build", notes, "--to", notes / "kb"), "whose files are indexed"),
        (("cluster", "build", notes, "--to", notes / "a.md" / "b"), "whose files are indexed"),
        (("cluster", "build", notes, "--to", tmp_path), "Choose an empty folder"),
        (("cluster", "build", tmp_path / "no", "--to", tmp_path / "kb"), "no"),
        (("cluster", "status", tmp_path / "no"), "has no manifest.json"),
        (("--engine", "spark", "search", "tea"), "There is no engine 'spark'"),
        (("--engine", "shards", "search", "tea"), "--engine shards:DEST"),
        (("--engine", f"shards:{tmp_path / 'no'}", "search", "tea"), "has no manifest.json"),
    ]
    for arguments, problem in cases:
        code, out, err = qmd(*arguments)
        assert (code != 0, problem in err) == (True, True), (arguments, out, err)


def test_a_project_cannot_choose_an_engine(
    qmd: Qmd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    (project / ".qmd").mkdir(parents=True)
    (project / ".qmd" / "index.yml").write_text("engine:\n  shards:\n    from: /kb\n")
    monkeypatch.delenv("QMD_CONFIG_DIR")
    monkeypatch.delenv("INDEX_PATH")
    monkeypatch.chdir(project)
    code, _, err = qmd("search", "tea")
    assert (code, "which a project must not" in err) == (1, True)


def test_ray_is_imported_by_two_modules_alone() -> None:
    package = Path(manifests.__file__).parents[1]
    importing = [
        file.relative_to(package).as_posix()
        for file in package.rglob("*.py")
        if any(line.split()[:2] in (["import", "ray"], ["from", "ray"]) for line in _lines(file))
    ]
    assert sorted(importing) == ["cluster/ray_build.py", "cluster/ray_engine.py"]


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()


FULL = """
set -e
mount -t tmpfs -o size=1m none "$1"
python=$2
if "$python" -m qmd cluster build "$3" --to "$1/kb" --shards 2; then exit 9; fi
test ! -e "$1/kb/manifest.json"
mount -o remount,size=200m "$1"
"$python" -m qmd cluster build "$3" --to "$1/kb" --shards 2
"$python" -m qmd cluster verify "$1/kb"
"""
"""A build onto a disk that is too small, and again when it has become larger."""


def test_a_full_disk_ends_a_build_which_goes_on_later(tmp_path: Path) -> None:
    apart = ["unshare", "--mount", "sh", "-c"]
    if shutil.which("unshare") is None or subprocess.run([*apart, "true"]).returncode:
        pytest.skip("there are no mount namespaces here")
    notes = tmp_path / "notes"
    disk = tmp_path / "disk"
    for folder in (notes, disk):
        folder.mkdir()
    for number in range(20):
        (notes / f"{number}.md").write_text(f"# Note {number}\n\ntea {number} water\n")
    done = subprocess.run(
        [*apart, FULL, "sh", str(disk), sys.executable, str(notes)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "QMD_CONFIG_DIR": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "cannot be written" in done.stderr
    assert "Nothing is lost" in done.stderr
    assert "20 documents in 2 shards" in done.stdout
    assert "2 of 2 shards are whole." in done.stdout


def test_a_shard_of_another_build_is_told_by_its_checksum(library: Library) -> None:
    _write(library)
    built = corpus.build_shards(library, 2)
    store = ShardStore(corpus.folder_of(library, 2))
    path = store.local(built.manifest.shards[0], compared=True)
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)
    with pytest.raises(ShardDamaged, match="it may be of another build"):
        store.local(built.manifest.shards[0], compared=True)
