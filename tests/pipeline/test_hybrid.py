"""Words and meaning together: how lists become one, what models add, and what their failure costs.

Embedders, judges and writers are fakes here, unless a test asks for a tiny model.
"""

from __future__ import annotations

import math
import re
import threading
import time
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial

import anyio
import numpy as np
import pytest
from anyio import from_thread
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qmd.engine import NONE_INCLUDED
from qmd.environment import Machine
from qmd.errors import (
    CollectionNotFound,
    IndexNotWritable,
    ModelFailure,
    ModelMissing,
    NotEmbedded,
    QmdError,
    QueryError,
    RuntimeMissing,
)
from qmd.models import prompts
from qmd.models.base import nothing
from qmd.models.loaded import Helper
from qmd.models.registry import MINILM, Model
from qmd.pipeline import hybrid
from qmd.pipeline.fusion import WORDS
from qmd.pipeline.hybrid import FIRST, FURTHER, Recipe
from qmd.pipeline.reranking import PASSAGE
from qmd.store.cursor import as_json
from qmd.store.shortcut import Shortcut
from qmd.types import Condition, Filter
from tests.library import FakeEmbedder, Library, drawn
from tests.test_cases import recorded
from tests.text.test_questions import documents

LONG = 20
"""Seconds after which something that has to happen is taken for stuck."""

SHORT = 0.05
"""Seconds after which a model that never answers has had its time."""

SAME = {"automobile": "car", "vehicle": "car", "physician": "doctor"}
"""Words that mean what another does."""

RRF = Recipe("rrf")

ASK = {
    "plain": "red car",
    "typed": "vec: a vehicle\nlex: red car\nhyde: The automobile is red.\nlex: door",
    "by words": "lex: red door",
    "by meaning": "vec: vehicle",
}


class FakeReranker:
    """A judge whose scores are known.

    Attributes:
        says: gives the score of a passage.
        asked: the question and the passages of each call.
        before: called with what says whether to go on.
    """

    model = Model("judge", "rerank", "judge.gguf")

    def __init__(self):
        self.says = lambda passage: 0.5
        self.asked = []
        self.before = lambda between: None

    def score(self, query, passages, *, between=nothing):
        self.before(between)
        self.asked.append((query, list(passages)))
        return [self.says(passage) for passage in passages]

    def close(self):
        pass


class FakeGenerator:
    """A model that writes what it is told to.

    Attributes:
        says: its answer.
        asked: the prompt, the grammar and the tokens of each call.
        before: called with what says whether to go on.
    """

    model = Model("writer", "generate", "writer.gguf")

    def __init__(self):
        self.says = ""
        self.asked = []
        self.before = lambda between: None

    def generate(self, prompt, *, grammar=None, tokens=256, between=nothing):
        self.before(between)
        self.asked.append((prompt, grammar, tokens))
        return self.says

    def close(self):
        pass


def replace_judge(library, content):
    """Put another model in the place of the one that judges: nothing kept is its answer."""
    (library.folder / "rerank.gguf").write_bytes(b"GGUF" + content.encode())


def expanding(question):
    """What a model is asked that has no prompt of its own."""
    return prompts.EXPAND.replace("{text}", question)


def meant(text):
    """The direction in which the words of a text point together; some of them mean the same."""
    found = [SAME.get(word, word) for word in re.findall(r"\w+", text.lower())]
    vector = sum((drawn(word, 64) for word in found), np.zeros(64, np.float32))
    length = np.linalg.norm(vector)
    return vector / length if length else drawn(text, 64)


@pytest.fixture
def judge(monkeypatch):
    made = FakeReranker()
    monkeypatch.setattr("qmd.models.choice.reranker", lambda model, machine: made)
    return made


@pytest.fixture
def writer(monkeypatch):
    made = FakeGenerator()
    monkeypatch.setattr("qmd.models.choice.generator", lambda model, machine: made)
    return made


@pytest.fixture
def helped(faked, fake, judge, writer):
    """A library whose models are all fakes."""
    chosen = {**faked.engine.models.machine.chosen}
    for role in ("rerank", "generate"):
        file = faked.folder / f"{role}.gguf"
        file.write_bytes(b"GGUF")
        chosen[role] = str(file)
    faked.engine.models.machine = faked.engine.models.machine._replace(chosen=chosen)
    fake.dimensions, fake.vector = 64, meant
    faked.engine.database._warm = True
    return faked


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """A library to look at, not to change: 24 documents in three collections, one excluded."""
    folder = tmp_path_factory.mktemp("town")
    file = folder / "fake.gguf"
    file.write_bytes(b"GGUF")
    chosen = {"embed": str(file), "rerank": str(file)}
    made = Library(folder, Machine(chosen, hub=folder / "hub"))
    made.engine.database._warm = True
    made.configure("work", "hidden", excluded=["hidden"])
    for name, text in {
        "car.md": "# Car\n\nA car with a red door.",
        "red.md": "# Red\n\nRed paint, red wine, a red door.",
        "automobile.md": "# Automobile\n\nAn automobile on the road.",
        "vehicle.md": "---\nstatus: open\n---\n# Vehicle\n\nA vehicle in the garage, of 1950.",
        "doctor.md": "# Doctor\n\nA doctor with a car.",
        "tea.md": "---\ndate: 2031-02-03\n---\n# Tea\n\nA cup of tea by the door.",
    }.items():
        made.write(name, text)
    for number in range(10):
        made.write(f"n/{number}.md", f"# Note {number}\n\nItem{number} is about thing{number}.")
    for number in range(4):
        text = f"---\nstatus: open\ndate: 203{number}-01-01\n---\n# Plan {number}\n\nBuy a red car."
        made.write(f"{number}.md", text, collection="work")
        made.write(f"{number}.md", f"# Secret {number}\n\nA red car.", collection="hidden")
    fake, judge = FakeEmbedder(dimensions=64), FakeReranker()
    fake.vector, judge.says = meant, lambda passage: len(passage) % 10 / 10
    made.engine.models._loaded["embed"] = made.engine.models.space().fingerprint, fake
    made.engine.models.reranker = lambda: Helper(judge.model, lambda: "judge", lambda: judge)
    made.update()
    made.embed()
    yield made
    made.engine.close()


def ask(library, document, **options):
    """What is answered to a question, ten results at most."""
    return anyio.run(partial(library.engine.query, document, **{"limit": 10, **options}))


