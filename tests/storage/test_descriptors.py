"""Limits of open files under which an index is written."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest


@pytest.fixture
def limited(tmp_path):
    """Run `qmd` with so many descriptors, soft and hard."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "tea.md").write_text("# Tea\n\nSencha is steamed.\n")
    environment = os.environ | {
        "INDEX_PATH": str(tmp_path / "index.duckdb"),
        "QMD_CONFIG_DIR": str(tmp_path / "config"),
    }

    def run(soft, hard, *words):
        return subprocess.run(
            [sys.executable, "-m", "qmd", *words],
            env=environment,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)),
        )

    return run


def test_a_hard_limit_below_that_of_a_writer_is_named_and_changes_nothing(limited):
    assert limited(256, 256, "collection", "add", "notes").returncode == 0
    said = limited(8, 8, "embed")
    assert said.returncode == 3
    assert "may open only 8 files, and needs 32" in said.stderr
    assert "ulimit -n 32" in said.stderr
    assert "tea.md" in limited(8, 8, "search", "sencha").stdout, "a search needs fewer"


def test_a_soft_limit_is_raised(limited):
    said = limited(8, 256, "collection", "add", "notes")
    assert said.returncode == 0, said.stderr
    assert "1 new" in said.stdout
