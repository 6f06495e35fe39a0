"""The order of records: relevance by words and by meaning, use and age."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from qmd.errors import ModelMissing
from qmd.operations.experiences import Experiences
from qmd.text.stems import terms
from tests.experiences.submitting import DOCKER, REDIS, asked, record, submitted, titles
from tests.library import turned

# -- order ---------------------------------------------------------------------


def numbers_of(text: str) -> set[int]:
    """Return the numbers of the terms of plain words."""
    words = "".join(mark if mark.isalnum() else " " for mark in text.lower()).split()
    return {term for term, _ in terms(list(dict.fromkeys(words)))}


def test_relevance_is_the_share_of_the_idf_of_the_query_counted_over_the_records_alone(
    records, library
):
    library.write("a.md", "# Tea\n\nredis redis cache cache")
    library.write("b.md", "# Coffee\n\nredis cache cluster")
    library.update()
    bodies = {"A": "redis", "B": "redis caches", "C": "cache of nothing", "D": "cluster caching"}
    records.add([record(title, body=body) for title, body in bodies.items()])
    query = "redis cache sentinel"
    having = {
        term: sum(term in numbers_of(f"{title} {body}") for title, body in bodies.items())
        for term in numbers_of(query)
    }
    idf = {term: math.log(1 + (4 - n + 0.5) / (n + 0.5)) for term, n in having.items()}
    expected = {
        title: round(
            sum(idf[term] for term in idf.keys() & numbers_of(body)) / sum(idf.values()), 4
        )
        for title, body in bodies.items()
    }
    found = asked(records, query)["experiences"]
    assert {each["title"]: each["relevance_score"] for each in found} == expected


def test_a_record_that_has_every_word_has_relevance_1_and_one_that_has_none_is_not_found(records):
    submitted(records, REDIS)
    submitted(records, DOCKER)
    [shown] = asked(records, "Why does REDIS keep timing out?")["experiences"]
    assert shown["title"] == REDIS["title"]
    assert 0 < shown["relevance_score"] < 1
    [shown] = asked(records, "the redis, its server and the clients")["experiences"]
    assert shown["relevance_score"] == 1.0
    assert asked(records, "kubernetes")["total"] == 0


@pytest.mark.parametrize(
    "query",
    ["parse_json", "parseJson", "parse json", "timeouts", "有馬", "温泉", "Zürich", "zurich"],
)
def test_names_stems_scripts_and_accents_are_found_as_elsewhere(records, query):
    solution = "Call parse_json with a timeout; 有馬温泉 and Zürich work."
    submitted(records, {**DOCKER, "solution": solution})
    [shown] = asked(records, query)["experiences"]
    assert shown["relevance_score"] == 1.0


def test_the_order_is_that_of_relevance_use_and_age(records):
    bodies = ["redis cache sentinel", "redis cache", "redis", "cache", "sentinel"]
    made = [
        record(f"{number}", body=bodies[number % 5], days=(number * 37) % 120)
        for number in range(40)
    ]
    records.add(made)
    for number, each in enumerate(made):
        records._uncounted[each.id] += (number * 131) % 1500
    records.count()
    found = asked(records, "redis cache sentinel", limit=50)["experiences"]
    records._uncounted.clear()
    now = datetime.now(UTC)

    def score(shown: dict) -> tuple:
        age = (now - datetime.fromisoformat(shown["created_at"])) / timedelta(days=1)
        return (
            0.6 * shown["relevance_score"]
            + 0.3 * min(math.log10(shown["query_count"] + 1) / 3, 1)
            + 0.1 * min(max(1 - age / 90, 0), 1)
        )

    scores = [score(shown) for shown in found]
    assert len(found) == 40
    assert all(a > b - 1e-4 for a, b in pairwise(scores))
    assert len({round(each, 4) for each in scores}) > 30


def test_ties_are_broken_by_youth_and_then_by_id(records):
    old = record("", body="redis", days=100)
    same = [old._replace(id=f"{n}", submission=old.submission._replace(title=n)) for n in "2310"]
    records.add([record("older", body="redis", days=200), *same])
    assert titles(records, "redis") == ["0", "1", "2", "3", "older"]


def test_pages_follow_one_another_and_each_says_how_many_there_are(records):
    records.add([record(f"n{number}", body="redis", days=number) for number in range(7)])
    pages = [asked(records, "redis", limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert [page["total"] for page in pages] == [7, 7, 7, 7]
    assert [[each["title"] for each in page["experiences"]] for page in pages] == [
        ["n0", "n1", "n2"],
        ["n3", "n4", "n5"],
        ["n6"],
        [],
    ]


# -- meaning -------------------------------------------------------------------


def degrees(records: Experiences, *angles: int, words: str = "pool") -> None:
    """Records whose vectors point so many degrees away from that of a query that ends in 0."""
    records.add([record(f"at {angle}", body=f"{words} {angle}") for angle in angles])


def test_with_vectors_relevance_is_the_mean_of_words_and_cosine(faked, fake):
    fake.vector = turned
    fake.dimensions = 2
    records = Experiences(faked.engine)
    degrees(records, 30, 60, 80)
    degrees(records, 120, words="tea")
    faked.embed()
    found = asked(records, "tea 0")["experiences"]
    idf = [math.log(1 + (4 - n + 0.5) / (n + 0.5)) for n in (1, 0)]
    by_words = idf[0] / sum(idf)
    assert {each["title"]: each["relevance_score"] for each in found} == {
        "at 30": round(math.cos(math.radians(30)) / 2, 4),
        "at 60": round(math.cos(math.radians(60)) / 2, 4),
        "at 120": round(by_words / 2, 4),
    }


def test_a_record_without_vectors_is_judged_by_its_words(faked, fake):
    fake.vector = turned
    fake.dimensions = 2
    records = Experiences(faked.engine)
    degrees(records, 30)
    faked.embed()
    degrees(records, 45, words="tea")
    found = {each["title"]: each for each in asked(records, "tea 45")["experiences"]}
    assert found["at 45"]["relevance_score"] == 1.0
    assert found["at 30"]["relevance_score"] == round(math.cos(math.radians(15)) / 2, 4)


def test_no_model_is_asked_while_no_record_has_vectors(faked, fake, monkeypatch):
    records = Experiences(faked.engine)
    faked.write("tea.md", "# Tea\n\nA cup.")
    faked.update()
    faked.embed()
    submitted(records, REDIS)
    made = len(fake.made)
    monkeypatch.setattr(faked.engine.models, "space", lambda: pytest.fail("a model was asked for"))
    assert titles(records, "redis") == [REDIS["title"]]
    assert len(fake.made) == made


@pytest.mark.parametrize("broken", ["embedder", "space", "other model"])
def test_words_answer_alone_where_the_model_cannot(faked, fake, monkeypatch, broken):
    records = Experiences(faked.engine)
    submitted(records, REDIS)
    faked.embed()
    if broken == "embedder":
        fake.refused = {"redis"}
    elif broken == "space":

        def missing():
            raise ModelMissing("fake", "it is gone")

        monkeypatch.setattr(faked.engine.models, "space", missing)
    else:
        (faked.folder / "fake.gguf").write_bytes(b"GGUF and more")
    made = len(fake.made)
    [shown] = asked(records, "redis")["experiences"]
    assert shown["relevance_score"] == 1.0
    assert len(fake.made) == made


def test_an_english_model_is_not_asked_in_other_scripts(library, fake):
    """`fake` stands for the model that qmd carries."""
    records = Experiences(library.engine)
    submitted(records, {**REDIS, "solution": "Go to 有馬温泉."})
    library.embed()
    made = len(fake.made)
    assert [each["relevance_score"] for each in asked(records, "有馬温泉")["experiences"]] == [1.0]
    assert len(fake.made) == made
    asked(records, "redis")
    assert len(fake.made) == made + 1