def files(answer):
    """The documents of an answer, best first."""
    return [result.file.removeprefix("notes/") for result in answer.results]


def found(library, document, **options):
    return files(ask(library, document, **options))


def ranks(result, kind):
    """The ranks of a document in the lists of a kind."""
    return [part["rank"] for part in result.explain["lists"] if part["kind"] == kind]


def weights(answer):
    """The weight of each list that the best document is told to be of."""
    return [pytest.approx(part["weight"]) for part in answer.results[0].explain["lists"]]


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


@pytest.mark.parametrize("kind", ["vec", "lex"])
def test_fewer_results_are_the_first_of_more(faked, kind):
    for name in "zyxwvu":
        faked.write(f"{name}.md", "the same")
        faked.update()
    faked.embed()
    all_files = found(faked, f"{kind}: same", limit=6)
    assert len(all_files) == 6
    for limit in range(1, 6):
        assert found(faked, f"{kind}: same", limit=limit) == all_files[:limit]


# -- statements ----------------------------------------------------------------


def run(library, name, **parameters):
    return library.engine.read(lambda cursor: cursor.run(name, **parameters))


def fused(library, fusion, rows, *, limit=100, half_life=None, now="2031-01-01"):
    """(document, score, bonus, parts) as search/fuse_scores or search/fuse_ranks gives them."""
    fields = {"documents": "document_id", "lists": "list", "ranks": "rank", "weights": "weight"}
    given = {}
    if fusion == "scores":
        fields |= {"scores": "score", "lexical": "lexical", "floors": "floor"}
        floors = {}
        for row in rows:
            row["lexical"] = row["kind"] == "lex"
            lowest = 0.0 if row["lexical"] else max(row["score"], 0.0)
            known = floors.get(row["list"], (lowest, 0))[0]
            floors[row["list"]] = min(lowest, known), row["weight"]
        rows = [row | {"floor": floors[row["list"]][0]} for row in rows]
        given["least"] = sum(floor * weight for floor, weight in floors.values())
    found = run(
        library,
        f"search/fuse_{fusion}",
        **{name: [row[field] for row in rows] for name, field in fields.items()},
        **given,
        half_life=half_life,
        now=now,
        limit=limit,
    )
    return [(*row, sorted(parts, key=lambda part: part["list"])) for *row, parts in found]


def scores_of(rows):
    return [(document, score) for document, score, _, _ in rows]


@pytest.mark.parametrize("case", recorded("fusion.json", "rrf"))
def test_ranks_are_fused_as_recorded(town, case):
    number = {name: int(name, 36) for each in case["lists"] for name in each}
    weights = case["weights"] or [1] * len(case["lists"])
    rows = [
        {"list": place, "weight": weight, "document_id": number[name], "rank": rank}
        for place, (each, weight) in enumerate(zip(case["lists"], weights, strict=True))
        for rank, name in enumerate(each, start=1)
    ]
    assert scores_of(fused(town, "ranks", rows)) == [
        (number[name], pytest.approx(score, abs=1e-9)) for name, score in case["expected"]
    ]


numbers = st.integers(10**6, 10**6 + 30)
"""Documents that the index does not have: none of them is recent."""

ranked = st.lists(
    st.tuples(
        st.sampled_from(["lex", "vec"]),
        st.sampled_from([1, 2]) | st.floats(0.01, 2),
        st.dictionaries(
            numbers, st.floats(-1, 60).map(lambda score: round(score, 6) + 0.0), max_size=12
        ),
    ),
    max_size=5,
)


def as_rows(lists):
    return [
        {
            "list": place,
            "kind": kind,
            "weight": weight,
            "document_id": document,
            "rank": rank,
            "score": max(score, 0) if kind == "lex" else score / 60,
        }
        for place, (kind, weight, scores) in enumerate(lists)
        for rank, (document, score) in enumerate(
            sorted(scores.items(), key=lambda item: (-item[1], item[0])), start=1
        )
    ]


@settings(max_examples=40)
@given(ranked)
def test_scores_are_fused_as_the_header_says(town, lists):
    rows = as_rows(lists)
    expected = dict.fromkeys((row["document_id"] for row in rows), 0.0)
    floors = {}
    for place, (kind, weight, _) in enumerate(lists):
        here = {
            row["document_id"]: row["score"] / (row["score"] + 20)
            if kind == "lex"
            else max(row["score"], 0)
            for row in rows
            if row["list"] == place
        }
        least = 0 if kind == "lex" else min(here.values(), default=0)
        floors[place] = weight, least
        for document in expected:
            expected[document] += weight * here.get(document, least)
    answer = fused(town, "scores", rows)
    assert fused(town, "scores", rows[::-1]) == answer
    assert fused(town, "scores", rows, limit=3) == answer[:3]
    found = scores_of(answer)
    assert dict(found) == pytest.approx(expected, abs=1e-12)
    assert found == sorted(found, key=lambda row: (-row[1], row[0]))
    for _, score, bonus, parts in answer:
        listed = {part["list"] for part in parts}
        contributed = sum(part["contribution"] for part in parts)
        contributed += sum(
            weight * least for place, (weight, least) in floors.items() if place not in listed
        )
        assert (contributed, bonus) == (pytest.approx(score, abs=1e-11), 0)


@settings(max_examples=30)
@given(ranked)
def test_ranks_are_fused_as_the_header_says(town, lists):
    rows = as_rows(lists)
    expected: Counter[int] = Counter()
    places: dict[int, list[tuple[int, int]]] = {}
    for row in rows:
        expected[row["document_id"]] += row["weight"] / (60 + row["rank"])
        places.setdefault(row["document_id"], []).append((row["list"], row["rank"]))
    order = {}
    for document, listed in places.items():
        best = min(rank for _, rank in listed)
        order[document] = min(number for number, _ in listed), best, document
        expected[document] += {1: 0.05, 2: 0.02, 3: 0.02}.get(best, 0)
    answer = fused(town, "ranks", rows)
    assert fused(town, "ranks", rows[::-1]) == answer
    assert fused(town, "ranks", rows, limit=3) == answer[:3]
    found = scores_of(answer)
    assert dict(found) == pytest.approx(dict(expected), abs=1e-12)
    assert found == sorted(found, key=lambda row: (-row[1], order[row[0]]))
    for _, score, bonus, parts in answer:
        contributed = sum(part["contribution"] for part in parts)
        assert contributed + bonus == pytest.approx(score, abs=1e-12)


