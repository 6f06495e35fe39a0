"""Results that take long are computed once for each state of the index."""

from __future__ import annotations

import os

import anyio
import pytest

from qmd.surfaces.page.graph_page import graph_view
from qmd.surfaces.page.kept_results import MOST, KeptResults
from qmd.surfaces.tools.dispatch import Toolbox


class Files:
    """A toolbox whose index is in a state."""

    state, settled = "one", True

    async def look(self, work, **named):
        return self.state, self.settled


def got(kept, files, *asked):
    """The results of kinds and documents, each a list of the calls so far."""
    calls = []

    async def run():
        for kind, document in asked:

            async def work(key=(kind, document)):
                calls.append(key)
                return key

            found = await kept.get(files, kind, work, document=document)
            assert found.result == (kind, document)

    anyio.run(run)
    return calls


def test_a_result_is_computed_again_when_the_index_has_changed():
    kept, files = KeptResults(), Files()
    asked = ("graph", "a.md")
    assert got(kept, files, asked, asked) == [asked]
    files.state = "two"
    assert got(kept, files, asked, asked) == [asked]
    files.state, files.settled = "three", False
    assert got(kept, files, asked, asked) == [asked, asked]


def test_of_documents_those_that_were_asked_for_last_are_kept():
    kept, files = KeptResults(), Files()
    whole = ("map", "")
    documents = [("graph", f"{number}.md") for number in range(MOST)]
    assert got(kept, files, whole, *documents) == [whole, *documents]
    more = ("graph", "more.md")
    assert got(kept, files, documents[0], more) == [more]
    assert got(kept, files, whole, documents[0], documents[1]) == [documents[1]]
    assert len(kept._locks) == MOST + 1


@pytest.fixture
def toolbox(library):
    library.write("a.md", "# A\n\n[b](b.md)\n")
    library.write("b.md", "# B\n")
    library.update()
    return Toolbox(library.engine)


def settled(library):
    """Let the index be as if it had been written an hour ago."""
    for file in (library.engine.place.database, library.engine.place.config):
        seconds = file.stat().st_mtime - 3600
        os.utime(file, (seconds, seconds))


def test_a_page_of_links_asks_once_until_documents_change(library, toolbox, monkeypatch):
    asked = []

    def counting(index, text, *given, **named):
        asked.append(text)
        return original(index, text, *given, **named)

    from qmd.surfaces.page import graph_page

    original = graph_page.sql
    monkeypatch.setattr(graph_page, "sql", counting)
    settled(library)
    first = anyio.run(graph_view, toolbox, "notes/a.md")
    assert anyio.run(graph_view, toolbox, "notes/a.md") == first
    assert len(asked) == 1
    library.write("c.md", "# C\n\n[a](a.md)\n")
    library.update()
    settled(library)
    titles = [group.title for group in anyio.run(graph_view, toolbox, "notes/a.md").groups]
    assert titles[:2] == ["Links here", "Linked from here"]
    assert len(asked) == 2
