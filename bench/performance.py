"""Results of `python -m bench`: as JSON, as the page docs/performance.md, and as a chart."""

from __future__ import annotations

import io
import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bench import anchors
from bench.anchors import Anchor, Anchors
from bench.beside import Row, Table
from bench.figures import cells, number
from bench.growth import Figure, Growth, Operation, exponent
from qmd.analytics.picture_files import COLOURS
from tools.docs import replaced

DOCS = Path(__file__).parents[1] / "docs"

MORE_IS_BETTER = ("requests/s", "kB/s")
DURATIONS = ("s", "ms")
DIGITS = 4
"""Of a figure in the JSON that mean something."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One run of all benchmarks.

    Attributes:
        day: of the run, in UTC.
        seconds: that it took.
        machine: what it ran on, in words.
        versions: of us and of what we use.
        peer: the version of tobi/qmd, or why it was not measured.
        load: processes that wanted a processor before the run, as the system counts them.
        anchors: beside libraries of search; none in the JSON of earlier versions.
    """

    day: str
    seconds: float
    machine: str
    versions: str
    peer: str
    load: float
    tables: tuple[Table, ...]
    growth: Growth
    anchors: tuple[Anchors, ...] = ()


def machine() -> str:
    """Processor, threads, memory and system."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{names[0] if names else platform.processor() or platform.machine()}, "
        f"{os.cpu_count()} hardware threads, {memory:.0f} GB of memory, "
        f"{platform.system()} {platform.release()}"
    )


def versions() -> str:
    """Ours, and those of what does most of the work."""
    names = {"qmd": "qmd-duckdb", "duckdb": "duckdb", "onnxruntime": "onnxruntime"}
    found = [_version(name, package) for name, package in names.items()]
    return ", ".join([*found, f"Python {platform.python_version()}"])


def _version(name: str, package: str) -> str:
    try:
        return f"{name} {version(package)}"
    except PackageNotFoundError:
        return f"no {name}"


def today() -> str:
    """In UTC."""
    return datetime.now(UTC).date().isoformat()


def as_json(measured: Measured) -> str:
    """All of it."""
    return json.dumps(_rounded(asdict(measured)), indent=1, ensure_ascii=False) + "\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def from_json(text: str) -> Measured:
    """Parse the JSON of `as_json`."""
    facts = json.loads(text)
    growth = facts.pop("growth")
    operations = tuple(
        Operation(each["name"], tuple(Figure(*figure) for figure in each["figures"]))
        for each in growth.pop("operations")
    )
    tables = tuple(
        Table(**{**each, "rows": tuple(Row(**row) for row in each["rows"])})
        for each in facts.pop("tables")
    )
    beside = tuple(map(_anchors_of, facts.pop("anchors", ())))
    columns = {name: tuple(values) for name, values in growth.items()}
    grown = Growth(**columns, operations=operations)
    return Measured(**facts, tables=tables, growth=grown, anchors=beside)


def _anchors_of(facts: dict[str, Any]) -> Anchors:
    rows = tuple(Anchor(**row) for row in facts["rows"])
    return Anchors(**{**facts, "rows": rows, "missing": tuple(facts["missing"])})


def page(text: str, measured: Measured) -> str:
    """Fill the generated parts of the page."""
    for name, lines in parts(measured).items():
        text = replaced(text, name, "\n".join(lines) + "\n")
    return text


def parts(measured: Measured) -> dict[str, list[str]]:
    """Generate the parts of the page by name: lines of Markdown."""
    load, minutes = f"{measured.load:.1f}", f"{measured.seconds / 60:.0f}"
    facts = [
        f"- Machine: {measured.machine}; load before the run: {load}",
        f"- Versions: {measured.versions}",
        f"- Beside it: {measured.peer}",
        f"- Day: {measured.day}; the run took {minutes} minutes",
    ]
    tables = [line for table in measured.tables for line in _beside(table)]
    grown = list(_grown(measured.growth))
    beside = [line for table in measured.anchors for line in anchors.markdown(table)]
    return {
        "machine": facts,
        "beside": tables[:-1],
        "libraries": beside[:-1] or ["Not measured."],
        "growth": grown[:-1],
    }


def _beside(table: Table) -> Iterator[str]:
    files, size = f"{table.files:,} files", f"{table.megabytes:.1f} MB"
    yield f"### {table.corpus}: {files}, {size}\n"
    yield "| | | ours | theirs | ratio |\n|---|---|---:|---:|---:|"
    for row in table.rows:
        theirs = "–" if row.theirs is None else number(row.theirs)
        yield f"| {row.what} | {row.unit} | {number(row.ours)} | {theirs} | {_ratio(row)} |"
    yield ""


def _ratio(row: Row) -> str:
    if row.ratio is None:
        return "–"
    return f"{row.ratio:.2f}" if advantage(row) >= 1 else f"**{row.ratio:.2f}**"


def advantage(row: Row) -> float:
    """Compute the factor by which our figure is better.

    Raises:
        ValueError: theirs was not measured.
    """
    if row.ratio is None:
        raise ValueError(f"{row.what} has no ratio")
    return row.ratio if row.unit in MORE_IS_BETTER else 1 / row.ratio


def _grown(growth: Growth) -> Iterator[str]:
    names = [each.name for each in growth.operations]
    seconds = [[figure.seconds for figure in each.figures] for each in growth.operations]
    work = [[figure.cpu for figure in each.figures] for each in growth.operations]
    memory = [[figure.memory for figure in each.figures] for each in growth.operations]
    commands = {name: row for name, row in zip(names, work, strict=True) if None not in row}
    sizes = {"texts": growth.megabytes, "index": growth.index}
    yield from _sizes_table("s", dict(zip(names, seconds, strict=True)), growth.sizes)
    yield from _sizes_table("s CPU", commands, growth.sizes)
    yield from _sizes_table("MB of memory", dict(zip(names, memory, strict=True)), growth.sizes)
    yield from _sizes_table("MB on disk", sizes, growth.sizes)


def _sizes_table(
    unit: str, rows: Mapping[str, Sequence[float]], sizes: Sequence[int]
) -> Iterator[str]:
    heads = [f"{size:,}" for size in sizes]
    yield cells(unit, *heads, "exponent", "last step")
    yield "|---|" + "---:|" * (len(heads) + 2)
    for name, values in rows.items():
        yield cells(name, *map(number, values), *exponents(sizes, values))
    yield ""


def exponents(sizes: Sequence[int], values: Sequence[float]) -> tuple[str, str]:
    """Of all sizes, and of the last two."""
    if len(sizes) < 2:
        return "–", "–"
    slopes = exponent(sizes, values), exponent(sizes[-2:], values[-2:])
    first, last = (f"{round(slope, 2) + 0:.2f}" for slope in slopes)
    return first, last


def chart(measured: Measured) -> bytes:
    """Draw an SVG: the growth of times on the left, our advantage on the right."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Canvas

    look = {
        "svg.fonttype": "none",
        "svg.hashsalt": "qmd",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlelocation": "left",
    }
    with rc_context(look):
        canvas = Canvas(figsize=(13, 7), layout="constrained", facecolor="white")
        left, right = canvas.subplots(1, 2)
        _draw_growth(left, measured.growth)
        _draw_ratios(right, measured.tables)
        canvas.legend(*left.get_legend_handles_labels(), loc="outside lower left", **LEGEND, ncol=4)
        made = io.BytesIO()
        canvas.savefig(made, format="svg", metadata={"Date": None})
    return made.getvalue()


