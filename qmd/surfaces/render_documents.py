"""Documents as text: for people, for pipes, for programs."""

from __future__ import annotations

from collections.abc import Sequence

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
from qmd.types import Passage
from qmd.wording import on_one_line


def documents_as(
    found: Sequence[Passage],
    form: Format,
    *,
    numbered: bool = False,
    single: bool = False,
    raw_csv: bool = False,
) -> str:
    """Write documents in a format.

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
                csv_row(
                    [p.docid, on_one_line(p.file), joined_lines(p.context or "")]
                    + ([f"[SKIPPED: {_told(p.reason)}]"] if p.reason else []),
                    always_quoted={2},
                    raw_csv=raw_csv,
                )
                for p, _ in listed
            )
        case Format.MD:
            return "\n".join(
                markdown_block(
                    p.title or p.file, p.file, p.docid, p.context, f"> Skipped: {p.reason}"
                )
                if p.reason
                else markdown_block(p.title, p.file, p.docid, p.context, text)
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
