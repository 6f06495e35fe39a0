"""Reliability of scores: a table and a chart for docs/relevance.md.

    python -m bench.reliability [FOLDER] [--only SET]... [--chart FILE.svg]

Each judged set (corpus.jsonl, queries.jsonl, qrels.tsv) is indexed and embedded, and each question
is asked by words, by meaning and by both. The ten best results are put into tenths by their score;
of each tenth the share that is relevant is taken, and the mean over the sets.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from bench.fusion import prepared
from bench.relevance import DEFAULT, Judged, both, meaning, words

WAYS = {"search": words, "vsearch": meaning, "query": both}
FEWEST = 10
"""Results of a set that tell something of a tenth."""

Tenths = Mapping[str, Mapping[int, float]]
"""For each way the share of relevant results, by tenth of the score."""


def measured(folder: Path, work: Path, most: int) -> dict[str, dict[int, float]]:
    """Compute the share of relevant results of one set."""
    judged = Judged.of(folder)
    relevant = {(each.query_id, each.doc_id) for each in judged.judgements if each.relevance > 0}
    questions = random.Random(11).sample(judged.questions, min(most, len(judged.questions)))
    engine = prepared(folder, work)
    found: dict[str, dict[int, float]] = {}
    for way, search in WAYS.items():
        hits: dict[int, list[bool]] = defaultdict(list)
        for each in questions:
            for file, score in search(engine, each["text"]):
                hits[min(int(score * 10), 9)].append((each["_id"], Path(file).stem) in relevant)
        found[way] = {t: sum(of) / len(of) for t, of in sorted(hits.items()) if len(of) >= FEWEST}
    engine.close()
    return found


def averaged(sets: list[dict[str, dict[int, float]]]) -> dict[str, dict[int, float]]:
    """Compute the mean of all sets that have results in a tenth."""
    shares: dict[str, dict[int, list[float]]] = {way: defaultdict(list) for way in WAYS}
    for each in sets:
        for way, tenths in each.items():
            for tenth, share in tenths.items():
                shares[way][tenth].append(share)
    return {w: {t: sum(s) / len(s) for t, s in sorted(of.items())} for w, of in shares.items()}


def drawn(tenths: Tenths, file: Path) -> None:
    """Draw a line for each way beside the diagonal, where the score is the share."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5, 4))
    axes.plot([0, 1], [0, 1], color="0.7", linestyle=":")
    for way, shares in tenths.items():
        axes.plot([t / 10 + 0.05 for t in shares], list(shares.values()), marker="o", label=way)
    axes.set(xlabel="score", ylabel="relevant", xlim=(0, 1), ylim=(0, 1))
    axes.legend()
    figure.savefig(file, bbox_inches="tight", metadata={"Date": None})


def main() -> None:
    """Print a row for each tenth, and draw the chart."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT)
    parser.add_argument("--only", action="append", help="the name of a set")
    parser.add_argument("--queries", type=int, default=100, help="of each set, at most")
    parser.add_argument("--keep", type=Path, help="folder for the indexes")
    parser.add_argument("--chart", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = options.keep or Path(name)
        sets = [
            measured(each, work / each.name, options.queries)
            for each in sorted(options.folder.iterdir())
            if (each / "qrels.tsv").exists() and (not options.only or each.name in options.only)
        ]
    tenths = averaged(sets)
    print("| score | " + " | ".join(WAYS) + " |\n|---|" + "---|" * len(WAYS))
    for tenth in range(10):
        shares = [tenths[way].get(tenth) for way in WAYS]
        row = " | ".join("" if share is None else f"{share:.2f}" for share in shares)
        print(f"| {tenth / 10:.1f} | {row} |")
    if options.chart:
        drawn(tenths, options.chart)


if __name__ == "__main__":
    main()
