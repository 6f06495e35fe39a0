"""Where the points of a map lie, and which are together."""

from __future__ import annotations

import numpy as np
import pytest

from qmd.analytics import projection


def test_the_axes_of_pca_are_those_along_which_points_differ_most():
    line = np.array([[3.0, 0, 0], [-3, 0, 0], [0, 1, 0], [0, -1, 0]], np.float32)
    found = projection.pca(line)
    assert np.allclose(found.points, line[:, :2])
    assert found.share == pytest.approx(1)


def test_an_axis_has_a_direction_that_does_not_change_with_the_order_of_points():
    points = np.random.default_rng(0).normal(size=(40, 7)).astype(np.float32)
    assert np.allclose(projection.pca(points).points, projection.pca(points[::-1]).points[::-1])


@pytest.mark.parametrize("shape", [(1, 5), (3, 1), (2, 2)])
def test_few_points_lie_somewhere(shape):
    found = projection.pca(np.ones(shape, np.float32))
    assert found.points.shape == (shape[0], 2)
    assert np.isfinite(found.points).all()
    assert found.share == 0


def test_groups_are_those_that_lie_together():
    corners = np.array([[0.0, 0], [10, 0], [0, 10]])
    points = np.repeat(corners, 5, axis=0) + np.tile(np.arange(5)[:, None] / 10, (3, 2))
    numbers = projection.kmeans(points, 3)
    assert len(set(numbers)) == 3
    assert all(len(set(numbers[at : at + 5])) == 1 for at in (0, 5, 10))


def test_fewer_places_than_groups_are_no_problem():
    assert set(projection.kmeans(np.zeros((4, 2)), 3)) == {0}


def test_neighbours_stay_neighbours_in_tsne():
    pytest.importorskip("sklearn")
    centres = np.eye(2, 8).repeat(10, axis=0) * 10
    vectors = (centres + np.random.default_rng(0).normal(size=(20, 8))).astype(np.float32)
    points = projection.tsne(vectors).points
    assert np.array_equal(points, projection.tsne(vectors).points)
    middles = points[:10].mean(axis=0), points[10:].mean(axis=0)
    apart = np.linalg.norm(middles[0] - middles[1])
    assert all(np.linalg.norm(point - middles[0]) < apart / 2 for point in points[:10])
    assert not projection.tsne(np.ones((6, 3), np.float32)).points.any()
