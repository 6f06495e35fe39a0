"""Edits of Markdown texts: append, replace a section or a passage, give a title, repair links."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote, unquote

from qmd.errors import UsageError
from qmd.named_tuple import NamedTuple
from qmd.text import headings
from qmd.text.composing import with_metadata
from qmd.text.front_matter import frontmatter
from qmd.text.headings import SectionHeading
from qmd.visible import one_line

_SUFFIX = re.compile(r"\.(?:md|mdx|markdown)$", re.IGNORECASE)
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+\S")


class WrittenLink(NamedTuple):
    """A link as it stands in a text.

    Attributes:
        line: from 1.
        kind: as in the view `links`.
        target: as it is written, with its anchor.
    """

    line: int
    kind: str
    target: str


def appended(text: str, more: str, within: tuple[int, int | None] | None = None) -> str:
    """Add lines to the end of a text, or of a section of it, below a blank line.

    A list goes on without a blank line if both parts are items of it.

    Args:
        within: first line of the section and its lines; None for the second: to the end.
    """
    lines, end = _lines(text), _ending(text)
    at = len(lines)
    if within is not None and within[1] is not None:
        at = within[0] - 1 + within[1]
    while at and not lines[at - 1].strip():
        at -= 1
    before, after = lines[:at], lines[at:]
    added = [each.rstrip("\r") for each in more.strip("\n").split("\n")]
    goes_on = before and _is_item(before[-1]) and _is_item(added[0])
    between = [] if goes_on or not before else [""]
    if after and after[0].strip():
        added.append("")
    return end.join([*before, *between, *added, *(after or [""])])


def with_section(text: str, within: tuple[int, int | None], new: str) -> str:
    """Put a text in the place of a section, below its heading.

    A new text that begins with a heading takes the place of the old heading, too.

    Args:
        within: first line of the section and its lines; None for the second: to the end.
    """
    lines, end = _lines(text), _ending(text)
    first, count = within
    stop = len(lines) if count is None else first - 1 + count
    below = [each.rstrip("\r") for each in new.strip("\n").split("\n")]
    head: list[str] = []
    if not _HEADING.match(below[0]):
        own = 2 if first < len(lines) and re.fullmatch(r" {0,3}(=+|-+)\s*", lines[first]) else 1
        head = [*lines[first - 1 : first - 1 + own], ""]
    after = lines[stop:]
    return end.join([*lines[: first - 1], *head, *below, "", *(after if after != [""] else [])])


def with_passage(text: str, old: str, new: str) -> str:
    """Put a text in the place of a passage that occurs once.

    Raises:
        UsageError: it does not occur, or more than once.
    """
    if "\r\n" in text and "\r\n" not in old:
        old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    count = text.count(old) if old else 0
    if count != 1:
        raise UsageError(
            "The passage to be replaced does not occur in the document: read it again."
            if not count
            else f"The passage to be replaced occurs {count} times: give more of its surroundings."
        )
    return text.replace(old, new, 1)


def retitled(text: str, title: str, outline: Sequence[SectionHeading]) -> str:
    """Give a text another title: in its front matter if that has one, else in its first heading.

    Args:
        outline: headings of the text.
    """
    has_own = any(key.lower() == "title" for key in frontmatter(text).metadata)
    first = next((each for each in outline if each.level == 1), None)
    if has_own or first is None:
        return with_metadata(text, title=title)
    lines = text.split("\n")
    old = lines[first.line - 1]
    mark = "# " if _HEADING.match(old) else ""  # else a line of = below is the mark
    lines[first.line - 1] = mark + one_line(title) + ("\r" if old.endswith("\r") else "")
    return "\n".join(lines)


def with_links(text: str, links: Iterable[tuple[WrittenLink, str]]) -> str:
    """Replace the targets of links.

    Args:
        links: each with its new target.
    """
    lines = text.split("\n")
    for link, target in links:
        if not 1 <= link.line <= len(lines):
            continue
        for at in _places(lines, link):
            lines[at] = _with_target(lines[at], link, target)
    return "\n".join(lines)


def _places(lines: Sequence[str], link: WrittenLink) -> Iterable[int]:
    """Return the lines in which the target of a link stands: a reference is defined elsewhere."""
    if link.kind == "reference":
        return range(len(lines))
    return range(link.line - 1, min(link.line + 2, len(lines)))


def _with_target(line: str, link: WrittenLink, target: str) -> str:
    old = re.escape(link.target)
    if link.kind in ("wiki", "embed"):
        return re.sub(rf"(?<=\[\[)(\s*){old}(?=\s*(?:\||\\\||\]\]))", lambda m: m[1] + target, line)
    before = r"^( {0,3}\[[^\]]+\]:\s*<?)" if link.kind == "reference" else r"(\]\(\s*<?)"
    return re.sub(rf"{before}{old}(?=[\s)>]|$)", lambda m: m[1] + target, line)


def moved_target(
    link: WrittenLink, *, origin: str, old: str, new: str, renamed: tuple[str, str] | None = None
) -> str | None:
    """Return the target that a link needs when its document is moved; None: it stays right.

    Args:
        origin: path of the document with the link, in the same collection.
        old: path of the document before.
        new: path afterwards.
        renamed: title before and afterwards, if that changes.
    """
    address, anchor = _split(link.target)
    bare_old, bare_new = _SUFFIX.sub("", old), _SUFFIX.sub("", new)
    if link.kind in ("wiki", "embed"):
        if renamed and address.strip().casefold() == renamed[0].casefold():
            return renamed[1] + anchor
        named = _SUFFIX.sub("", address.strip().strip("/"))
        if not f"/{bare_old}".casefold().endswith(f"/{named}".casefold()):
            return None  # by an alias, which stays
        fresh = bare_new if "/" in named else posixpath.basename(bare_new)
        written = fresh + (address.strip()[len(named) :] if _SUFFIX.search(address) else "")
        return None if written == address.strip() else written + anchor
    if old == new or not address:
        return None
    plain = unquote(address)
    target = new if _SUFFIX.search(plain) or not _SUFFIX.search(new) else bare_new
    if plain.startswith("/"):
        fresh = f"/{target}"
    else:
        fresh = posixpath.relpath(target, posixpath.dirname(origin) or ".")
        fresh = f"./{fresh}" if plain.startswith("./") and not fresh.startswith("../") else fresh
    return _escaped(fresh) + anchor


def own_target(link: WrittenLink, *, old: str, new: str, to: str) -> str | None:
    """Return the target that a relative link of a moved document needs; None: it stays right.

    Args:
        old: path of the moved document before.
        new: path afterwards.
        to: path of the document that it links to, in the same collection.
    """
    address, anchor = _split(link.target)
    before, after = posixpath.dirname(old), posixpath.dirname(new)
    is_path = link.kind not in ("wiki", "embed") and not address.startswith("/")
    if not is_path or not address or before == after:
        return None
    plain = unquote(address)
    kept = to if _SUFFIX.search(plain) or not _SUFFIX.search(to) else _SUFFIX.sub("", to)
    if posixpath.normpath(posixpath.join(before, plain)) not in (to, _SUFFIX.sub("", to)):
        return None  # found in another way, such as from the top of the collection
    return _escaped(posixpath.relpath(kept, after or ".")) + anchor


def section_in(outline: Sequence[SectionHeading], name: str) -> tuple[int, int | None] | None:
    """Find a section by its heading; see `headings.section`."""
    return headings.section(outline, name) or headings.section(outline, unquote(name))


def _split(target: str) -> tuple[str, str]:
    """Split a target from its anchor or query, which keeps its mark."""
    at = min((target.find(mark) for mark in "#?" if mark in target), default=len(target))
    return target[:at], target[at:]


def _escaped(path: str) -> str:
    return quote(path, safe="/.~-_!$&'*+,;=:@") if re.search(r"[\s()<>%#?]", path) else path


def _lines(text: str) -> list[str]:
    return [each.rstrip("\r") for each in text.split("\n")]


def _ending(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _is_item(line: str) -> bool:
    return re.match(r"\s*(?:[-*+]|\d{1,9}[.)])\s", line) is not None