@settings(max_examples=40)
@given(st.lists(st.none() | st.floats(0, 1), max_size=25))
@example([0.0, 0.0, 0.5])  # the second and the third score the same
def test_places_and_judgements_are_blended_as_the_header_says(town, judged):
    judged.sort(key=lambda score: score is None)  # as it is: the first are judged
    rows = [
        {"document_id": 100 - rank, "rank": rank, "rerank": score}
        for rank, score in enumerate(judged, start=1)
    ]
    expected = [(100 - rank, *blend(rank, score)[::-1]) for rank, score in enumerate(judged, 1)]
    found = run(town, "search/blend", fused=as_json(rows))
    assert found == run(town, "search/blend", fused=as_json(rows[::-1]))
    assert sorted(found) == [(d, pytest.approx(s, abs=1e-12), w) for d, s, w in sorted(expected)]
    assert found == sorted(found, key=lambda row: (-row[1], -row[0]))
    unjudged = [100 - row["rank"] for row in rows if row["rerank"] is None]
    assert [document for document, _, _ in found][len(rows) - len(unjudged) :] == unjudged


@pytest.mark.parametrize("fusion", ["scores", "ranks"])
def test_half_of_the_bonus_of_a_new_document_goes_with_each_half_life(town, fusion):
    dated = {d.path: d.document_id for d in town.engine.documents("work")}
    rows = [
        {"list": 0, "kind": "vec", "weight": 1, "document_id": number, "rank": 9, "score": 0.5}
        for number in dated.values()
    ]
    # The documents are of the first days of 2030 to 2033.
    answer = fused(town, fusion, rows, half_life=365.0, now="2032-01-01")
    bonus = {document: bonus for document, _, bonus, _ in answer}
    assert {path: bonus[number] for path, number in dated.items()} == {
        "0.md": pytest.approx(0.05 / 4),
        "1.md": pytest.approx(0.05 / 2),
        "2.md": pytest.approx(0.05),
        "3.md": pytest.approx(0.05),
    }


def test_a_new_document_that_fits_has_no_score_above_1(town):
    dated = {d.path: d.document_id for d in town.engine.documents("work")}
    scores = {"0.md": 0.97, "1.md": 1.0, "2.md": 0.98, "3.md": 0.9}
    rows = [
        {"list": 0, "kind": "vec", "weight": 1, "document_id": dated[path], "rank": 1, "score": s}
        for path, s in scores.items()
    ]
    answer = fused(town, "scores", rows, half_life=1e9, now="2034-01-01")
    names = {number: path for path, number in dated.items()}
    found = [(names[number], score, bonus) for number, score, bonus, _ in answer]
    assert found == [
        ("1.md", 1, 0),
        ("2.md", 1, pytest.approx(0.02)),
        ("0.md", 1, pytest.approx(0.03)),
        ("3.md", pytest.approx(0.95), pytest.approx(0.05)),
    ]
    assert fused(town, "scores", rows, half_life=1e9, now="2034-01-01", limit=2) == answer[:2]


# -- fusion --------------------------------------------------------------------


@pytest.mark.parametrize("document", ASK.values(), ids=ASK)
@pytest.mark.parametrize(
    ("recipe", "rerank"),
    [(Recipe(), False), (RRF, False), (Recipe(candidates=3), True), (RRF, True)],
    ids=["scores", "rrf", "scores, three judged", "rrf, judged"],
)
def test_every_score_can_be_added_up_by_hand(town, document, recipe, rerank):
    answer = ask(town, document, recipe=recipe, rerank=rerank)
    assert answer.notice is None
    assert len(answer.results) >= 5
    for result in answer.results:
        assert_adds_up(result, reranked=rerank)
    scores = [result.score for result in answer.results]
    assert scores == sorted(scores, reverse=True)


def test_the_bonus_of_a_new_document_is_part_of_the_sum(town):
    plain = {result.file: result for result in ask(town, "red car").results}
    answer = ask(town, "red car", recipe=Recipe(half_life=100))
    for result in answer.results:
        explain = result.explain
        parts = sum(part["contribution"] for part in explain["lists"])
        assert 0 <= explain["bonus"] <= 0.05
        assert result.score == pytest.approx(parts + explain["bonus"], abs=1e-9)
        if result.file in plain:
            assert parts == pytest.approx(plain[result.file].score, abs=1e-9)
    days = (datetime.now(UTC).date() - datetime(2030, 1, 1).date()).days
    [oldest] = [result for result in answer.results if result.file == "work/0.md"]
    expected = 0.05 * 0.5 ** (max(days, 0) / 100)
    assert oldest.explain["bonus"] == pytest.approx(expected, rel=0.02)


def test_a_plain_question_is_searched_by_words_and_by_meaning_and_both_weigh_twice(town):
    answer = ask(town, "red car", recipe=RRF)
    lists = {
        (p["kind"], p["query"], p["weight"]) for r in answer.results for p in r.explain["lists"]
    }
    assert lists == {("lex", "red car", FIRST), ("vec", "red car", FIRST)}
    assert (FIRST, FURTHER) == (2, 1)
    assert weights(ask(town, "red car")) == [WORDS, 1 - WORDS]


def test_the_first_search_of_a_typed_query_weighs_twice(town):
    answer = ask(town, ASK["typed"], recipe=RRF)
    listed = {p["query"]: p["weight"] for r in answer.results for p in r.explain["lists"]}
    assert listed == {"a vehicle": 2, "red car": 1, "The automobile is red.": 1, "door": 1}
    rest = 1 - WORDS
    assert weights(ask(town, ASK["typed"])) == [rest * 2 / 3, WORDS / 2, rest / 3, WORDS / 2]


def test_a_passage_that_would_answer_is_embedded_as_a_document_is(helped, fake):
    models = MINILM._replace(query="question: {text}", document="passage: {text}")
    fake.model = models
    space = helped.engine.models.space()
    helped.engine.models.space = lambda: space._replace(model=models._replace(uri=space.model.uri))
    helped.write("tea.md", "# Tea\n\nA cup.")
    helped.update()
    helped.embed()
    fake.made.clear()
    ask(helped, "vec: a drink\nhyde: Tea is a drink.\nlex: tea")
    assert fake.made == ["question: a drink", "passage: Tea is a drink."]


def test_all_texts_are_embedded_in_one_batch(town):
    batches = []
    _, fake = town.engine.models._loaded["embed"]
    fake.before = lambda batch, between: batches.append(batch)
    ask(town, "vec: a\nhyde: b\nvec: c\nlex: d")
    fake.before = lambda batch, between: None
    assert len(batches) == 1


