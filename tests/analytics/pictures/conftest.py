"""Documents to count and to draw."""

from __future__ import annotations

import pytest

from tests.library import turned


@pytest.fixture
def many(library):
    """A library with two collections; its notes are from two months."""
    library.configure("_$日記")
    library.write("tea.md", "---\ndate: 2025-03-14\n---\n# Tea\n\nGauges and gauge, the gauges.\n")
    library.write("pool.md", "---\ndate: 2025-03-20\n---\n# Pool\n\n" + "Gauge. " * 200)
    library.write("old.md", "---\ndate: 2024-01-02\n---\n# Old\n\nThe 2024 the.\n")
    library.write(
        "茶.md", "---\ndate: 2025-03-01\n---\n# 茶と水\n\n茶を飲む。\n", collection="_$日記"
    )
    library.update()
    return library


@pytest.fixture
def drawn(qmd, tmp_path, monkeypatch):
    """Runs a command in an empty folder, on an index of notes of two collections."""
    for name, day in (("tea", "2025-03-14"), ("pool", "2024-01-02")):
        root = tmp_path / f"${name}茶"
        root.mkdir()
        (root / f"{name}.md").write_text(f"---\ndate: {day}\n---\n# {name} & <水>\n\nWords.\n")
        assert qmd("collection", "add", root)[0] == 0
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return qmd


@pytest.fixture
def turning(faked, fake):
    """A library whose documents have vectors: from each to the next the angle grows by degrees."""
    fake.vector = turned
    fake.dimensions = 2
    faked.configure("others")
    for degrees in (0, 10, 20, 80, 90):
        name = "others" if degrees >= 80 else "notes"
        faked.write(f"{degrees:02}.md", f"# At {degrees}\n", collection=name)
    faked.update()
    return faked
