"""Each signal of search taken away or changed, on judged queries: nDCG@10 and significance.

    python -m bench.ablation [FOLDER]... [--only SET]... [--keep WORK] [--queries N]
        [--words]

Prints two tables in Markdown, for keyword search and (without --words) for hybrid search: a row for
each change, a column for each set. A cell has the difference of nDCG@10 to search as it is, and a
star where a paired randomization test gives p < .05. For hybrid search, each set is embedded by the
model in use (QMD_EMBED_MODEL). WORK keeps the indexes, which are made by the same code with the
same model only. Stems and folding are taken away from copies of an index, and vectors of a random
half of the documents from another one.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from unittest import mock

import anyio
import ir_measures
import numpy as np
from ir_measures import ScoredDoc, nDCG

from bench.fusion import prepared
from bench.relevance import DEFAULT, Judged
from qmd.embedding import cosines
from qmd.errors import QueryError
from qmd.evaluation.runner import strip_query_syntax
from qmd.evaluation.significance import p_value
from qmd.ingest.retokenizer import retokenize
from qmd.operations.index import Index
from qmd.operations.search import search
from qmd.operations.semantic_search import query, vector_search
from qmd.settings.environment import Place, machine
from qmd.storage.cursor import Cursor

Change = Callable[[], AbstractContextManager[object]]


def _set(name: str, value: object) -> Change:
    """Give an attribute of a module another value."""
    return partial(mock.patch, f"qmd.ranking.{name}", value)


class _Unstemmed:
    """A stemmer that leaves all words as they are."""

    def stemWord(self, word: str) -> str:  # noqa: N802
        return word

    def stemWords(self, words: list[str]) -> list[str]:  # noqa: N802
        return words


def _no_stems() -> AbstractContextManager[object]:
    return mock.patch("qmd.text.stems._stemmer", return_value=_Unstemmed())


ALIKE: dict[str, Change] = {
    "no stems": _no_stems,
    "accents ignored": _set("query_terms.ACCENTED", 0.0),
}

WORDS: dict[str, Change] = {
    **ALIKE,
    "no stems besides English": partial(mock.patch.dict, "qmd.text.languages.STEMMED", clear=True),
    "letters unfolded": partial(mock.patch, "qmd.text.tokenizer._LETTERS", {}),
    "stop words count": _set("query.STOP_WORDS", frozenset()),
    "no longer words": _set("query_terms.PREFIX_WEIGHT", 0.0),
    "no other forms": _set("word_terms.FORM", 0.0),
    "syllables 1×": _set("query_terms.SYLLABLE", 1.0),
    "words as written": nullcontext,
    "all copies": nullcontext,
    "lists of links unmoved": _set("link_pages.lowered", lambda *_, **__: {}),
}

BOTH: dict[str, Change] = {
    **dict.fromkeys(
        ["0.30 keywords", "0.40 keywords", "0.50 keywords", "0.60 keywords"], nullcontext
    ),
    "0.42 bm25 / (bm25 + 20)": _set("hybrid_lists.attained", lambda score, _: score / (score + 20)),
    **ALIKE,
    "no rescale of cosines": _set("hybrid_lists.cosines.of", lambda *_: cosines.USUAL),
    "half without vectors": nullcontext,
    "half without vectors, at the lowest cosine": partial(
        mock.patch, "qmd.embedding.vectors.lacking", return_value=set()
    ),
    "no floor of vectors": _set("fusion._floors", lambda lists, _: [0.0] * len(lists)),
    "pairs of a run in full": _set("query_terms.share_of_pairs", lambda *_: {}),
    "reciprocal ranks": nullcontext,
    "all copies": nullcontext,
    "lists of links unmoved": _set("link_pages.lowered", lambda *_, **__: {}),
}

OPTIONS: dict[str, dict[str, object]] = {
    "words as written": {"exact": True},
    "all copies": {"all_copies": True},
    "reciprocal ranks": {"fusion": "rrf"},
}


def _opened(work: Path) -> Index:
    """Open an index as it is."""
    place = Place("index", work / "index.yml", work / "index.duckdb", None, work / "trusted.json")
    return Index(place, machine(os.environ), warm=True)


def _anew(engine: Index) -> None:
    """Make the postings of all documents anew, by the rules as they are changed."""

    def work(cursor: Cursor) -> None:
        cursor.connection.execute("delete from words")
        cursor.connection.execute(
            "update counters set value = (select max(document_id) + 1 from documents)"
            " where name = 'stale_postings'"
        )
        cursor.run("words/note_digest")

    engine.database.write(work)
    retokenize(engine.database)


def _without_half_of_vectors(engine: Index) -> None:
    """Remove the vectors of about every other text, by the last digit of its hash."""

    def work(cursor: Cursor) -> None:
        cursor.connection.execute(
            "delete from embeddings where chunk_id in"
            " (select chunk_id from chunks where contains('02468ace', hash[-1:]))"
        )

    engine.database.write(work)


COPIES = {
    "no stems besides English": _anew,
    "no stems": _anew,
    "letters unfolded": _anew,
    "half without vectors": _without_half_of_vectors,
}
"""Changes of an index, each made in a copy of it, by the beginnings of the names of rows."""


def _asked(engine: Index, text: str, way: str, **options: object) -> list[tuple[str, float]]:
    """Search by words, meaning or both; best first."""
    try:
        if way == "words":
            found = search(engine, strip_query_syntax(text), limit=10, **options)  # type: ignore[arg-type]
        elif way == "meaning":
            plain = " ".join(text.replace("-", " ").split())
            found = vector_search(engine, plain, limit=10, min_score=-1.0)
        else:
            ask = partial(query, engine, strip_query_syntax(text), limit=10, **options)  # type: ignore[arg-type]
            found = anyio.run(ask)
    except QueryError:
        return []
    return [(result.file, result.score) for result in found]


class Trial:
    """A set with its index, searched in several ways."""

    def __init__(self, folder: Path, work: Path, most: int, *, embedded: bool = True) -> None:
        whole = Judged.of(folder)
        chosen = random.Random(11).sample(whole.questions, min(most, len(whole.questions)))
        names = {each["_id"] for each in chosen}
        kept = [each for each in whole.judgements if each.query_id in names]
        self._judged = Judged(whole.documents, chosen, kept)
        self._open = partial(prepared, folder, work, embedded=embedded)
        self._work = work
        self.name = folder.name

    def _index(self, name: str) -> Index:
        """Open the index of a row, which may be a changed copy."""
        kind = next((kind for kind in COPIES if name.startswith(kind)), None)
        if kind is None:
            return self._open()
        copy = self._work.with_name(f"{self.name}, {kind}")
        if copy.exists():
            return _opened(copy)
        self._open().close()
        copy.mkdir()
        for file in ("index.duckdb", "index.yml"):
            shutil.copy(self._work / file, copy / file)
        engine = _opened(copy)
        COPIES[kind](engine)
        return engine

    def figures(
        self,
        way: str,
        change: Change = nullcontext,
        *,
        name: str = "",
        share: float | None = None,
        **options: object,
    ) -> list[float]:
        """NDCG@10 of each query, in order. Nothing is remembered from another change."""
        with change():
            engine = self._index(name)
            engine.tried_share = share
            try:
                run = [
                    ScoredDoc(each["_id"], Path(file).stem, score)
                    for each in self._judged.questions
                    for file, score in _asked(engine, each["text"], way, **options)
                ]
            finally:
                engine.close()
        each = {
            metric.query_id: float(metric.value)
            for metric in ir_measures.iter_calc([nDCG @ 10], self._judged.judgements, run)
        }
        return [each.get(question["_id"], 0.0) for question in self._judged.questions]


def _row(name: str, cells: Sequence[str]) -> str:
    return f"| {name} | {' | '.join(cells)} |"


def _table(trials: Sequence[Trial], way: str, changes: dict[str, Change]) -> None:
    """Print the rows of a way to search."""
    usual = {trial.name: trial.figures(way) for trial in trials}
    means = [f"{np.mean(usual[trial.name]):.3f}" for trial in trials]
    print(_row(f"**{way}**", means), flush=True)
    if way == "both":
        for other in ("words", "meaning"):
            print(_row(f"{other} alone", [_cell(t, usual, t.figures(other)) for t in trials]))
    for name, change in changes.items():
        cells = []
        for trial in trials:
            share = float(found[0]) if (found := re.match(r"0\.\d+", name)) else None
            options = OPTIONS.get(name, {})
            figures = trial.figures(way, change, name=name, share=share, **options)
            cells.append(_cell(trial, usual, figures))
        print(_row(name, cells), flush=True)


def _cell(trial: Trial, usual: dict[str, list[float]], figures: list[float]) -> str:
    before = usual[trial.name]
    difference = float(np.mean(figures) - np.mean(before))
    if figures == before:
        return "0"
    sign = "−" if difference < 0 else "+"
    star = "\\*" if p_value(figures, before) < 0.05 else ""
    return f"{sign}{abs(difference):.3f}{star}".replace("0.", ".", 1)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, default=[DEFAULT])
    parser.add_argument("--only", action="append", help="the name of a set")
    parser.add_argument("--queries", type=int, default=300, help="of each set, at most")
    parser.add_argument("--words", action="store_true", help="keyword search alone")
    parser.add_argument("--keep", type=Path, help="folder for the indexes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = options.keep or Path(name)
        trials = [
            Trial(each, work / each.name, options.queries, embedded=not options.words)
            for folder in options.folders
            for each in sorted(folder.iterdir())
            if (each / "qrels.tsv").exists() and (not options.only or each.name in options.only)
        ]
        print(_row("nDCG@10", [trial.name for trial in trials]))
        print("|---|" + "---|" * len(trials))
        _table(trials, "words", WORDS)
        if not options.words:
            _table(trials, "both", BOTH)


if __name__ == "__main__":
    main()
