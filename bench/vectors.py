"""Exact and approximate vector search at several sizes, with and without a filter.

Measured in DuckDB, with all vectors in memory, and mapped from the sidecar.

    python -m bench.vectors [--sizes 10000,100000,1000000] [--hnsw 10000] [--ways sidecar]

The vectors are those that the embedded model makes of real passages where there are some (--texts
FOLDER), each with noise added to make as many as are wanted; a query is a passage with other noise.
Prints for each size and way the median milliseconds of a search in an index that stays open, by
the clock and of processor time, what the first search of a new process takes, the memory of the
process at most and at the end (PSS), and the share of the true ten that was found. For the sidecar
it prints also what making it takes, and for the HNSW index of DuckDB's vss extension what loading
the extension and building take.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import _duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bench.usage import peak, pss
from qmd.embedding import vectors as embeddings
from qmd.errors import ExtensionUnusable
from qmd.models.encoder import Encoder
from qmd.ranking import nearest
from qmd.ranking.nearest import Faster
from qmd.ranking.vector_matrix import Matrix
from qmd.storage.cursor import Cursor, as_json
from qmd.storage.database import Database
from qmd.storage.extensions import load

Vectors = NDArray[np.float32]
Timed = tuple[float, float, float, list[list[int]]]
"""Median milliseconds, those of processor time, those of the first search, and the answers."""

NOISE = 0.6
"""Length of what is added to a vector of length 1 to make another one."""

FILTER = 0.01
"""Share of the documents that the filter lets through."""

QUERIES, TOP = 20, 10
STEP = 50_000
EVERYTHING = 1 << 40


def passages(folder: Path | None) -> Vectors:
    """Vectors of real passages, or of random ones."""
    if folder is None:
        rows = np.random.default_rng(5).standard_normal((2000, 384)).astype(np.float32)
        return unit(rows)
    texts = []
    for file in sorted(folder.rglob("*.md"))[:1500]:
        text = file.read_text(encoding="utf-8", errors="replace")
        texts += [text[at : at + 500] for at in range(0, min(len(text), 2000), 500)]
    model = Encoder()
    texts = [text for text in texts if model.count([text])[0] <= model.limit][:2000]
    return model.embed(texts)


def unit(rows: NDArray[np.floating[Any]]) -> Vectors:
    """Each row at the length 1."""
    scaled: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return scaled


def more(real: Vectors, count: int, seed: int) -> Vectors:
    """So many vectors around the real ones."""
    chance = np.random.default_rng(seed)
    chosen = real[chance.integers(0, len(real), count)]
    noise = unit(chance.standard_normal(chosen.shape).astype(np.float32))
    return unit(chosen + NOISE * noise)


def add(database: Database, first: int, vectors: Vectors) -> None:
    """Add a document with one passage for each vector of model 1, numbered from `first`."""
    numbers = pa.array(range(first, first + len(vectors)), pa.uint32())
    hashes = [f"{number:064x}" for number in numbers.to_pylist()]

    def work(cursor: Cursor) -> None:
        with cursor.staged(fresh=pa.table({"n": numbers, "hash": hashes})):
            run = cursor.connection.execute
            run("insert into content (hash, body) select hash, 'text' from fresh")
            run(
                "insert into documents by name select n as document_id, 'notes' as collection,"
                " n || '.md' as path, 'n' as title, hash, now()::timestamp as dated,"
                " dated as modified, false as lossy, 1 as size, 1 as mtime_ns, 1 as inode,"
                " '' as checksum, 1 as title_length, 1 as path_length, 1 as body_length,"
                " 1 as path_start, 1 as body_start from fresh"
            )
            run("insert into chunks select n, 1, hash, 0, 0, 4, 1, 1 from fresh")
        embeddings.add(cursor, model_id=1, chunk_ids=numbers.to_pylist(), vectors=vectors)

    database.write(work)


def filled(path: Path, real: Vectors, count: int) -> Database:
    """Fill an index with a document for each vector."""
    database = Database(path, warm=True, memory_limit="4GB")

    def begin(cursor: Cursor) -> None:
        cursor.run(
            "embeddings/add_model",
            model_id=1,
            fingerprint="bench",
            name="bench",
            dimensions=384,
            chunk_tokens=256,
            chunk_overlap=0.15,
        )

    database.write(begin)
    for at in range(0, count, STEP):
        add(database, at + 1, more(real, min(STEP, count - at), seed=at + 1))
    return database


def timed(search: Callable[[Vectors], list[int]], queries: Vectors) -> Timed:
    """Each query after the other."""
    taken, used, answers = [], [], []
    for query in queries:
        began, spent = time.perf_counter(), time.process_time()
        answers.append(search(query))
        taken.append((time.perf_counter() - began) * 1000)
        used.append((time.process_time() - spent) * 1000)
    return statistics.median(taken[1:]), statistics.median(used[1:]), taken[0], answers


def measured(path: Path, count: int, queries: Vectors, way: str, part: bool) -> Timed:
    """One way of searching, in a process that has done nothing else."""
    database = Database(path, warm=True)
    matrix = {"memory": Matrix("bench"), "sidecar": Matrix("bench", path, may_read=False)}.get(way)
    faster = None if matrix is None else Faster(matrix)
    allowed = as_json(list(range(1, count + 1, int(1 / FILTER)))) if part else None

    def search(query: Vectors) -> list[int]:
        def work(cursor: Cursor) -> list[int]:
            found = nearest.nearest(
                cursor,
                query,
                model_id=1,
                vectors=count,
                documents=allowed,
                limit=TOP,
                two_stages=0 if way == "signs" else EVERYTHING,
                faster=faster,
            )
            return [hit.document_id for hit in found]

        return database.read(work)

    return timed(search, queries)


def saved(path: Path) -> tuple[float, float]:
    """Make the sidecar in a process of its own: seconds of processor time, and MB."""
    began = time.process_time()
    database, matrix = Database(path), Matrix("bench", path)
    made = database.read(lambda cursor: matrix.save(cursor, model_id=1, goes_on=lambda: None))
    assert made is not None
    database.close()
    size = path.with_name(f"{path.name}.vectors").stat().st_size
    return time.process_time() - began, size / 1e6


def hnsw(path: Path, count: int, queries: Vectors) -> tuple[float, float, Timed]:
    """Seconds to load the extension and to build, and the search."""
    connection = _duckdb.connect(config={"threads": "2", "memory_limit": "12GB"})
    began = time.perf_counter()
    load(connection, "vss")
    loading = time.perf_counter() - began
    connection.execute(f"attach '{path}' as kept (read_only)")
    began = time.perf_counter()
    connection.execute(
        "create table near as select chunk_id, vector::float[384] as vector from kept.embeddings"
    )
    connection.execute("create index shortcut on near using hnsw (vector) with (metric = 'ip')")
    building = time.perf_counter() - began
    connection.execute("set hnsw_ef_search = 128")

    def search(query: Vectors) -> list[int]:
        text = "[" + ",".join(map(repr, map(float, query))) + "]"
        rows = connection.execute(
            "select chunk_id from near order by array_negative_inner_product(vector,"
            f" '{text}'::float[384]) limit {TOP}"
        ).fetchall()
        return [row[0] for row in rows]

    return loading, building, timed(search, queries)


def recall(found: list[list[int]], true: list[list[int]]) -> float:
    """Share of the true answers that were found."""
    return float(np.mean([len(set(a) & set(b)) / len(b) for a, b in zip(found, true, strict=True)]))


def truth(path: Path, count: int, queries: Vectors, part: bool) -> list[list[int]]:
    """Compute the ten nearest by numpy."""
    connection = _duckdb.connect(config={"memory_limit": "8GB"})
    connection.execute(f"attach '{path}' as kept (read_only)")
    table = connection.sql(
        "select chunk_id, vector from kept.embeddings order by chunk_id"
    ).to_arrow_table()
    ids = table["chunk_id"].to_numpy()
    rows = np.concatenate([chunk.flatten().to_numpy() for chunk in table["vector"].chunks]).reshape(
        count, -1
    )
    keep = (ids - 1) % int(1 / FILTER) == 0 if part else np.ones(count, bool)
    scores = queries @ rows[keep].T
    return [ids[keep][np.argsort(-row, kind="stable")[:TOP]].tolist() for row in scores]


def _alone(arguments: list[str]) -> None:
    """Run one measurement in a process of its own."""
    subprocess.run([sys.executable, "-m", "bench.vectors", *arguments], check=True)


def one(path: Path, count: int, way: str, part: bool) -> None:
    """Print one line of the table."""
    queries = np.load(path.with_suffix(".queries.npy"))
    true = np.load(path.with_suffix(f".{int(part)}.npy")).tolist()
    extra = ""
    if way == "hnsw":
        try:
            loading, building, (usual, used, first, found) = hnsw(path, count, queries)
        except ExtensionUnusable as failure:
            why = str(failure).splitlines()[0]
            print(f"{count:>9,}  all    hnsw  not measured: {why}", flush=True)
            return
        extra = f"  load {loading:.2f} s, build {building:.1f} s"
    else:
        usual, used, first, found = measured(path, count, queries, way, part)
    print(
        f"{count:>9,} {'1 %' if part else 'all':>4} {way:>7} {usual:8.1f} {used:8.1f} {first:9.1f} "
        f"{peak():7.0f} {pss():7.0f} {recall(found, true):7.3f}{extra}",
        flush=True,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--hnsw", default="10000")
    parser.add_argument("--ways", default="exact,signs,memory,sidecar")
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        path, count, way, part = options.one
        if way == "make":
            spent, size = saved(Path(path))
            said = f"{spent:.1f} s of processor time, {size:.0f} MB"
            print(f"{int(count):>9,}  making the sidecar: {said}", flush=True)
            return
        one(Path(path), int(count), way, part == "1")
        return
    real = passages(options.texts)
    print("  vectors  for     way     ms/q   cpu ms  first ms      MB  PSS MB recall@10")
    for count in map(int, options.sizes.split(",")):
        with tempfile.TemporaryDirectory() as name:
            path = Path(name, "index.duckdb")
            filled(path, real, count).close()
            queries = more(real, QUERIES, seed=0)
            np.save(path.with_suffix(".queries.npy"), queries)
            ways = options.ways.split(",")
            if "sidecar" in ways:
                _alone(["--one", str(path), str(count), "make", "0"])
            for part in (False, True):
                np.save(path.with_suffix(f".{int(part)}.npy"), truth(path, count, queries, part))
                for way in ways:
                    _alone(["--one", str(path), str(count), way, str(int(part))])
            if str(count) in options.hnsw.split(","):
                _alone(["--one", str(path), str(count), "hnsw", "0"])


if __name__ == "__main__":
    main()
