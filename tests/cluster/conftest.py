"""Documents for the tests of shards."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from qmd.settings.environment import Machine
from tests.cluster import corpus
from tests.library import FakeEmbedder, Library, staying_attached


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """Documents with vectors of a fake model."""
    folder = tmp_path_factory.mktemp("library")
    file = folder / "fake.gguf"
    file.write_bytes(b"GGUF")
    library = Library(folder, Machine({"embed": str(file)}, hub=folder / "hub"))
    corpus.write(library)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "qmd.models.selection.embedder", lambda model, machine, *, limit: FakeEmbedder()
        )
        library.update()
        library.embed()
        with staying_attached(library.engine.database):
            yield library
    library.engine.close()
