"""Documents to look for, questions, and what an answer says of how it came about."""

from __future__ import annotations

from functools import partial

import anyio
import pytest

from qmd.operations.semantic_search import query

RRF = {"fusion": "rrf"}

ASK = {
    "plain": "red car",
    "typed": "vec: a vehicle\nlex: red car\nhyde: The automobile is red.\nlex: door",
    "by words": "lex: red door",
    "by meaning": "vec: vehicle",
}


def shelf(library):
    """Documents about tea, none of which a question fits clearly best."""
    for number in range(6):
        library.write(f"tea{number}.md", f"# Tea {number}\n\nA warm drink of leaves.")
    library.write("mate.md", "# Mate\n\nLeaves with a straw.")
    library.write("coffee.md", "# Coffee\n\nBeans that were roasted.")
    library.update()
    library.embed()


def garage(library):
    """Twelve documents about a car, each less than the one before."""
    for number in range(12):
        library.write(f"{number:02}.md", f"A car {'and more ' * number}of {number}.")
    library.update()
    library.embed()


def ask(library, document, **options):
    """What is answered to a question, ten results at most."""
    return anyio.run(
        partial(query, library.engine, document, **{"limit": 10, "explain": True, **options})
    )


def files(answer):
    """The documents of an answer, best first."""
    return [result.file.removeprefix("notes/") for result in answer]


def found(library, document, **options):
    return files(ask(library, document, **options))


def ranks(result, kind):
    """The ranks of a document in the lists of a kind."""
    return [part["rank"] for part in result.explain["lists"] if part["kind"] == kind]


def weights(answer):
    """The weight of each list that the best document is told to be of."""
    return [pytest.approx(part["weight"]) for part in answer[0].explain["lists"]]


def searched(answer):
    """(kind, text) of all lists, in order."""
    parts = answer[0].explain["lists"]
    return [(part["kind"], part["query"]) for part in parts]


def blend(rank, rerank):
    """The formula of search/blend."""
    weight = 0.75 if rank <= 3 else 0.6 if rank <= 10 else 0.4
    return weight, weight / rank + (1 - weight) * (rerank or 0)


def assert_adds_up(result, *, reranked):
    """Everything that says how the score came about leads to it."""
    explain = result.explain
    contributed = [part["contribution"] for part in explain["lists"]]
    assert explain["fused"] == pytest.approx(sum(contributed) + explain["bonus"], abs=1e-9)
    if explain["fusion"] == "rrf":
        for part in explain["lists"]:
            assert part["contribution"] == pytest.approx(part["weight"] / (60 + part["rank"]))
        best = min(part["rank"] for part in explain["lists"])
        assert explain["bonus"] == {1: 0.05, 2: 0.02, 3: 0.02}.get(best, 0)
    else:
        assert sum(part["weight"] for part in explain["lists"]) == pytest.approx(1)
        assert all(part["rank"] or part["kind"] != "lex" or not part["contribution"]
                   for part in explain["lists"])  # fmt: skip
    if reranked:
        weight, score = blend(explain["rank"], explain["rerank"])
        assert explain["weight"] == weight
        assert result.score == pytest.approx(score, abs=1e-9)
    else:
        assert "rerank" not in explain
        assert result.score == explain["fused"]
