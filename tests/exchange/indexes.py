"""Indexes that leave and come back: what they say, and what lies in the folder of an export."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import anyio

from qmd.exchange import manifest
from qmd.operations.documents import below, get
from qmd.operations.experiences import Experiences
from qmd.operations.index import Index
from qmd.operations.search import search
from qmd.operations.semantic_search import query, vector_search
from qmd.operations.update import run_update
from qmd.settings import edit
from qmd.settings.environment import Machine, Place
from qmd.storage import maintenance
from qmd.types import Context
from tests.library import Library

LONG = 60
"""Seconds after which something that has to happen is taken for stuck."""

TEA = """---
title: Tea
status: open
tags: [green, hot]
---
# Tea

A cup of green tea, brewed for two minutes. Retry with backoff.
"""

QUERIES = ("tea", "green tea", '"green tea"', "tea -black", "温泉", "retry", "gre", "nothing here")


def filled(library: Library) -> Library:
    """Everything an index can have: see the names."""
    library.configure(
        "work", "archive", excluded=["archive"], more="global_context: All that there is"
    )
    library.write("tea.md", TEA)
    library.write("black.md", "# Black tea\n\nStronger, and black.")
    library.write("copy/tea.md", TEA)
    library.write("ja/onsen.md", "# 有馬温泉\n\n温泉に行きました。お茶も飲みました。")
    library.write("gone.md", "# Gone\n\nThis tea is cold.")
    library.write("plan.md", "---\nstatus: done\n---\n# Plan\n\nGreen field.", collection="work")
    library.write("old.md", "# Old tea\n\n" + "Old green tea. " * 40, collection="archive")
    anyio.run(run_update, library.engine)
    library.engine.change(
        lambda _, document: edit.set_context(document, Context("notes", "ja", "In Japanese"))
    )
    (library.root / "gone.md").unlink()
    library.write("black.md", "# Black tea\n\nStronger, and black, and changed.")
    anyio.run(run_update, library.engine)
    return library


def submitted(library: Library) -> None:
    """Give the index a record that was asked for."""
    records = Experiences(library.engine)
    given = {
        "title": "Kettle trips the fuse",
        "problem_description": "The fuse goes whenever tea is made.",
        "solution": "Use another socket.",
        "keywords": ["kettle", "fuse"],
    }
    assert records.submit(given)["success"]
    assert records.query({"keywords": "kettle"})["data"]["experiences"]
    records.count()


def empty(folder: Path, machine: Machine | None = None) -> Index:
    """The engine of an index that has nothing, nor settings."""
    folder.mkdir(exist_ok=True)
    place = Place(
        "index", folder / "index.yml", folder / "index.duckdb", None, folder / "trusted.json"
    )
    return Index(place, machine or Machine(hub=folder / "hub"))


def said(engine: Index) -> list[object]:
    """What an index says: all results with their scores, and all that it shows of itself."""
    names = [collection.name for collection in engine.collections()]
    return [
        *(search(engine, text, limit=50) for text in QUERIES),
        *(search(engine, text, limit=50, collection=names) for text in QUERIES),
        search(engine, "green", filter="status = open"),
        [d._replace(document_id=0) for d in below(engine, None)],
        get(engine, "notes/tea.md"),
        engine.collections(),
        engine.contexts(),
        engine.totals()._replace(postings=0),  # without those of documents that are gone
        engine.overview(),
    ]


def meant(engine: Index) -> list[object]:
    """The same of search by meaning, alone and with words."""
    return [
        *(vector_search(engine, text, limit=50, per_file=3) for text in QUERIES[:3]),
        *(
            anyio.run(partial(query, engine, text, limit=50, fusion=fusion, explain=True))
            for text in QUERIES[:4]
            for fusion in ("scores", "rrf")
        ),
    ]


def problems(engine: Index) -> list[str]:
    return [each.fact for each in engine.read(maintenance.problems) if each.times]


def told(folder: Path) -> dict:
    """The manifest of an export."""
    return json.loads((folder / manifest.NAME).read_text(encoding="utf-8"))


def retold(folder: Path, **changes: object) -> None:
    """Change the manifest of an export."""
    (folder / manifest.NAME).write_text(json.dumps(told(folder) | changes), encoding="utf-8")


def parquet(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.parquet"))


def shown(file: Path) -> list[tuple[object, ...]]:
    """The rows of a file."""
    import _duckdb

    rows = _duckdb.connect().execute("from read_parquet($file)", {"file": str(file)})
    return rows.fetchall()


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }
