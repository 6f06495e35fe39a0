"""Commands for which there is not enough memory say so."""

from __future__ import annotations

import _duckdb
import pytest

from qmd.storage.database import Database


@pytest.mark.parametrize("error", [MemoryError, _duckdb.OutOfMemoryException])
@pytest.mark.parametrize("command", [["status"], ["cleanup"], ["update"], ["search", "tea"]])
def test_too_little_memory_is_told_as_such(indexed, notes, monkeypatch, error, command):
    (notes / "new.md").write_text("# New\n")

    def refused(*_, **__):
        raise error("Out of Memory Error: Allocation failure")

    for name in ("read", "write"):
        monkeypatch.setattr(Database, name, refused)
    code, _, err = indexed(*command)
    assert (code, err.startswith("There is not enough memory.\n")) == (1, True)
