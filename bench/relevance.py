"""Relevance of words alone on judged queries: nDCG@10 and hit@3.

    python -m bench.relevance [FOLDER]

FOLDER holds sets in the form of BEIR (corpus.jsonl, queries.jsonl, qrels.tsv), and notes/ with
notes_queries.json. Each document of a set is indexed as a file through the same pipeline as a
user's, and found through the same engine.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import anyio
import ir_measures
from ir_measures import Qrel, ScoredDoc, nDCG

from qmd.config import Place
from qmd.engine import Engine
from qmd.errors import QueryError

DEFAULT = Path(__file__).parents[2] / "shared" / "eval"


def engine_over(folder: Path, work: Path) -> Engine:
    """An engine whose one collection is `folder`."""
    config = work / "index.yml"
    config.write_text(f"collections:\n  docs:\n    path: {folder}\n", encoding="utf-8")
    engine = Engine(
        Place("index", config, work / "index.duckdb", None, work / "trusted.json"), warm=True
    )
    reports = anyio.run(engine.update)
    assert not reports[0].failure, reports[0].failure
    return engine


def written(rows: list[dict[str, str]], folder: Path) -> None:
    """Each row as a Markdown file whose title is its heading."""
    folder.mkdir()
    for row in rows:
        title = row.get("title", "").strip()
        text = f"# {title}\n\n{row['text']}" if title else row["text"]
        (folder / f"{row['_id']}.md").write_text(text or ".", encoding="utf-8")


def plain(question: str) -> str:
    """A question without what has a meaning in the query syntax."""
    return " ".join(word.lstrip("-") for word in question.replace('"', " ").split())


def _records(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]


def ndcg(folder: Path) -> float:
    """nDCG@10 over all judged queries of a set; a query that finds nothing counts as 0."""
    rows, queries = (_records(folder / name) for name in ("corpus.jsonl", "queries.jsonl"))
    judged = [
        Qrel(query, document, int(score))
        for query, document, score in (
            line.split("\t")
            for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]
        )
    ]
    asked = {qrel.query_id for qrel in judged}
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        written(rows, work / "docs")
        engine = engine_over(work / "docs", work)
        run = []
        for query in queries:
            if query["_id"] not in asked:
                continue
            try:
                results = engine.search(plain(query["text"]), limit=10).results
            except QueryError:
                continue
            run += [
                ScoredDoc(query["_id"], Path(result.file).stem, result.score) for result in results
            ]
        engine.close()
    return float(ir_measures.calc_aggregate([nDCG @ 10], judged, run)[nDCG @ 10])


def hits(folder: Path, top: int = 3) -> dict[str, tuple[int, int]]:
    """For each difficulty: queries whose expected document is among the first `top`, and all."""
    queries = json.loads((folder / "notes_queries.json").read_text(encoding="utf-8"))["queries"]
    counted: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    with tempfile.TemporaryDirectory() as name:
        engine = engine_over(folder / "notes", Path(name))
        for query in queries:
            results = engine.search(plain(query["query"]), limit=top).results
            found = any(query["expectedDoc"] in result.file for result in results)
            counted[query["difficulty"]][0] += found
            counted[query["difficulty"]][1] += 1
        engine.close()
    return {difficulty: (found, of) for difficulty, (found, of) in counted.items()}


def main(folder: Path = DEFAULT) -> None:
    """Print a line for each set."""
    if not folder.is_dir():
        print(f"relevance: no judged queries at {folder}")
        return
    for each in sorted(folder.iterdir()):
        if (each / "qrels.tsv").exists():
            print(f"{each.name:20} nDCG@10 {ndcg(each):.4f}")
    if (folder / "notes_queries.json").exists():
        for difficulty, (found, of) in hits(folder).items():
            print(f"notes {difficulty:14} hit@3 {found}/{of}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT)
