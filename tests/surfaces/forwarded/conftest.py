"""What tests of forwarded commands share: notes with an index, and servers of them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator

import pytest

from tests.surfaces.forwarded.fronts import Fronts, Impostor


@pytest.fixture(scope="module")
def runtime() -> Iterator[str]:
    """A runtime folder; the path of a socket has a limit of about 100 bytes."""
    made = tempfile.mkdtemp(prefix="qmd")
    before = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = made
    yield made
    os.environ.pop("XDG_RUNTIME_DIR")
    if before is not None:
        os.environ["XDG_RUNTIME_DIR"] = before
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def fronts(tmp_path_factory: pytest.TempPathFactory, runtime: str) -> Fronts:
    """Notes with an index."""
    folder = tmp_path_factory.mktemp("forwarded")
    notes = folder / "notes"
    (notes / "work").mkdir(parents=True)
    (folder / "home").mkdir()
    (notes / "tea.md").write_text(
        "---\nstatus: open\n---\n# Tea\n\nBrew *green* tea: grün, 緑茶.\n",
        encoding="utf-8",
    )
    (notes / "work" / "plan.md").write_text("# Plan\n\nBuy tea.\n\n" + "More tea.\n" * 40)
    (notes / "evil.md").write_text("# Evil \x1b[31mtea\n\nA \u202e turn.\n", encoding="utf-8")
    (notes / "long.md").write_text("# Long\n\n" + "Water, sugar and time.\n" * 40_000)
    made = Fronts(folder, runtime)
    assert made.alone("collection", "add", notes).code == 0
    return made


@pytest.fixture
def served(fronts: Fronts) -> Iterator[Fronts]:
    """The same, with a server in this process."""
    with fronts.server():
        yield fronts


@pytest.fixture
def impostor(fronts: Fronts):
    """Makes a server that sends some bytes to each front."""
    made: list[Impostor] = []

    def make(answers: bytes | None) -> Impostor:
        made.append(Impostor(fronts.socket, answers))
        return made[-1]

    yield make
    for each in made:
        each.close()