def test_documents_that_score_the_same_come_in_the_same_order_each_time(helped):
    for name in "dbca":
        helped.write(f"{name}.md", "# Same\n\nThe same text.")
    helped.update()
    helped.embed()
    for recipe in (Recipe(), RRF):
        answer = ask(helped, "same text", recipe=recipe)
        assert sorted(files(answer)) == ["a.md", "b.md", "c.md", "d.md"]
        assert ask(helped, "same text", recipe=recipe) == answer


def test_a_question_in_a_script_that_the_model_does_not_know_is_answered_by_words(tmp_path, fake):
    library = Library(tmp_path, Machine(hub=tmp_path / "hub"))
    library.write("onsen.md", "# 温泉\n\n有馬温泉へ行きました。")
    library.write("hot.md", "# 温泉\n\n温泉。")
    library.write("tea.md", "# Tea\n\nIn English.")
    library.update()
    library.embed()
    assert library.engine.models.space().model.languages == "en"
    assert found(library, "有馬温泉")[0] == "onsen.md"
    for recipe, weight in ((Recipe(), 1), (RRF, FIRST)):
        answer = ask(library, "有馬温泉", recipe=recipe)
        assert weights(answer) == [weight]
        assert answer.notice.startswith("Searched by words alone: minilm knows English only.")
    assert weights(ask(library, "tea")) == [WORDS, 1 - WORDS]
    assert found(library, "vec: 有馬温泉")
    library.engine.close()


# -- what may answer -----------------------------------------------------------


def is_among(answer, names):
    return {result.file for result in answer.results} <= names


@pytest.mark.parametrize("recipe", [Recipe(), RRF], ids=["scores", "rrf"])
@pytest.mark.parametrize("document", ["red car", "vec: vehicle\nlex: car\nlex: red"])
@pytest.mark.parametrize(
    ("among", "expected"),
    [
        (Filter(("work",)), {f"work/{n}.md" for n in range(4)}),
        (Filter(("hidden",)), {f"hidden/{n}.md" for n in range(4)}),
        (Filter(since=datetime(2032, 1, 1)), {"work/2.md", "work/3.md"}),
        (
            Filter(conditions=(Condition('$."status"', "=", "open"),)),
            {"notes/vehicle.md", *(f"work/{n}.md" for n in range(4))},
        ),
    ],
    ids=["collection", "excluded collection by name", "since", "filter"],
)
def test_a_filter_holds_for_both_kinds_of_lists_and_starves_none(
    town, recipe, document, among, expected
):
    answer = ask(town, document, among=among, recipe=recipe, limit=len(expected))
    assert {result.file for result in answer.results} == expected
    for kind in ("lex", "vec"):
        listed = [rank for result in answer.results for rank in ranks(result, kind) if rank]
        assert min(listed) == 1
        assert max(listed) <= len(expected)


def test_an_excluded_collection_answers_only_if_it_is_named(town):
    everything = found(town, "red car", limit=100)
    assert len(everything) == 20
    assert not any(file.startswith("hidden/") for file in everything)
    with pytest.raises(CollectionNotFound):
        ask(town, "tea", among=Filter(("absent",)))


def test_nothing_is_searched_where_all_collections_are_excluded(helped):
    helped.write("tea.md", "# Tea")
    helped.update()
    text = (helped.folder / "index.yml").read_text()
    (helped.folder / "index.yml").write_text(text + "    includeByDefault: false\n")
    assert ask(helped, "tea") == ([], NONE_INCLUDED, {})


def test_as_many_come_back_as_are_asked_for_if_there_are_so_many(helped):
    for number in range(60):
        helped.write(f"{number}.md", f"# Car {number}\n\nA car of the year {1900 + number}.")
    helped.update()
    helped.embed()
    for recipe in (Recipe(), RRF):
        for rerank in (False, True):
            answer = ask(helped, "car", limit=50, recipe=recipe, rerank=rerank)
            assert len(set(files(answer))) == 50
        assert len(found(helped, "car", limit=1000, recipe=recipe)) == 60


def test_what_a_question_excludes_never_comes_back_nor_takes_the_place_of_others(
    helped, fake, monkeypatch
):
    """No document has the word automobile; those that are excluded are nearer in meaning.

    What is excluded is known only after the question has its vector.
    """
    embedded = threading.Event()
    scored = hybrid.search.scored

    def late(*arguments, **options):
        assert embedded.wait(LONG)
        from_thread.run(anyio.wait_all_tasks_blocked)
        return scored(*arguments, **options)

    for number in range(25):
        helped.write(f"red{number}.md", f"Car: vehicle, red door {number}")
    for number in range(3):
        helped.write(f"blue{number}.md", f"A car, blue all over, and much else besides {number}")
    helped.update()
    helped.embed()
    monkeypatch.setattr(hybrid.search, "scored", late)
    fake.before = lambda batch, between: embedded.set()
    for question in ("automobile -red", 'automobile -"red door"', "car -red"):
        for recipe in (Recipe(), RRF):
            embedded.clear()
            answer = ask(helped, question, recipe=recipe, limit=4)
            assert sorted(files(answer)) == ["blue0.md", "blue1.md", "blue2.md"]
            assert all(ranks(result, "vec") != [None] for result in answer.results)


def test_what_is_excluded_is_no_part_of_what_is_meant(town):
    _, fake = town.engine.models._loaded["embed"]
    for question in ('car -"red door" -tea', "car -red -force", "-red car", "car -(red) "):
        fake.made.clear()
        ask(town, question)
        assert fake.made == ["car"]


# -- what cannot be searched ---------------------------------------------------


@pytest.mark.parametrize("question", ["-tea", '-"green tea" -cup', "lex: -tea", "- -tea ?"])
def test_a_question_that_only_excludes_is_refused(town, question):
    for meaning in (True, False):
        with pytest.raises(QueryError, match="only says what to leave out"):
            ask(town, question, recipe=Recipe(meaning=meaning), expand=True)


def test_a_question_without_a_word_still_has_a_meaning(town):
    assert found(town, "?!")
    with pytest.raises(QueryError, match="no words to look for"):
        ask(town, "?!", recipe=Recipe(meaning=False))


def test_a_query_by_meaning_alone_is_refused_where_meaning_is_not_searched(town):
    with pytest.raises(QueryError, match="only asks by meaning"):
        ask(town, "vec: tea\nhyde: A cup.", recipe=Recipe(meaning=False))
    assert found(town, "vec: tea\nlex: cup", recipe=Recipe(meaning=False)) == ["tea.md"]


