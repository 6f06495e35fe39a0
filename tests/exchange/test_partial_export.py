"""Some documents, some tables, or all but the vectors: what leaves, and what can be made of it."""

from __future__ import annotations

import shutil

import anyio
import pytest

from qmd.errors import ExportIncomplete, UsageError
from qmd.exchange.exporter import Wish
from qmd.operations.documents import below
from qmd.operations.embed import run_embed
from qmd.operations.exchange import run_export, run_import
from qmd.operations.search import search
from qmd.settings.environment import Machine
from qmd.text.filters import parse_filter
from qmd.types import Filter
from tests.exchange.indexes import QUERIES, filled, meant, parquet, problems, shown, told
from tests.library import Library


def test_some_documents_leave_without_a_word_of_the_others(full, target, tmp_path):
    among = Filter(("work", "notes"), conditions=parse_filter("status = done"))
    done = run_export(full.engine, tmp_path / "out", wish=Wish(among, "status = done"))
    assert done.rows["documents"] == 1
    assert told(tmp_path / "out")["selection"] == {
        "collections": ["notes", "work"],
        "where": "status = done",
    }
    everything = str([shown(file) for file in parquet(tmp_path / "out")])
    assert "green" in everything
    assert not [word for word in ("backoff", "onsen", "japan", "stronger") if word in everything]
    assert not (tmp_path / "out" / "cache").exists()
    other = target()
    run_import(other, tmp_path / "out")
    assert [d.name for d in below(other, None)] == ["work/plan.md"]
    assert [c.name for c in other.collections()] == ["work"]
    assert problems(other) == []


def test_a_search_of_a_part_scores_as_if_there_had_never_been_more(full, target, tmp_path):
    run_export(full.engine, tmp_path / "out", wish=Wish(Filter(("notes",))))
    part = target("part")
    run_import(part, tmp_path / "out")
    (tmp_path / "alone").mkdir()
    alone = Library(tmp_path / "alone")
    shutil.copytree(full.root, alone.root, dirs_exist_ok=True)
    alone.update()
    for query in QUERIES:
        ours, theirs = search(part, query, limit=50), search(alone.engine, query, limit=50)
        assert [(r.file, r.score) for r in ours] == [(r.file, r.score) for r in theirs]
    alone.engine.close()


def test_without_vectors_what_was_cut_is_embedded_again(faked, fake, target, tmp_path):
    filled(faked).embed()
    run_export(faked.engine, tmp_path / "out", wish=Wish(vectors=False))
    assert not (tmp_path / "out" / "embeddings").exists()
    other = target(machine=Machine({"embed": str(tmp_path / "fake.gguf")}, hub=tmp_path / "hub"))
    run_import(other, tmp_path / "out")
    anyio.run(run_embed, other)
    assert meant(other) == meant(faked.engine)


@pytest.mark.parametrize(
    ("wish", "problem"),
    [
        (Wish(tables=("documents", "dokuments")), "There is no table 'dokuments'. Known: docum"),
        (Wish(Filter(("notes",)), tables=("cache",)), "'cache' cannot be exported for some"),
        (Wish(Filter(("wrok",))), "Collection not found: wrok"),
    ],
)
def test_what_cannot_be_exported_is_refused(one, tmp_path, wish, problem):
    with pytest.raises(Exception, match=problem):
        run_export(one.engine, tmp_path / "out", wish=wish)
    assert not (tmp_path / "out").exists()


def test_no_index_is_made_of_some_tables(one, target, tmp_path):
    run_export(one.engine, tmp_path / "out", wish=Wish(tables=("documents", "words")))
    with pytest.raises(ExportIncomplete, match="without content, postings, collections, counters"):
        run_import(target(), tmp_path / "out")


def test_a_filter_that_cannot_be_read_is_a_usage_error():
    with pytest.raises(UsageError):
        parse_filter("status is open")
