"""Docstrings name things by their terms; what ruff cannot check is checked here."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    path
    for folder in ("qmd", "bench", "tools", "examples")
    for path in (ROOT / folder).rglob("*.py")
)
RIDDLE = re.compile(r"(?:What|Who|Whom|Whose|Whether|How|That|Where|When|Which|Why)\b")
WITH_DOCSTRINGS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def riddles(source: str) -> list[str]:
    """Docstrings that open with a question instead of a term or a verb."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, WITH_DOCSTRINGS)]
    texts = [ast.get_docstring(node) or "" for node in nodes]
    return [text.partition("\n")[0] for text in texts if RIDDLE.match(text)]


def test_a_question_is_found():
    assert riddles('def f():\n    """What it does.\n\n    More."""') == ["What it does."]
    assert riddles('def f():\n    """Whatever else."""') == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_docstring_opens_with_a_question(path):
    assert riddles(path.read_text(encoding="utf-8")) == []
