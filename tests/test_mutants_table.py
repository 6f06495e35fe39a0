"""What the table of the mutation tests names is there."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TABLE = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text(encoding="utf-8"))
MODULES = {module: tests for room in TABLE["room"].values() for module, tests in room.items()}


@pytest.mark.parametrize("module", MODULES)
def test_a_module_and_its_tests_are_there(module):
    assert (ROOT / module).is_file()
    assert MODULES[module]
    assert [test for test in MODULES[module] if not (ROOT / test).exists()] == []


@pytest.mark.parametrize("survivor", TABLE["survivor"], ids=lambda each: each["line"])
def test_a_survivor_stands_in_its_module_and_has_a_reason(survivor):
    assert survivor["module"] in MODULES
    lines = (ROOT / survivor["module"]).read_text(encoding="utf-8").splitlines()
    assert survivor["line"] in map(str.strip, lines)
    assert survivor.get("mutant") != survivor["line"]
    assert survivor["reason"]
