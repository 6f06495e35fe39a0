"""Answers in words, as models read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from qmd.experiences.table import UNREVIEWED
from qmd.operations.left_out import kept_in_words
from qmd.operations.record_order import is_record
from qmd.ranking.matcher import Matcher
from qmd.ranking.snippets import cut
from qmd.surfaces.tools.reply import Resource
from qmd.text.headings import SectionHeading
from qmd.types import Kept, Passage, Result
from qmd.wording import MOST_OF_VALUE, on_one_line, shortened, size

MOST_BYTES = 256 * 1024
"""Of an answer."""

LONG_DOCUMENT = 32 * 1024
"""Bytes of a document above which a model first gets its outline and its first part."""

FIRST_PART = 8 * 1024
"""Bytes of that part."""

OUTLINE = 4 * 1024
"""Bytes of that outline."""

NOTICES = 16 * 1024
"""Bytes of an answer that name documents which are missing, and of those that are left out."""

MORE_MISSING = "[... and {} more names that give no document]"
"""What is said of so many others, where there is no room to name them."""

MORE_LEFT_OUT = (
    "[SKIPPED: {} more - Use 'qmd get' for one of them, or a pattern that matches fewer.]"
)
"""See `MORE_MISSING`."""

LONGEST_TITLE = 1000
"""Characters of a title: the first line of a file may be all of it."""

LISTED_TITLE = 80
"""Characters of a title in a listing."""

SNIPPET = 300
"""Characters of a snippet with its line numbers. Source: tobi/qmd (MIT), MCP server."""

LONGEST_PLACE = 160
"""Characters of a line that says where a result matches."""

SHORTEST_PART = 60
"""Characters that such a line has of what matches, however long the name before it is."""

NEVER = datetime(1970, 1, 1)


def record(result: Result, match: Matcher) -> dict[str, Any]:
    """Convert a search result to a record for programs."""
    found = {
        "docid": result.docid,
        "file": result.file,
        "title": result.title[:LONGEST_TITLE],
        "score": round(result.score, 2),
        "context": result.context,
        "snippet": trimmed(result.snippet, result.line, match),
        "line": result.line,
        "size": result.size,
    }
    if result.place is not None:
        found["place"] = result.place
    if result.also_in:
        found["alsoIn"] = list(result.also_in)
    if result.stale:
        found["stale"] = True
    if is_record(result):
        found["unreviewed"] = True
    if result.similar:
        found["similar"] = list(result.similar)
    return found


def trimmed(snippet: str, line: int, match: Matcher) -> str:
    """Shorten a snippet to `SNIPPET` characters, around the match."""
    lines = snippet.split("\n")
    while len(lines) > 1 and sum(map(len, lines)) + len(lines) - 1 > SNIPPET:
        lines.pop(0 if lines[-1].startswith(f"{line}: ") else -1)
    number, _, text = "\n".join(lines).partition(" ")
    return f"{number} {_part(text, match, SNIPPET - len(number) - 1)}"


def _part(line: str, match: Matcher, most: int) -> str:
    """At most so many characters of a line: those around its first match."""
    return line if len(line) <= most else cut(line, match, most - 2)


def summary(question: str, results: Sequence[Mapping[str, Any]]) -> str:
    """Summarize results, a line for each document."""
    if not results:
        return f'No results found for "{shortened(question, MOST_OF_VALUE)}"'
    count = "1 result" if len(results) == 1 else f"{len(results)} results"
    lines = [
        f"{each['docid']} {round(each['score'] * 100)}% {on_one_line(each['file'])} - "
        + " ".join(each["title"].splitlines())
        + _also_in(each.get("alsoIn", ()))
        + _long(each.get("size", 0))
        + (" (stale: its file has changed or gone)" if each.get("stale") else "")
        + (" (record of an agent, unreviewed)" if each.get("unreviewed") else "")
        for each in results
    ]
    return f'Found {count} for "{question}":\n\n' + "\n".join(lines)


def _long(bytes: int) -> str:
    """Say the size of a document of which `get` gives the first part."""
    return f" ({size(bytes)})" if bytes > LONG_DOCUMENT else ""


def _also_in(names: Sequence[str]) -> str:
    return f" (also in {', '.join(map(on_one_line, names))})" if names else ""


def places(results: Iterable[Mapping[str, Any]], match: Matcher) -> Iterator[str]:
    """Yield the matching lines of results, as `get` takes them; nothing without results."""
    lines = []
    for each in results:
        place = f"{on_one_line(each['file'])}:{each['line']}: "
        room = max(LONGEST_PLACE - len(place), SHORTEST_PART)
        found = best_line(each, match, room).partition(" ")[2]
        lines.append((place + found).rstrip())
    if lines:
        yield "Best lines:\n\n" + "\n".join(lines)


def best_line(record: Mapping[str, Any], match: Matcher, most: int = LONGEST_PLACE) -> str:
    """Return the line of a result that matches, as `N: text`, with so much of the text."""
    number = f"{record['line']}: "
    shown = (text for text in record["snippet"].split("\n") if text.startswith(number))
    return number + _part(next(shown, number).removeprefix(number), match, most)


def is_long(passage: Passage) -> bool:
    """Return whether a text is a whole document that is long for a model."""
    return passage.first == 1 and len(passage.body.encode()) > LONG_DOCUMENT


def outline(passage: Passage, headings: Sequence[SectionHeading]) -> str:
    """List the headings of a document, each with its first line, indented by their level."""
    top = min((each.level for each in headings), default=1)
    lines = [
        f"{'  ' * (each.level - top)}{each.line}: {on_one_line(cut_at(each.text, LISTED_TITLE))}"
        for each in headings
    ]
    shown = fitting_lines(lines, most=OUTLINE)
    if len(shown) < len(lines):
        shown.append(f"[... and {len(lines) - len(shown)} more headings]")
    name = on_one_line(passage.file)
    return "\n".join(
        [
            f"This is the first part of {passage.total} lines. {name}#HEADING gives a section, "
            f"fromLine the lines from there, full=true all of it.",
            *(["", *shown] if shown else []),
        ]
    )


def document(
    passage: Passage, *, numbered: bool, of_several: bool = False, most: int = MOST_BYTES
) -> Resource:
    """Format a document or lines of it, with its context, cut at the limit of a reply.

    Args:
        of_several: say how many lines follow, and what gives them.
        most: bytes of it and its names.
    """
    lines = passage.body.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    left = passage.total - (passage.first - 1 + len(lines))
    body = passage.body
    if numbered:
        body = "\n".join(f"{n}: {line}" for n, line in enumerate(lines, start=passage.first))
    if of_several and left > 0:
        body = body.rstrip("\n") + f"\n\n[... truncated {left} more lines]"
    named = Resource(passage.uri, passage.file, passage.title[:LONGEST_TITLE], "")
    most -= named.size
    head = f"<!-- Context: {passage.context} -->\n\n" if passage.context else ""
    head = head.encode()[: most // 2].decode(errors="ignore")
    room = most - len(head.encode())
    by = f"'qmd get', file=\"{on_one_line(passage.file)}\", " if of_several else ""
    body = _cut(body, passage.first, passage.total, most=room, by=by)
    return named._replace(text=head + body)


def _cut(body: str, first: int, total: int, *, most: int, by: str) -> str:
    """Cut a text at a line to at most `most` bytes, with a hint how to continue.

    Args:
        first: number of its first line.
        total: lines of the document.
        by: what gives the lines that follow, if it is not what gives these.
    """
    data = body.encode()
    if len(data) <= most:
        return body
    head = data[: most - len(by.encode()) - 200].decode(errors="ignore")
    whole = head.rfind("\n")
    if whole <= 0:
        rest = f"go on with {by}fromLine={first + 1}" if first < total else "it is the last"
        note = f"[... line {first} is too long for an answer; {rest}]"
        return f"{head}\n\n{note}"
    following = first + head.count("\n", 0, whole) + 1
    return f"{head[:whole]}\n\n[... the answer is full; go on with {by}fromLine={following}]"


def skipped(name: str, size: int) -> str:
    """Describe a document that is too large to come with others."""
    return (
        f"[SKIPPED: {on_one_line(name)} - File too large ({-(-size // 1024)}KB). {_by_get(name)}]"
    )


def full(name: str) -> str:
    """Describe a document for which there is no room left."""
    return f"[SKIPPED: {on_one_line(name)} - The answer is full. {_by_get(name)}]"


def _by_get(name: str) -> str:
    return f"Use 'qmd get' with file=\"{on_one_line(name)}\" to retrieve."


def fitting_notices(notices: Iterable[str], others: str, *, most: int = NOTICES) -> list[str]:
    """Notices that have room together, and how many others there are.

    Args:
        others: what is said of those, with `{}` where their number goes.
        most: bytes of all.
    """
    kept, left = [], 0
    room = most - len(others.encode()) - 10
    for notice in notices:
        size = len(notice.encode())
        if size > room:
            left += 1
            continue
        kept.append(notice)
        room -= size
    return [*kept, others.format(left)] if left else kept


def fitting_lines(lines: Iterable[str], *, most: int = MOST_BYTES // 4) -> list[str]:
    """Select the first lines that have room together, in bytes; programs get them as well."""
    kept: list[str] = []
    for line in lines:
        most -= len(line.encode(errors="replace")) + 1
        if most < 0 and kept:
            break
        kept.append(line)
    return kept


def cut_at(text: str, most: int) -> str:
    """Cut a text to a number of characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def moment(when: datetime | None) -> str:
    """ISO 8601 with milliseconds, UTC."""
    return (when or NEVER).isoformat(timespec="milliseconds") + "Z"


