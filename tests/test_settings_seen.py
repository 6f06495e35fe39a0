"""Every read sees index.yml as it is, however little tells that it has changed."""

from __future__ import annotations

import os
import time

import pytest


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
    file.write_text("", encoding="utf-8")
    os.utime(file, (1e9, 1e9))
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
