"""Collections by other names, and settings that several processes change."""

from __future__ import annotations

import anyio
import pytest

from qmd import edit_lock
from qmd.errors import AlreadyExists, CollectionNotFound
from qmd.operations.collections import remove_collection, rename_collection
from qmd.operations.curation import add_collection
from qmd.operations.documents import below
from qmd.operations.index import Index
from qmd.operations.search import search
from qmd.operations.update import compare_folders, run_update
from qmd.types import DocumentRow


@pytest.fixture
def shelf(library):
    """Three notes, indexed."""
    for name in ("tea", "pot", "cup"):
        library.write(f"{name}.md", f"# {name}\n\nsencha\n")
    library.update()
    return library


@pytest.fixture
def other(shelf):
    """Another process that uses the index."""
    made = Index(shelf.engine.place)
    yield made
    made.close()


def numbers(documents: list[DocumentRow]) -> dict[str, int]:
    return {document.name: document.document_id for document in documents}


def renamed(before: dict[str, int], new: str) -> dict[str, int]:
    return {f"{new}/{name.partition('/')[2]}": number for name, number in before.items()}


def test_a_collection_that_got_another_name_in_index_yml_keeps_its_documents(shelf):
    before = numbers(below(shelf.engine, None))
    text = shelf.engine.place.config.read_text()
    shelf.engine.place.config.write_text(text.replace("  notes:", "  drinks:"))
    assert numbers(below(shelf.engine, None)) == renamed(before, "drinks")
    assert shelf.update().unchanged == 3


def test_a_collection_with_another_folder_is_another(shelf):
    shelf.configure("drinks")
    text = shelf.engine.place.config.read_text()
    head, _, tail = text.partition("  notes:\n")
    shelf.engine.place.config.write_text(head + tail.partition("\n")[2])
    assert below(shelf.engine, None) == []
    assert [each.name for each in shelf.engine.collections()] == ["drinks"]


def test_of_two_names_for_one_folder_each_is_given_once(shelf):
    before = numbers(below(shelf.engine, None))
    text = shelf.engine.place.config.read_text()
    _, entry = text.split("  notes:\n")
    shelf.engine.place.config.write_text(f"collections:\n  a:\n{entry}  b:\n{entry}")
    assert numbers(below(shelf.engine, None)) == renamed(before, "a")


def test_settings_that_another_changed_while_they_waited_are_read_again(shelf, other, monkeypatch):
    before = numbers(below(shelf.engine, None))
    read = shelf.engine.settings
    names = iter(["drinks"])

    def overtaken():
        found = read()
        for name in names:
            rename_collection(other, "notes", name)
        return found

    monkeypatch.setattr(shelf.engine, "settings", overtaken)
    shelf.engine.place.config.write_text(shelf.engine.place.config.read_text() + "# edited\n")
    assert numbers(below(shelf.engine, None)) == renamed(before, "drinks")
    assert [each.name for each in other.collections()] == ["drinks"]


def test_documents_of_no_collection_do_not_stand_in_the_way_of_another_name(shelf):
    before = numbers(below(shelf.engine, None))
    shelf.engine.database.write(
        lambda cursor: cursor.connection.execute(
            "insert into documents select * replace (document_id + 100 as document_id, "
            "'drinks' as collection) from documents"
        )
    )
    rename_collection(shelf.engine, "notes", "drinks")
    assert numbers(below(shelf.engine, None)) == renamed(before, "drinks")
    assert shelf.problems() == []


def test_a_collection_gets_no_name_that_another_has(shelf):
    shelf.configure("drinks")
    before = shelf.engine.place.config.read_bytes()
    for new in ("drinks", "notes"):
        with pytest.raises(AlreadyExists, match=f"Collection '{new}' already exists"):
            rename_collection(shelf.engine, "notes", new)
    assert shelf.engine.place.config.read_bytes() == before
    assert [each.name for each in shelf.engine.collections()] == ["drinks", "notes"]


