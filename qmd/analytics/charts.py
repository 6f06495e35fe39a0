"""Charts of statistics: documents over time, sizes, collections."""

from __future__ import annotations

import io
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qmd.analytics.picture_files import COLOURS, OTHERS, write
from qmd.analytics.report import Stats
from qmd.wording import amount, size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from qmd.analytics.statistics import Month

FORMS = (".svg", ".png")

AUTHOR = "qmd stats"
"""Author that identifies our pictures: see `qmd.analytics.picture_files.MARKS`."""

INCHES, DOTS = (11.0, 7.0), 150
"""Size of the picture, and its dots in an inch."""

MAX_YEARS = 200
"""Years that are drawn at most: a document may claim year 1, or 9999."""

MAX_MONTHS = 60
"""Months between the first and the last document from which on a bar is a year."""

MAX_BARS = 12
"""Collections with a bar of their own."""

MAX_NAME_LENGTH = 24
"""Characters of a name."""

FONTS = (
    "Noto Sans CJK JP",
    "Noto Sans JP",
    "Noto Sans CJK SC",
    "Source Han Sans",
    "Hiragino Sans",
    "PingFang SC",
    "Apple SD Gothic Neo",
    "Yu Gothic",
    "Microsoft YaHei",
    "Malgun Gothic",
    "WenQuanYi Zen Hei",
    "IPAexGothic",
    "NanumGothic",
    "Arial Unicode MS",
)
"""Fonts with Chinese, Japanese or Korean glyphs that a machine may have."""


def draw(facts: Stats, path: Path, *, title: str) -> str | None:
    """Draw documents over time, their sizes and their collections.

    Returns:
        Notice for the user, or None.

    Raises:
        UsageError: the file cannot be written.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    form = path.suffix.lower().removeprefix(".")
    with rc_context(_style()), _missing_letters() as missing:
        spaced = ConstrainedLayoutEngine(h_pad=0.12, w_pad=0.12)
        figure = Figure(figsize=INCHES, dpi=DOTS, layout=spaced, facecolor="white")
        grid = figure.add_gridspec(2, 2, height_ratios=(1.1, 1))
        _over_time(figure.add_subplot(grid[0, :]), facts)
        _by_size(figure.add_subplot(grid[1, 0]), facts)
        _by_collection(figure.add_subplot(grid[1, 1]), facts)
        figure.suptitle(title, fontsize=15)
        made = io.BytesIO()
        own = {"Creator": AUTHOR, "Date": None} if form == "svg" else {"Software": AUTHOR}
        figure.savefig(made, format=form, metadata=own)
    write(path, made.getvalue())
    if missing and form == "png":
        return "This machine has no font for some of the names. Draw to .svg: a browser may have."
    return None


def _style() -> dict[Any, Any]:
    from matplotlib import font_manager

    here = set(font_manager.get_font_names())
    return {
        "font.family": ["DejaVu Sans", *(name for name in FONTS if name in here)],
        "svg.fonttype": "none",  # letters, not their outlines
        "svg.hashsalt": "qmd",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "axes.titlesize": 12,
        "axes.titlelocation": "left",
        "axes.formatter.use_mathtext": False,
    }


@contextmanager
def _missing_letters() -> Iterator[list[str]]:
    """Collect matplotlib's warnings of missing glyphs."""
    missing: list[str] = []
    with warnings.catch_warnings(record=True) as told:
        warnings.filterwarnings("always", "Glyph .* missing from", UserWarning)
        yield missing
        for each in told:
            text = str(each.message)
            if text.startswith("Glyph"):
                missing.append(text)
            else:
                warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)


def _looks(facts: Stats) -> dict[str, str]:
    """Assign a colour to each of the largest collections; '' stands for the others."""
    names = [each.name for each in facts.collections if each.documents]
    own = len(COLOURS) if len(names) <= len(COLOURS) else len(COLOURS) - 1
    looks = dict(zip(names[:own], COLOURS, strict=False))
    return {**looks, "": OTHERS} if len(names) > own else looks


def _over_time(axes: Axes, facts: Stats) -> None:
    """Draw a bar for each month or year, stacked by collection."""
    if not facts.months:
        _empty(axes, "Documents over time")
        return
    axes.set_ylabel("documents")
    months, beyond = _most(facts.months)
    first, last = months[0].month, months[-1].month
    by_year = (last.year - first.year) * 12 + last.month - first.month >= MAX_MONTHS
    title = f"Documents over time, by {'year' if by_year else 'month'}"
    axes.set_title(
        title + (f" ({amount(beyond, 'document')} from far off left out)" * (beyond > 0))
    )
    looks = _looks(facts)
    counted: dict[str, Counter[int]] = {name: Counter() for name in looks}
    for each in months:
        at = each.month.year if by_year else 12 * each.month.year + each.month.month - 1
        counted[each.collection if each.collection in looks else ""][at] += each.documents
    begin, end = (first.year, last.year) if by_year else (_number(first), _number(last))
    places = range(begin, end + 1)
    below = [0] * len(places)
    for name, colour in looks.items():
        heights = [counted[name][place] for place in places]
        label = _cut(name) if name else "other collections"
        label = label if label[0] != "_" else "\u200b" + label  # else it would be left out
        axes.bar(places, heights, bottom=below, width=0.85, color=colour, label=label)
        below = [a + b for a, b in zip(below, heights, strict=True)]
    axes.set_xlim(begin - 0.8, max(end, begin + 5) + 0.8)
    _marks(axes, places, by_year=by_year)
    _whole_numbers(axes)
    if len(looks) > 1:
        axes.legend(fontsize=9, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))


