"""Facets in memory: they are those that the statement finds."""

from __future__ import annotations

import random

import pytest

from qmd.operations.browse import MOST_VALUES, facet_counts
from qmd.operations.facet_table import load_facets
from qmd.operations.index import Index
from qmd.storage.cursor import as_json

TAGS = ("tea", "Tea", "TEA", "cup", "Ärger", "ärger", "pot", *(f"t{at}" for at in range(20)))


@pytest.fixture
def varied(library):
    """Documents in folders and of years, with tags that differ in their capitals."""
    chance = random.Random(7)
    for number in range(120):
        folder = chance.choice(["", "a/", "a/b/", "c/", "Ü/"])
        tags = ", ".join(chance.sample(TAGS, chance.randrange(4)))
        suffix = chance.choice(["md", "MD", "txt"])
        library.write(
            f"{folder}n{number}.{suffix}",
            f"---\ndate: {chance.randrange(1990, 2020)}-01-05\ntags: [{tags}]\n---\n# N\n\ncup",
        )
    library.configure("papers", more="")
    library.write("x.md", "# X", collection="papers")
    library.update()
    return library


def test_they_are_those_of_the_statement(varied):
    def both(cursor):
        every = [number for (number,) in cursor.connection.execute(
            "select document_id from documents order by 1"
        ).fetchall()]  # fmt: skip
        table = load_facets(cursor)
        chance = random.Random(3)
        for size in (0, 1, 2, 5, 40, len(every)):
            for most in (3, MOST_VALUES, 1000):
                ids = chance.sample(every, size)
                expected = cursor.run("documents/facets", ids=as_json(ids), depth=1, most=most)
                assert list(table.rows(ids, most)) == expected, (size, most)
        assert list(table.rows([4_000_000_000], 5)) == []

    varied.engine.database.read(both)


def test_an_empty_index_has_none(library):
    library.update()
    table = library.engine.database.read(load_facets)
    assert list(table.rows([1], 5)) == []


def test_a_server_counts_what_a_command_counts_also_after_a_change(varied):
    warm = Index(varied.engine.place, varied.engine.models.machine, warm=True)
    try:
        for words in ("", "cup"):
            assert facet_counts(warm, words) == facet_counts(varied.engine, words)
        before = facet_counts(warm, "")
        varied.write("new.md", "---\ntags: [fresh]\n---\n# New cup")
        varied.update()
        for words in ("", "cup"):
            assert facet_counts(warm, words) == facet_counts(varied.engine, words)
        assert facet_counts(warm, "").documents == before.documents + 1
    finally:
        warm.close()
