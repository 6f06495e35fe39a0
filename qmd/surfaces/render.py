"""Search results as text: for people, for pipes, for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from qmd.named_tuple import NamedTuple
from qmd.surfaces import terminal
from qmd.surfaces.formats import (
    Format,
    as_csv,
    as_json,
    as_xml,
    csv_row,
    joined_lines,
    markdown_block,
    with_numbers,
)
from qmd.text import paths
from qmd.types import Result
from qmd.visible import shown
from qmd.wording import on_one_line

if TYPE_CHECKING:
    from qmd.ranking.matcher import Matcher

GOOD, FAIR = 0.70, 0.40
"""Scores from which on a result is shown in green, and in yellow."""

STALE = "Stale: the file has changed or gone since the last update (qmd update, or --fresh)."
"""Line of a result whose text may not be that of its file."""


class Style(NamedTuple):
    """The style of output on a terminal.

    Attributes:
        terminal: people read it: foreign values are cut and on one line.
        colour: use escape sequences.
        link: gives the URI that opens a file at a line, or None.
        match: matches the words that were looked for.
        columns: of the terminal.
    """

    terminal: bool = False
    colour: bool = False
    link: Callable[[str, int], str | None] | None = None
    match: Matcher | None = None
    columns: int = 80

    def paint(self, text: str, code: str) -> str:
        """`text` in a colour."""
        return terminal.paint(text, code) if self.colour else text

    def linked(self, text: str, file: str, line: int) -> str:
        """`text` as a link to a file, by OSC 8."""
        target = self.link(file, line) if self.colour and self.link else None
        return terminal.link(text, target) if target else text

    def marked(self, text: str) -> str:
        """`text` with the words that were looked for in bold."""
        if not self.colour or self.match is None:
            return text
        return terminal.paint_matches(text, self.match, "1;33")

    def value(self, text: str) -> str:
        """Format an untrusted value."""
        return shown(joined_lines(text)) if self.terminal else text

    def joined(self, separator: str, parts: Iterable[str]) -> str:
        """`parts` as one text."""
        return terminal.joined_styled(separator, parts) if self.colour else separator.join(parts)


PLAIN = Style()


def editor_link(template: str, roots: Mapping[str, str]) -> Callable[[str, int], str | None]:
    """Links for `collection/path` by a template such as vscode://file/{path}:{line}:{col}."""
    from urllib.parse import quote

    def link(file: str, line: int) -> str | None:
        collection, _, path = file.partition("/")
        stored = paths.place(roots.get(collection, ""), path)
        if stored is None:
            return None
        place = quote(stored.lstrip("/"))
        whole = place if template.startswith("vscode") else f"/{place}"
        return template.replace("{path}", whole).replace("{line}", str(line)).replace("{col}", "1")

    return link


def results(
    found: Sequence[Result],
    form: Format,
    *,
    style: Style = PLAIN,
    numbered: bool = False,
    names: Callable[[str], str] = str,
    below_threshold: bool = False,
    raw_csv: bool = False,
    respelled: Mapping[str, Sequence[str]] = MappingProxyType({}),
    missing_shards: Sequence[int] = (),
) -> str:
    """Search results.

    Args:
        numbered: give the lines of whole bodies their numbers; snippets have them.
        names: what to show for `collection/path`.
        below_threshold: there are results, but all score too low.
        raw_csv: write cells as they are, also those that a spreadsheet would run.
        respelled: words that no document has, with those searched in their place; each record in
            JSON has them, since a list has no other place for them.
        missing_shards: whose documents are missing; in each record in JSON, too.
    """
    listed = [
        (result, names(result.file), _shown_text(result, numbered=numbered)) for result in found
    ]
    match form:
        case Format.JSON:
            more: dict[str, object] = {"respelled": dict(respelled)} if respelled else {}
            if missing_shards:
                more |= {"partial": True, "missingShards": list(missing_shards)}
            return as_json([_record(*item) | more for item in listed])
        case Format.CSV:
            return as_csv(
                ["docid", "score", "file", "title", "context", "line", "snippet"],
                (
                    [r.docid, f"{r.score:.4f}", name, r.title, r.context or "", r.line, text]
                    for r, name, text in listed
                ),
                raw_csv=raw_csv,
            )
        case Format.FILES:
            return "".join(
                csv_row(
                    [r.docid, f"{r.score:.2f}", on_one_line(name), joined_lines(r.context or "")],
                    always_quoted={3},
                    raw_csv=raw_csv,
                )
                for r, name, _ in listed
            )
        case Format.MD:
            return "\n".join(
                markdown_block(r.title, name, r.docid, r.context, t) for r, name, t in listed
            )
        case Format.XML:
            return as_xml(
                (
                    {
                        "docid": r.docid,
                        "name": name,
                        "title": r.title,
                        "score": f"{r.score:.2f}",
                        "context": r.context,
                        "stale": "true" if r.stale else None,
                    },
                    text,
                )
                for r, name, text in listed
            )
        case Format.CLI:
            if not listed:
                above = " above minimum score threshold" if below_threshold else ""
                return f"No results found{above}.\n"
            if style.terminal:
                return style.joined(
                    "\n", [_on_screen(r, name, text, style) for r, name, text in listed]
                )
            return "\n\n".join(_for_people(r, name, text) for r, name, text in listed)