def _most(months: Sequence[Month]) -> tuple[list[Month], int]:
    """Choose the years with most documents: their months, and the number of other documents."""
    of: Counter[int] = Counter()
    for each in months:
        of[each.month.year] += each.documents

    def within(first: int) -> int:
        return sum(count for year, count in of.items() if first <= year < first + MAX_YEARS)

    first = max(of, key=lambda year: (within(year), year))
    shown = [each for each in months if first <= each.month.year < first + MAX_YEARS]
    return shown, sum(of.values()) - within(first)


def _number(month: date) -> int:
    return 12 * month.year + month.month - 1


def _marks(axes: Axes, places: range, *, by_year: bool) -> None:
    """Label the years below the bars, and the months if there are few."""
    if by_year:
        step = max(1, len(places) // 15)
        axes.set_xticks(list(places)[::step], [f"{place:04}" for place in places][::step])
    elif len(places) <= 15:
        axes.set_xticks(list(places), [*map(_month, places)], rotation=30, ha="right")
    else:
        shown = [place for place in places if place % 6 == 0]
        axes.set_xticks(shown, [*map(_month, shown)])


def _month(number: int) -> str:
    return f"{number // 12:04}-{number % 12 + 1:02}"


def _by_size(axes: Axes, facts: Stats) -> None:
    """Draw a bar for each size bucket."""
    if not facts.sizes:
        _empty(axes, "Sizes of files")
        return
    axes.set_title("Sizes of files")
    axes.set_ylabel("documents")
    documents = {each.at_least: each.documents for each in facts.sizes}
    begin, end = facts.sizes[0].at_least, facts.sizes[-1].at_least
    series = [digit * 10**power for power in range(20) for digit in (1, 2, 5)]
    starts = [start for start in series if begin <= start <= end]
    heights = [documents.get(start, 0) for start in starts]
    axes.bar(range(len(starts)), heights, width=0.9, color=COLOURS[0])
    step = max(1, len(starts) // 8)
    axes.set_xticks([at - 0.5 for at in range(len(starts))][::step], [*map(size, starts)][::step])
    axes.set_xlim(-0.9, max(len(starts), 5) - 0.1)
    axes.set_xlabel("from one mark to the next")
    _whole_numbers(axes)


def _by_collection(axes: Axes, facts: Stats) -> None:
    """Draw a bar for each collection."""
    found = [each for each in facts.collections if each.documents]
    if not found:
        _empty(axes, "Collections")
        return
    looks = _looks(facts)
    shown = [(_cut(each.name), each.documents, each.bytes, each.name) for each in found[:MAX_BARS]]
    if len(found) > MAX_BARS:
        rest = found[MAX_BARS - 1 :]
        count = sum(each.documents for each in rest)
        name = f"{len(rest)} others"
        shown = [*shown[: MAX_BARS - 1], (name, count, sum(each.bytes for each in rest), "")]
    shown.reverse()
    axes.set_title("Collections")
    axes.set_xlabel("documents")
    colours = [looks.get(name, OTHERS) for _, _, _, name in shown]
    bars = axes.barh(
        range(len(shown)), [count for _, count, _, _ in shown], height=0.75, color=colours
    )
    axes.set_yticks(range(len(shown)), [name for name, _, _, _ in shown])
    axes.bar_label(bars, [size(total) for _, _, total, _ in shown], padding=4, fontsize=9)
    axes.margins(x=0.18)
    axes.set_ylim(min(-0.6, len(shown) - 5), len(shown) - 0.4)
    _whole_numbers(axes, upright=False)


def _empty(axes: Axes, title: str) -> None:
    axes.set_title(title)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.text(0.5, 0.5, "no documents", ha="center", transform=axes.transAxes, color="#555555")


def _whole_numbers(axes: Axes, *, upright: bool = True) -> None:
    from matplotlib.ticker import MaxNLocator

    axis = axes.yaxis if upright else axes.xaxis
    axis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    axis.grid(visible=True, alpha=0.3)


def _cut(name: str) -> str:
    """Shorten and escape a name for matplotlib, where `$` would begin a formula."""
    text = name if len(name) <= MAX_NAME_LENGTH else name[: MAX_NAME_LENGTH - 1] + "…"
    return text.replace("$", r"\$")
