"""Drawing of a map of meaning: points of documents as one picture, labels and hits above it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from qmd.named_tuple import NamedTuple
from qmd.text.display_width import columns_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qmd.analytics.document_map import Map

WIDTH, HEIGHT, MARGIN = 1000, 640, 24
"""Of the picture and the room at its sides, in units of its view box."""

COLOURS = (
    "#0b8a7e",
    "#c0662a",
    "#4a7fd0",
    "#b5549b",
    "#7d8420",
    "#cf4f4f",
    "#8a6fd1",
    "#7c8784",
)
"""Of collections; the last one is that of all further ones. Each has a contrast of more than 3 to
the light and to the dark background of the page (WCAG 1.4.11)."""

DOTS = ((300, 9.0), (2000, 6.0), (8000, 4.5), (20_000, 3.2))
"""Diameter of the points, by their number."""

LETTER, LINE = 6.6, 17
"""Width of a column of a label, and its height."""

NEAR = 12
"""Documents that are listed around a place."""


class GroupLabel(NamedTuple):
    """A place of the drawing with what stands there."""

    x: float
    y: float
    text: str


class MapKey(NamedTuple):
    """Entry of the legend.

    Attributes:
        number: of its colour.
    """

    name: str
    documents: int
    number: int


class MapDrawing(NamedTuple):
    """A map of documents, ready to be drawn.

    Attributes:
        places: whole numbers, (documents, 2), in units of the view box.
        files, titles: of each document.
        colours: number of the colour of each document.
        lacking: documents without vectors.
        documents: with vectors, of which at most `MAX_DOCUMENTS` are on the map.
    """

    places: NDArray[np.int64]
    files: list[str]
    titles: list[str]
    colours: list[int]
    labels: list[GroupLabel]
    keys: list[MapKey]
    model: str
    documents: int
    lacking: int

    def near(self, x: float, y: float, count: int = NEAR) -> list[int]:
        """List the documents nearest to a place, the nearest first."""
        import numpy as np

        distances = ((self.places - np.array([x, y])) ** 2).sum(axis=1)
        nearest: list[int] = np.argsort(distances, kind="stable")[:count].tolist()
        return nearest

    def svg(self) -> str:
        """Draw all points: a path for each colour, since an element for each would be heavy."""
        dot = next((d for most, d in DOTS if len(self.files) <= most), DOTS[-1][1])
        paths = []
        for colour in sorted(set(self.colours)):
            chosen = [at for at, each in enumerate(self.colours) if each == colour]
            # Points on the same place are drawn once.
            spots = sorted({(x, y) for x, y in self.places[chosen].tolist()})
            x = y = 0
            steps = []
            for to_x, to_y in spots:
                steps.append(f"m{to_x - x} {to_y - y}h0")
                x, y = to_x, to_y
            paths.append(f'<path stroke="{COLOURS[colour]}" d="{"".join(steps)}"/>')
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" fill="none" '
            f'stroke-width="{dot}" stroke-linecap="round" stroke-opacity=".75">'
            f"{''.join(paths)}</svg>\n"
        )


def map_drawing(made: Map) -> MapDrawing:
    """Arrange the points of a map in the picture, both axes to the same scale."""
    import numpy as np

    points = list(made.points)
    places = np.array([(point.x, -point.y) for point in points], np.float64)
    low, high = places.min(axis=0), places.max(axis=0)
    room = np.array([WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN])
    span = high - low
    scale = min((room[span > 0] / span[span > 0]).tolist(), default=1.0)
    middle, centre = np.array([WIDTH / 2, HEIGHT / 2]), (low + high) / 2

    counted = Counter(point.collection for point in points).most_common()
    numbers = {name: min(at, len(COLOURS) - 1) for at, (name, _) in enumerate(counted)}
    centres = np.array([(each.x, -each.y) for each in made.labels], np.float64).reshape(-1, 2)
    spots = [
        GroupLabel(float(x), float(y), each.text)
        for (x, y), each in zip((centres - centre) * scale + middle, made.labels, strict=True)
    ]
    return MapDrawing(
        np.rint((places - centre) * scale + middle).astype(np.int64),
        [point.file for point in points],
        [point.title for point in points],
        [numbers[point.collection] for point in points],
        _apart(spots),
        [MapKey(name, count, numbers[name]) for name, count in counted[: len(COLOURS) + 8]],
        made.model,
        made.documents,
        made.lacking,
    )


def _apart(spots: Sequence[GroupLabel]) -> list[GroupLabel]:
    """Keep labels inside the picture, and move those down that would lie upon another."""
    placed: list[GroupLabel] = []
    for spot in sorted(spots, key=lambda each: each.y):
        half = LETTER * columns_of(spot.text) / 2 + 6
        x, y = min(max(spot.x, half), WIDTH - half), max(spot.y, LINE)
        for other in placed:
            apart = half + LETTER * columns_of(other.text) / 2 + 6
            if abs(x - other.x) < apart and abs(y - other.y) < LINE:
                y = other.y + LINE
        placed.append(GroupLabel(round(x, 1), round(min(y, HEIGHT - 6), 1), spot.text))
    return placed
