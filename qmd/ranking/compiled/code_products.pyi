import numpy as np
from numpy.typing import NDArray

def products(
    codes: NDArray[np.int8],
    scales: NDArray[np.float32],
    query: NDArray[np.int16],
    scale: float,
    out: NDArray[np.float32],
    rows: NDArray[np.int64] | None,
) -> None: ...
