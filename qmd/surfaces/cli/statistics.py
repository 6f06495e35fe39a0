"""`qmd stats` and `qmd map`: facts about all documents, and pictures of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qmd.errors import UsageError, extras
from qmd.named_tuple import NamedTuple
from qmd.operations.statistics import map as draw
from qmd.operations.statistics import stats as gather
from qmd.surfaces import formats, wording
from qmd.surfaces.cli.common import Json, notice, say
from qmd.surfaces.cli.derive import Call, command
from qmd.surfaces.cli.framework import WRITTEN
from qmd.surfaces.cli.progress import busy

if TYPE_CHECKING:
    from datetime import datetime

    from qmd.analytics.document_map import Map
    from qmd.analytics.report import Stats

MONTHS = 24
"""Months from the first to the last document from which on years are listed."""

BAR = 30
"""Columns of the longest bar."""


Force = Annotated[
    bool, typer.Option("--force", help="Replace FILE, even if it is no picture of qmd.")
]


class StatsOutput(NamedTuple):
    """Options of `qmd stats` alone."""

    file: Annotated[
        Path | None,
        typer.Argument(click_type=WRITTEN, help="With --plot: .svg or .png (qmd-stats.svg)."),
    ] = None
    plot: Annotated[bool, typer.Option("--plot", help="Draw them, and say where.")] = False
    force: Force = False
    as_json: Json = False

    @property
    def picture(self) -> Path:
        """File of the picture."""
        return self.file or Path("qmd-stats.svg")


def _check_picture(call: Call) -> None:
    from qmd.analytics import charts, picture_files

    options: StatsOutput = call.options
    if options.file is not None and not options.plot:
        raise UsageError(f"{options.file} would be a picture: qmd stats --plot {options.file}")
    if options.plot:
        picture_files.check_picture(options.picture, charts.FORMS)
        if not options.force:
            picture_files.check_replaceable(options.picture)
        extras.require_extra("matplotlib", "matplotlib", "draws the picture", extra="plots")


@command(gather, options=StatsOutput, adjust=_check_picture)
def stats(call: Call, found: Stats) -> None:
    """Write the facts, or draw them."""
    options: StatsOutput = call.options
    if options.plot:
        from qmd.analytics import charts

        title = wording.amount(found.documents, "document")
        if names := call.given.get("collection"):
            title += " in " + ", ".join(names)
        told = charts.draw(found, options.picture, title=title)
        if told:
            notice(told)
    if options.as_json:
        drawn = {"picture": str(options.picture)} if options.plot else {}
        say(formats.as_json(_record(found) | drawn))
    else:
        say(str(options.picture) if options.plot else _report(found))


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


class MapOutput(NamedTuple):
    """Options of `qmd map` alone."""

    file: Annotated[Path, typer.Argument(click_type=WRITTEN, help=".html or .svg.")] = Path(
        "qmd-map.html"
    )
    force: Force = False
    as_json: Json = False


def _check_map(call: Call) -> None:
    from qmd.analytics import document_map, picture_files

    picture_files.check_picture(call.options.file, document_map.FORMS)
    if not call.options.force:
        picture_files.check_replaceable(call.options.file)
    document_map.check_method(call.given.get("method", "pca"))


@command(
    draw,
    options=MapOutput,
    adjust=_check_map,
    progress=lambda _: busy("Drawing the map"),
    warm=True,
)
def map(call: Call, made: Map) -> None:
    """Write the map to its file."""
    file = call.options.file
    made.save(file)
    if len(made.points) < made.documents:
        notice(f"Of {made.documents} documents, {len(made.points)} are on the map: a sample.")
    if made.lacking:
        notice(f"Documents that lack vectors: {made.lacking}. Run 'qmd embed'.")
    if call.options.as_json:
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
