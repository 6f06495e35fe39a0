"""Full-text indexes of other libraries: one of them filled, or asked, as a process of its own.

    PYTHON -I bench/engines.py {tantivy,lancedb,sqlite} index STORE FOLDER
    PYTHON -I bench/engines.py {tantivy,lancedb,sqlite} ask STORE QUESTIONS

PYTHON is one that has the library; this file needs nothing else. STORE is a new folder for the
index, FOLDER has Markdown, and QUESTIONS is a JSON list. `ask` prints what `answer` returns and
the version, as JSON; then it stays until stdin ends, so that its memory can be read.

All index title and body with English stems and find documents with any word of a question. All
other settings are defaults. The ten best are read with their titles and texts.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from pathlib import Path
from typing import Any, NamedTuple

LIMIT = 10
THREADS = 2
"""Of the writer of tantivy; LanceDB takes as many as there are processors, SQLite one."""

HEAP = 256_000_000
"""Bytes that the writer of tantivy fills before it writes a segment."""

BATCH = 1000
"""Documents of an Arrow batch for LanceDB."""

Ask = Callable[[str], list[tuple[str, str]]]
"""From a question to titles and texts, best first."""


def documents(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield title and text of each Markdown file; the title is its first heading, or its name."""
    for file in sorted(folder.rglob("*.md")):
        text = file.read_text(encoding="utf-8", errors="replace")
        heading = re.search(r"^# +(\S.*)", text, re.MULTILINE)
        yield heading[1].strip() if heading else file.stem, text


def fill_tantivy(texts: Iterable[tuple[str, str]], store: Path) -> None:
    """Index with tantivy, and wait until its segments are merged."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    for name in ("title", "body"):
        builder.add_text_field(name, stored=True, tokenizer_name="en_stem")
    writer = tantivy.Index(builder.build(), path=str(store)).writer(HEAP, num_threads=THREADS)
    for title, body in texts:
        writer.add_document(tantivy.Document(title=title, body=body))
    writer.commit()
    writer.wait_merging_threads()


def open_tantivy(store: Path) -> Ask:
    """Open an index of tantivy."""
    import tantivy

    index = tantivy.Index.open(str(store))
    searcher = index.searcher()

    def ask(question: str) -> list[tuple[str, str]]:
        query = index.parse_query(question, ["title", "body"])
        hits = searcher.search(query, LIMIT, count=False).hits
        found = (searcher.doc(address) for _, address in hits)
        return [(each.get_first("title"), each.get_first("body")) for each in found]

    return ask


def fill_lancedb(texts: Iterable[tuple[str, str]], store: Path) -> None:
    """Index with LanceDB: a table, then its own full-text indexes of both columns."""
    import lancedb
    import pyarrow as pa

    schema = pa.schema([("title", pa.string()), ("body", pa.string())])

    def batches() -> Iterator[Any]:
        rows: list[tuple[str, str]] = []
        for row in texts:
            rows.append(row)
            if len(rows) == BATCH:
                yield batch(rows)
                rows = []
        if rows:
            yield batch(rows)

    def batch(rows: list[tuple[str, str]]) -> Any:
        return pa.record_batch([list(column) for column in zip(*rows, strict=True)], schema=schema)

    reader = pa.RecordBatchReader.from_batches(schema, batches())
    table = lancedb.connect(store).create_table("documents", reader)
    for name in ("title", "body"):
        table.create_index(name, config=lancedb.index.FTS(language="English", stem=True))


def open_lancedb(store: Path) -> Ask:
    """Open an index of LanceDB."""
    import lancedb
    from lancedb.query import MultiMatchQuery

    table = lancedb.connect(store).open_table("documents")

    def ask(question: str) -> list[tuple[str, str]]:
        query = MultiMatchQuery(question, ["title", "body"])
        # A search that does not name the score prints a warning each time.
        columns = ["title", "body", "_score"]
        rows = table.search(query).select(columns).limit(LIMIT).to_arrow()
        return list(zip(rows["title"].to_pylist(), rows["body"].to_pylist(), strict=True))

    return ask


def fill_sqlite(texts: Iterable[tuple[str, str]], store: Path) -> None:
    """Index with FTS5 of SQLite, in one transaction."""
    import sqlite3

    connection = sqlite3.connect(store / "index.sqlite")
    connection.execute(
        "create virtual table documents using fts5(title, body, tokenize = 'porter unicode61')"
    )
    connection.executemany("insert into documents values (?, ?)", texts)
    connection.commit()
    connection.close()


def open_sqlite(store: Path) -> Ask:
    """Open an index of SQLite."""
    import sqlite3

    connection = sqlite3.connect(store / "index.sqlite")
    wanted = "select title, body from documents where documents match ? order by rank limit ?"

    def ask(question: str) -> list[tuple[str, str]]:
        words = " OR ".join(f'"{word}"' for word in question.split())
        return connection.execute(wanted, (words, LIMIT)).fetchall()

    return ask


def version_of(name: str) -> str:
    """Return the version of a library."""
    if name == "sqlite":
        import sqlite3

        return sqlite3.sqlite_version
    from importlib.metadata import version

    return version(name)


class Engine(NamedTuple):
    """A library: from texts to an index, and from an index to answers."""

    fill: Callable[[Iterable[tuple[str, str]], Path], None]
    open: Callable[[Path], Ask]


ENGINES = {
    "tantivy": Engine(fill_tantivy, open_tantivy),
    "lancedb": Engine(fill_lancedb, open_lancedb),
    "sqlite": Engine(fill_sqlite, open_sqlite),
}


def answer(
    ask: Callable[[str], Sized],
    questions: list[str],
    spent: Callable[[], float] = time.process_time,
) -> dict[str, Any]:
    """Ask each question once, in order.

    Args:
        ask: from a question to its results.
        spent: seconds of processor time of what answers, until now.

    Returns:
        `times`, the milliseconds of each, `cpu`, those of processor time of all, and `found`, the
        number of results.
    """
    times, found, before = [], 0, spent()
    for question in questions:
        began = time.perf_counter()
        results = ask(question)
        times.append((time.perf_counter() - began) * 1000)
        found += len(results)
    return {"times": times, "cpu": (spent() - before) * 1000, "found": found}


def main() -> None:
    """Fill or ask one index."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("action", choices=("index", "ask"))
    parser.add_argument("store", type=Path)
    parser.add_argument("source", type=Path, help="a folder of Markdown, or a file of questions")
    given = parser.parse_args()
    engine = ENGINES[given.engine]
    if given.action == "index":
        given.store.mkdir()
        engine.fill(documents(given.source), given.store)
        return
    ask = engine.open(given.store)
    answers = answer(ask, json.loads(given.source.read_text(encoding="utf-8")))
    print(json.dumps({"version": version_of(given.engine), **answers}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
