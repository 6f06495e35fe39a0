"""Writer of the Homebrew formula of a version, from its source archive.

python -m tools.formula dist/qmd_duckdb-0.1.0.tar.gz > dist/qmd.rb
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

TEMPLATE = Path(__file__).parents[1] / "packaging" / "homebrew" / "qmd.rb.in"

HOST = "https://files.pythonhosted.org/packages/source/q/qmd-duckdb"
"""Where the package index serves source archives under their own names."""


def formula(archive: Path) -> str:
    """Return the formula that installs a source archive."""
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    text = TEMPLATE.read_text(encoding="utf-8")
    return text.replace("@URL@", f"{HOST}/{archive.name}").replace("@SHA256@", digest)


if __name__ == "__main__":
    print(formula(Path(sys.argv[1])), end="")
