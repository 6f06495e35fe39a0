"""Readers of judged queries and of runs."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench.fuzz.sources import Bytes, Input, Target

NAMES = "queries query expected_files expected_in_top_k id type difficulty collection x".split()


def judged() -> Iterator[Target]:
    """Judged queries in JSON, as BEIR and as TREC have them: read, or refused with a line."""
    from qmd.errors import UsageError
    from qmd.evaluation import fixtures

    with tempfile.TemporaryDirectory() as name:
        file, folder = Path(name) / "f.json", Path(name) / "folder"
        folder.mkdir()

        def check(data: bytes, kind: int, other: bytes) -> None:
            for each in folder.iterdir():
                each.unlink()
            path = folder if kind else file
            if kind == 0:
                file.write_bytes(data)
            else:
                queries = ("queries.jsonl", "queries.tsv")[kind % 2]
                first, second = (data, other) if kind < 3 else (other, data)
                (folder / queries).write_bytes(first)
                (folder / ("qrels.tsv", "a.qrels")[kind % 2]).write_bytes(second)
                (folder / "corpus.jsonl").write_bytes(data)
            try:
                found = fixtures.read(path)
                if found.corpus is not None:
                    documents = list(fixtures.corpus_documents(found.corpus))
                    assert len({each.id for each in documents}) == len(documents)
            except UsageError:
                return
            ids = [question.id for question in found.questions]
            assert ids
            assert len(set(ids)) == len(ids)
            assert any(question.judged for question in found.questions)
            assert found.depth >= max(question.k for question in found.questions)
            assert len(found.sampled(1).questions) == 1
            everything = [[each] for q in found.questions for each in q.judged]
            assert not found.unknown(everything)
            names = found.named([each for (each,) in everything], everything)
            assert len(names) == len(everything)

        yield Target(_judged, check, ("\t", "\n", "q1", "d1", " 0 ", "#abc123"), EXAMPLES)


EXAMPLES = (
    b'{"queries": [{"query": "tea", "expected_files": ["tea.md"], "expected_in_top_k": 3}]}',
    b'{"_id": "q1", "text": "tea"}\n{"_id": 2, "text": "x", "title": null}\n',
    b"query-id\tcorpus-id\tscore\nq1\td1\t1\n",
    b"q1 0 d1 1\nq1 0 d2 0\n",
    b"[" * 2000,
)


def _judged(source: Bytes) -> Input:
    kind = source.number(0, 4)
    other = source.pick([*EXAMPLES[1:4], b"q1\ttea\n"])
    if kind == 0 and source.number(0, 3):
        one = {"query": "tea", "expected_files": ["tea.md"]} | source.fields(NAMES, 2)
        whole: dict[str, Any] = {"queries": [one, source.json(NAMES)]}
        whole |= source.fields(NAMES, source.number(0, 1))
        return json.dumps(whole).encode(), kind, other
    return source.rest(), kind, other


def runs() -> Iterator[Target]:
    """Fuzz runs in TREC format: reading and writing preserves them."""
    from qmd.errors import UsageError
    from qmd.evaluation import runs as ours
    from qmd.evaluation.fixtures import Fixture, JudgedQuery

    questions = tuple(JudgedQuery(q, "tea", {"d1": 1, "d 2": 2}) for q in ("q1", "q 2", "é"))
    fixture = Fixture("f", questions, corpus=Path("corpus.jsonl"))
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "run.txt"

        def check(data: bytes) -> None:
            file.write_bytes(data)
            with suppress(UsageError):
                found = ours.read(file, fixture, depth=100)
                scores = [[each.score for each in asked.found] for asked in found.asked.values()]
                assert all(one == sorted(one, reverse=True) for one in scores)
                ours.write([found._replace(name="again")], file)
                again = ours.read(file.with_name("run.again.txt"), fixture, depth=100)
                assert _order(again) == _order(found)

        def made(source: Bytes) -> Input:
            return (source.rest(),)

        example = b"q1 Q0 d1 1 2.5 x\nq1 Q0 d%202 2 1e-3 x\nq%202 Q0 d1 1 -7 x\n"
        yield Target(made, check, (), (example, b"q1 Q0 d1 1 nan x", b"q1 Q0 d1 1 1e308 x\n"))


def _order(run: Any) -> dict[str, list[str]]:
    asked = run.asked.items()
    return {q: [document for document, _ in each.found] for q, each in asked if each.found}
