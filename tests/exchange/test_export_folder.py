"""Folders beside an export that are not of one are left alone."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from qmd.errors import ExchangeError, ExportDamaged, FolderTaken
from qmd.exchange import destination, manifest
from qmd.exchange.destination import STAGING_MARK, folder_lock
from qmd.operations.exchange import run_export, run_import


@pytest.fixture
def shelf(library):
    library.write("howto/tea.md", "# Tea\n\nBrew it.\n")
    library.update()
    return library


def exported(library, name: str = "out", **options: object) -> Path:
    folder = library.folder / name
    run_export(library.engine, folder, **options)
    return folder


def test_what_stands_where_an_export_is_made_is_not_removed(shelf):
    (shelf.folder / ".out.part").mkdir()
    (shelf.folder / ".out.part" / "mine").write_text("x")
    with pytest.raises(FolderTaken, match=r"\.out\.part is in the way"):
        exported(shelf)
    assert (shelf.folder / ".out.part" / "mine").read_text() == "x"


def test_a_link_where_an_export_is_made_is_not_followed(shelf):
    victim = shelf.folder / "victim"
    victim.mkdir()
    (victim / "mine").write_text("x")
    (shelf.folder / ".out.part").symlink_to(victim)
    with pytest.raises(FolderTaken, match="in the way"):
        exported(shelf)
    assert (victim / "mine").read_text() == "x"


def test_a_folder_called_like_an_old_export_is_left_alone(shelf):
    (shelf.folder / ".out.old").mkdir()
    (shelf.folder / ".out.old" / "mine").write_text("x")
    folder = exported(shelf)
    assert manifest.is_export_folder(folder)
    assert (shelf.folder / ".out.old" / "mine").read_text() == "x"


def test_what_a_killed_export_left_is_used_again(shelf):
    part = shelf.folder / ".out.part"
    part.mkdir()
    for name in (STAGING_MARK, "documents.parquet"):
        (part / name).write_text("half")
    folder = exported(shelf)
    assert not part.exists()
    assert not (folder / STAGING_MARK).exists()
    shutil.copytree(folder, part)  # killed just before it was put in its place
    exported(shelf)
    assert not part.exists()


@pytest.mark.parametrize("steps", range(0, 40, 3))
def test_an_export_that_is_killed_while_the_old_one_goes_is_in_nobodys_way(
    shelf, monkeypatch, steps
):
    folder = exported(shelf)
    part = shelf.folder / ".out.part"
    shutil.copytree(folder, part)
    left = iter(range(steps))

    def until_killed(remove):
        def work(*given, **named):
            if next(left, None) is None:
                raise InterruptedError
            return remove(*given, **named)

        return work

    with monkeypatch.context() as patch:
        for name in ("unlink", "rmdir"):
            patch.setattr(os, name, until_killed(getattr(os, name)))
        with suppress(InterruptedError):
            destination._discard(part)
    exported(shelf)
    assert not part.exists()


def test_a_folder_of_a_collection_is_not_replaced_even_by_force(shelf):
    for force in (False, True):
        with pytest.raises(FolderTaken):
            exported(shelf, "notes/howto", force=force)
    assert (shelf.root / "howto" / "tea.md").exists()


def test_an_export_that_is_read_is_not_replaced_meanwhile(shelf):
    folder = exported(shelf)
    shelf.write("more.md", "# More")
    shelf.update()
    with folder_lock(folder, folder, shared=True):
        run_import(shelf.engine, folder, replace=True)  # others may read it
        with pytest.raises(FolderTaken, match="importing from it"):
            exported(shelf)
    exported(shelf)


@pytest.mark.parametrize(
    "harm",
    [
        lambda document: document | {"format_version": "9"},
        lambda document: document | {"settings": document["settings"] | {"models": ["a"]}},
        lambda document: {key: document[key] for key in document if key != "format_version"},
    ],
)
def test_a_manifest_that_says_something_odd_is_refused(shelf, harm):
    folder = exported(shelf)
    file = folder / manifest.NAME
    file.write_text(json.dumps(harm(json.loads(file.read_text()))))
    with pytest.raises(ExportDamaged):
        run_import(shelf.engine, folder, replace=True)


def test_a_manifest_that_is_nested_without_end_is_refused(shelf):
    folder = exported(shelf)
    (folder / manifest.NAME).write_text("[" * 200_000)
    with pytest.raises(ExchangeError):
        run_import(shelf.engine, folder, replace=True)
