"""Document map as a self-contained SVG picture and HTML page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Protocol

from qmd.analytics.picture_files import COLOURS, OTHERS
from qmd.named_tuple import NamedTuple
from qmd.text.display_width import columns_of, cut_to

WIDTH, HEIGHT = 1200, 800
LEFT, RIGHT, TOP, BOTTOM = 24, 250, 84, 24
"""Margins around the points; the legend is on the right."""

RADIUS = ((200, 5.5), (1000, 4.5), (5000, 3.2), (20_000, 2.2))
"""Radius of the points, by their number."""

LEGEND_COLUMNS = 26
"""Columns of a name in the legend."""

LETTER, LINE = 7.6, 22
"""Width of a column of a label, and the height of its line."""

FONTS = (
    "system-ui, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', 'Hiragino Sans', 'Noto Sans CJK JP', "
    "'Microsoft YaHei', sans-serif"
)

GROUND, INK, PALE = "#ffffff", "#1a1a1a", "#555555"
"""Colours of background, text and secondary text, which also hold on a dark page."""

METHODS = {"pca": "PCA", "tsne": "t-SNE"}

STYLE = f"""\
.qmd-map text {{ font-family: {FONTS}; fill: {INK}; }}
.qmd-map .head {{ font-size: 22px; font-weight: 600; }}
.qmd-map .note {{ font-size: 14px; fill: {PALE}; }}
.qmd-map .legend text {{ font-size: 14px; }}
.qmd-map .labels text {{ font-size: 14px; font-weight: 600; text-anchor: middle; }}
.qmd-map .labels .halo text {{ stroke: {GROUND}; stroke-width: 5px; stroke-linejoin: round; }}
.qmd-map .of > * {{ fill-opacity: 0.8; stroke: {GROUND}; stroke-width: 0.8; }}
"""
"""Style sheet limited to this picture, also inside a notebook."""

_FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class MapPoint(NamedTuple):
    """A document on the map.

    Attributes:
        file: `collection/path`.
        x, y: have no unit; those of two maps cannot be compared.
        group: number of what lies together.
    """

    docid: str
    file: str
    title: str
    collection: str
    x: float
    y: float
    group: int


class ClusterLabel(NamedTuple):
    """Label of a group of documents: terms that others rarely have."""

    x: float
    y: float
    text: str


class MapData(Protocol):
    """Content of a map: see `document_map.Map`."""

    @property
    def method(self) -> str:
        """Key of METHODS."""

    @property
    def model(self) -> str:
        """Name of the model of the vectors."""

    @property
    def documents(self) -> int:
        """Number of documents with vectors."""

    @property
    def lacking(self) -> int:
        """Number of documents without all of their vectors."""

    @property
    def share(self) -> float | None:
        """Share of the variance that can be seen."""

    @property
    def points(self) -> Sequence[MapPoint]:
        """The documents."""

    @property
    def labels(self) -> Sequence[ClusterLabel]:
        """Labels of groups."""


class Position(NamedTuple):
    """A position in the picture."""

    x: float
    y: float


class LegendEntry(NamedTuple):
    """Legend entry of a collection, with its number of documents."""

    name: str
    documents: int
    colour: str
    square: bool


def to_svg(shown: MapData) -> str:
    """Draw the map as SVG."""
    spots = _spots(shown.points)
    keys = _keys(shown.points)
    radius = next((r for count, r in RADIUS if len(shown.points) <= count), RADIUS[-1][1])
    marks: dict[str, list[str]] = {key.name: [] for key in keys}
    by_name = {key.name: key for key in keys}
    for point, spot in zip(shown.points, spots, strict=True):
        key = by_name.get(point.collection) or by_name[""]
        title = f"{_text(point.title)}\n{_text(point.file)} {point.docid}"
        marks[key.name].append(_mark(key, spot, radius, title))
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" class="qmd-map" role="img" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}">',
        f"<title>{_text(_head(shown))}</title>",
        f"<style>{STYLE}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{GROUND}"/>',
        f'<text class="head" x="{LEFT}" y="36">{_text(_head(shown))}</text>',
        f'<text class="note" x="{LEFT}" y="60">{_text(_note(shown))}</text>',
    ]
    for number, key in enumerate(keys):  # the largest below the others
        lines += [f'<g class="of" data-number="{number}" fill="{key.colour}">']
        lines += [*marks[key.name], "</g>"]
    lines += [*_legend(keys), *_labels(shown.labels, shown.points), "</svg>"]
    return "\n".join(lines) + "\n"


def _keys(points: Sequence[MapPoint]) -> list[LegendEntry]:
    """List the legend entries, the largest collection first; '' stands for the small ones."""
    counted = Counter(point.collection for point in points).most_common()
    counted.sort(key=lambda each: (-each[1], each[0]))
    looks = [(colour, square) for square in (False, True) for colour in COLOURS]
    own = len(looks) if len(counted) <= len(looks) else len(looks) - 1
    keys = [LegendEntry(*each, *look) for each, look in zip(counted[:own], looks, strict=False)]
    rest = sum(count for _, count in counted[own:])
    return [*keys, LegendEntry("", rest, OTHERS, False)] if rest else keys


def _mark(key: LegendEntry, spot: Position, radius: float, title: str = "") -> str:
    """Draw a point with its tooltip."""
    told = f"<title>{title}</title>" if title else ""
    if not key.square:
        return f'<circle cx="{spot.x:.1f}" cy="{spot.y:.1f}" r="{radius}">{told}</circle>'
    x, y, side = spot.x - 0.9 * radius, spot.y - 0.9 * radius, 1.8 * radius
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{side:.1f}" height="{side:.1f}">{told}</rect>'


def _spots(points: Sequence[MapPoint]) -> list[Position]:
    """Scale the points to the picture, both axes alike."""
    if not points:
        return []
    low = Position(min(p.x for p in points), min(p.y for p in points))
    high = Position(max(p.x for p in points), max(p.y for p in points))
    room = Position(WIDTH - LEFT - RIGHT - 40, HEIGHT - TOP - BOTTOM - 40)
    scales = [have / (b - a) for have, a, b in zip(room, low, high, strict=True) if b - a > 1e-12]
    scale = min(scales, default=1.0)
    middle = Position(LEFT + 20 + room.x / 2, TOP + 20 + room.y / 2)
    centre = Position((low.x + high.x) / 2, (low.y + high.y) / 2)
    return [
        Position(middle.x + (p.x - centre.x) * scale, middle.y - (p.y - centre.y) * scale)
        for p in points
    ]


def _head(shown: MapData) -> str:
    count = len(shown.points)
    of = f" of {shown.documents}" if count < shown.documents else ""
    return f"{count}{of} document{'' if shown.documents == 1 else 's'} by meaning"


def _note(shown: MapData) -> str:
    parts = [f"{METHODS[shown.method]} of the mean vector of each document ({shown.model})"]
    if shown.share is not None:
        parts.append(f"{shown.share:.0%} of the variance")
    if shown.lacking:
        parts.append(f"documents that lack vectors: {shown.lacking}")
    return "; ".join(parts)


def _legend(keys: Sequence[LegendEntry]) -> list[str]:
    x = WIDTH - RIGHT + 24
    lines = ['<g class="legend">']
    for number, key in enumerate(keys):
        y = TOP + 20 + number * 26
        name = cut_to(key.name, LEGEND_COLUMNS) if key.name else "other collections"
        label = f"{name} ({key.documents})"
        lines.append(
            f'<g class="key" data-number="{number}" fill="{key.colour}">'
            + _mark(key, Position(x, y - 5), 6)
            + f'<text x="{x + 14}" y="{y}">{_text(label)}</text></g>'
        )
    return [*lines, "</g>"]


def _labels(labels: Sequence[ClusterLabel], points: Sequence[MapPoint]) -> list[str]:
    """Place the label of each group; overlapping labels move down."""
    if not labels:
        return []
    where = _spots([*points, *(MapPoint("", "", "", "", x, y, 0) for x, y, _ in labels)])
    placed: list[tuple[float, float, float]] = []
    texts = []
    for label, spot in sorted(zip(labels, where[len(points) :], strict=True), key=lambda e: e[1].y):
        half = LETTER * columns_of(label.text) / 2
        x = min(max(spot.x, LEFT + half), WIDTH - RIGHT - half)
        y = spot.y
        for other_x, other_y, other_half in placed:
            if abs(x - other_x) < half + other_half + 8 and abs(y - other_y) < LINE:
                y = other_y + LINE
        placed.append((x, y, half))
        texts.append(f'<text x="{x:.1f}" y="{y:.1f}">{_text(label.text)}</text>')
    # The halos are letters of their own: not every program paints a stroke below its letter.
    halos = ['<g class="halo" aria-hidden="true">', *texts, "</g>"]
    return ['<g class="labels">', *halos, *texts, "</g>"]


def to_html(shown: MapData) -> str:
    """Build the HTML page: tooltips, a search field, collections that can be hidden."""
    named = {"GROUND": GROUND, "INK": INK, "PALE": PALE, "HEAD": _text(_head(shown))}
    text = PAGE
    for name, value in (*named.items(), ("PICTURE", to_svg(shown))):
        text = text.replace(name, value)
    return text


def _text(text: str) -> str:
    """Escape a text for XML; characters that XML lacks become U+FFFD."""
    return escape(_FORBIDDEN.sub("\ufffd", text))


PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>HEAD</title>
<style>
body { margin: 0; background: GROUND; color: INK; font-family: system-ui, sans-serif; }
svg { display: block; width: 100%; height: 100vh; }
input { position: fixed; top: 16px; right: 24px; width: 200px; padding: 6px 8px; font: inherit;
  font-size: 14px; color: INK; background: GROUND; border: 1px solid PALE; border-radius: 4px; }
#tip { position: fixed; max-width: 40ch; padding: 6px 10px; font-size: 14px; white-space: pre-line;
  overflow-wrap: anywhere; background: GROUND; border: 1px solid PALE; border-radius: 4px;
  box-shadow: 0 2px 8px #0003; pointer-events: none; }
.qmd-map .of > :hover { stroke: #000; stroke-width: 1.5; }
.qmd-map .of > .out { fill-opacity: 0.06; }
.key { cursor: pointer; }
.key.off { opacity: 0.7; }
.key.off text { text-decoration: line-through; }
.labels { pointer-events: none; }
</style>
</head>
<body>
<input type="search" placeholder="Title or file" aria-label="Title or file">
<div id="tip" hidden></div>
PICTURE
<script>
const tip = document.getElementById("tip");
const points = [...document.querySelectorAll(".of > *")];
const texts = new Map();
for (const point of points) {
  const title = point.querySelector("title");
  texts.set(point, title.textContent);
  title.remove();
}
document.querySelector("svg > title").remove();
addEventListener("pointermove", (event) => {
  const text = texts.get(event.target);
  tip.hidden = text === undefined;
  if (tip.hidden) return;
  tip.textContent = text;
  tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px";
  tip.style.top = Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8) + "px";
});
document.querySelector("input").addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  for (const point of points) {
    point.classList.toggle("out", !texts.get(point).toLowerCase().includes(wanted));
  }
});
for (const key of document.querySelectorAll(".key")) {
  key.addEventListener("click", () => {
    const hidden = key.classList.toggle("off");
    const group = document.querySelector(`.of[data-number="${key.dataset.number}"]`);
    group.style.display = hidden ? "none" : "";
  });
}
</script>
</body>
</html>
"""
