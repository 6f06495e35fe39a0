"""Share of a text that stands in lists of links, which tells a table of contents from a text.

A list item or a row of a table counts as a whole if it is a link, or a link with a description
behind a separator: `- [Tea](tea.md) - How to brew`. Of other lines the texts of links count.
Addresses, headings and front matter do not count.
"""

from __future__ import annotations

import re

from qmd.patterns import pattern

FEWEST = 3
"""Entries that a list of links has at least."""

LINK, ENTRY = 250, 400
"""Characters of the text for each link and for each entry, up to which half of the text may be a
list of links."""

_LINK = pattern(
    r"!?\[\[(?P<wiki>[^\[\]\n]++)\]\]"
    r"|!?\[(?P<text>[^\[\]\n]*+)\](?:\((?:[^()\s]|\([^()\s]*+\))*+(?:\s++\"[^\"\n]*+\")?\s*+\)|\[[^\[\]\n]*+\])"
    r"|<?(?P<url>https?://[^\s<>]++)>?"
)
_ITEM = pattern(
    r"[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++(?:\[[ xX]\][ \t]++)?|\|[ \t]*+)[*_~`]*+(?P<rest>.*)"
)
_ENTRY = pattern(
    r"^[ \t>]*+(?:[-*+|]|\d{1,9}[.)])[ \t]*+(?:\[[ xX]\][ \t]++)?[*_~`]*+(?:!?\[|<?https?:)", re.M
)
"""Beginning of a line that may be an entry: a quick test before each line is read."""

_NO_TEXT = pattern(r"[ \t]*+(?:#{1,6}(?:[ \t]|$)|[-=*_:| \t]++$|\[[^\[\]]++\]:[ \t]|$)")
_BEHIND = pattern(r"[*_~`]*+[ \t]*+(?:$|[-\u2010-\u2015:|,;.(\u00b7\u2022])")
"""End of a link that is an entry of a list: nothing follows, or a separator of its description."""


def link_percent(text: str, *, start: int = 0) -> int:
    """Compute the percentage of the characters of a text that stand in lists of links.

    Args:
        start: characters before the text: its front matter.

    Returns:
        0 to 100; 0 if the text has few links for its length.
    """
    size = len(text) - start
    links = text.count("[", start) + text.count("://", start)
    if links < FEWEST or size > LINK * links:
        return 0
    entries = sum(1 for _ in _ENTRY.finditer(text, start))
    if entries < FEWEST or size > ENTRY * entries:
        return 0
    listed, whole, is_entry = 0, 0, False
    for line in text[start:].split("\n"):
        if _NO_TEXT.match(line):
            is_entry = False
            continue
        item = _ITEM.match(line)
        if item is not None:
            is_entry = _is_entry(item["rest"])
        elif not line[0].isspace():
            is_entry = False  # other indented lines go on with an item
        shown = _LINK.sub(_label, line)
        size = len(shown.strip())
        whole += size
        listed += size if is_entry else sum(len(_label(each)) for each in _LINK.finditer(line))
    return min(100 * listed // whole, 100) if whole else 0


def _is_entry(rest: str) -> bool:
    found = _LINK.match(rest)
    return found is not None and _BEHIND.match(rest, found.end()) is not None


def _label(link: re.Match[str]) -> str:
    """Return what is shown of a link."""
    if link["wiki"] is not None:
        return str(link["wiki"]).rpartition("|")[2]
    return str(link["text"] if link["text"] is not None else link["url"])
