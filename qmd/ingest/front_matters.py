"""Front matter of a document, by the compiled rules for plain entries where they suffice.

`text/front_matter.py` has the rules. The compiled ones read plain entries in a fifth of the time
and leave all else to it; a property test holds both equal.
"""

from __future__ import annotations

from collections.abc import Callable

from qmd.text import markdown
from qmd.text.front_matter import Frontmatter

_compiled: Callable[[str], tuple[dict[str, object], int] | None] | None
try:
    from qmd.ingest.compiled.front_matters import plain_front_matter as _compiled
except ImportError:
    _compiled = None


def front_matter_of(text: str, path: str) -> Frontmatter:
    """Parse the front matter of a document; a file that is not Markdown has none."""
    found = _compiled(text) if _compiled and markdown.is_markdown(path) else None
    return Frontmatter(*found) if found else markdown.of_document(text, path)
