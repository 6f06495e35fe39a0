"""What a plain installation does: the model that qmd carries, and no llama.cpp."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WITHOUT = """
import sys
for name in sys.argv.pop(1).split():
    sys.modules[name] = None
from qmd.surfaces.cli import run
codes = [run(arguments.split()) for arguments in sys.argv[1:]]
print(codes)
"""


@pytest.fixture
def plain(meaning, command, tmp_path, monkeypatch):
    """Runs commands without llama.cpp, on an index whose model nothing was said of."""
    monkeypatch.delenv("QMD_EMBED_MODEL")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))

    def ask(*commands, missing="llama_cpp huggingface_hub"):
        return subprocess.run(
            [sys.executable, "-c", WITHOUT, missing, *commands],
            cwd=Path(__file__).parents[4],
            capture_output=True,
            text=True,
            timeout=300,
        )

    return ask


def test_search_by_meaning_needs_no_llama_cpp(plain):
    done = plain("embed", "vsearch vehicle -n 1", "query vehicle -n 1", "doctor")
    assert done.stdout.startswith("Embedded 3 chunks with minilm")
    assert done.stdout.count("notes/work/car.md") == 2
    assert done.stdout.endswith("[0, 0, 0, 0]\n")
    assert "llama" not in done.stdout + done.stderr


def test_without_onnxruntime_the_way_to_install_it_is_told(plain):
    done = plain("embed", "search green tea", "doctor", missing="llama_cpp onnxruntime")
    assert done.stderr.startswith("The model minilm needs onnxruntime, which is not installed.\n\n")
    assert "pip install" in done.stderr
    assert "[llama]" not in done.stderr + done.stdout
    assert done.stdout.endswith("[1, 0, 0]\n")
