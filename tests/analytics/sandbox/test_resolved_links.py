"""The file with resolved links: queries read it, and find what they found without it."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import closing

import pytest

from qmd.analytics import resolved_links
from qmd.analytics.resolved_links import links_path
from qmd.analytics.sandbox import Limits, Sandbox
from qmd.operations.links import links
from qmd.storage import scratch
from qmd.storage.attachment import attach
from tests.library import Library

WRITTEN = {
    "README.md": "# Notes\n\n[Tea](drinks/tea.md) [all](drinks/) [[tea#Brew|a cup]] <https://a.b>",
    "drinks/README.md": "# Drinks\n\n[a](tea.md#nowhere) [b](gone.md) [c](../README.md)",
    "drinks/tea.md": "---\naliases: [chai]\nid: t1\n---\n# Tea\n\n## Brew\n\n[[toast]] [[missing]]",
    "food/toast.md": "# Toast\n\n[[chai]] [x](id:t1) [text|drinks.tea] ![[tea]] [y](/drinks/tea)",
    "food/old/toast.md": "# Toast\n\n[[drinks.tea|tea]] [[a text|drinks.tea]] ![p](p.png)",
}

QUERIES = (
    "from links order by all",
    "from backlinks order by all",
    "from broken_links order by all",
    "from orphans order by all",
    "select count(*), count(to_file) from links where kind = 'wiki'",
)


@pytest.fixture
def noted(library):
    for path, text in WRITTEN.items():
        library.write(path, text)
    library.update()
    return library


@pytest.fixture
def worth_it(monkeypatch):
    """Links of any index are stored."""
    monkeypatch.setattr(resolved_links, "WORTH", 1)


def answers(library: Library, *queries: str, then=lambda cursor: None) -> list[list[tuple]]:
    """Rows of queries, each in a sandbox of this process, whose cursor `then` gets."""
    index = library.engine.place.database
    found = []
    cursors = []
    for query in queries:
        spill = scratch.spill_folder(index)
        with closing(Sandbox(index, Limits(), spill)) as box:
            request = box.read(query, ())

            def attached(connection):
                attach(connection, index, "store/attach_to_read", patience=1)

            rows = box.answer(request, (), [], [], attached, cursors.append)
            then(cursors[-1])
            found.append([row for piece in rows.pieces("sandbox/texts", None) for row in piece])
        assert not spill.exists()
    return found


def file_of(library: Library):
    return links_path(library.engine.place.database)


def test_queries_find_the_same_with_the_file_and_without(noted, monkeypatch):
    plain = answers(noted, *QUERIES)
    assert not file_of(noted).exists()
    assert len(plain[0]) > 12
    assert len(plain[2]) >= 3
    monkeypatch.setattr(resolved_links, "WORTH", 1)
    assert answers(noted, *QUERIES) == plain
    made = file_of(noted).stat()
    assert answers(noted, *QUERIES) == plain
    assert file_of(noted).stat() == made


@pytest.mark.parametrize(
    "change",
    [
        lambda library: library.write("drinks/gone.md", "# Found again"),
        lambda library: library.write("new.md", "[[tea]]"),
        lambda library: (library.root / "food/toast.md").unlink(),
        lambda library: (library.root / "food").rename(library.root / "dishes"),
        lambda library: library.write("drinks/tea.md", "---\naliases: [missing]\n---\n# Cup"),
    ],
    ids=["a target", "a link", "less", "other paths", "names"],
)
def test_it_is_made_again_when_documents_have_changed(noted, worth_it, monkeypatch, change):
    before = answers(noted, *QUERIES)
    change(noted)
    noted.update()
    after = answers(noted, *QUERIES)
    assert after != before
    monkeypatch.setattr(resolved_links, "WORTH", 1000)
    assert answers(noted, *QUERIES) == after


def test_other_changes_of_the_index_leave_it(noted, worth_it):
    answers(noted, QUERIES[0])
    made = file_of(noted).stat()
    noted.engine.database.write(lambda cursor: cursor.run("store/set_setting", name="x", value="y"))
    answers(noted, QUERIES[0])
    assert file_of(noted).stat() == made


@pytest.mark.parametrize("content", [b"", b"no database" * 10_000])
def test_a_file_that_is_damaged_is_replaced(noted, worth_it, content):
    [found] = answers(noted, QUERIES[0])
    file_of(noted).write_bytes(content)
    assert answers(noted, QUERIES[0]) == [found]
    assert file_of(noted).stat().st_size > len(content[:100])
    assert stat.S_IMODE(file_of(noted).stat().st_mode) == 0o600 or sys.platform == "win32"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes in folders")
def test_a_pipe_in_its_place_is_not_waited_for(noted, worth_it):
    [found] = answers(noted, QUERIES[0])
    file_of(noted).unlink()
    os.mkfifo(file_of(noted))
    assert answers(noted, QUERIES[0]) == [found]
    assert file_of(noted).is_file()


def test_where_it_cannot_be_written_links_are_found_without_it(noted, worth_it, monkeypatch):
    plain = answers(noted, *QUERIES)
    file_of(noted).unlink()
    file_of(noted).mkdir()
    (file_of(noted) / "x").touch()
    assert answers(noted, *QUERIES) == plain


SETTINGS = """
    select
        current_setting('disabled_optimizers'),
        current_setting('threads'),
        current_setting('memory_limit')
"""


def test_the_query_has_the_memory_and_the_threads_that_it_has_without(noted, monkeypatch):
    def settings(cursor):
        seen.append(cursor.connection.execute(SETTINGS).fetchall())

    seen: list[object] = []
    answers(noted, QUERIES[0], then=settings)
    monkeypatch.setattr(resolved_links, "WORTH", 1)
    answers(noted, QUERIES[0], then=settings)
    assert file_of(noted).exists()
    assert seen[0] == seen[1]
    assert seen[0][0][0] == ""


def test_links_that_need_more_memory_get_what_the_query_has(noted, worth_it, monkeypatch):
    tried = []
    planned = resolved_links._planned

    def noting(cursor, least, memory):
        tried.append(least)
        return planned(cursor, least, memory)

    monkeypatch.setattr(resolved_links, "_planned", noting)
    monkeypatch.setattr(resolved_links, "MEMORY", 1000)
    [found] = answers(noted, QUERIES[0])
    assert tried == [1000, 1_000_000_000]
    assert len(found) > 12
    assert file_of(noted).exists()


def test_links_of_a_thousand_documents_are_stored_by_any_command(library):
    for number in range(resolved_links.WORTH):
        library.write(f"n{number}.md", f"# N{number}\n\n[[n{(number + 1) % resolved_links.WORTH}]]")
    library.update()
    first = list(links(library.engine, "notes/n7.md"))
    assert [(each.direction, each.file) for each in first] == [
        ("out", "notes/n8.md"),
        ("back", "notes/n6.md"),
    ]
    made = file_of(library).stat()
    assert stat.S_IMODE(made.st_mode) == 0o600 or sys.platform == "win32"
    assert list(links(library.engine, "notes/n7.md")) == first
    assert file_of(library).stat() == made
    assert not list(library.folder.glob("*.spill*"))
