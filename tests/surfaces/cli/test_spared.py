"""The command line loads libraries without what it never needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

LOADED = """
import sys
from qmd import startup
sys.meta_path.insert(0, startup._Spared)
from qmd.models.llama_bindings import library
assert library().llama_max_devices() > 0
assert "llama_cpp.llama" in sys.modules and "jinja2" not in sys.modules
print("spared")
"""


def test_the_bindings_are_loaded_alone():
    pytest.importorskip("llama_cpp")
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )
    assert done.stdout == "spared\n"
