"""Projection of vectors to two dimensions: PCA, t-SNE, k-means groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qmd.named_tuple import NamedTuple

Points = NDArray[np.float64]

MIN_POINTS = 5
"""Points that t-SNE needs."""

AXES, NEIGHBOURS = 50, 30.0
"""Axes that t-SNE is given, and its perplexity. Source: van der Maaten and Hinton, Visualizing Data
using t-SNE (2008)."""

KMEANS_ROUNDS = 100
"""Iterations of k-means, at most."""


class Projection(NamedTuple):
    """Points in two dimensions.

    Attributes:
        points: (points, 2).
        share: of the variance that can be seen, 0 to 1; None: undefined.
    """

    points: Points
    share: float | None


def pca(vectors: NDArray[np.float32]) -> Projection:
    """Project to the two axes of greatest variance; deterministic.

    Args:
        vectors: (points, dimensions).
    """
    points, share = _principal(vectors, 2)
    return Projection(points, share)


def tsne(vectors: NDArray[np.float32]) -> Projection:
    """Project by t-SNE: neighbours stay close, other distances mean little; deterministic.

    Args:
        vectors: (points, dimensions); at least `FEWEST`.
    """
    from sklearn.manifold import TSNE

    points, _ = _principal(vectors, AXES)
    if not points.any():  # all in one place
        return Projection(points[:, :2], None)
    perplexity = min(NEIGHBOURS, (len(points) - 1) / 3)
    made = TSNE(perplexity=perplexity, init="pca", random_state=0).fit_transform(points)
    return Projection(np.asarray(made, np.float64), None)


def _principal(vectors: NDArray[np.float32], count: int) -> tuple[Points, float]:
    """Compute coordinates on the axes of greatest variance, and their share of it."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    values, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1][:, :count]
    largest = np.abs(axes).argmax(axis=0)  # an axis has no direction: give it one
    axes = axes * np.sign(axes[largest, np.arange(axes.shape[1])])
    total = float(values.sum())
    share = float(values[::-1][:count].sum()) / total if total > 1e-9 else 0.0
    points = centred @ axes
    if points.shape[1] < 2:
        points = np.pad(points, ((0, 0), (0, 2 - points.shape[1])))
    return points, share


def kmeans(points: Points, count: int) -> NDArray[np.int64]:
    """Assign each point to a group by k-means; deterministic.

    Groups begin with the point in the middle, then with that farthest from all there are.
    """
    first = np.linalg.norm(points - points.mean(axis=0), axis=1).argmin()
    chosen = [int(first)]
    nearest = np.linalg.norm(points - points[first], axis=1)
    while len(chosen) < count:
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, np.linalg.norm(points - points[chosen[-1]], axis=1))
    centres = points[chosen]
    numbers = np.full(len(points), -1)
    for _ in range(KMEANS_ROUNDS):
        distances = np.stack([np.linalg.norm(points - centre, axis=1) for centre in centres])
        before, numbers = numbers, distances.argmin(axis=0)
        if (before == numbers).all():
            break
        for number in range(count):
            if (numbers == number).any():
                centres[number] = points[numbers == number].mean(axis=0)
    return numbers
