"""`qmd stats` and `qmd map`: facts about all documents, and pictures of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qmd.errors import UsageError, extras
from qmd.surfaces import formats, wording
from qmd.surfaces.cli.common import WRITTEN, Collections, Json, notice, say, state
from qmd.surfaces.cli.progress import busy

if TYPE_CHECKING:
    from datetime import datetime

    from qmd.analytics.report import Stats

MONTHS = 24
"""Months from the first to the last document from which on years are listed."""

BAR = 30
"""Columns of the longest bar."""


Force = Annotated[
    bool, typer.Option("--force", help="Replace FILE, even if it is no picture of qmd.")
]


class Method(StrEnum):
    """How vectors become places."""

    PCA = "pca"
    TSNE = "tsne"


def stats(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(click_type=WRITTEN, help="With --plot: .svg or .png (qmd-stats.svg)."),
    ] = None,
    plot: Annotated[bool, typer.Option("--plot", help="Draw them, and say where.")] = False,
    collection: Collections = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Show facts about the documents: over time, sizes, collections, frequent terms."""
    from qmd.analytics import charts, picture_files
    from qmd.analytics.report import gather

    if file is not None and not plot:
        raise UsageError(f"{file} would be a picture: qmd stats --plot {file}")
    path = file or Path("qmd-stats.svg")
    if plot:
        picture_files.check(path, charts.FORMS)
        if not force:
            picture_files.check_replaceable(path)
        extras.check("matplotlib", "matplotlib", "draws the picture", extra="plots")
    with state(context).engine() as engine:
        found = gather(engine, collection or [])
    if plot:
        title = wording.amount(found.documents, "document")
        if collection:
            title += " in " + ", ".join(collection)
        told = charts.draw(found, path, title=title)
        if told:
            notice(told)
    if as_json:
        say(formats.as_json(_record(found) | ({"picture": str(path)} if plot else {})))
    else:
        say(str(path) if plot else _report(found))


def _record(found: Stats) -> dict[str, object]:
    return {
        "documents": found.documents,
        "bytes": found.bytes,
        "first": _moment(found.first),
        "last": _moment(found.last),
        "medianBytes": found.median,
        "largestBytes": found.largest,
        "months": [
            {
                "month": wording.month(each.month),
                "collection": each.collection,
                "documents": each.documents,
                "bytes": each.bytes,
            }
            for each in found.months
        ],
        "sizes": [
            {"atLeast": each.at_least, "below": each.below, "documents": each.documents}
            for each in found.sizes
        ],
        "collections": [
            {
                "name": each.name,
                "documents": each.documents,
                "bytes": each.bytes,
                "first": _moment(each.first),
                "last": _moment(each.last),
            }
            for each in found.collections
        ],
        "terms": [each._asdict() for each in found.terms],
        "longest": [each._asdict() for each in found.longest],
    }


def _moment(value: datetime | None) -> str | None:
    return value.isoformat() if value is not None else None


def _report(found: Stats) -> str:
    if not found.documents:
        return "No documents yet. Add some with 'qmd collection add PATH'."
    assert found.first is not None
    assert found.last is not None
    assert found.median is not None
    assert found.largest is not None
    parts = [
        formats.table(
            [
                ("Documents", f"{found.documents} ({wording.size(found.bytes)})"),
                ("From", f"{wording.day(found.first)} to {wording.day(found.last)}"),
                (
                    "Size",
                    f"{wording.size(found.median)} median, {wording.size(found.largest)} most",
                ),
            ]
        ),
        _titled("Collections", _collections(found), right=frozenset({1, 2})),
        _over_time(found),
        _titled(
            "Sizes",
            [
                (
                    f"{wording.size(each.at_least)} to {wording.size(each.below)}",
                    str(each.documents),
                    _bar(each.documents, max(each.documents for each in found.sizes)),
                )
                for each in found.sizes
            ],
            right=frozenset({0, 1}),
        ),
    ]
    if found.terms:
        parts.append(
            _titled(
                "Frequent terms",
                [
                    (
                        each.term,
                        wording.amount(each.occurrences, "time"),
                        f"in {wording.amount(each.documents, 'document')}",
                    )
                    for each in found.terms
                ],
                right=frozenset({1, 2}),
            )
        )
    longest = [
        (wording.size(each.bytes), each.docid, each.file, each.title) for each in found.longest
    ]
    parts.append(_titled("Longest documents", longest, right=frozenset({0})))
    return "\n".join(parts)


def _titled(title: str, rows: Sequence[Sequence[str]], *, right: frozenset[int]) -> str:
    lines = formats.table(rows, right=right).splitlines()
    return "\n".join([title, *(f"  {line}" for line in lines)]) + "\n"


def _collections(found: Stats) -> list[tuple[str, ...]]:
    return [
        (
            each.name,
            wording.amount(each.documents, "document"),
            wording.size(each.bytes),
            f"{wording.month(each.first)} to {wording.month(each.last)}"
            if each.first and each.last
            else "",
        )
        for each in found.collections
    ]


def _over_time(found: Stats) -> str:
    first, last = found.months[0].month, found.months[-1].month
    by_year = (last.year - first.year) * 12 + last.month - first.month >= MONTHS
    counted: Counter[str] = Counter()
    for each in found.months:
        month = wording.month(each.month)
        counted[month[:4] if by_year else month] += each.documents
    rows = [(at, str(count), _bar(count, max(counted.values()))) for at, count in counted.items()]
    return _titled("By year" if by_year else "By month", rows, right=frozenset({1}))


def _bar(count: int, most: int) -> str:
    return "█" * max(1, round(BAR * count / most))


def map(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(click_type=WRITTEN, help=".html or .svg.")] = Path(
        "qmd-map.html"
    ),
    collection: Collections = None,
    method: Annotated[
        Method,
        typer.Option("--method", help="pca: overall likeness; tsne: who is next to whom."),
    ] = Method.PCA,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Draw a map of the documents by what they mean: each a point, near to what is like it."""
    from qmd.analytics import document_map as maps
    from qmd.analytics import picture_files

    picture_files.check(file, maps.FORMS)
    if not force:
        picture_files.check_replaceable(file)
    maps.check_method(method.value)
    with state(context).engine(warm=True) as engine, busy("Drawing the map"):
        made = maps.make(engine, collection or [], method=method.value)
        made.save(file)
    if len(made.points) < made.documents:
        notice(f"Of {made.documents} documents, {len(made.points)} are on the map: a sample.")
    if made.lacking:
        notice(f"Documents that lack vectors: {made.lacking}. Run 'qmd embed'.")
    if as_json:
        say(
            formats.as_json(
                {
                    "file": str(file),
                    "method": made.method,
                    "model": made.model,
                    "documents": made.documents,
                    "shown": len(made.points),
                    "lacking": made.lacking,
                    "variance": None if made.share is None else round(made.share, 3),
                    "labels": [label.text for label in made.labels],
                }
            )
        )
    else:
        say(str(file))
