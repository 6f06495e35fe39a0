"""Relevance while only some documents have vectors: nDCG@10 of `qmd query`.

    python -m bench.partly [FOLDER] [--only NAME]

Some documents of each judged set are indexed and embedded, then the others are only indexed. Asked
are words alone, and both with what a document without a vector gets from the lists by meaning:
what its words get it, as it is, or the lowest cosine of each, as if it had one.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path
from unittest import mock

import anyio

from bench.relevance import DEFAULT, Judged, both, engine_over, words, written
from qmd.operations.embed import run_embed
from qmd.operations.update import run_update

SHARES = (0.1, 0.5, 0.9)
SETS = ("cranfield", "medline")
"""In English: the language that the embedded model knows."""


def measured(judged: Judged, share: float) -> dict[str, float]:
    """nDCG@10 of each way, if this share of the documents has no vector."""
    documents = random.Random(7).sample(judged.documents, len(judged.documents))
    count = round(share * len(documents))
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        written(documents[count:], work / "docs")
        engine = engine_over(work / "docs", work)
        anyio.run(run_embed, engine)
        written(documents[:count], work / "docs")
        anyio.run(run_update, engine)
        found = {
            "words": judged.ndcg(engine, words),
            "both, unknown as its words": judged.ndcg(engine, both),
        }
        with mock.patch("qmd.embedding.vectors.lacking", return_value=set()):
            found["both, unknown as the lowest"] = judged.ndcg(engine, both)
        engine.close()
    return found


def main(folder: Path = DEFAULT, only: str | None = None) -> None:
    """Print a line for each set and share."""
    for name in SETS:
        if only not in (None, name):
            continue
        if not (folder / name).is_dir():
            print(f"partly: no judged queries at {folder / name}")
            continue
        judged = Judged.of(folder / name)
        for share in SHARES:
            found = measured(judged, share)
            figures = "  ".join(f"{way} {value:.4f}" for way, value in found.items())
            print(f"{name:10} {share:.0%} without a vector  nDCG@10  {figures}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT)
    parser.add_argument("--only", help="the name of one set")
    main(**vars(parser.parse_args()))