def no_vectors(library):
    pass


def no_model(library):
    library.embed()
    library.folder.joinpath("fake.gguf").unlink()


def no_runtime(library):
    library.embed()
    library.write("new.md", "# New\n\nNot embedded.")
    library.update()

    def missing(batch, between):
        raise RuntimeMissing("fake")

    library.engine.models._loaded["embed"][1].before = missing


def another_width(library):
    library.embed()
    fake = library.engine.models._loaded["embed"][1]
    fake.dimensions, fake.vector = 8, lambda text: drawn(text, 8)


@pytest.mark.parametrize(
    ("break_it", "error"),
    [
        (no_vectors, NotEmbedded),
        (no_model, ModelMissing),
        (no_runtime, RuntimeMissing),
        (another_width, NotEmbedded),
    ],
)
def test_where_meaning_cannot_be_searched_words_are_with_one_notice(helped, break_it, error):
    helped.write("tea.md", "# Tea\n\nA cup of tea.")
    helped.write("car.md", "# Car\n\nA car.")
    helped.update()
    break_it(helped)
    for question in ("tea", "vec: drink\nlex: tea"):
        answer = ask(helped, question)
        assert files(answer) == ["tea.md"]
        assert answer.notice.startswith("Searched by words alone. ")
        assert "\n" not in answer.notice
        [part] = answer.results[0].explain["lists"]
        assert part["kind"] == "lex"
        assert part["weight"] == 1
    with pytest.raises(error):
        ask(helped, "vec: drink\nhyde: A cup.")
    assert files(ask(helped, "tea", recipe=Recipe(meaning=False))) == ["tea.md"]


def test_documents_without_vectors_are_found_by_words_and_told_of(helped):
    helped.write("car.md", "# Car\n\nA car.")
    helped.update()
    helped.embed()
    helped.write("new.md", "# New car\n\nA new car.")
    helped.update()
    answer = ask(helped, "new car")
    assert set(files(answer)) == {"car.md", "new.md"}
    assert answer.notice == "Documents that lack vectors: 1 of 2. Run 'qmd embed'."


@pytest.fixture(scope="module")
def asked(town):
    """Asks a question; many of them in one loop of events."""
    with from_thread.start_blocking_portal() as portal:
        yield lambda document, **options: portal.call(
            partial(town.engine.query, document, **options)
        )


@settings(max_examples=150)
@given(documents, st.booleans())
def test_any_document_is_answered_or_refused_in_words(asked, document, meaning):
    with suppress(QmdError):
        answer = asked(document, recipe=Recipe(meaning=meaning))
        assert all(math.isfinite(result.score) for result in answer.results)


# -- expansion -----------------------------------------------------------------


def shelf(library):
    """Documents about tea, none of which a question fits clearly best."""
    for number in range(6):
        library.write(f"tea{number}.md", f"# Tea {number}\n\nA warm drink of leaves.")
    library.write("mate.md", "# Mate\n\nLeaves with a straw.")
    library.write("coffee.md", "# Coffee\n\nBeans that were roasted.")
    library.update()
    library.embed()


def searched(answer):
    """(kind, text) of all lists, in order."""
    parts = answer.results[0].explain["lists"]
    return [(part["kind"], part["query"]) for part in parts]


def test_a_question_is_searched_in_the_words_of_a_model_too(helped, writer):
    shelf(helped)
    writer.says = "lex: tea leaves\nvec: what to brew tea from\nhyde: Tea is brewed from leaves.\n"
    answer = ask(helped, "tea", expand=True)
    assert searched(answer) == [
        ("lex", "tea"),
        ("vec", "tea"),
        ("lex", "tea leaves"),
        ("vec", "what to brew tea from"),
        ("hyde", "Tea is brewed from leaves."),
    ]
    rest = 1 - WORDS
    assert weights(answer) == [WORDS * 2 / 3, rest / 2, WORDS / 3, rest / 4, rest / 4]
    lists = ask(helped, "tea", expand=True, recipe=RRF).results[0].explain["lists"]
    assert {(part["query"] == "tea", part["weight"]) for part in lists} == {(True, 2), (False, 1)}
    assert writer.asked == [(expanding("tea"), prompts.GRAMMAR, prompts.EXPANSION_TOKENS)]
    assert "mate.md" in files(answer)
    for result in answer.results:
        assert_adds_up(result, reranked=False)


def test_an_expansion_is_made_once_for_each_question_and_intent(helped, writer):
    shelf(helped)
    writer.says = "lex: tea leaves\n"
    first = ask(helped, "tea", expand=True)
    assert ask(helped, "tea", expand=True) == first
    assert len(writer.asked) == 1
    ask(helped, "tea", expand=True, intent="cooking")
    ask(helped, "warm tea", expand=True)
    assert [prompt for prompt, _, _ in writer.asked] == [
        expanding(text) for text in ("tea", "tea\nContext: cooking", "warm tea")
    ]
    assert helped.ask("select kind, count(*) from cache group by kind") == [("expansion", 3)]


def test_nothing_is_expanded_unless_it_is_asked_for_or_if_the_searches_are_typed(helped, writer):
    shelf(helped)
    ask(helped, "tea")
    ask(helped, "lex: tea\nvec: drink", expand=True)
    assert writer.asked == []


BAD_LINES = """
lex: warm TEA
vec: Warm  tea?
lex: warm drink
vec: something hot
lex: tea leaves
vec: Tea  leaves.
lex:
lex: "tea
lex: -tea
intent: tea
tea
"""
"""Of an expansion of "warm tea"; one of them is good."""


def test_a_line_that_says_nothing_new_or_has_lost_the_rarest_word_is_dropped(helped, writer):
    shelf(helped)
    for number in range(6):
        helped.write(f"warm{number}.md", f"# Warm {number}\n\nSomething warm, and a drink.")
    helped.update()
    writer.says = BAD_LINES + "vec: why tea\n"
    answer = ask(helped, "warm tea", expand=True)
    assert searched(answer)[2:] == [("lex", "tea leaves"), ("vec", "why tea")]


def test_what_a_model_excludes_is_excluded_from_its_own_list_alone(helped, writer):
    shelf(helped)
    writer.says = "lex: tea -warm\nvec: what tea is\n"
    assert "tea0.md" in found(helped, "tea", expand=True)


