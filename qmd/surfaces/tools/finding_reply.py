"""Replies of the tools that search and list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from qmd.operations.links import in_lines
from qmd.ranking.matcher import Matcher, matcher_of
from qmd.surfaces.tools import reply_text
from qmd.surfaces.tools.reply import Reply
from qmd.text.tokens import TOKEN_BYTES
from qmd.wording import amount, on_one_line, reaches, size

if TYPE_CHECKING:
    from qmd.analytics.rows import Excerpts, Results
    from qmd.operations.facets import FacetValue
    from qmd.operations.grep import Line
    from qmd.operations.links import LinkedDocument
    from qmd.operations.listing import Document
    from qmd.storage.catalog import Overview
    from qmd.surfaces.tools.paging import AnswerPage


def results(
    question: str,
    found: Results,
    least: float,
    page: AnswerPage | None = None,
    *,
    most: int | None = None,
) -> Reply:
    """Build the reply of a search, without results of lower scores.

    Args:
        page: that is asked for, of what is found; None: all of it.
        most: tokens of the passages that are asked for, if they are: then the text has them, and
            the data has their documents.
    """
    match = matcher_of(found.about)
    records = [reply_text.record(each, match) for each in found if reaches(each.score, least)]
    is_full = page is not None and len(records) >= page.end
    records = records[page.offset if page else 0 :]
    if most is not None and found.passages is not None and records:
        return _within(found, records, match, most)
    kept = reply_text.fitting(records)
    notes = [found.notice] if found.notice else []
    left = [each.score for each in found if not reaches(each.score, least)]
    if not records and (below := found.below + len(left)):
        best = max([found.nearly, *left])
        notes.append(
            f"{amount(below, 'result')} below minScore {least:g}; the best has {best:.2f}."
        )
    if len(kept) < len(records):
        notes.append(f"{len(records) - len(kept)} more found; the answer is full.")
    told: dict[str, Any] = {"notice": "\n".join(notes)} if notes else {}
    if page is not None and kept and (is_full or len(kept) < len(records)):
        told["nextCursor"] = page.after(len(kept))
        notes.append(f"More: cursor={told['nextCursor']}")
    if found.respelled:
        told["respelled"] = {word: list(near) for word, near in found.respelled.items()}
    if found.missing_shards:
        told |= {"partial": True, "missingShards": list(found.missing_shards)}
    parts = (reply_text.summary(question, kept), *notes, *reply_text.places(kept, match))
    return Reply(parts, {"results": kept, **told})


def _within(found: Results, records: Sequence[dict[str, Any]], match: Matcher, most: int) -> Reply:
    """Build the reply of a search for passages: text and data are both within the budget."""
    assert found.passages is not None
    used = {each.file for each in found.passages}
    once = {each["file"]: each for each in reversed(records) if each["file"] in used}
    brief = [
        each | {"snippet": reply_text.best_line(each, match)} for each in reversed(once.values())
    ]
    kept = reply_text.fitting(brief, most=most * TOKEN_BYTES)
    notes = [found.notice] if found.notice else []
    told: dict[str, Any] = {"notice": found.notice} if found.notice else {}
    if found.missing_shards:
        told |= {"partial": True, "missingShards": list(found.missing_shards)}
    return Reply((found.passages.text, *notes), {"results": kept, **told})


def excerpts(found: Excerpts) -> Reply:
    """Build the reply of `context`: the text has all of it."""
    notes = [found.notice] if found.notice else []
    told = {"notice": found.notice} if found.notice else {}
    records = reply_text.fitting([each._asdict() | {"place": each.place} for each in found])
    left_out = [f"{each.file}:{each.line}" for each in found.left_out]
    return Reply((found.text, *notes), {"passages": records, "leftOut": left_out, **told})


def lines(pattern: str, found: Sequence[Line], page: AnswerPage) -> Reply:
    """Build the reply of `grep`: matching lines, cut where they are long."""
    matching, shown = 0, []
    for each in found:
        matching += each.is_match
        if matching > page.end:
            break
        if matching > page.offset:
            shown.append(each)
    records = reply_text.fitting(
        [
            {"file": each.file, "line": each.line, "text": reply_text.cut_at(each.text, 300)}
            for each in shown
        ],
        most=reply_text.MOST_BYTES // 2,
    )
    more = matching > page.end or len(records) < len(shown)
    told = [
        f"{on_one_line(each['file'])}:{each['line']}{':' if of.is_match else '-'}{each['text']}"
        for each, of in zip(records, shown, strict=False)
    ]
    if not told:
        told = [f"No lines match: {pattern}"]
    elif more:
        following = page.after(sum(each.is_match for each in shown[: len(records)]))
        told.append(f"[... more lines match; go on with cursor={following}]")
    further = {"nextCursor": following} if told and more and records else {}
    return Reply(("\n".join(told),), {"matches": records, "more": more, **further})


def collections(known: Sequence[Overview], page: AnswerPage) -> Reply:
    """Build the reply of `ls` without a path: the collections."""
    return listed([(f"{each.name}/", each.documents) for each in known], (), page)


def listed(
    folders: Sequence[tuple[str, int]], found: Sequence[Document], page: AnswerPage
) -> Reply:
    """Build the reply of `ls`: folders with counts, then documents with date, size and title."""
    lines = [f"{on_one_line(name)} {amount(count, 'document')}" for name, count in folders]
    lines += [
        f"{on_one_line(each.file)} {each.modified:%Y-%m-%d} {size(each.size)} "
        + on_one_line(reply_text.cut_at(" ".join(each.title.split()), reply_text.LISTED_TITLE))
        for each in found
    ]
    offset = page.offset
    shown = reply_text.fitting_lines(lines[offset : page.end])
    end = offset + len(shown)
    further = {"nextCursor": page.after(len(shown))} if end < len(lines) else {}
    rest = [f"[{len(lines) - end} more; go on with cursor={each}]" for each in further.values()]
    records = [
        {"file": each.file, "title": each.title, "docid": each.docid}
        | {"size": each.size, "modified": reply_text.moment(each.modified)}
        for each in found[max(0, offset - len(folders)) : max(0, end - len(folders))]
    ]
    counts = [{"folder": name, "documents": count} for name, count in folders[offset:end]]
    told = "\n".join([*shown, *rest]) or "Nothing there."
    facts = {"folders": counts, "documents": records, "total": len(lines)}
    return Reply((told,), {**facts, **further})


def counted(by: str, found: Sequence[FacetValue], page: AnswerPage) -> Reply:
    """Build the reply of `ls` with `by`: values with their numbers of documents."""
    lines = [f"{on_one_line(each.value)} {amount(each.documents, 'document')}" for each in found]
    shown = reply_text.fitting_lines(lines[page.offset : page.end])
    end = page.offset + len(shown)
    further = {"nextCursor": page.after(len(shown))} if end < len(lines) else {}
    rest = [f"[{len(lines) - end} more; go on with cursor={each}]" for each in further.values()]
    told = "\n".join([*shown, *rest]) or f"No document has a {by}."
    values = [each._asdict() for each in found[page.offset : end]]
    return Reply((told,), {"values": values, "total": len(lines), **further})


def linked(name: str, found: Sequence[LinkedDocument]) -> Reply:
    """Build the reply of `links`."""
    shown = reply_text.fitting_lines(in_lines(found))
    told = "\n".join(shown) or f"No links from or to {on_one_line(name)}."
    records = reply_text.fitting(
        [each._asdict() for each in found], most=reply_text.MOST_BYTES // 2
    )
    return Reply((told,), {"links": records})
