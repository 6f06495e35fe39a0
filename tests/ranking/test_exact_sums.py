"""Scores are the same in whatever order terms are added up."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest

from qmd.operations.index import Index
from qmd.ranking import inverted_index, mapped_postings
from qmd.ranking.inverted_index import Inverted
from qmd.ranking.postings import Filed, Tally, Term, Wanted
from qmd.storage.statements import UNITS
from qmd.text.stems import terms
from tests.ranking.test_holder import engine_of, hold
from tests.ranking.test_mapped_postings import as_commands, note

WORDS = ("tea", "cup", "milk", "water", "steam")
WEIGHTS = (1999.7, 0.3, 777.1, 1234.5, -31.9)
"""So large that sums in different orders differ in the twelfth place."""


@pytest.fixture(scope="module")
def library(libraries):
    """A library with a sidecar, whose texts have the words in different numbers."""
    made = libraries()
    chance = Random(7)
    with pytest.MonkeyPatch.context() as patch:
        as_commands(patch)
        for number in range(60):
            made.write(f"{number}.md", " ".join(chance.choices(WORDS, k=chance.randint(5, 60))))
        made.update()
        note(made)
    made.engine.close()
    return made


@pytest.fixture(scope="module")
def orders():
    """The same query, with its terms and what has been counted in all orders."""
    known = [term for term, _ in terms(list(WORDS))]
    counted = {-1: Tally([2, 3, 5], [4.0, 1.5, 2.5])}
    weighted = [*map(Term, known, WEIGHTS), Term(-1, 55.5)]
    return [Wanted(each, counted, 33.3, None, frozenset({9})) for each in permutations(weighted)]


@pytest.fixture(scope="module", params=[7, 100])
def limit(request):
    return request.param


@pytest.fixture(scope="module")
def expected(library, orders, limit):
    """Answer of the tables to the first of the orders."""
    return library.engine.database.read(lambda cursor: Filed(cursor).ranked(orders[0], limit))


def test_scores_of_tables_are_whole_numbers_of_units(expected, limit):
    assert len(expected) == min(limit, 59)
    assert all(score > 0 and (score * UNITS).is_integer() for _, score in expected)


def test_arrays_add_up_in_any_order(library, orders, expected, limit, monkeypatch):
    monkeypatch.setattr(inverted_index, "GROUPED", 4)
    engine = engine_of(library)
    postings = hold(engine)
    assert isinstance(postings, Inverted)
    assert all(postings.ranked(each, limit) == expected for each in orders)
    engine.close()


@pytest.mark.skipif(mapped_postings.CompiledPostings is None, reason="nothing was compiled")
def test_compiled_postings_add_up_in_any_order(library, orders, expected, limit, monkeypatch):
    as_commands(monkeypatch)
    command = Index(library.engine.place, library.engine.models.machine)

    def ranked(cursor):
        postings = mapped_postings.postings_of_sidecar(cursor)
        assert postings is not None
        return [postings.ranked(each, limit) for each in orders]

    assert all(each == expected for each in command.database.read(ranked))
    command.close()