def test_what_a_question_excludes_is_not_found_by_its_expansion_either(helped, writer):
    shelf(helped)
    writer.says = "lex: leaves of tea\nvec: leaves of tea, a warm drink\n"
    assert set(found(helped, "leaves -warm", expand=True)) == {"mate.md", "coffee.md"}


def test_a_question_without_words_is_expanded_and_still_answered(helped, writer):
    shelf(helped)
    writer.says = "lex: tea\nvec: warm drink\n"
    assert found(helped, "?", expand=True)[0].startswith("tea")


def test_words_that_have_one_clear_answer_need_no_expansion(helped, writer):
    for number in range(40):
        helped.write(f"{number}.md", f"# Note {number}\n\nOf this and that.")
    helped.write("samovar.md", "# Russian samovar\n\nThe Russian samovar.")
    helped.update()
    helped.embed()
    writer.says = "lex: samovar tea\n"
    answer = ask(helped, "Russian samovar", expand=True)
    assert (answer.results[0].file, writer.asked) == ("notes/samovar.md", [])
    ask(helped, "Russian samovar", expand=True, intent="cooking")
    assert len(writer.asked) == 1
    helped.write("copy.md", "# Russian samovar\n\nThe Russian samovar.")
    helped.update()
    ask(helped, "Russian samovar", expand=True)
    assert len(writer.asked) == 2


def never(between):
    """Works until it is told to stop."""
    end = time.monotonic() + LONG
    while time.monotonic() < end:
        between()
    raise AssertionError


def fail(between):
    raise ModelFailure("It broke.\n\nTry another.")


@pytest.mark.parametrize(
    ("before", "reason"), [(fail, "It broke."), (never, "The model took longer than 0.05 s.")]
)
def test_a_model_that_does_not_expand_leaves_the_plain_search(helped, writer, before, reason):
    shelf(helped)
    plain = ask(helped, "tea", recipe=Recipe(timeout=SHORT))
    writer.before = before
    answer = ask(helped, "tea", expand=True, recipe=Recipe(timeout=SHORT))
    assert answer.results == plain.results
    assert answer.notice == f"The question was not expanded. {reason}"
    assert helped.ask("select count(*) from cache") == [(0,)]
    writer.before = lambda between: None
    assert ask(helped, "tea", expand=True).notice is None


def test_a_missing_model_is_told_of_once_for_each_that_was_wanted(helped, writer):
    shelf(helped)
    file = str(helped.folder / "absent.gguf")
    chosen = {**helped.engine.models.machine.chosen, "generate": file, "rerank": file}
    helped.engine.models.machine = helped.engine.models.machine._replace(chosen=chosen)
    answer = ask(helped, "tea", expand=True, rerank=True)
    assert answer.results == ask(helped, "tea").results
    expanding, reranking = answer.notice.split("\n")
    assert expanding.startswith("The question was not expanded. The model absent.gguf is not here")
    assert reranking.startswith("The results were not reranked. The model absent.gguf is not here")


def test_a_tiny_model_expands_by_the_grammar(meaning, tiny_generator):
    chosen = {**meaning.engine.models.machine.chosen, "generate": str(tiny_generator)}
    meaning.engine.models.machine = meaning.engine.models.machine._replace(chosen=chosen)
    for number in range(3):
        meaning.write(f"{number}.md", f"# River {number}\n\nThe river is high today.")
    meaning.update()
    meaning.embed()
    answer = ask(meaning, "river", expand=True)
    assert answer.notice is None
    kinds = [kind for kind, _ in searched(answer)]
    assert kinds[:2] == ["lex", "vec"]
    assert len(kinds) > 2
    assert {"lex", "vec"} >= set(kinds) - {"hyde"}
    [(text,)] = meaning.ask("select value ->> '$' from cache where kind = 'expansion'")
    lines = text.splitlines()
    assert re.fullmatch(
        "(lex ){1,3}(vec ){1,2}(hyde )?", "".join(x.split(":")[0] + " " for x in lines)
    )
    assert ask(meaning, "river", expand=True) == answer


# -- reranking -----------------------------------------------------------------


def inverted(judge):
    """Lets the judge prefer what fusion does not: the last passage gets 1, the first 0."""

    def score(query, passages, *, between=nothing):
        judge.asked.append((query, list(passages)))
        return [at / max(len(passages) - 1, 1) for at in range(len(passages))]

    judge.score = score


def garage(library):
    """Twelve documents about a car, each less than the one before."""
    for number in range(12):
        library.write(f"{number:02}.md", f"A car {'and more ' * number}of {number}.")
    library.update()
    library.embed()


def test_a_judge_moves_results_by_the_formula(helped, judge):
    garage(helped)
    inverted(judge)
    for recipe in (Recipe(), RRF):
        replace_judge(helped, recipe.fusion)
        fused = found(helped, "car", limit=12, recipe=recipe)
        answer = ask(helped, "car", limit=12, recipe=recipe, rerank=True)
        expected = {file: blend(rank, (rank - 1) / 11)[1] for rank, file in enumerate(fused, 1)}
        assert files(answer) == sorted(fused, key=lambda file: -expected[file])
        assert files(answer) != fused
        for file, result in zip(files(answer), answer.results, strict=True):
            assert result.score == pytest.approx(expected[file], abs=1e-9)
            assert_adds_up(result, reranked=True)


def test_the_passage_that_is_nearest_is_judged(helped, judge):
    helped.configure(more="chunk: {tokens: 20, overlap: 0}")
    parts = [f"# Part {n}\n\n{'other words here ' * 4}" for n in range(5)]
    parts[3] = "# Part 3\n\nThe automobile of the doctor."
    helped.write("long.md", "\n\n".join(parts))
    helped.update()
    helped.embed()
    ask(helped, "vec: vehicle", rerank=True)
    [(question, [passage])] = judge.asked
    assert question == "vehicle"
    assert "automobile of the doctor" in passage
    assert len(passage) < 100


def test_without_vectors_the_part_with_the_words_is_judged(helped, judge):
    filler = "\n".join(f"Line {n} about something else." for n in range(300))
    helped.write("long.md", f"{filler}\nThe samovar stands here.\n{filler}")
    helped.update()
    ask(helped, "samovar", rerank=True, recipe=Recipe(meaning=False))
    [(_, [passage])] = judge.asked
    assert "The samovar stands here." in passage
    assert len(passage) <= PASSAGE


