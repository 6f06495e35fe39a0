"""Every read sees index.yml as it is, however little tells that it has changed."""

from __future__ import annotations

import os
import time
from functools import partial

import pytest

from qmd.errors import ConfigEmptied
from qmd.operations.contexts import add_context
from qmd.settings import config


def asked(library):
    """What a warm process finds, which remembers answers while nothing changes."""
    names = library.engine.read(
        lambda cursor: [name for (name,) in cursor.connection.execute(NAMES).fetchall()],
        key="names",
    )
    return set(names)


NAMES = "select name from collections order by name"


def test_what_is_empty_for_a_moment_while_it_is_written_removes_nothing(library):
    library.write("tea.md", "# Tea")
    library.update()
    file = library.folder / "index.yml"
    text = file.read_text(encoding="utf-8")
    file.write_text("", encoding="utf-8")
    assert asked(library) == {"notes"}
    assert library.found("tea") == ["tea.md"]
    file.write_text(text, encoding="utf-8")
    assert library.found("tea") == ["tea.md"]


@pytest.mark.parametrize("text", ["", "\n \n"], ids=["empty", "blank"])
def test_an_emptied_file_is_told_of_and_takes_nothing_from_the_index(library, text):
    library.write("tea.md", "# Tea")
    library.update()
    file = library.folder / "index.yml"
    before = file.read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigEmptied, match="the index has 1 collection, and keeps"):
        add_context(library.engine, "/", "Mine.")  # a change does not wait for it to be old
    with pytest.raises(ConfigEmptied):
        library.embed()  # by a model that nobody has chosen
    os.utime(file, (1e9, 1e9))
    for verb in (library.update, partial(library.found, "tea"), partial(asked, library)):
        with pytest.raises(ConfigEmptied, match="To remove them all, write"):
            verb()
    assert file.read_text(encoding="utf-8") == text
    file.write_text(before, encoding="utf-8")
    assert library.found("tea") == ["tea.md"]


def test_after_an_emptied_file_is_deleted_the_next_change_writes_what_the_index_has(library):
    library.write("tea.md", "# Tea")
    library.update()
    file = library.folder / "index.yml"
    before = config.load(library.engine.place).collections
    file.write_text("", encoding="utf-8")
    file.unlink()
    add_context(library.engine, "/", "Mine.")
    assert config.load(library.engine.place).collections == before
    assert library.found("tea") == ["tea.md"]


@pytest.mark.parametrize("text", ["collections: {}\n", "{}\n", "# None any more.\n"])
def test_a_file_that_says_that_there_are_no_collections_removes_them(library, text):
    library.write("tea.md", "# Tea")
    library.update()
    (library.folder / "index.yml").write_text(text, encoding="utf-8")
    assert asked(library) == set()


@pytest.mark.parametrize("ago", [0, 60], ids=["just now", "a minute ago"])
def test_a_change_is_seen_though_the_file_has_the_same_date(library, ago):
    file = library.folder / "index.yml"
    (library.folder / "other").mkdir()
    date = time.time_ns() - ago * 1_000_000_000
    for name in ("first", "other", "elsewhere", "other"):
        text = f"collections:\n  {name}:\n    path: {library.folder / 'other'}\n"
        file.write_text(text, encoding="utf-8")
        os.utime(file, ns=(date, date))
        for _ in range(3):
            assert asked(library) == {name}
