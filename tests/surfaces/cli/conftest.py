"""What tests of commands share: notes, and their index."""

from __future__ import annotations

import pytest


@pytest.fixture
def notes(tmp_path):
    """A folder of notes that is not indexed yet."""
    root = tmp_path / "notes"
    (root / "work").mkdir(parents=True)
    (root / "tea.md").write_text(
        "---\nstatus: open\ndate: 2025-03-14\ntags: [drink, green]\n---\n# Tea\n\nBrew green tea.\n"
    )
    (root / "work" / "plan.md").write_text("# Plan\n\nBuy tea, then parse_json the list.\n\nEnd.\n")
    (root / "coffee, black.md").write_text("# Coffee\n\nNo leaves at all.\n")
    return root


@pytest.fixture
def indexed(qmd, notes):
    """The same, indexed as the collection `notes`."""
    code, out, err = qmd("collection", "add", notes)
    assert (code, err) == (0, "")
    assert "Indexed: 3 new, 0 updated, 0 unchanged, 0 renamed, 0 removed, 0 skipped" in out
    return qmd
