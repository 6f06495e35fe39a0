"""Sidecars of postings, as the next process meets them."""

from __future__ import annotations

from contextlib import contextmanager

from qmd.operations.index import Index
from tests.ranking.test_holder import answer, engine_of, held

ASKED = ("tea", '"green tea"', "tea -water", "wate", "teaPot", "milk cup")


def two_notes(library):
    """Give a library of two notes, whose index stays attached."""
    library.engine.close()
    library.engine = engine_of(library)
    library.write("tea.md", "# Green tea\n\nIn a teaPot, with water.")
    library.write("cup.md", "A cup of milk, and of green tea.")
    library.update()
    yield library
    library.engine.close()


@contextmanager
def another(library, *, stays=True):
    """An engine as another process would have it."""
    made = Index(library.engine.place, library.engine.models.machine, warm=True, stays=stays)
    try:
        yield made
    finally:
        made.close()


def answers(engine):
    return [answer(engine, text) for text in ASKED]


def mapped(library, expected=None):
    """Check that a new process can use the sidecar, and that it answers as the tables do.

    Args:
        expected: answers of the tables, where they are known.
    """
    with another(library) as engine:
        engine.holder._price = 1000  # searches: no new one is made by the way
        assert answers(engine) == (expected or of_tables(library))
        return held(engine) is not None


def of_tables(library):
    """Answers of a process that does not know the sidecar."""
    with another(library) as engine:
        engine.database.missed = None
        expected = answers(engine)
        assert held(engine) is None
        return expected
