"""Commands for which there is not enough memory say so."""

from __future__ import annotations

import os
import subprocess
import sys

import _duckdb
import pytest

from qmd.storage.database import Database

TOO_LITTLE = [
    MemoryError(),
    OSError(12, "Cannot allocate memory"),
    ImportError("/lib/x.so: failed to map segment from shared object"),
    RuntimeError("can't start new thread"),
    _duckdb.OutOfMemoryException("Out of Memory Error: Allocation failure"),
    _duckdb.TransactionException("Failed to commit: Failed to allocate block of 262144 bytes"),
]


@pytest.mark.parametrize("error", TOO_LITTLE, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("command", [["status"], ["cleanup"], ["update"], ["search", "tea"]])
def test_too_little_memory_is_told_as_such(indexed, notes, monkeypatch, error, command):
    (notes / "new.md").write_text("# New\n")

    def refused(*_, **__):
        raise error

    for name in ("read", "write"):
        monkeypatch.setattr(Database, name, refused)
    code, _, err = indexed(*command)
    assert (code, err.startswith("There is not enough memory")) == (1, True)
    assert "ulimit -v" in err
    assert "mistake" not in err


SCARCE = """
import sys

class Scarce:
    @staticmethod
    def find_spec(name, *_):
        if name in scarce:
            raise MemoryError

scarce = sys.argv.pop(1), "qmd.operations.index"
from qmd.__main__ import main
sys.meta_path.insert(0, Scarce)
main()
"""


@pytest.mark.parametrize("module", ["qmd.surfaces.cli", "qmd.errors.shortage"])
def test_too_little_memory_to_tell_of_it_is_told_all_the_same(tmp_path, module):
    # The second module is what tells of the lack of the first one.
    done = subprocess.run(
        [sys.executable, "-c", SCARCE, module, "cleanup"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ
        | {"INDEX_PATH": str(tmp_path / "i.duckdb"), "QMD_CONFIG_DIR": str(tmp_path)},
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("There is not enough memory.\n")
    assert "Traceback" not in done.stderr
