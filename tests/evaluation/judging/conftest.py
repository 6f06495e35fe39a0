"""Judged documents: of a fixture, and of the user."""

from __future__ import annotations

import json
import tempfile

import pytest

DOCUMENTS = {
    "Car/1": "The brake of the car is loud.",
    "car/1": "A doctor on holiday.",
    "2": "Soup and bread for dinner.",
    "tea": "Green tea in the garden.",
}
"""Texts by id: with a slash, in letters that differ in case alone, with a number that is asked."""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder in which temporary ones are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def corpus(tmp_path, temporary):
    """A BEIR folder: a question that has the words of its document, and one that has others."""
    folder = tmp_path / "garage"
    folder.mkdir()
    records = [{"_id": name, "title": "", "text": text} for name, text in DOCUMENTS.items()]
    queries = {"words": '2 loud -brake "car', "meaning": "physician vacation"}
    texts = [{"_id": name, "text": text} for name, text in queries.items()]
    for name, lines in (("corpus", records), ("queries", texts)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (folder / "qrels.tsv").write_text("words\tCar/1\t1\nmeaning\tcar/1\t1\n")
    return folder


@pytest.fixture
def notes(tmp_path, qmd):
    """Notes in the user's own index, as the collection `notes`."""
    root = tmp_path / "notes"
    root.mkdir()
    (root / "tea.md").write_text("# Tea\n\nGreen tea in the garden.\n")
    (root / "car.md").write_text("# Car\n\nThe brake of the car is loud, and the tea cold.\n")
    assert qmd("collection", "add", root)[0] == 0
    return root
