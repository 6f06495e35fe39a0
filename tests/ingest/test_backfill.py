"""Texts of an earlier version get the outlines that they would have if they came now."""

from __future__ import annotations

import pytest

from qmd.ingest import backfill

TEXT = "---\nup: '[[of the front]]'\n# [c](commented.md)\n---\n[one](one.md)\n\n# Heading\n"


@pytest.mark.parametrize("name", ["page.md", "page.txt", "page.log"])
def test_an_outline_is_that_of_a_new_document(library, name):
    settings = library.folder / "index.yml"
    settings.write_text(settings.read_text() + '    pattern: "**/*"\n')
    library.write(name, TEXT)
    library.update()
    [(expected,)] = library.ask("select outline from content")
    library.engine.database.write(
        lambda cursor: cursor.connection.execute("update content set outline = null")
    )
    assert backfill.fill(library.engine.database) == 1
    assert library.ask("select outline from content") == [(expected,)]


def test_a_text_without_a_document_gets_one(library):
    library.write("page.md", TEXT)
    library.update()
    [(expected,)] = library.ask("select outline from content")

    def work(cursor):
        cursor.connection.execute("delete from documents")
        cursor.connection.execute("update content set outline = null")

    library.engine.database.write(work)
    assert backfill.fill(library.engine.database) == 1
    assert library.ask("select outline from content") == [(expected,)]