def _shown_text(result: Result, *, numbered: bool) -> str:
    if result.body is None:
        return result.snippet
    return with_numbers(result.body) if numbered else result.body


def _record(result: Result, name: str, text: str) -> dict[str, object]:
    record: dict[str, object] = {
        "docid": result.docid,
        "score": round(result.score, 2),
        "file": name,
        "line": result.line,
        "title": result.title,
        "context": result.context,
    }
    record["snippet" if result.body is None else "body"] = text
    record["uri"] = result.uri
    if result.place is not None:
        record["place"] = result.place
    if result.also_in:
        record["alsoIn"] = list(result.also_in)
    if result.stale:
        record["stale"] = True
    if result.similar:
        record["similar"] = list(result.similar)
    if result.explain is not None:
        record["explain"] = result.explain
    return record


def _for_people(result: Result, name: str, text: str) -> str:
    at = f":{result.line}" if result.place is None else f" {result.place}"
    lines = [f"{on_one_line(name)}{at} {result.docid}", f"Title: {joined_lines(result.title)}"]
    if result.also_in:
        lines.append(_also_in(result))
    if result.context:
        lines.append(f"Context: {result.context}")
    if result.stale:
        lines.append(STALE)
    lines.append(f"Score: {_percent(result)}")
    if result.similar:
        lines.append(_also(result))
    if result.explain is not None:
        lines += explained(result.explain)
    return "\n".join([*lines, "", text, ""])


def _also_in(result: Result) -> str:
    return f"also in {', '.join(on_one_line(each) for each in result.also_in)}"


def _also(result: Result) -> str:
    return f"also: {len(result.similar)} similar"


def _percent(result: Result) -> str:
    return f"{result.score * 100:.0f}%"


def _on_screen(result: Result, name: str, text: str, style: Style) -> str:
    """Write a result for a terminal. See `on_screen`."""
    from qmd.surfaces import on_screen
    from qmd.text.display_width import cut_to

    at = f":{result.line}" if result.place is None else f" {style.value(result.place)}"
    more = f"{at} {result.docid}  Score: {_percent(result)}"
    code = "32" if result.score >= GOOD else "33" if result.score >= FAIR else "2"
    score = ["  Score: ", style.paint(_percent(result), code)]
    if result.similar:
        more += f"  {_also(result)}"
        score.append(style.paint(f"  {_also(result)}", "2"))
    name = style.paint(on_screen.shortened_name(name, len(more), style.columns), "36")
    place = style.linked(name, result.file, result.line)
    lines = [style.joined("", [place, style.paint(f"{at} {result.docid}", "2"), *score])]
    title, context = on_screen.title_and_context(result, style.columns)
    context = f"  Context: {context}" if context else ""
    lines.append(style.joined("", ["Title: ", style.paint(title, "1"), context]))
    if result.also_in:
        lines.append(cut_to(shown(_also_in(result)), style.columns))
    if result.stale:
        lines.append(style.paint(cut_to(STALE, style.columns), "33"))
    room = on_screen.LINES - len(lines)
    if result.explain is not None:
        lines += [style.paint(style.value(line), "2") for line in explained(result.explain)]
    if result.body is not None:
        lines += ["", *map(style.marked, text.split("\n"))]
    else:
        found_in = style.match.found_in if style.match else None
        for row in on_screen.rows(text, found_in, columns=style.columns, most=room):
            number = style.paint(row.number, "2")
            lines.append(style.joined("", [number, style.marked(row.text)]))
    return style.joined("\n", [*lines, ""])


def explained(explain: Mapping[str, Any]) -> list[str]:
    """Explain a score, as sums."""
    lines = [
        f"  {part['contribution']:.6f}  {part['kind']}: {part['query']} "
        f"({'rank ' + str(part['rank']) if part['rank'] else 'not in the list'}, "
        f"weight {part['weight']:.4g})"
        for part in explain["lists"]
    ]
    more = {
        "top-rank bonus": explain["bonus"],
        "recency": explain["recency"],
        "a list of links, behind a page that it points to": explain["link_page"],
    }
    lines += [f"  {given:.6f}  {name}" for name, given in more.items() if given]
    lines.append(f"= {explain['fused']:.6f}  fused by {explain['fusion']}")
    if "rerank" in explain:
        weight, rank, judged = explain["weight"], explain["rank"], explain["rerank"]
        rerank, source = (0.0, "not judged") if judged is None else (judged, "rerank")
        score = weight / rank + (1 - weight) * rerank
        lines.append(
            f"= {score:.6f}  {weight} / {rank} + {1 - weight:.2g} · {rerank:.6f} ({source})"
        )
    return lines
