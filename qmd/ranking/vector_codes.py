"""Bounds of similarities from vectors with one byte a number.

A code of a vector has its numbers divided by a scale and rounded, from -127 to 127, the scale, and
the length of the difference to the vector. The product of a query with a code is that with the
vector up to this length, by the inequality of Cauchy and Schwarz: vectors whose upper bound is
below the lower bound of enough others need not be compared. So nothing is missed. Sign bits take an
eighth part of a code, and have no such bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qmd.named_tuple import NamedTuple

try:
    from qmd.ranking.compiled.code_products import products as _compiled
except ImportError:
    _compiled = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST_CODE, LARGEST_QUERY = 127, 32_767
"""Largest number of a code, and of a query."""

LARGEST_BYTE = 128
"""Largest size of a number of 8 bits. No code has -128, but a file of another program may."""

LARGEST_SUM = 2**31 - 1
"""Largest sum of products of both."""


SLACK, LEAST_ERROR = 1e-4, 2e-6
"""Share and length that are added to the error of a code, which is computed with 32 bits: more than
the rounding of its sums and of its products, for vectors of length 1."""


class Codes(NamedTuple):
    """Codes of some vectors.

    Attributes:
        numbers: int8[n, dimensions]
        scales: float32[n], by which the numbers are multiplied.
        errors: float32[n]: length of the difference to the vector, at most.
    """

    numbers: NDArray[np.int8]
    scales: NDArray[np.float32]
    errors: NDArray[np.float32]

    @classmethod
    def of(cls, vectors: NDArray[np.float32]) -> Codes:
        """Compute the codes of vectors: (n, dimensions)."""
        most = np.abs(vectors).max(axis=1, initial=0)
        scales = np.where(most > 0, most / np.float32(LARGEST_CODE), np.float32(1))
        numbers = np.rint(vectors / scales[:, None]).astype(np.int8)
        lacking = vectors - numbers * scales[:, None]
        lengths = np.sqrt(np.einsum("ij,ij->i", lacking, lacking))
        return cls(numbers, scales, lengths * np.float32(1 + SLACK) + np.float32(LEAST_ERROR))


class CodedQuery:
    """Vector of a query, to be compared with codes.

    Args:
        vector: (dimensions,)

    Attributes:
        length: of the vector.
        error: length of the difference between it and what is compared.
    """

    def __init__(self, vector: NDArray[np.float32]) -> None:
        most = float(np.abs(vector).max(initial=0)) or 1.0
        largest = min(LARGEST_QUERY, LARGEST_SUM // (LARGEST_BYTE * max(1, len(vector))))
        self._scale = most / largest
        self._numbers = np.rint(vector / self._scale).astype(np.int16)
        exact = vector.astype(np.float64)
        self.length = float(np.linalg.norm(exact))
        self.error = float(np.linalg.norm(exact - self._numbers * self._scale))

    def compare(
        self, codes: Codes, out: NDArray[np.float32], rows: NDArray[np.int64] | None
    ) -> None:
        """Write the product with each code into `out`.

        Args:
            rows: those to compare; None: all.
        """
        _compiled(codes.numbers, codes.scales, self._numbers, self._scale, out, rows)


def is_compiled() -> bool:
    """Check that codes can be compared: in plain Python, vectors are compared more quickly."""
    return _compiled is not None