def status(facts: Mapping[str, Any]) -> str:
    """Format the status of the index."""
    lines = [
        "QMD Index Status:",
        f"  Total documents: {facts['totalDocuments']}",
        f"  Needs embedding: {facts['needsEmbedding']}",
        f"  Vector index: {'yes' if facts['hasVectorIndex'] else 'no'}",
        f"  Collections: {len(facts['collections'])}",
    ]
    lines += [
        f"    - {c['path']} ({c['documents']} docs) [{c['name']}]" for c in facts["collections"]
    ]
    for each in facts["collections"]:
        kept = [Kept(**folder) for folder in each.get("kept", ())]
        lines += [f"  {each['name']}: {line}" for line in kept_in_words(each["name"], kept)]
    return "\n".join(lines)


def fitting(results: Iterable[dict[str, Any]], *, most: int = MOST_BYTES) -> list[dict[str, Any]]:
    """Select the first results whose texts fit into a reply."""
    kept, used = [], 0
    for each in results:
        used += sum(len(str(value).encode()) + len(key) + 6 for key, value in each.items())
        if used > most:
            break
        kept.append(each)
    return kept


def fitting_page(outcome: dict[str, Any]) -> tuple[dict[str, Any], *tuple[str, ...]]:
    """Select the experience records of a page that fit into a reply.

    Returns:
        The page, and what to tell of those that were left out.
    """
    data = outcome.get("data")
    if not isinstance(data, dict) or "experiences" not in data:
        return (outcome,)
    given = data["experiences"]
    if not given:
        return (outcome,)
    kept = fitting(given) or given[:1]
    if len(kept) == len(given):
        return outcome, UNREVIEWED
    following = data["offset"] + len(kept)
    page = {**outcome, "data": {**data, "experiences": kept}}
    return page, f"[... the answer is full; go on with offset={following}]", UNREVIEWED
