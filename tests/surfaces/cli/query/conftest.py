"""Notes without vectors and with them. The models are tiny ones that really run."""

from __future__ import annotations

import pytest

from qmd.surfaces.cli import run

NOTES = {
    "tea.md": "---\nstatus: open\ndate: 2035-01-01\n---\n# Tea\n\nTea with hot water.\n",
    "car.md": "---\ndate: 2001-01-01\n---\n# Car\n\nThe red car has a new engine.\n",
    "doctor, black.md": "# Doctor\n\nThe doctor has a black coat.\n",
    "river.md": "# River\n\nThe river is high today.\n",
    "bread.md": "# Bread\n\nBread and butter.\n",
    "snow.md": "# Snow\n\nSnow on the mountain, and no tea.\n",
    "train.md": "# Train\n\nThe train is at the station.\n",
}


@pytest.fixture(scope="module")
def shelves(tmp_path_factory, tiny_embedder):
    """The notes as the collection `notes` in two indexes, without vectors and with them."""
    folder = tmp_path_factory.mktemp("shelves")
    for name, text in NOTES.items():
        (folder / "notes").mkdir(exist_ok=True)
        (folder / "notes" / name).write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        for shelf in ("plain", "embedded"):
            for name, value in settings(folder / shelf, tiny_embedder).items():
                patch.setenv(name, value)
            assert run(["collection", "add", str(folder / "notes")]) == 0
        assert run(["embed"]) == 0
    return folder


def settings(folder, embedder):
    return {
        "QMD_CONFIG_DIR": str(folder),
        "INDEX_PATH": str(folder / "index.duckdb"),
        "HOME": str(folder),
        "QMD_EMBED_MODEL": str(embedder),
    }


def use(shelf, tiny_embedder, monkeypatch):
    for name, value in settings(shelf, tiny_embedder).items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def indexed(qmd, shelves, tiny_embedder, monkeypatch):
    """The command line where the notes have no vectors."""
    use(shelves / "plain", tiny_embedder, monkeypatch)
    return qmd


@pytest.fixture
def embedded(qmd, shelves, tiny_embedder, monkeypatch):
    """The command line where they have."""
    use(shelves / "embedded", tiny_embedder, monkeypatch)
    return qmd


@pytest.fixture
def helped(embedded, monkeypatch, tiny_ranker, tiny_generator):
    """The same, with models that expand and judge."""
    monkeypatch.setenv("QMD_RERANK_MODEL", str(tiny_ranker))
    monkeypatch.setenv("QMD_GENERATE_MODEL", str(tiny_generator))
    return embedded
