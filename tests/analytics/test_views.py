"""Every view is what its header says."""

from __future__ import annotations

import re

import pytest

from qmd.analytics.views import View, needed, views
from qmd.operations.search import search
from qmd.storage.cursor import Cursor, as_json

VIEWS = [view for view in views() if "create view" in view.text]
named = pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)


def _needed(view: View) -> list[View]:
    """The views that a view is made from, however far, in order."""
    return [each for each in views() if each.name in needed({view.name})]


@pytest.mark.parametrize("view", views(), ids=lambda view: view.name)
def test_the_file_of_a_view_says_what_a_row_is_and_creates_what_it_is_named_after(view):
    assert re.match(r"[A-Z].+\.", view.about)
    assert view.columns
    assert re.search(rf"^create (view {view.name} as$|macro {view.name}\()", view.text, re.M)


@named
def test_a_view_has_the_columns_of_its_header_and_needs_only_the_views_it_names(view, library):
    library.write("tea.md", "---\ntags: [green, hot]\n---\n# Tea\n\nA cup of tea.")
    library.update()
    search(library.engine, "tea")
    lines = as_json(library.engine.log.lines())

    def described(cursor: Cursor) -> list[tuple[str, str]]:
        instance = cursor.connection
        instance.execute("use memory")
        try:
            for name in ("schema", "searches", "add_searches"):
                cursor.run(
                    f"sandbox/{name}", **({"lines": lines} if name == "add_searches" else {})
                )
            for each in _needed(view):
                instance.execute(each.text)
            found = instance.execute(f"describe {view.name}").fetchall()
            instance.execute(f"from {view.name}").fetchall()
            wanted = [
                (
                    column.name,
                    *instance.execute(f"select typeof(null::{column.bare})").fetchone(),
                )
                for column in view.columns
            ]
            assert [row[:2] for row in found] == wanted
            for column in view.columns:
                if not column.kind.endswith("?"):
                    nulls = f"select count(*) from {view.name} where {column.name} is null"
                    assert instance.execute(nulls).fetchone() == (0,), column.name
        finally:
            for each in reversed(_needed(view)):
                instance.execute(f"drop view if exists memory.{each.name}")
            instance.execute("drop schema memory.qmd cascade")
            instance.execute("use qmd_index")

    library.engine.read(described)
