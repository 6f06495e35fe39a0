"""Libraries whose models are all fakes."""

from __future__ import annotations

import pytest

from qmd.models.loader import Helper
from qmd.settings.environment import Machine
from tests.library import FakeEmbedder, Library
from tests.ranking.hybrid.fakes import FakeGenerator, FakeReranker, meant

pytest.register_assert_rewrite("tests.ranking.hybrid.asking")

SAME_DATE = "update documents set dated = timestamp '2030-01-01'"


@pytest.fixture
def judge(monkeypatch):
    made = FakeReranker()
    monkeypatch.setattr("qmd.models.selection.reranker", lambda model, machine: made)
    return made


@pytest.fixture
def writer(monkeypatch):
    made = FakeGenerator()
    monkeypatch.setattr("qmd.models.selection.generator", lambda model, machine: made)
    return made


@pytest.fixture
def helped(faked, fake, judge, writer):
    """A library whose models are all fakes."""
    chosen = {**faked.engine.models.machine.chosen}
    for role in ("rerank", "generate"):
        file = faked.folder / f"{role}.gguf"
        file.write_bytes(b"GGUF")
        chosen[role] = str(file)
    faked.engine.models.machine = faked.engine.models.machine._replace(chosen=chosen)
    fake.dimensions, fake.vector = 64, meant
    faked.engine.database._warm = True
    return faked


def with_fakes(folder):
    """Make a library for many tests, whose models are fakes."""
    file = folder / "fake.gguf"
    file.write_bytes(b"GGUF")
    chosen = {"embed": str(file), "rerank": str(file)}
    made = Library(folder, Machine(chosen, hub=folder / "hub"))
    made.engine.database._warm = True
    fake, judge = FakeEmbedder(dimensions=64), FakeReranker()
    fake.vector, judge.says = meant, lambda passage: len(passage) % 10 / 10
    made.engine.models._loaded["embed"] = made.engine.models.space().fingerprint, fake
    made.engine.models.reranker = lambda: Helper(judge.model, lambda: "judge", lambda: judge)
    return made


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """A library to look at, not to change: 24 documents in three collections, one excluded."""
    made = with_fakes(tmp_path_factory.mktemp("town"))
    made.configure("work", "hidden", excluded=["hidden"])
    for name, text in {
        "car.md": "# Car\n\nA car with a red door.",
        "red.md": "# Red\n\nRed paint, red wine, a red door.",
        "automobile.md": "# Automobile\n\nAn automobile on the road.",
        "vehicle.md": "---\nstatus: open\n---\n# Vehicle\n\nA vehicle in the garage, of 1950.",
        "doctor.md": "# Doctor\n\nA doctor with a car.",
        "tea.md": "---\ndate: 2031-02-03\n---\n# Tea\n\nA cup of tea by the door.",
    }.items():
        made.write(name, text)
    for number in range(10):
        made.write(f"n/{number}.md", f"# Note {number}\n\nItem{number} is about thing{number}.")
    for number in range(4):
        text = f"---\nstatus: open\ndate: 203{number}-01-01\n---\n# Plan {number}\n\nBuy a red car."
        made.write(f"{number}.md", text, collection="work")
        made.write(f"{number}.md", f"# Secret {number}\n\nA red car.", collection="hidden")
    made.update()
    made.embed()
    yield made
    made.engine.close()


@pytest.fixture(scope="module", params=["the same text", "the same words"])
def equals(tmp_path_factory, request):
    """Eight documents of one date that answer alike, indexed against the order of their paths."""
    made = with_fakes(tmp_path_factory.mktemp("equals"))
    words = "a text of same words".split()
    for number, name in enumerate("hgfdbeca"):
        if request.param == "the same words":
            words = [*words[1:], words[0]] if number % 5 else words[::-1]
        made.write(f"{name}.md", f"# Same\n\n{' '.join(words)}")
        made.update()
        made.embed()
    made.engine.database.write(lambda cursor: cursor.connection.execute(SAME_DATE))
    yield made
    made.engine.close()
