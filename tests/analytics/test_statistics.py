"""Statistics of an index whose documents have changed are those of a new one."""

from __future__ import annotations

import pytest

from qmd.operations.sql import sql
from qmd.operations.statistics import stats

TERMS = "select term, documents, occurrences, idf from terms order by term"


@pytest.mark.parametrize("chosen", [None, ["notes"], ["more"], ["more", "notes"]], ids=str)
def test_terms_of_documents_that_are_gone_are_not_counted(library, new_library, chosen):
    fresh = new_library()
    for each, is_old in ((library, True), (fresh, False)):
        each.configure("more")
        each.write("here.md", "# Cup\n\nA cup of tea, green.", collection="more")
        if is_old:
            each.write("tea.md", "# Tea\n\nSteam over black tea.")
            each.write("gone.md", "# Coffee\n\nCoffee with milk, not tea.")
            each.write("gone.md", "# Coffee\n\nBlack coffee.", collection="more")
            each.update()
            (each.root / "gone.md").unlink()
            (each.folder / "more" / "gone.md").unlink()
        each.write("tea.md", "# Tea\n\nGreen tea.")
        each.update()
    assert library.ask("select count(*) from tombstones") == [(3,)]
    found = stats(library.engine, chosen).terms
    assert found == stats(fresh.engine, chosen).terms
    assert {each.term for each in found} >= {"green", "tea"}
    assert list(sql(library.engine, TERMS)) == list(sql(fresh.engine, TERMS))
    fresh.engine.close()
