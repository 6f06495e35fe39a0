"""List of the public names that several modules of qmd define.

python -m tools.names
"""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def repeated() -> dict[str, list[str]]:
    """Map each repeated name to its modules."""
    modules = defaultdict(list)
    for path in sorted((ROOT / "qmd").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, DEFINITIONS) and not node.name.startswith("_"):
                modules[node.name].append(str(path.relative_to(ROOT)))
    return {name: paths for name, paths in sorted(modules.items()) if len(paths) > 1}


if __name__ == "__main__":
    for name, paths in repeated().items():
        print(name, *paths)
