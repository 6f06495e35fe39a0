"""Formulas of hybrid search on judged queries: nDCG@10.

    python -m bench.fusion [FOLDER] [--keep WORK] [--only SET]

Each set is indexed and embedded once (WORK keeps that for the next time). Both lists of each query
are taken from the engine's own statements, 200 documents deep, and fused here by each formula.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import anyio
import ir_measures
from ir_measures import Qrel, ScoredDoc, nDCG

from bench.relevance import DEFAULT, _records, written
from qmd.embedding import vectors
from qmd.embedding.vector_status import vector_status
from qmd.errors import QueryError
from qmd.evaluation.runner import strip_query_syntax
from qmd.operations.documents import below
from qmd.operations.embed import run_embed
from qmd.operations.index import Index
from qmd.operations.update import run_update
from qmd.ranking import bm25, nearest, query
from qmd.settings.environment import Place, machine

Scores = Mapping[int, float]
Formula = Callable[[Scores, Scores], Scores]

DEPTH = 200


def ranks(scores: Scores, depth: int) -> dict[int, int]:
    """Rank the documents from 1."""
    best = sorted(scores, key=lambda document: (-scores[document], document))[:depth]
    return {document: rank for rank, document in enumerate(best, start=1)}


def rrf(words: Scores, meaning: Scores, *, k: float, depth: int, bonus: bool) -> Scores:
    """Reciprocal ranks."""
    lists = [ranks(words, depth), ranks(meaning, depth)]
    fused = {}
    for document in {*lists[0], *lists[1]}:
        places = [each[document] for each in lists if document in each]
        extra = {1: 0.05, 2: 0.02, 3: 0.02}.get(min(places), 0.0) if bonus else 0.0
        fused[document] = sum(2 / (k + place) for place in places) + extra
    return fused


def convex(
    words: Scores,
    meaning: Scores,
    *,
    share: float,
    normal: Callable[[float, float], float],
    depth: int,
    floor: bool,
) -> Scores:
    """Weighted scores; `share` for words."""
    a, b = ranks(words, depth), ranks(meaning, depth)
    most = max(words.values(), default=1.0)
    least = max(0.0, min((meaning[document] for document in b), default=0.0)) if floor else 0.0
    return {
        document: share * (normal(words[document], most) if document in a else 0.0)
        + (1 - share) * (max(meaning[document], 0.0) if document in b else least)
        for document in {*a, *b}
    }


def saturated(half: float) -> Callable[[float, float], float]:
    """bm25 / (bm25 + half)."""
    return lambda score, _: score / (score + half)


def by_most(score: float, most: float) -> float:
    """bm25 / the best of the query."""
    return score / most


FORMULAS: dict[str, Formula] = {
    "words": lambda words, _: words,
    "meaning": lambda _, meaning: meaning,
    "rrf 60, depth 20, bonus": partial(rrf, k=60, depth=20, bonus=True),
    "rrf 60, depth 200": partial(rrf, k=60, depth=DEPTH, bonus=False),
    **{
        f"{share:.2f} bm25/(bm25+{half}) + {1 - share:.2f} cosine": partial(
            convex, share=share, normal=saturated(half), depth=DEPTH, floor=True
        )
        for half in (10, 20, 30)
        for share in (0.35, 0.4, 0.42, 0.45, 0.5)
    },
    **{
        f"{share:.1f} bm25/max + {1 - share:.1f} cosine": partial(
            convex, share=share, normal=by_most, depth=DEPTH, floor=True
        )
        for share in (0.3, 0.4, 0.5)
    },
    "0.5 bm25/(bm25+10) + 0.5 cosine, depth 40": partial(
        convex, share=0.5, normal=saturated(10), depth=40, floor=True
    ),
    "0.5 bm25/(bm25+10) + 0.5 cosine, no floor": partial(
        convex, share=0.5, normal=saturated(10), depth=DEPTH, floor=False
    ),
}


def prepared(folder: Path, work: Path, *, embedded: bool = True) -> Index:
    """Open an engine over a set, indexed and (if wanted) embedded."""
    docs = work / "docs"
    if not docs.exists():
        work.mkdir(parents=True, exist_ok=True)
        written(_records(folder / "corpus.jsonl"), docs)
    config = work / "index.yml"
    config.write_text(f"collections:\n  docs:\n    path: {docs}\n", encoding="utf-8")
    place = Place("index", config, work / "index.duckdb", None, work / "trusted.json")
    engine = Index(place, machine(os.environ), warm=True)
    anyio.run(run_update, engine)
    if embedded:
        anyio.run(run_embed, engine)
    return engine


def lists(engine: Index, question: str) -> tuple[Scores, Scores]:
    """(bm25, cosine) of documents by number."""
    space, state = vector_status(engine)
    text = " ".join(question.replace("-", " ").split())
    vector = engine.models.embedder(space).embed([space.model.as_query(text)])[0]

    def work(cursor: bm25.Cursor) -> tuple[Scores, Scores]:
        try:
            asked = query.parse(strip_query_syntax(question))
            words = dict(bm25.scored(cursor, asked, limit=DEPTH).scores)
        except QueryError:
            words = {}
        number = vectors.model_id(cursor, space.fingerprint)
        assert number is not None
        near = nearest.nearest(
            cursor,
            vector,
            model_id=number,
            vectors=state.vectors,
            documents=None,
            limit=DEPTH,
        )
        return words, {hit.document_id: hit.score for hit in near}

    return engine.read(work)


def measured(folder: Path, work: Path, most: int) -> dict[str, float]:
    """nDCG@10 of each formula on one set, for so many of its queries."""
    engine = prepared(folder, work)
    names = {d.document_id: Path(d.path).stem for d in below(engine, None)}
    judged = [
        Qrel(*line.split("\t")[:2], int(line.split("\t")[2]))
        for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]
    ]
    asked = {qrel.query_id for qrel in judged}
    runs: dict[str, list[ScoredDoc]] = {name: [] for name in FORMULAS}
    rows = [row for row in _records(folder / "queries.jsonl") if row["_id"] in asked]
    rows = random.Random(11).sample(rows, min(most, len(rows)))
    chosen = {row["_id"] for row in rows}
    judged = [qrel for qrel in judged if qrel.query_id in chosen]
    for row in rows:
        words, meaning = lists(engine, row["text"])
        for name, formula in FORMULAS.items():
            fused = formula(words, meaning)
            best = sorted(fused, key=lambda document: (-fused[document], names[document]))[:10]
            runs[name] += [ScoredDoc(row["_id"], names[d], fused[d]) for d in best]
    engine.close()
    return {
        name: float(ir_measures.calc_aggregate([nDCG @ 10], judged, run)[nDCG @ 10])
        for name, run in runs.items()
    }


def main() -> None:
    """Print a table: a row for each formula, a column for each set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT)
    parser.add_argument("--keep", type=Path, help="folder for the indexes")
    parser.add_argument("--queries", type=int, default=500, help="of each set, at most")
    parser.add_argument("--only", action="append", help="the name of a set")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = options.keep or Path(name)
        found = {
            each.name: measured(each, work / each.name, options.queries)
            for each in sorted(options.folder.iterdir())
            if (each / "qrels.tsv").exists() and (not options.only or each.name in options.only)
        }
    print("  ".join([f"{'':42}", *(f"{name[:14]:>14}" for name in found)]))
    for formula in FORMULAS:
        print("  ".join([f"{formula:42}", *(f"{row[formula]:14.4f}" for row in found.values())]))


if __name__ == "__main__":
    main()
