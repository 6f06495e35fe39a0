"""What is made ready before anybody asks."""

from __future__ import annotations

import logging

import anyio
import pytest

from qmd.errors import IndexUnreadable
from qmd.storage.prepared import PreparedStatements
from qmd.surfaces.tools.dispatch import Toolbox


@pytest.fixture
def asked(library):
    """A toolbox of a library whose index stays attached, and what it plans."""
    library.write("tea.md", "# Green tea\n\nIn a teaPot, with water.")
    library.update()
    library.engine.database._warm = True
    yield Toolbox(library.engine)
    library.engine.close()


def test_the_first_search_plans_nothing(asked, monkeypatch):
    anyio.run(asked.get_ready)
    made = []
    monkeypatch.setattr(PreparedStatements, "_make", lambda self, name, text: made.append(name))
    ran = []
    run = PreparedStatements.run

    def noted(self, name, parameters):
        ran.append(name)
        found = run(self, name, parameters)
        assert found is not None, name
        return found

    monkeypatch.setattr(PreparedStatements, "run", noted)
    searches = [{"type": "lex", "query": "tea teaPot gree"}]
    reply = anyio.run(asked.call, "query", {"searches": searches, "rerank": False})
    assert reply.structured["results"][0]["file"] == "notes/tea.md"
    assert made == []
    assert {"search/variants", "search/phrases", "search/any_of", "search/bm25"} <= set(ran)


def test_no_index_is_made(library):
    anyio.run(Toolbox(library.engine).get_ready)
    assert not library.engine.place.database.exists()


@pytest.mark.parametrize("error", [RuntimeError("a mistake"), IndexUnreadable("i", "it is torn")])
def test_what_goes_wrong_is_told_to_who_searches(asked, monkeypatch, caplog, error):
    def fail(index, limit):
        raise error

    monkeypatch.setattr("qmd.surfaces.tools.dispatch.prepare", fail)
    with caplog.at_level(logging.WARNING):
        anyio.run(asked.get_ready)
    assert bool(caplog.records) == isinstance(error, RuntimeError)
    assert not anyio.run(asked.call, "search", {"query": "tea"}).error
