"""Picture of qmd, docs/how-it-works.svg: from files to answers.

python -m tools.picture
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

PICTURE = Path(__file__).parents[1] / "docs" / "how-it-works.svg"

WIDTH, HEIGHT = 1000, 440
INK, FAINT, PAPER, LINE = "#1f2933", "#5f6c7b", "#fbfaf7", "#c9c4b8"
FILES, WORK, INDEX, SEARCH, WHO = "#f3e3c3", "#dbe7d3", "#fde08a", "#d4e4f2", "#ecdcef"

STYLE = f"""
text {{ font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: {INK} }}
.head {{ font-size: 15px; font-weight: 600 }}
.code {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace }}
.line {{ font-size: 12.5px; fill: {FAINT} }}
.arrow {{ fill: none; stroke: {FAINT}; stroke-width: 1.6; marker-end: url(#tip) }}
"""


def box(
    left: int, top: int, width: int, height: int, colour: str, head: str, *lines: str
) -> Iterator[str]:
    """Draw a box with a head and lines; a head in backticks is a command."""
    yield (
        f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="9" '
        f'fill="{colour}" stroke="{LINE}"/>'
    )
    yield from written(left + 14, top + 25, head, lines)


def written(left: int, top: int, head: str, lines: Sequence[str]) -> Iterator[str]:
    """Write a head and lines below it."""
    kind = "head code" if head.startswith("`") else "head"
    yield f'<text class="{kind}" x="{left}" y="{top}">{escape(head.strip("`"))}</text>'
    for number, line in enumerate(lines):
        y = top + 21 + 18 * number
        yield f'<text class="line" x="{left}" y="{y}">{escape(line)}</text>'


def cylinder(left: int, top: int, width: int, height: int, head: str, *lines: str) -> Iterator[str]:
    """Draw a database."""
    deep, right, bottom = 16, left + width, top + height
    half = width / 2
    yield (
        f'<path d="M{left} {top + deep} a{half} {deep} 0 0 1 {width} 0 V{bottom - deep} '
        f'a{half} {deep} 0 0 1 -{width} 0 Z" fill="{INDEX}" stroke="{LINE}"/>'
        f'<path d="M{left} {top + deep} a{half} {deep} 0 0 0 {right - left} 0" '
        f'fill="none" stroke="{LINE}"/>'
    )
    yield from written(left + 16, top + 62, head, lines)


def arrow(*points: tuple[int, int]) -> str:
    """Draw a line through points, with an arrowhead at its end."""
    way = " ".join(f"{x},{y}" for x, y in points)
    return f'<polyline class="arrow" points="{way}"/>'


def parts() -> Iterator[str]:
    """Draw all shapes, from left to right."""
    yield '<text class="head" x="28" y="42">From files to answers</text>'
    files = ("notes", "minutes", "docs", "code", "", "stay where they", "are, unchanged")
    yield from box(28, 108, 132, 172, FILES, "Your files", *files)
    yield arrow((160, 132), (198, 132))
    updated = ("walk", "compare with the index", "read what has changed", "words become postings")
    yield from box(200, 70, 196, 118, WORK, "`qmd update`", *updated)
    embedded = ("texts are cut into passages,", "a model makes vectors,", "here or at an endpoint")
    yield from box(200, 208, 196, 100, WORK, "`qmd embed`", *embedded)
    yield arrow((396, 132), (434, 132))
    yield arrow((436, 236), (398, 236))
    yield arrow((396, 280), (434, 280))
    kept = ("texts", "frontmatter", "postings", "vectors", "experience records")
    yield from cylinder(436, 66, 150, 250, "`index.duckdb`", *kept)
    asked = (
        ("`search`", "words: BM25"),
        ("`vsearch`", "meaning: cosine"),
        ("`query`", "both, added up"),
        ("`sql`", "all of it, read-only"),
    )
    for number, (name, what) in enumerate(asked):
        top = 70 + 62 * number
        yield from box(626, top, 150, 54, SEARCH, name, what)
        yield arrow((626, top + 27), (588, top + 27))
    who = (("You", "in a terminal"), ("Agents", "MCP, HTTP"), ("Programs", "Python, JSON, Arrow"))
    for number, (name, what) in enumerate(who):
        top = 70 + 87 * number
        yield from box(814, top, 158, 66, WHO, name, what)
        yield arrow((814, top + 33), (778, top + 33))
    yield from written(
        28,
        362,
        "One file, any number of processes",
        (
            "A writer holds the index for one batch, a reader for one question; a process that is "
            "killed leaves nothing to repair.",
            "Scores are counted in the query, so they are exact after every change. "
            "No server has to run.",
        ),
    )


def svg(title: str, shapes: Iterator[str], height: int = HEIGHT) -> str:
    """Write shapes as an SVG picture."""
    drawing = "\n".join(shapes)
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">
<title>{title}</title>
<style>{STYLE}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"
orient="auto"><path d="M0 0 L8 4 L0 8 Z" fill="{FAINT}"/></marker></defs>
<rect x="1" y="1" width="{WIDTH - 2}" height="{height - 2}" rx="14" fill="{PAPER}" stroke="{LINE}"/>
{drawing}
</svg>
"""


def drawn() -> str:
    """Draw the picture."""
    return svg("qmd: files become an index, which people, agents and programs ask", parts())


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