@pytest.fixture
def meanwhile(shelf, monkeypatch):
    """What another process does just before the lock of index.yml is taken, once."""
    locked = edit_lock.locked

    def plan(happens):
        steps = iter([happens])

        def overtaken(path):
            for step in steps:
                step()
            return locked(path)

        monkeypatch.setattr(edit_lock, "locked", overtaken)

    return plan


@pytest.mark.parametrize(
    "change",
    [
        lambda engine, _: rename_collection(engine, "notes", "drinks"),
        lambda engine, folder: add_collection(engine, folder / "notes", name="drinks", mask="*"),
    ],
    ids=["rename", "add"],
)
def test_a_name_that_another_process_gave_away_meanwhile_is_not_given_again(
    shelf, other, meanwhile, change
):
    (shelf.folder / "drinks").mkdir()
    meanwhile(lambda: add_collection(other, shelf.folder / "drinks"))
    with pytest.raises(AlreadyExists):
        change(shelf.engine, shelf.folder)
    roots = {each.name: each.root for each in shelf.engine.collections()}
    assert roots == {name: str(shelf.folder / name) for name in ("drinks", "notes")}
    assert len(below(shelf.engine, "notes")) == 3


def test_a_collection_that_another_process_removed_meanwhile_is_not_found(shelf, other, meanwhile):
    shelf.configure("drinks")
    for change in (
        lambda: rename_collection(shelf.engine, "notes", "tea"),
        lambda: remove_collection(shelf.engine, "notes"),
    ):
        shelf.configure("drinks")
        meanwhile(lambda: remove_collection(other, "notes"))
        with pytest.raises(CollectionNotFound, match="notes"):
            change()
        assert [each.name for each in shelf.engine.collections()] == ["drinks"]


def updated_while(shelf, happens) -> list[str]:
    """The collections that an update tells of during which something happens to the first."""
    steps = iter([happens])

    async def before(collection):
        for step in steps:
            step()

    compared = compare_folders(shelf.engine)
    reports = anyio.run(lambda: run_update(shelf.engine, compared=compared, before=before))
    assert not any(report.failure for report in reports)
    return [report.collection for report in reports]


@pytest.fixture
def more(shelf):
    """Files that the index does not have yet."""
    shelf.write("tea.md", "# Tea\n\nhojicha\n")
    shelf.write("jug.md", "# Jug\n\nhojicha\n")


def test_an_update_goes_on_with_a_collection_that_gets_another_name_meanwhile(shelf, other, more):
    assert updated_while(shelf, lambda: rename_collection(other, "notes", "drinks")) == ["drinks"]
    assert sorted(numbers(below(shelf.engine, None))) == [
        "drinks/cup.md",
        "drinks/jug.md",
        "drinks/pot.md",
        "drinks/tea.md",
    ]
    found = search(other, "hojicha")
    assert sorted(result.file for result in found) == ["drinks/jug.md", "drinks/tea.md"]
    assert shelf.problems() == []


def test_an_update_adds_nothing_to_a_collection_that_is_removed_meanwhile(shelf, other, more):
    assert updated_while(shelf, lambda: remove_collection(other, "notes")) == []
    assert below(shelf.engine, None) == []
    assert shelf.problems() == []


def test_an_update_of_one_collection_says_that_it_was_removed_meanwhile(shelf, other, more):
    async def before(collection):
        remove_collection(other, "notes")

    [report] = anyio.run(lambda: run_update(shelf.engine, ["notes"], before=before))
    assert report.failure.startswith("Collection not found: notes.")


def test_a_collection_that_is_removed_while_it_is_looked_up_is_found(shelf, other, monkeypatch):
    read = shelf.engine.read

    def read_first(work, **options):
        found = read(work, **options)
        monkeypatch.undo()
        remove_collection(other, "notes")
        return found

    monkeypatch.setattr(shelf.engine, "read", read_first)
    assert [each.name for each in shelf.engine.folders(["notes"])] == ["notes"]
    with pytest.raises(CollectionNotFound):
        shelf.engine.folders(["notes"])
