"""Relevance while only some documents have vectors: never worse than by words alone."""

from __future__ import annotations

import random
import shutil
from functools import partial
from pathlib import Path

import anyio
import pytest

from bench.relevance import engine_over
from qmd.evaluation import Backend, fixtures
from qmd.evaluation.index_under_test import Bench
from qmd.operations.documents import below
from qmd.operations.embed import run_embed
from qmd.operations.index import Index
from qmd.operations.semantic_search import query
from qmd.settings.environment import machine
from tests.library import Library
from tests.test_judged_notes import EXAMPLES, ndcg

WITHOUT = (
    "delete from embeddings where chunk_id in (select chunk_id from chunks where hash in "
    "(select unnest(?)))"
)


def without_vectors(engine, hashes):
    """Take the vectors of some texts out of the index."""
    engine.database.write(lambda cursor: cursor.connection.execute(WITHOUT, [hashes]))


@pytest.fixture(scope="module")
def notes(tmp_path_factory):
    """The notes of examples/ with all their vectors, and how well words alone find them."""
    fixture = fixtures.read(EXAMPLES / "judged.json")._replace(collection=None)
    engine = engine_over(EXAMPLES / "notes", tmp_path_factory.mktemp("notes"))
    anyio.run(run_embed, engine)
    words, _ = ndcg(Bench(engine, fixture), Backend.BM25)
    engine.close()
    return engine.place, fixture, words


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_index_of_which_a_part_is_embedded_is_no_worse_than_words(notes, tmp_path, seed):
    place, fixture, words = notes
    copy = shutil.copy(place.database, tmp_path)
    engine = Index(place._replace(database=Path(copy)), machine({}), warm=True)
    bench = Bench(engine, fixture)
    hashes = sorted(document.hash for document in below(engine, None))
    random.Random(seed).shuffle(hashes)
    for start in range(0, len(hashes) - 10, 10):
        without_vectors(engine, hashes[start : start + 10])
        both, _ = ndcg(bench, Backend.HYBRID)
        assert both >= words - 0.002, start
    engine.close()


def test_what_was_written_since_the_last_embed_is_found_first(tmp_path):
    library = Library(tmp_path)
    library.write(
        "ssr.md",
        "# Server rendering\n\nThe page is rendered on the server, so the data "
        "is loaded before it is shown. Fetch early.",
    )
    library.write("forms.md", "# Forms\n\nA form is validated before it is sent to the server.")
    library.write("routing.md", "# Routing\n\nA page has a route, and loads data of its own.")
    library.update()
    library.embed()
    library.write(
        "prefetching.md",
        "# Prefetching data\n\nHow to prefetch data before rendering: use a preload link.",
    )
    library.update()
    ask = partial(query, library.engine, "How do I prefetch data before rendering?")
    first, second, *_ = anyio.run(ask)
    assert (first.file, second.file) == ("notes/prefetching.md", "notes/ssr.md")
    assert first.score > second.score
    library.engine.close()
