"""The vectors of all chunks of an index, made by onnxruntime alone; the index is that of qmd here.

Prints seconds, and seconds of processor time: of the passes only, of one text each, on a thread
for each core, with nothing else to do.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from qmd import processes
from qmd.models.encoder import Encoder, Graph
from qmd.models.registry import MINILM
from qmd.operations.index import Index
from qmd.settings import environment


def main() -> None:
    """Measure."""
    place = environment.locate(os.environ, Path.cwd())
    index = Index(place, environment.machine(os.environ))
    rows = index.read(
        lambda cursor: cursor.connection.execute(
            "select substring(body, position + 1, length) from chunks join content using (hash)"
        ).fetchall()
    )
    index.close()
    pieces = Encoder().pieces
    texts = [np.array(pieces.tokens(text), np.int32) for (text,) in rows]
    graph = Graph(MINILM)
    with ThreadPoolExecutor(processes.cores()) as pool:
        list(pool.map(lambda text: graph.vectors([text]), texts[:20]))
        cpu, wall = time.process_time(), time.perf_counter()
        list(pool.map(lambda text: graph.vectors([text]), texts))
        print(time.perf_counter() - wall, time.process_time() - cpu)


if __name__ == "__main__":
    main()
