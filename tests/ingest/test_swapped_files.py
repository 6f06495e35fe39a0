"""What takes the place of a file between its listing and its reading is not indexed."""

from __future__ import annotations

import os
import threading

import pytest

from qmd.ingest.at_once import carry_out
from qmd.ingest.compare import compare
from qmd.ingest.extractor import Extractor, Readers

LONG = 20
"""Seconds after which something that has to happen is taken for stuck."""


@pytest.fixture(params=[False, True], ids=["links passed over", "links followed"])
def swapped(library, request):
    """Notes and a file outside of them; updates after something was done to what was found."""
    text = library.engine.place.config.read_text()
    follow = str(request.param).lower()
    library.engine.place.config.write_text(f"{text}    follow_symlinks: {follow}\n")
    library.write("folder/tea.md", "# Tea\n\nsencha\n")
    library.write("tea.md", "# Tea\n\nsencha\n")
    library.write("folder/tea.md", "# Private\n\nsecret\n", collection="outside")

    def update(swap):
        [collection] = library.engine.folders()
        comparison = compare(library.engine.database, collection)
        swap(library.root)
        reports = []
        readers = Readers(Extractor(library.engine.database.path))
        done = threading.Thread(
            target=lambda: reports.append(carry_out(library.engine.database, comparison, readers)),
            daemon=True,
        )
        done.start()
        done.join(LONG)
        assert not done.is_alive()
        return reports[0]

    library.swap = update
    return library


def folder_for_link(root):
    (root / "folder").rename(root.parent / "before")
    (root / "folder").symlink_to("../outside/folder")


def file_for_link(root):
    (root / "folder/tea.md").unlink()
    (root / "folder/tea.md").symlink_to("../../outside/folder/tea.md")


def file_for_pipe(root):
    (root / "folder/tea.md").unlink()
    os.mkfifo(root / "folder/tea.md")


def file_for_folder(root):
    (root / "folder/tea.md").unlink()
    (root / "folder/tea.md").mkdir()


@pytest.mark.parametrize("before", [False, True], ids=["new", "changed"])
@pytest.mark.parametrize("swap", [folder_for_link, file_for_link, file_for_pipe, file_for_folder])
def test_what_a_file_was_swapped_for_is_neither_read_nor_waited_for(swapped, swap, before):
    if before:
        swapped.update()
        swapped.write("folder/tea.md", "# Tea\n\nsencha, brewed\n")
        swapped.write("tea.md", "# Tea\n\nsencha, brewed\n")
    report = swapped.swap(swap)
    assert (report.new, report.updated) == ((0, 1) if before else (1, 0))
    assert swapped.found("secret") == []
    swapped.update()
    assert swapped.found("sencha") == ["tea.md"]
    assert swapped.found("secret") == []
    assert swapped.problems() == []
