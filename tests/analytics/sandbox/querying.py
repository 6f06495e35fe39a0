"""Notes to ask in SQL, and the rows that come back."""

from __future__ import annotations

from contextlib import closing

from qmd.analytics.sandbox import Limits
from qmd.operations.sql import run_sql
from tests.library import Library


def fill(library: Library) -> None:
    library.write("tea.md", "---\ntags: [green, hot]\n---\n# Tea\n\nBrew green tea.\n")
    library.write("coffee.md", "# Coffee\n\nNo leaves at all.\n")
    library.update()


def rows_of(library: Library, query: str, parameters=(), **limits):
    with closing(run_sql(library.engine, query, parameters, Limits(**limits))) as answer:
        return list(answer.texts())