def test_what_was_kept_is_answered_without_loading_a_model(helped, judge, writer, monkeypatch):
    shelf(helped)
    writer.says = "lex: tea leaves\n"
    first = ask(helped, "tea", expand=True, rerank=True)

    def load(model, machine):
        raise ModelFailure("It was loaded.")

    helped.engine.models._loaded.pop("rerank")
    helped.engine.models._loaded.pop("generate")
    monkeypatch.setattr("qmd.models.choice.reranker", load)
    monkeypatch.setattr("qmd.models.choice.generator", load)
    assert ask(helped, "tea", expand=True, rerank=True) == first
    replace_judge(helped, "another")
    assert "It was loaded." in ask(helped, "tea", expand=True, rerank=True).notice


def test_a_document_found_by_a_rare_word_shows_it_and_is_judged_by_it(helped, judge):
    filler = "\n\n".join(f"Line {n} of something else altogether." for n in range(60))
    helped.write(
        "long.md", f"# Lesson\n\nThe lesson of a teacher.\n\n{filler}\n\nKubernetes is hard."
    )
    helped.update()
    helped.embed()
    [result] = ask(helped, "kubernetes lesson teacher", rerank=True).results
    assert "Lesson" in result.snippet  # the passage near to it has words of the question
    [result] = ask(helped, "lex: kubernetes\nvec: lesson of a teacher", rerank=True).results
    assert "Kubernetes is hard." in result.snippet
    assert result.line == len(f"# Lesson\n\nThe lesson of a teacher.\n\n{filler}\n\n".split("\n"))
    assert "Kubernetes is hard." in judge.asked[-1][1][0]


def test_a_process_that_stays_asks_the_copy_of_very_many_vectors(helped, monkeypatch):
    for number in range(40):
        helped.write(f"{number}.md", f"# Drink{number}\n\nWhat drink{number} is made of.")
    helped.update()
    helped.embed()
    monkeypatch.setattr("qmd.store.shortcut.WORTH", 40)
    monkeypatch.setattr("qmd.store.embeddings.DEPTH", 1)
    monkeypatch.setitem(hybrid.DEPTH, "rrf", 1)
    helped.engine._stays = True
    asked = []
    original = Shortcut.nearest

    def nearest(*given):
        asked.append(original(*given))
        return asked[-1]

    monkeypatch.setattr(Shortcut, "nearest", nearest)
    assert found(helped, "vec: drink7", recipe=RRF, limit=1) == ["7.md"]
    assert asked == []  # it is being made
    helped.engine._shortcut[1]._builder.join(LONG)
    assert found(helped, "vec: drink8", recipe=RRF, limit=1) == ["8.md"]
    [near] = asked
    assert near is not None
    assert len(near.chunk_ids) < 40


def test_equal_passages_are_judged_once_and_each_only_once(helped, judge):
    for name in "abc":
        helped.write(f"{name}.md", "# Tea\n\nA cup of tea.")
    helped.write("d.md", "# Green tea\n\nAnother cup of tea.")
    helped.update()
    helped.embed()
    first = ask(helped, "tea", rerank=True)
    [(_, passages)] = judge.asked
    assert len(passages) == len(set(passages)) == 2
    assert len(first.results) == 4
    assert ask(helped, "tea", rerank=True) == first
    assert len(judge.asked) == 1
    helped.write("d.md", "# Black tea\n\nA changed cup of tea.")
    helped.update()
    helped.embed()
    ask(helped, "tea", rerank=True)
    assert judge.asked[1][1] == ["# Black tea\n\nA changed cup of tea."]
    ask(helped, "cup", rerank=True)
    assert (judge.asked[2][0], len(judge.asked[2][1])) == ("cup", 2)
    replace_judge(helped, "another")
    ask(helped, "cup", rerank=True)
    assert len(judge.asked) == 4


def test_a_judge_sees_the_questions_but_no_passage_that_would_answer(helped, judge):
    garage(helped)
    ask(helped, "lex: car\nhyde: A car is here.\nvec: vehicle\nvec: car", rerank=True)
    ask(helped, "hyde: A car is here.", rerank=True)
    assert [question for question, _ in judge.asked] == ["car vehicle", "A car is here."]


def test_no_more_than_the_candidates_are_judged_and_the_rest_comes_after_them(helped, judge):
    garage(helped)
    inverted(judge)
    fused = found(helped, "car", limit=12)
    for candidates in (0, 1, 5, 12, 40):
        judge.asked.clear()
        replace_judge(helped, f"{candidates:03}")
        recipe = Recipe(candidates=candidates)
        answer = ask(helped, "car", limit=12, rerank=True, recipe=recipe)
        assert sum(len(passages) for _, passages in judge.asked) == min(candidates, 12)
        assert set(files(answer)[:candidates]) == set(fused[:candidates])
        assert files(answer)[candidates:] == fused[candidates:]
        unjudged = [result for result in answer.results if result.explain["rerank"] is None]
        assert len(unjudged) == max(12 - candidates, 0)
        for result in answer.results:
            assert_adds_up(result, reranked=True)


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (fail, "It broke."),
        (never, "The model took longer than 0.05 s."),
        (None, "rerank.gguf gave a score that is no number."),
    ],
    ids=["failure", "timeout", "nan"],
)
def test_a_judge_that_gives_no_scores_leaves_the_order_of_fusion(helped, judge, before, reason):
    garage(helped)
    if before is None:
        judge.says = lambda passage: math.nan if passage.endswith("of 3.") else 0.5
    else:
        judge.before = before
    fused = ask(helped, "car", limit=12)
    answer = ask(helped, "car", limit=12, rerank=True, recipe=Recipe(timeout=SHORT))
    assert answer.results == fused.results
    assert answer.notice == f"The results were not reranked. {reason}"
    assert helped.ask("select count(*) from cache") == [(0,)]


def test_a_document_that_goes_before_it_is_judged_is_left_out(helped, judge, monkeypatch):
    garage(helped)
    documents = hybrid.search.documents

    def without_one(cursor, ids):
        there = documents(cursor, ids)
        return {number: text for number, text in there.items() if text.path != "03.md"}

    monkeypatch.setattr(hybrid.search, "documents", without_one)
    answer = ask(helped, "car", limit=12, rerank=True)
    assert len(answer.results) == 11
    assert "03.md" not in files(answer)


