"""Relevance on judged queries: nDCG@10 and hit@3.

    python -m bench.relevance [FOLDER] [--vectors]

Words alone; with --vectors also meaning alone, by the model in use, beside the exact cosine of the
same vectors in numpy (best passage of each document).

FOLDER holds sets in the form of BEIR (corpus.jsonl, queries.jsonl, qrels.tsv), and notes/ with
notes_queries.json. Each document of a set is indexed as a file through the same pipeline as a
user's, and found through the same engine.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import anyio
import ir_measures
import numpy as np
from ir_measures import Qrel, ScoredDoc, nDCG

from qmd.errors import QueryError
from qmd.evaluation.runner import strip_query_syntax
from qmd.operations.embed import run_embed
from qmd.operations.index import Index
from qmd.operations.search import search
from qmd.operations.semantic_search import query, vector_search
from qmd.operations.update import run_update
from qmd.settings.environment import Place, machine
from qmd.storage.cursor import Cursor

DEFAULT = Path(__file__).parents[2] / "shared" / "eval"


def engine_over(folder: Path, work: Path) -> Index:
    """Open an engine whose one collection is `folder`."""
    config = work / "index.yml"
    config.write_text(f"collections:\n  docs:\n    path: {folder}\n", encoding="utf-8")
    engine = Index(
        Place("index", config, work / "index.duckdb", None, work / "trusted.json"),
        machine(os.environ),
        warm=True,
    )
    reports = anyio.run(run_update, engine)
    assert not reports[0].failure, reports[0].failure
    return engine


def written(rows: list[dict[str, str]], folder: Path) -> None:
    """Each row as a Markdown file whose title is its heading."""
    folder.mkdir(exist_ok=True)
    for row in rows:
        title = row.get("title", "").strip()
        text = f"# {title}\n\n{row['text']}" if title else row["text"]
        (folder / f"{row['_id']}.md").write_text(text or ".", encoding="utf-8")


def _records(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]


Search = Callable[[Index, str], "list[tuple[str, float]]"]
"""Finds (path, score) of the best ten."""


def words(engine: Index, question: str) -> list[tuple[str, float]]:
    """By words alone."""
    try:
        results = list(search(engine, strip_query_syntax(question), limit=10))
    except QueryError:
        return []
    return [(result.file, result.score) for result in results]


def meaning(engine: Index, question: str) -> list[tuple[str, float]]:
    """By meaning alone."""
    results = list(vector_search(engine, " ".join(question.replace("-", " ").split()), limit=10))
    return [(result.file, result.score) for result in results]


def both(engine: Index, question: str) -> list[tuple[str, float]]:
    """By words and meaning, as `qmd query` does without models that help."""
    answer = anyio.run(lambda: query(engine, strip_query_syntax(question), limit=10))
    return [(result.file, result.score) for result in answer]


def cosines(engine: Index) -> Search:
    """By the exact cosine of the vectors of the index, in numpy."""

    def work(cursor: Cursor) -> list[tuple[str, list[float]]]:
        return cursor.connection.execute(
            "select collection || '/' || path, vector from embeddings join chunks using (chunk_id)"
            " join documents using (hash) order by all"
        ).fetchall()

    rows = engine.read(work)
    names = np.array([name for name, _ in rows])
    vectors = np.array([vector for _, vector in rows], np.float32)
    space = engine.models.space()

    def search(engine: Index, question: str) -> list[tuple[str, float]]:
        text = " ".join(question.replace("-", " ").split())
        vector = engine.models.embedder(space).embed([space.model.as_query(text)])[0]
        best: dict[str, float] = {}
        for name, score in zip(names, vectors @ vector, strict=True):
            best[name] = max(best.get(name, -1.0), float(score))
        return sorted(best.items(), key=lambda item: (-item[1], item[0]))[:10]

    return search


class Judged(NamedTuple):
    """A set of documents, judged queries and judgements."""

    documents: list[dict[str, str]]
    questions: list[dict[str, str]]
    judgements: list[Qrel]

    @classmethod
    def of(cls, folder: Path) -> Judged:
        """Read the set in a folder."""
        documents, queries = (_records(folder / f"{name}.jsonl") for name in ("corpus", "queries"))
        lines = (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]
        judgements = [
            Qrel(query, document, int(score))
            for query, document, score in (line.split("\t") for line in lines)
        ]
        asked = {each.query_id for each in judgements}
        return cls(documents, [each for each in queries if each["_id"] in asked], judgements)

    def part(self, every: int) -> Judged:
        """Return every so many questions, and the documents that are judged for them."""
        questions = self.questions[::every]
        names = {each["_id"] for each in questions}
        judgements = [each for each in self.judgements if each.query_id in names]
        judged = {each.doc_id for each in judgements}
        documents = [each for each in self.documents if each["_id"] in judged]
        return Judged(documents, questions, judgements)

    def ndcg(self, engine: Index, search: Search) -> float:
        """nDCG@10 of a way to search; a question without results counts 0."""
        run = [
            ScoredDoc(each["_id"], Path(file).stem, score)
            for each in self.questions
            for file, score in search(engine, each["text"])
        ]
        return float(ir_measures.calc_aggregate([nDCG @ 10], self.judgements, run)[nDCG @ 10])


def ndcg(folder: Path, *, vectors: bool = False, every: int = 1) -> dict[str, float]:
    """nDCG@10 over judged queries of a set, by each way.

    Args:
        every: see `Judged.part`.
    """
    judged = Judged.of(folder).part(every) if every > 1 else Judged.of(folder)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        written(judged.documents, work / "docs")
        engine = engine_over(work / "docs", work)
        searches: dict[str, Search] = {"words": words}
        if vectors:
            anyio.run(run_embed, engine)
            searches |= {"meaning": meaning, "exact cosine": cosines(engine), "both": both}
        found = {way: judged.ndcg(engine, search) for way, search in searches.items()}
        engine.close()
    return found


def hits(folder: Path, search: Search = words, top: int = 3) -> dict[str, tuple[int, int]]:
    """For each difficulty: queries whose expected document is among the first `top`, and all."""
    queries = json.loads((folder / "notes_queries.json").read_text(encoding="utf-8"))["queries"]
    counted: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    with tempfile.TemporaryDirectory() as name:
        engine = engine_over(folder / "notes", Path(name))
        if search is not words:
            anyio.run(run_embed, engine)
        for query in queries:
            results = search(engine, query["query"])[:top]
            found = any(query["expectedDoc"] in file for file, _ in results)
            counted[query["difficulty"]][0] += found
            counted[query["difficulty"]][1] += 1
        engine.close()
    return {difficulty: (found, of) for difficulty, (found, of) in counted.items()}


def main(folder: Path = DEFAULT, *, vectors: bool = False, only: str | None = None) -> None:
    """Print a line for each set."""
    if not folder.is_dir():
        print(f"relevance: no judged queries at {folder}")
        return
    for each in sorted(folder.iterdir()):
        if (each / "qrels.tsv").exists() and only in (None, each.name):
            found = ndcg(each, vectors=vectors)
            figures = "  ".join(f"{way} {value:.4f}" for way, value in found.items())
            print(f"{each.name:20} nDCG@10  {figures}", flush=True)
    if (folder / "notes_queries.json").exists() and only in (None, "notes"):
        for way in (words, meaning, both) if vectors else (words,):
            for difficulty, (found, of) in hits(folder, way).items():
                print(f"notes {difficulty:14} hit@3 {found}/{of} by {way.__name__}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT)
    parser.add_argument("--vectors", action="store_true")
    parser.add_argument("--only", help="the name of one set")
    main(**vars(parser.parse_args()))
