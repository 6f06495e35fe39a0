"""Results as text: for people, for pipes, for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from qmd.surfaces import terminal
from qmd.surfaces.formats import Format, as_csv, as_json, as_xml, defused
from qmd.text import paths
from qmd.types import Passage, Result
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
        return shown(_one_line(text)) if self.terminal else text

    def joined(self, separator: str, parts: Iterable[str]) -> str:
        """`parts` as one text."""
        return terminal.joined(separator, parts) if self.colour else separator.join(parts)


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
                _row(
                    [r.docid, f"{r.score:.2f}", on_one_line(name), _one_line(r.context or "")],
                    always_quoted={3},
                    raw_csv=raw_csv,
                )
                for r, name, _ in listed
            )
        case Format.MD:
            return "\n".join(
                _markdown(r.title, name, r.docid, r.context, t) for r, name, t in listed
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
    lines = [f"{on_one_line(name)}{at} {result.docid}", f"Title: {_one_line(result.title)}"]
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
    name = style.paint(on_screen.name_of(name, len(more), style.columns), "36")
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


def passages(
    found: Sequence[Passage],
    form: Format,
    *,
    numbered: bool = False,
    single: bool = False,
    raw_csv: bool = False,
) -> str:
    """Documents.

    Args:
        single: exactly one was asked for: nothing but its text for people.
        raw_csv: write cells as they are, also those that a spreadsheet would run.
    """
    texts = [with_numbers(p.body, p.first) if numbered and not p.reason else p.body for p in found]
    listed = list(zip(found, texts, strict=True))
    match form:
        case Format.JSON:
            records = [_passage_record(p, text) for p, text in listed]
            return as_json(records[0] if single else records)
        case Format.CSV:
            return as_csv(
                ["docid", "file", "title", "context", "skipped", "reason", "body"],
                (_passage_cells(*each) for each in listed),
                raw_csv=raw_csv,
            )
        case Format.FILES:
            return "".join(
                _row(
                    [p.docid, on_one_line(p.file), _one_line(p.context or "")]
                    + ([f"[SKIPPED: {_told(p.reason)}]"] if p.reason else []),
                    always_quoted={2},
                    raw_csv=raw_csv,
                )
                for p, _ in listed
            )
        case Format.MD:
            return "\n".join(
                _markdown(p.title or p.file, p.file, p.docid, p.context, f"> Skipped: {p.reason}")
                if p.reason
                else _markdown(p.title, p.file, p.docid, p.context, text)
                for p, text in listed
            )
        case Format.XML:
            return as_xml(
                (
                    {
                        "docid": p.docid,
                        "name": p.file,
                        "title": p.title,
                        "context": p.context,
                        "skipped": _told(p.reason),
                    },
                    text,
                )
                for p, text in listed
            )
        case Format.CLI:
            if single:
                return _ended(texts[0])
            return "\n".join(
                f"{'=' * 60}\nFile: {on_one_line(p.file)}\n{'=' * 60}\n\n"
                + _with_context(p, f"[SKIPPED: {p.reason}]" if p.reason else text)
                for p, text in listed
            )


def _passage_cells(passage: Passage, text: str) -> list[str]:
    skipped = str(passage.reason is not None).lower()
    whence = [passage.docid, passage.file, passage.title, passage.context or ""]
    return [*whence, skipped, _told(passage.reason), text]


def _passage_record(passage: Passage, text: str) -> dict[str, object]:
    record: dict[str, object] = {
        "docid": passage.docid or None,
        "file": passage.file,
        "title": passage.title if passage.docid else None,
        "context": passage.context,
        "uri": passage.uri or None,
    }
    if passage.reason:
        record |= {"skipped": True, "reason": _told(passage.reason)}
    else:
        record |= {"line": passage.first, "lines": passage.total, "body": text}
    return record


def _told(reason: str | None) -> str:
    """Shorten a reason for programs to one line, without similar names."""
    first, _, rest = (reason or "").partition("\n")
    if not first.endswith(":"):
        return first
    listed = [line.removeprefix("  - ") for line in rest.splitlines() if line.startswith("  - ")]
    return f"{first} {', '.join(listed)}"


def _with_context(passage: Passage, text: str) -> str:
    head = f"Folder Context: {passage.context}\n---\n\n" if passage.context else ""
    return head + _ended(text)


def _ended(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def with_numbers(text: str, first: int = 1) -> str:
    """Each line with its number."""
    lines = text.split("\n")
    last = lines.pop() if lines[-1] == "" and len(lines) > 1 else None
    numbered = [f"{first + at}: {line}" for at, line in enumerate(lines)]
    return "\n".join(numbered) + ("\n" if last is not None else "")


def _row(fields: Sequence[str], *, always_quoted: set[int], raw_csv: bool) -> str:
    """Write one line of RFC 4180 in which some fields are quoted whether they need it or not."""
    cells = fields if raw_csv else [defused(text) for text in fields]
    return (
        ",".join(
            '"' + text.replace('"', '""') + '"'
            if at in always_quoted or any(mark in text for mark in ',"')
            else text
            for at, text in enumerate(cells)
        )
        + "\n"
    )


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())


def _markdown(title: str, file: str, docid: str, context: str | None, text: str) -> str:
    lines = [
        "---",
        f"# {_one_line(title)}",
        f"**file:** `{on_one_line(file)}`",
        f"**docid:** `{docid}`",
    ]
    if context:
        lines.append(f"**context:** `{_one_line(context)}`")
    return "\n".join([*lines, "", text.rstrip("\n"), ""])