LEGEND = {"fontsize": 8, "frameon": False}


def _draw_growth(axes: Any, growth: Growth) -> None:
    for place, each in enumerate(growth.operations):
        axes.plot(
            growth.sizes,
            [figure.seconds for figure in each.figures],
            color=COLOURS[place % len(COLOURS)],
            linestyle="-" if place < len(COLOURS) else "--",
            marker="o" if place < len(COLOURS) else "s",
            label=each.name,
        )
    axes.set(xscale="log", yscale="log", xlabel="documents", ylabel="seconds")
    axes.set_xticks(growth.sizes, [f"{size:,}" for size in growth.sizes])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_title("Time of each operation, as the index grows")
    axes.grid(alpha=0.3)


def _draw_ratios(axes: Any, tables: Sequence[Table]) -> None:
    from matplotlib.ticker import LogLocator

    drawn = [list(_drawn(table)) for table in tables]
    if not any(drawn):
        axes.set_title("tobi/qmd was not measured")
        axes.axis("off")
        return
    names = [f"{row.what}, {row.unit}" for row in drawn[0]]
    height = 0.8 / len(tables)
    for place, (table, rows) in enumerate(zip(tables, drawn, strict=True)):
        axes.barh(
            [at + place * height for at in range(len(rows))],
            [advantage(row) - 1 for row in rows],
            height,
            left=1,
            color=COLOURS[place % len(COLOURS)],
            label=f"{table.corpus}, {table.files:,} files",
        )
    axes.set_yticks([at + 0.4 - height / 2 for at in range(len(names))], names, fontsize=8)
    axes.set(xscale="log", xlabel="times better than tobi/qmd: right of the line is better")
    axes.set_title("Speed beside tobi/qmd")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.invert_yaxis()
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.legend(**LEGEND)


def _drawn(table: Table) -> Iterator[Row]:
    """Rows about speed: rates, and times of what has no rate, without those of the slowest."""
    rates = tuple(row.what for row in table.rows if row.unit in MORE_IS_BETTER)
    for row in table.rows:
        is_time = row.unit in DURATIONS and not row.what.endswith("p95")
        is_wanted = row.unit in MORE_IS_BETTER or (is_time and not row.what.startswith(rates))
        if row.ratio is not None and is_wanted:
            yield row


def write(measured: Measured, folder: Path) -> None:
    """Write the JSON, the page and the chart."""
    text = as_json(measured)
    measured = from_json(text)
    (folder / "performance.json").write_text(text, encoding="utf-8")
    whole = page((DOCS / "performance.md").read_text(encoding="utf-8"), measured)
    (folder / "performance.md").write_text(whole, encoding="utf-8")
    (folder / "performance.svg").write_bytes(chart(measured))
