"""Documents that are near another one."""

from __future__ import annotations

import json

import pytest

from qmd.errors import DocumentNotFound
from qmd.operations.similar import NO_VECTORS, similar
from tests.ranking.hybrid.fakes import meant
from tests.ranking.texts import EDITED, TEA


@pytest.fixture
def notes(faked, fake):
    fake.dimensions, fake.vector = 64, meant
    faked.write("tea.md", TEA)
    faked.write("kettle.md", "# Kettle\n\nWater is boiled here, for the pot and for leaves.")
    faked.write("engine.md", "# Engine\n\nCar, car, car.")
    faked.write("garage.md", "# Garage\n\nAutomobile, automobile, automobile.")
    faked.update()
    return faked


def files(found):
    return [each.file.removeprefix("notes/") for each in found]


def test_without_vectors_the_telling_words_of_a_document_decide(notes):
    found = similar(notes.engine, "tea.md")
    assert files(found)[0] == "kettle.md"
    assert "tea.md" not in files(found)
    assert found.notice == NO_VECTORS
    assert 0 < found[0].score <= 1


def test_with_vectors_meaning_counts_as_well(notes):
    assert "garage.md" not in files(similar(notes.engine, "engine.md", min_score=0.2))
    notes.embed()
    found = similar(notes.engine, "notes/engine.md")
    assert found.notice is None
    assert files(found)[0] == "garage.md"
    assert "engine.md" not in files(found)


def test_near_duplicates_are_folded_and_filters_apply(notes):
    notes.write("a/leaf.md", EDITED)
    notes.write("b/leaf.md", EDITED.replace("a month", "two months"))
    notes.update()
    found = similar(notes.engine, "kettle.md", limit=1)
    assert len(found) == 1
    assert len(found[0].similar) == 2
    assert len(similar(notes.engine, "kettle.md", all_copies=True)) > 2
    assert files(similar(notes.engine, "kettle.md", path="notes/b/*")) == ["b/leaf.md"]


def test_documents_that_are_equally_like_one_go_by_path_whenever_they_were_indexed(library):
    for name in ("b", "c", "a"):
        library.write(f"{name}.md", f"{name * 3} granite")
        library.update()
    library.write("d.md", "granite, granite and granite")
    library.update()
    found = similar(library.engine, "d.md")
    assert (files(found), len({each.score for each in found})) == (["a.md", "b.md", "c.md"], 1)


def test_words_that_only_removed_documents_share_tell_nothing(library):
    library.write("tea.md", "zanzibar granite")
    library.write("other.md", "granite walls")
    library.write("gone.md", "zanzibar")
    library.update()
    assert "zanzibar" in similar(library.engine, "tea.md").words
    (library.root / "gone.md").unlink()
    library.update()
    assert set(similar(library.engine, "tea.md").words) == {"granite"}


def test_a_document_that_is_not_there_is_an_error(notes):
    with pytest.raises(DocumentNotFound, match="kettle"):
        similar(notes.engine, "kettel.md")


def test_the_command_takes_the_options_of_searches(qmd, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tea.md").write_text(TEA)
    (folder / "pot.md").write_text("# Pot\n\nA warmed pot for green tea.")
    (folder / "car.md").write_text("# Car\n\nAn engine.")
    qmd("collection", "add", str(folder))
    code, out, err = qmd("similar", "tea.md", "-n", "1", "--json")
    assert (code, [each["file"] for each in json.loads(out)]) == (0, ["notes/pot.md"])
    assert NO_VECTORS in err
