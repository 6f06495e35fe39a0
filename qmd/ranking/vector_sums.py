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
    summed = np.zeros(len(vectors), np.float32)
    product = np.empty_like(summed)
    for numbers, factor in zip(np.ascontiguousarray(vectors.T), vector, strict=True):
        if is_fused:
            summed = (summed + numbers.astype(np.float64) * np.float64(factor)).astype(np.float32)
        else:
            np.multiply(numbers, factor, out=product)
            summed += product
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