@pytest.mark.parametrize("kind", ["ranker", "judge"])
def test_a_tiny_model_reranks_and_its_scores_are_kept(meaning, request, kind):
    file = request.getfixturevalue(f"tiny_{kind}")
    chosen = {**meaning.engine.models.machine.chosen, "rerank": str(file)}
    meaning.engine.models.machine = meaning.engine.models.machine._replace(chosen=chosen)
    for number, word in enumerate(["tea", "river", "car", "snow", "bread"]):
        meaning.write(f"{word}.md", f"# {word}\n\nThe {word} of the house in the year {number}.")
    meaning.update()
    meaning.embed()
    answer = ask(meaning, "house", rerank=True)
    assert answer.notice is None
    assert len(answer.results) == 5
    for result in answer.results:
        assert_adds_up(result, reranked=True)
    judged = [result.explain["rerank"] for result in answer.results]
    assert all(0 <= score <= 1 for score in judged)
    assert len(set(judged)) > 1
    assert meaning.ask("select kind, count(*) from cache group by kind") == [("rerank", 5)]
    assert ask(meaning, "house", rerank=True) == answer
    assert meaning.ask("select count(*) from cache") == [(5,)]


def test_an_index_that_cannot_be_written_answers_all_the_same(helped, writer, judge, monkeypatch):
    garage(helped)
    expected = ask(helped, "car", expand=True, rerank=True)
    helped.engine.database.write(lambda cursor: cursor.run("maintenance/clear_cache"))

    def refuse(work):
        raise IndexNotWritable(helped.engine.place.database, "Read-only file system")

    monkeypatch.setattr(helped.engine.database, "write", refuse)
    for _ in range(2):
        assert ask(helped, "car", expand=True, rerank=True) == expected
    assert len(writer.asked) == len(judge.asked) == 3


# -- cancellation --------------------------------------------------------------


@pytest.mark.parametrize("which", ["embedder", "writer", "judge"])
def test_a_question_that_is_given_up_stops_the_model_and_leaves_no_thread(
    helped, fake, writer, judge, which
):
    garage(helped)
    found(helped, "car")  # what stays while the index is open is there
    threads = set(threading.enumerate())
    at_work = []

    async def give_up():
        started = anyio.Event()

        def work(*arguments):
            at_work.append(which)
            from_thread.run_sync(started.set)
            try:
                never(arguments[-1])
            finally:
                at_work.clear()

        {"embedder": fake, "writer": writer, "judge": judge}[which].before = work
        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(partial(helped.engine.query, "car", expand=True, rerank=True))
                await started.wait()
                assert at_work
                tasks.cancel_scope.cancel()

    anyio.run(give_up)
    assert at_work == []
    for thread in set(threading.enumerate()) - threads:
        thread.join(LONG)
        assert not thread.is_alive()
    for each in (writer, judge):
        each.before = lambda between: None
    fake.before = lambda batch, between: None
    assert len(found(helped, "car", limit=12, expand=True, rerank=True)) == 12


# -- intent and snippets -------------------------------------------------------


LETTER = "\n".join(
    [
        "# Letter",
        *("" for _ in range(3)),
        "The car is in the garage.",
        *(f"Line {n} of no importance." for n in range(20)),
        "In winter the car needs other wheels.",
        *(f"Line {n} of no importance." for n in range(20, 40)),
    ]
)


def shown(result):
    """The lines of a snippet, each with its number."""
    return {int(line.split(": ")[0]): line.split(": ", 1)[1] for line in result.snippet.split("\n")}


def assert_lines_are_true(result, text):
    lines = text.split("\n")
    assert {number: lines[number - 1] for number in shown(result)} == shown(result)
    assert result.line in shown(result)


@pytest.mark.parametrize("by", ["option", "document", "both"])
def test_an_intent_steers_the_snippet_and_the_judge_but_not_the_lists(helped, judge, by):
    helped.write("letter.md", LETTER)
    helped.write("other.md", "# Other\n\nAnother car.")
    helped.update()
    helped.embed()
    recipe = Recipe(meaning=False)
    typed = "lex: car\nintent: " + {"document": "winter", "both": "garage"}.get(by, "")
    document = "lex: car" if by == "option" else typed
    intent = None if by == "document" else "winter"
    without = ask(helped, "lex: car", rerank=True, length=60, recipe=recipe)
    answer = ask(helped, document, rerank=True, length=60, intent=intent, recipe=recipe)
    assert [result.explain["lists"] for result in answer.results] == [
        result.explain["lists"] for result in without.results
    ]
    assert [question for question, _ in judge.asked] == ["car", "car\nwinter"]
    before, after = (
        next(result for result in each.results if result.file == "notes/letter.md")
        for each in (without, answer)
    )
    assert (before.line, after.line) == (5, 26)
    for result in (before, after):
        assert_lines_are_true(result, LETTER)


def test_a_snippet_is_of_the_passage_that_means_it_with_its_own_lines(helped):
    helped.configure(more="chunk: {tokens: 24, overlap: 0.1}")
    text = LETTER.replace("In winter the car needs", "The physician needs")
    helped.write("letter.md", text)
    helped.update()
    helped.embed()
    for question in ("vec: doctor", "doctor"):
        [result] = ask(helped, question, length=120).results
        assert "The physician needs other wheels." in shown(result).values()
        assert_lines_are_true(result, text)
        [whole] = ask(helped, question, full=True).results
        assert whole.body == text


def test_of_several_passages_the_nearest_is_shown(helped):
    helped.configure(more="chunk: {tokens: 24, overlap: 0}")
    text = LETTER.replace("In winter the car needs", "The physician needs")
    helped.write("letter.md", text)
    helped.update()
    helped.embed()
    weak, strong = "vec: a garage", "vec: the doctor needs other wheels"
    for question in (f"{weak}\n{strong}", f"{strong}\n{weak}"):
        [result] = ask(helped, question, length=60).results
        assert result.line == 26
        assert_lines_are_true(result, text)


def test_words_are_shown_where_they_stand(helped):
    helped.write("letter.md", LETTER)
    helped.update()
    [result] = ask(helped, "winter wheels").results
    assert result.line == 26
    assert_lines_are_true(result, LETTER)


def test_the_words_of_an_answer_are_those_of_the_question(helped):
    helped.write("letter.md", "# Letter\n\nIntent: to vec and lex the car.")
    helped.update()
    helped.embed()
    answer = ask(helped, "vec: vehicle\nintent: driving")
    assert answer.words == {"vehicle": "vehicle"}
    assert set(ask(helped, "lex: car\nvec: vehicle").words) == {"car"}
