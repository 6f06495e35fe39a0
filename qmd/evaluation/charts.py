"""Chart of quality against latency."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from qmd import files
from qmd.analytics import picture_files
from qmd.errors import UsageError, extras
from qmd.named_tuple import NamedTuple

FORMS = (".png", ".svg")

INCHES, DOTS = (8.0, 5.0), 150
"""Size of the picture, and its dots in an inch."""

LOGARITHMIC_RATIO = 20
"""Ratio of the longest to the shortest time from which on the axis is logarithmic."""


class Point(NamedTuple):
    """A search method in the chart.

    Attributes:
        milliseconds: None: unknown.
    """

    name: str
    quality: float
    milliseconds: float | None


def check_drawable(path: Path, *, force: bool = False) -> None:
    """Refuse to begin, if the picture could not be drawn at the end.

    Args:
        force: replace an existing file, even if it is no picture of qmd.

    Raises:
        UsageError: its form is unknown, its folder missing, it would replace something else, or
            matplotlib is not installed.
    """
    if path.suffix.lower() not in FORMS:
        raise UsageError(f"A chart is a file ending in {' or '.join(FORMS)}, not {path.name}.")
    files.check_writable(path)
    if not force:
        picture_files.check_replaceable(path)
    extras.require_extra("matplotlib", "matplotlib", "draws the chart", extra="bench")


def draw(points: Sequence[Point], path: Path, *, title: str, quality: str) -> None:
    """Draw each way to answer as a point; one without a time as a line across.

    Args:
        quality: name of the metric.

    Raises:
        UsageError: the file cannot be written.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    figure = Figure(figsize=INCHES, dpi=DOTS, layout="constrained")
    axes = figure.add_subplot()
    for number, (name, value, milliseconds) in enumerate(points):
        label, colour = f"{name}  {value:.3f}", f"C{number}"
        if milliseconds is None:
            axes.axhline(value, color=colour, linestyle="--", label=label)
        else:
            axes.scatter([milliseconds], [value], s=90, color=colour, label=label, zorder=3)
    axes.margins(0.15)
    times = [point.milliseconds for point in points if point.milliseconds is not None]
    if not times:
        axes.set_xticks([])
    elif max(times) < LOGARITHMIC_RATIO * min(times):
        axes.set_xlim(left=0)
    else:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(visible=True, alpha=0.3)
    axes.set_xlabel("median time of a query, milliseconds", fontsize=12)
    axes.set_ylabel(quality, fontsize=12)
    axes.set_title(title, fontsize=13)
    axes.legend(fontsize=11)
    made = io.BytesIO()
    form = path.suffix.lower().removeprefix(".")
    # By this it is known again, when another one is to take its place.
    own = {"Title" if form == "svg" else "Software": "qmd bench"}
    with rc_context({"svg.fonttype": "none"}):  # letters, not their outlines
        figure.savefig(made, format=form, metadata=own)
    picture_files.write(path, made.getvalue())
