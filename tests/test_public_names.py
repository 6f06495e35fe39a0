"""Names of the package at run time are those that type checkers see."""

from __future__ import annotations

import ast
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import pytest

import qmd

IMPORTS = {
    alias.name: node.module
    for node in ast.walk(ast.parse(Path(qmd.__file__).read_text(encoding="utf-8")))
    if isinstance(node, ast.ImportFrom) and str(node.module).startswith("qmd.")
    for alias in node.names
}


def test_each_public_name_is_declared_for_type_checkers():
    assert set(IMPORTS) == set(qmd.__all__)


@pytest.mark.parametrize("name", sorted(IMPORTS))
def test_a_public_name_is_what_type_checkers_see(name):
    assert getattr(qmd, name) is getattr(import_module(IMPORTS[name]), name)


def test_documents_that_are_listed_are_of_the_public_class(library):
    library.write("tea.md", "# Tea")
    library.update()
    with qmd.connect(library.engine.place.database) as kb:
        [document] = kb.documents()
    assert isinstance(document, qmd.Document)


def test_a_class_has_a_name_of_its_own():
    """Functions may share a verb, which their module completes: `trust.revoke`."""
    modules = defaultdict(list)
    for path in sorted(Path(qmd.__file__).parent.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].append(path.stem)
    assert {name: stems for name, stems in modules.items() if len(stems) > 1} == {}
