"""Similarities of vectors with the sums and the rounding of DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def summed_in_order(
    vectors: NDArray[np.float32], vector: NDArray[np.float32], *, is_fused: bool
) -> NDArray[np.float32]:
    """Compute dot products as DuckDB does: one number after another in 32 bits.

    A query gets the same scores from either.

    Args:
        is_fused: whether products are added before they are rounded, which DuckDB 2 does. A product
            of two numbers of 32 bits is exact in 64.
    """
    wide = np.float64 if is_fused else np.float32
    summed = np.zeros(len(vectors), np.float32)
    for numbers, factor in zip(np.ascontiguousarray(vectors.T), vector, strict=True):
        summed = (summed + numbers.astype(wide) * wide(factor)).astype(np.float32)
    return summed


def rounded_scores(scores: NDArray[np.float32]) -> NDArray[np.float64]:
    """Round to six places, halves away from 0, as DuckDB does."""
    millionths = scores.astype(np.float64) * 1e6
    whole = np.trunc(millionths)
    is_half = np.abs(millionths - whole) == 0.5
    rounded: NDArray[np.float64] = np.where(
        is_half, whole + np.sign(millionths), np.rint(millionths)
    )
    return rounded / 1e6
