"""Random vectors for whole corpora, in place of those that a model would take hours to make.

A search compares as many, and takes as long, whatever their values. Each tool chunks as usual.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.embedding import WIDTH
from bench.indexing import Tool

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def fill(tool: Tool) -> int:
    """Give all that a tool has indexed vectors of noise, as if its model had made them.

    Returns:
        How many.
    """
    if tool.name == "peer":
        index = Path(tool.environ["XDG_CACHE_HOME"], "qmd", "index.sqlite")
        node, program = tool.command
        store = Path(program).resolve().parents[1] / "dist" / "store.js"
        model = tool.environ["QMD_EMBED_MODEL"]
        script = Path(__file__).with_name("noise.mjs")
        printed = _printed([node, str(script), str(store), str(index), model, str(WIDTH)], tool)
    else:
        printed = _printed([sys.executable, "-m", "bench.noise"], tool)
    return int(printed.split()[-1])


def _printed(command: Sequence[str], tool: Tool) -> str:
    done = subprocess.run(
        command, env=tool.environ, capture_output=True, text=True, check=True, cwd="/"
    )
    return done.stdout


def _embed(_: object, texts: Sequence[str], **__: Any) -> NDArray[np.float32]:
    import numpy as np

    rows = np.random.default_rng().standard_normal((len(texts), WIDTH)).astype(np.float32)
    made: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return made


def main() -> None:
    """Embed our own index, the settings of which are in the environment."""
    import qmd
    from qmd.models.encoder import Encoder

    Encoder.embed = _embed  # type: ignore[method-assign, assignment]
    with qmd.connect() as kb:
        print(kb.embed().chunks)


if __name__ == "__main__":
    main()
