"""Share of a text in lists of links, by the compiled rules where there are some.

`text/link_lists.py` has the rules. The compiled version takes a ninth of the time; a property test
holds both equal.
"""

from __future__ import annotations

from collections.abc import Iterable

from qmd.storage.arrow import Column, numbers
from qmd.text import link_lists

try:
    from qmd.ingest.compiled.link_lists import link_percent as _compiled
except ImportError:
    _compiled = None  # type: ignore[assignment]


def link_percents(texts: Iterable[tuple[str, int]]) -> Column:
    """Make the column of the percentages of texts.

    Args:
        texts: each with the characters of its front matter. See `link_lists.link_percent`.
    """
    percent = link_lists.link_percent if _compiled is None else _compiled
    return numbers("uint8", [percent(text, start=start) for text, start in texts])
