"""Map of documents: neighbours are similar in meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from qmd.analytics import statistics
from qmd.analytics.map_svg import ClusterLabel, MapPoint, to_html, to_svg
from qmd.analytics.picture_files import check_picture, write
from qmd.analytics.rows import Rows
from qmd.embedding.vector_status import IndexWithModels, other_vectors_notice, vector_status
from qmd.errors import NotEmbedded, UsageError, extras
from qmd.errors.base import advised
from qmd.quoting import command
from qmd.storage import catalog
from qmd.storage.cursor import Cursor

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qmd.analytics.statistics import Mapped
    from qmd.models.selection import Space

Method = Literal["pca", "tsne"]

FORMS = (".html", ".svg")

MAX_DOCUMENTS = 20_000
"""Documents on a map: a browser still moves them easily."""

LABELLED, GROUPS = 20, 12
"""Documents from which on groups have labels, and groups at most."""

OF_A_GROUP = 10
"""Documents of a group, about, while there are not too many groups."""

SMALLEST, TERMS = 3, 2
"""Documents of a group with a label, at least, and terms in it at most."""


@dataclass(frozen=True, slots=True)
class Map:
    """A map of documents in two dimensions.

    Attributes:
        model: whose vectors it was made of.
        documents: that have some, and would be on it if they were not too many.
        lacking: documents of the index without all of their vectors.
        share: of the variance that can be seen, 0 to 1; None: undefined.
    """

    method: Method
    model: str
    documents: int
    lacking: int
    share: float | None
    points: Rows[MapPoint] = field(repr=False)
    labels: list[ClusterLabel] = field(repr=False)

    def svg(self) -> str:
        """Render the map as SVG, with titles as tooltips."""
        return to_svg(self)

    def html(self) -> str:
        """Render the map as a self-contained HTML page."""
        return to_html(self)

    def save(self, path: Path | str) -> None:
        """Write the map as .html or .svg, in place of what is there.

        Raises:
            UsageError: the file has another ending, or cannot be written.
        """
        path = Path(path)
        check_picture(path, FORMS)
        text = self.svg() if path.suffix.lower() == ".svg" else self.html()
        write(path, text.encode())

    def _repr_html_(self) -> str:
        return self.svg()


def check_method(method: str) -> None:
    """Refuse a method that cannot be used here.

    Raises:
        UsageError: it is unknown, or scikit-learn not installed.
    """
    if method not in ("pca", "tsne"):
        raise UsageError(f"Unknown method: {method}. Valid: pca, tsne.")
    if method == "tsne":
        extras.require_extra("scikit-learn", "sklearn", "computes t-SNE", extra="plots")


def make(index: IndexWithModels, names: Sequence[str] = (), *, method: Method = "pca") -> Map:
    """Build the map of some collections, or of all.

    A document lies where the mean of the vectors of its passages does.

    Raises:
        CollectionNotFound: no collection has one of the names.
        NotEmbedded: there are no vectors of the model in use.
        ModelError: its file is not here.
        UsageError: the method cannot be used here, or there are too few documents for it, or none
            with vectors in these collections.
    """
    from qmd.analytics import projection

    check_method(method)
    space, state = vector_status(index)
    found, vectors = index.read(partial(_vectors, space=space, names=names))
    if not found and state.vectors and names:
        chosen = (word for name in names for word in ("-c", name))
        raise UsageError(
            f"No document of {', '.join(names)} has vectors yet.\n\nRun "
            f"{command('qmd', 'embed', *chosen)} first."
        )
    if not found:
        raise NotEmbedded(other_vectors_notice(index))
    if method == "tsne" and len(found) < projection.MIN_POINTS:
        raise UsageError(
            f"t-SNE needs {projection.MIN_POINTS} documents with vectors; there are {len(found)}.",
            advice=advised("Use {}.", command="--method pca", python='method="pca"'),
        )
    points, share = projection.tsne(vectors) if method == "tsne" else projection.pca(vectors)
    labels, groups = [], [0] * len(found)
    if len(found) >= LABELLED:
        numbers = projection.kmeans(points, min(GROUPS, max(2, len(found) // OF_A_GROUP)))
        groups = numbers.tolist()
        work = partial(
            statistics.distinguishing_terms,
            document_ids=[each.document_id for each in found],
            groups=groups,
            limit=TERMS,
        )
        for number, terms in index.read(work).items():
            if groups.count(number) >= SMALLEST:
                x, y = points[numbers == number].mean(axis=0).tolist()
                labels.append(ClusterLabel(x, y, " · ".join(terms)))
    rows = [
        MapPoint(
            f"#{each.hash[:6]}",
            f"{each.collection}/{each.path}",
            each.title,
            each.collection,
            x,
            y,
            group,
        )
        for each, (x, y), group in zip(found, points.tolist(), groups, strict=True)
    ]
    return Map(
        method, space.model.name, found[0].total, state.lacking, share, Rows(MapPoint, rows), labels
    )


def _vectors(
    cursor: Cursor, *, space: Space, names: Sequence[str]
) -> tuple[list[Mapped], NDArray[np.float32]]:
    """Load the documents with vectors, each with its mean vector."""
    import numpy as np

    from qmd.embedding import vectors as embeddings

    catalog.check_collections(cursor, names)
    stored = {each.fingerprint: each for each in embeddings.models(cursor)}
    known = stored.get(space.fingerprint)
    if known is None:
        return [], np.empty((0, 0), np.float32)
    found = statistics.mapped(cursor, names, model_id=known.model_id, limit=MAX_DOCUMENTS)
    hashes = [each.hash for each in found]
    return found, statistics.means(
        cursor, hashes, model_id=known.model_id, dimensions=known.dimensions
    )
