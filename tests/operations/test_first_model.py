"""Choice of the embedding model where nothing has vectors yet."""

from __future__ import annotations

import pytest

from qmd.errors import ModelMissing
from qmd.models import e5
from qmd.operations import first_model
from qmd.settings.environment import Machine
from tests.library import Library


@pytest.fixture
def notes(tmp_path):
    library = Library(tmp_path, Machine(hub=tmp_path / "hub"))
    library.write("brot.md", "---\nlang: de\n---\n# Brot\n\nDas Brot wird im Ofen gebacken.")
    library.write("bread.md", "# Bread\n\nThe bread is baked in the oven for an hour or two.")
    library.update()
    yield library
    library.engine.close()


def models(library):
    return library.engine.settings().models


def test_an_index_in_other_languages_gets_the_model_that_knows_them(notes, monkeypatch):
    monkeypatch.setattr(e5, "is_installed", lambda: True)
    said = first_model.suggest_model(notes.engine)
    assert said.startswith("49% of the text is not English")
    assert models(notes) == {"embed": "e5"}
    assert first_model.suggest_model(notes.engine) is None


def test_it_is_said_how_to_get_it(notes, monkeypatch):
    monkeypatch.setattr(e5, "is_installed", lambda: False)
    report = notes.embed()
    assert (report.model, models(notes)) == ("minilm", {})
    assert "multilingual" in report.notice


def test_an_index_that_is_mostly_english_keeps_the_included_one(notes, monkeypatch):
    monkeypatch.setattr(e5, "is_installed", lambda: True)
    notes.write("long.md", "# Long\n\n" + "The tea is in the pot for a while. " * 20)
    notes.update()
    assert (first_model.suggest_model(notes.engine), models(notes)) == (None, {})


def test_an_index_with_vectors_stays_as_it_is(notes, monkeypatch):
    monkeypatch.setattr(e5, "is_installed", lambda: False)
    notes.embed()
    monkeypatch.setattr(e5, "is_installed", lambda: True)
    assert (first_model.suggest_model(notes.engine), models(notes)) == (None, {})


def test_what_the_user_chose_stays(notes, monkeypatch):
    monkeypatch.setattr(e5, "is_installed", lambda: True)
    notes.configure(more="models:\n  embed: minilm")
    assert (first_model.suggest_model(notes.engine), models(notes)) == (None, {"embed": "minilm"})


def test_embed_uses_it_at_once(notes, monkeypatch):
    monkeypatch.setattr(e5, "is_installed", lambda: True)
    monkeypatch.setattr(e5, "find_spec", lambda name: None)
    with pytest.raises(ModelMissing, match="e5"):
        notes.embed()
