"""Experience records: submitted once, found by everybody, counted, and never half there."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from subprocess import PIPE
from uuid import UUID, uuid4

import anyio
import pytest

from qmd import config, editing
from qmd.doctor import examine
from qmd.engine import Engine
from qmd.environment import Machine, Place
from qmd.errors import ConfigError, DocumentNotFound, IndexBusy, ModelMissing, UsageError
from qmd.experiences import Experiences, timed_out
from qmd.store import maintenance
from qmd.store.experiences import UNREVIEWED, Record
from qmd.text.experience import Submission
from qmd.text.filters import parse_filter
from qmd.types import Context, Filter
from tests.library import STEMMER, Library, turned

REDIS = {
    "title": "Redis times out after an upgrade",
    "problem_description": "Clients lose their connection every few minutes.",
    "root_cause": "The server closes idle connections.",
    "solution": "Set the keepalive of the clients below the timeout of the server.",
    "context": "redis-py 5, server 7.2",
    "keywords": ["redis", "timeout"],
}
DOCKER = {
    "title": "Docker builds are slow",
    "problem_description": "Every build installs all packages anew.",
    "solution": "Copy the lock file first, so that the layer is kept.",
}


@pytest.fixture
def records(library: Library) -> Experiences:
    return Experiences(library.engine)


def submitted(records: Experiences, given: dict[str, object]) -> str:
    """The id of a record that is taken."""
    outcome = records.submit(given)
    assert outcome["success"] is True, outcome
    return outcome["data"]["id"]


def asked(records: Experiences, keywords: str, **more: object) -> dict:
    """What a query finds."""
    outcome = records.query({"keywords": keywords, **more})
    assert outcome["success"] is True, outcome
    return outcome["data"]


def titles(records: Experiences, keywords: str, **more: object) -> list[str]:
    return [found["title"] for found in asked(records, keywords, **more)["experiences"]]


def refused(outcome: dict) -> dict:
    assert outcome["success"] is False
    return outcome["error"]


def faults(outcome: dict) -> dict[str, str]:
    return {each["field"]: each["message"] for each in refused(outcome)["validation_errors"]}


def record(title: str, *, body: str = "as said", days: float = 0, **more: object) -> Record:
    """A record of some days ago."""
    submission = Submission(title, body, None, body, None, ())._replace(**more)
    moment = datetime.now(UTC).replace(tzinfo=None) - timedelta(days=days)
    return Record(str(uuid4()), submission, moment)


# -- what is answered ------------------------------------------------------------------------------


def test_a_submission_is_published_and_found_by_the_next_query_with_all_that_it_says(records):
    outcome = records.submit(REDIS)
    data = outcome["data"]
    assert UUID(data["id"])
    assert outcome == {
        "success": True,
        "data": {
            "id": data["id"],
            "status": "published",
            "message": "Experience record created and published successfully",
        },
    }
    found = asked(records, "redis timeout")
    [shown] = found.pop("experiences")
    assert found == {"total": 1, "limit": 10, "offset": 0}
    created = shown.pop("created_at")
    assert created.endswith("Z")
    assert abs(datetime.fromisoformat(created) - datetime.now(UTC)) < timedelta(minutes=5)
    assert shown == {**REDIS, "id": data["id"], "query_count": 0, "relevance_score": 1.0}
    json.dumps(shown)


def test_what_nobody_said_is_left_out_of_a_record(records):
    submitted(records, {**DOCKER, "context": "  \n"})
    [shown] = asked(records, "docker")["experiences"]
    assert "root_cause" not in shown
    assert "context" not in shown
    assert shown["keywords"] == []


def test_texts_come_back_as_they_were_sent(records):
    odd = {
        "title": "🦆 Zürich e\u0301",
        "problem_description": "\n  🦆 first\r\n\n## Solution\n\nno\n\n",
        "root_cause": "e\u0301\u0301 👩‍👩‍👧 ## Context",
        "solution": "\tredis\u2028有馬温泉",
        "context": "## Keywords\n\nx\n",
        "keywords": ["🦆"],
    }
    submitted(records, odd)
    [shown] = asked(records, "redis")["experiences"]
    assert {field: shown[field] for field in odd} == odd


def test_keywords_are_trimmed_in_lower_case_and_unique(records):
    submitted(records, {**DOCKER, "keywords": [" Docker", "docker ", "Layer Cache"]})
    [shown] = asked(records, "docker")["experiences"]
    assert shown["keywords"] == ["docker", "layer cache"]


def test_a_query_may_be_several_strings(records):
    submitted(records, REDIS)
    assert titles(records, ["redis", "timeout"]) == [REDIS["title"]]


def test_marks_of_a_query_language_are_no_marks_here(records):
    submitted(records, REDIS)
    for keywords in ('redis "timeout', "-redis", "redis\ntimeout", "redis: (timeout)"):
        assert titles(records, keywords) == [REDIS["title"]]
    assert titles(records, "!?") == []


@pytest.mark.parametrize(
    ("given", "code", "fields"),
    [
        ({}, "INVALID_KEYWORDS", {"keywords"}),
        ({"keywords": " "}, "INVALID_KEYWORDS", {"keywords"}),
        ({"keywords": []}, "INVALID_KEYWORDS", {"keywords"}),
        ({"keywords": ["tea", 5]}, "INVALID_KEYWORDS", {"keywords"}),
        ({"keywords": 5}, "INVALID_KEYWORDS", {"keywords"}),
        ({"keywords": "x" * 2001}, "INVALID_KEYWORDS", {"keywords"}),
        ({"keywords": "\ud83d"}, "INVALID_KEYWORDS", {"keywords"}),
        ({"keywords": "tea", "limit": 0}, "INVALID_LIMIT", {"limit"}),
        ({"keywords": "tea", "limit": 51}, "INVALID_LIMIT", {"limit"}),
        ({"keywords": "tea", "limit": "many"}, "INVALID_LIMIT", {"limit"}),
        ({"keywords": "tea", "limit": True}, "INVALID_LIMIT", {"limit"}),
        ({"keywords": "tea", "limit": 1.5}, "INVALID_LIMIT", {"limit"}),
        ({"keywords": "tea", "offset": -1}, "VALIDATION_ERROR", {"offset"}),
        ({"keywords": "", "limit": 0}, "VALIDATION_ERROR", {"keywords", "limit"}),
    ],
)
def test_a_query_that_makes_no_sense_is_refused_with_its_code(records, given, code, fields):
    outcome = records.query(given)
    assert refused(outcome)["code"] == code
    assert faults(outcome).keys() == fields


def test_the_largest_query_and_any_offset_are_taken(records):
    submitted(records, REDIS)
    assert asked(records, ("redis " * 400)[:2000])["total"] == 1
    assert asked(records, "redis", limit=50, offset=10**30) == {
        "experiences": [],
        "total": 1,
        "limit": 50,
        "offset": 10**30,
    }


@pytest.mark.parametrize(
    ("change", "code", "fields"),
    [
        ({"title": None}, "MISSING_REQUIRED_FIELDS", {"title"}),
        ({"solution": None, "title": 5}, "MISSING_REQUIRED_FIELDS", {"solution", "title"}),
        ({"title": " "}, "INVALID_TITLE", {"title"}),
        ({"title": "x" * 501}, "INVALID_TITLE", {"title"}),
        ({"title": ["x"]}, "INVALID_TITLE", {"title"}),
        ({"problem_description": "\n "}, "VALIDATION_ERROR", {"problem_description"}),
        ({"solution": ""}, "VALIDATION_ERROR", {"solution"}),
        ({"solution": "x" * 65_537}, "VALIDATION_ERROR", {"solution"}),
        ({"solution": "a\0b"}, "VALIDATION_ERROR", {"solution"}),
        ({"solution": "\ud83d"}, "VALIDATION_ERROR", {"solution"}),
        ({"root_cause": ""}, "VALIDATION_ERROR", {"root_cause"}),
        ({"context": 5}, "VALIDATION_ERROR", {"context"}),
        ({"context": "see /home/jdoe/app"}, "CONTEXT_NOT_SANITIZED", {"context"}),
        ({"context": "/home/jdoe/app", "title": ""}, "VALIDATION_ERROR", {"context", "title"}),
        ({"keywords": ["x"] * 101}, "VALIDATION_ERROR", {"keywords"}),
        ({"keywords": ["x" * 101]}, "VALIDATION_ERROR", {"keywords"}),
        ({"keywords": [" "]}, "VALIDATION_ERROR", {"keywords"}),
        ({"keywords": [5]}, "VALIDATION_ERROR", {"keywords"}),
        ({"keywords": {"a": 1}}, "VALIDATION_ERROR", {"keywords"}),
    ],
)
def test_a_submission_with_faults_is_refused_with_all_of_them(records, change, code, fields):
    outcome = records.submit({**REDIS, **change})
    assert refused(outcome)["code"] == code
    assert faults(outcome).keys() == fields
    assert asked(records, "redis")["total"] == 0


def test_the_longest_of_everything_is_taken(records):
    words = ("redis " * 11_000)[:65_536]
    longest = {
        **dict.fromkeys(("problem_description", "root_cause", "solution", "context"), words),
        "title": "x" * 500,
        "keywords": ["y" * 99 + str(n % 10) for n in range(100)],
    }
    submitted(records, longest)
    [shown] = asked(records, "redis")["experiences"]
    assert shown["context"] == words


def test_what_an_error_says_is_said_in_words(records):
    error = refused(records.submit({"title": "x"}))
    assert error["message"] == "Missing required fields: problem_description, solution"
    assert refused(records.submit({**REDIS, "solution": " "}))["message"] == "Validation failed"
    assert refused(timed_out(10)) == {"code": "TIMEOUT", "message": "Timed out after 10 s."}


def test_a_secret_is_refused_in_every_field_and_told_by_its_place_alone(records):
    secret = "gh" + "p_" + "Ab3" * 12
    for field in ("title", "problem_description", "root_cause", "solution", "context"):
        outcome = records.submit({**REDIS, field: f"before\n{secret} after"})
        error = refused(outcome)
        finding = {"field": field, "rule": "github_token", "line": 2, "length": len(secret)}
        assert error["details"] == {"findings": [finding]}
        label = field.replace("_", " ").capitalize()
        assert faults(outcome) == {field: f"{label} contains unsanitized code snippet"}
        assert secret not in json.dumps(outcome)
    outcome = records.submit({**REDIS, "keywords": ["fine", secret]})
    assert refused(outcome)["details"]["findings"][0]["line"] == 2
    assert secret not in json.dumps(outcome)


def test_personal_data_are_refused_in_the_context_alone(records):
    text = "seen on 10." + "1.2.3 by jane" + "@acme.io"
    outcome = records.submit({**REDIS, "context": text})
    error = refused(outcome)
    assert error["message"] == "Context contains unsanitized code snippet"
    assert [each["rule"] for each in error["details"]["findings"]] == ["ip_address", "email"]
    submitted(records, {**REDIS, "solution": text})


def test_a_failure_of_the_index_is_told_word_for_word(records, library, monkeypatch):
    busy = IndexBusy(Path("index"), holder="process 7", waited=30)

    def fail(work):
        raise busy

    monkeypatch.setattr(library.engine.database, "write", fail)
    monkeypatch.setattr(library.engine.database, "read", fail)
    expected = {"code": "DATABASE_ERROR", "message": str(busy)}
    assert refused(records.submit(REDIS)) == expected
    assert refused(records.query({"keywords": "redis"})) == expected


# -- order -----------------------------------------------------------------------------------------


def terms(text: str) -> set[int]:
    """The terms of plain words."""
    words = "".join(mark if mark.isalnum() else " " for mark in text.lower()).split()
    return {term for term, _ in STEMMER.terms(list(dict.fromkeys(words)))}


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
        term: sum(term in terms(f"{title} {body}") for title, body in bodies.items())
        for term in terms(query)
    }
    idf = {term: math.log(1 + (4 - n + 0.5) / (n + 0.5)) for term, n in having.items()}
    expected = {
        title: round(sum(idf[term] for term in idf.keys() & terms(body)) / sum(idf.values()), 4)
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


# -- counters --------------------------------------------------------------------------------------


def test_an_answer_shows_the_count_before_it_and_the_next_one_counts_it(records, library):
    submitted(records, REDIS)
    assert not records.uncounted
    for before in range(3):
        assert asked(records, "redis")["experiences"][0]["query_count"] == before
    assert records.uncounted
    assert library.ask("from experience_counts") == []
    records.count()
    assert not records.uncounted
    [(id_, count, updated)] = library.ask("from experience_counts")
    assert (str(UUID(id_)), count) == (id_, 3)
    assert updated is not None
    assert asked(records, "redis")["experiences"][0]["query_count"] == 3


def test_only_what_was_on_the_page_is_counted(records):
    records.add([record(f"n{number}", body="redis", days=number) for number in range(3)])
    asked(records, "redis", limit=1, offset=1)
    found = asked(records, "redis")["experiences"]
    assert {each["title"]: each["query_count"] for each in found} == {"n0": 0, "n1": 1, "n2": 0}


def test_two_servers_count_together(records, library):
    other = Experiences(library.engine)
    submitted(records, REDIS)
    for server in (records, other, other):
        asked(server, "redis")
    records.count()
    other.count()
    other.count()
    assert asked(Experiences(library.engine), "redis")["experiences"][0]["query_count"] == 3


def test_what_could_not_be_counted_is_counted_the_next_time(records, library, monkeypatch):
    submitted(records, REDIS)
    asked(records, "redis")
    with monkeypatch.context() as patch:

        def fail(work):
            asked(records, "redis")  # another query while it is tried
            raise IndexBusy(Path("index"), holder=None, waited=30)

        patch.setattr(library.engine.database, "write", fail)
        with pytest.raises(IndexBusy):
            records.count()
    assert records.uncounted
    records.count()
    assert library.ask("select query_count from experience_counts") == [(2,)]


def test_what_is_counted_of_a_record_that_is_gone_is_left_out(records, library):
    submitted(records, REDIS)
    records._uncounted[str(uuid4())] = 5
    records.count()
    assert library.ask("from experience_counts") == []
    assert library.problems() == []


# -- meaning ---------------------------------------------------------------------------------------


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


# -- documents -------------------------------------------------------------------------------------


def test_a_record_is_a_document_that_every_search_finds_labelled_as_unreviewed(faked):
    records = Experiences(faked.engine)
    id_ = submitted(records, REDIS)
    [found] = faked.engine.search("keepalive").results
    assert found.file == f"experiences/{id_}.md"
    assert found.title == REDIS["title"]
    assert found.context == UNREVIEWED
    assert anyio.run(faked.engine.query, "lex: keepalive").results[0].file == found.file
    faked.embed("experiences")
    assert [each.file for each in faked.nearest("a question")] == [found.file]
    passage = faked.engine.get(found.file)
    assert passage.body == (
        "# Redis times out after an upgrade\n\n"
        "## Problem description\n\nClients lose their connection every few minutes.\n\n"
        "## Root cause\n\nThe server closes idle connections.\n\n"
        "## Solution\n\n"
        "Set the keepalive of the clients below the timeout of the server.\n\n"
        "## Context\n\nredis-py 5, server 7.2\n\n"
        "## Keywords\n\nredis, timeout\n"
    )
    assert passage.context == UNREVIEWED
    assert faked.engine.get(f"/{id_}.md").file == found.file
    assert faked.problems() == []


def test_a_title_of_several_lines_is_one_heading(records, library):
    submitted(records, {**DOCKER, "title": " Docker\n# is slow "})
    assert library.engine.search("docker").results[0].title == "Docker # is slow"
    assert asked(records, "docker")["experiences"][0]["title"] == "Docker\n# is slow"


def test_equal_submissions_are_two_records_with_one_text(records, library):
    ids = {submitted(records, REDIS), submitted(records, REDIS)}
    assert {each["id"] for each in asked(records, "redis")["experiences"]} == ids
    assert library.ask("select count(*), count(distinct hash) from documents") == [(2, 1)]
    assert library.ask("select count(*) from content") == [(1,)]
    assert library.ask("select count(*) - count(distinct word) from words") == [(0,)]


def test_the_words_of_an_id_are_no_words_of_its_record(records, library):
    id_ = submitted(records, REDIS)
    assert asked(records, id_)["total"] == 0
    assert library.engine.search(id_).results == []


def test_keywords_can_be_filtered_by(records, library):
    submitted(records, REDIS)
    submitted(records, {**REDIS, "keywords": []})
    among = Filter(conditions=parse_filter("keywords = timeout"))
    assert len(library.engine.search("redis", among=among).results) == 1


# -- the collection --------------------------------------------------------------------------------


def names(library: Library) -> list[str]:
    return [each.name for each in library.engine.overview()]


def test_the_collection_is_there_once_there_is_a_record_and_stays(records, library):
    library.write("tea.md", "# Tea")
    library.update()
    assert names(library) == ["notes"]
    submitted(records, REDIS)
    assert names(library) == ["experiences", "notes"]
    library.configure("more")
    library.engine.sync()
    assert names(library) == ["experiences", "more", "notes"]
    assert [each.collection for each in anyio.run(library.engine.update)] == ["more", "notes"]
    assert list(library.engine.compare()) == ["more", "notes"]
    library.configure()
    assert names(library) == ["experiences", "notes"]
    assert library.engine.search("redis").results[0].context == UNREVIEWED
    assert asked(records, "redis")["total"] == 1
    assert library.problems() == []


def test_doctor_and_cleanup_leave_records_as_they_are(records, library):
    submitted(records, REDIS)
    asked(records, "redis")
    records.count()
    library.write("tea.md", "# Tea")
    library.update()
    (library.root / "tea.md").unlink()
    library.update()
    maintenance.clean(library.engine.database)
    [finding] = [f for f in examine(library.engine) if f.check == "collection experiences"]
    assert finding.status == "ok"
    assert finding.detail == "1 records, in the index alone"
    assert all(f.status != "problem" for f in examine(library.engine))
    assert asked(records, "redis")["experiences"][0]["query_count"] == 1
    assert library.found("keepalive") == [
        f"experiences/{asked(records, 'redis')['experiences'][0]['id']}.md"
    ]


def test_the_name_is_refused_wherever_a_collection_could_get_it(records, library):
    (library.folder / "index.yml").write_text(
        f"collections:\n  notes:\n    path: {library.root}\n  experiences:\n    path: /tmp\n"
    )
    with pytest.raises(ConfigError, match=r"index\.yml:4: The name 'experiences' is kept for"):
        library.engine.search("redis")
    assert refused(records.query({"keywords": "redis"}))["code"] == "DATABASE_ERROR"
    library.configure()
    with pytest.raises(UsageError, match="The name 'experiences' is kept for"):
        library.engine.rename("notes", "experiences")
    submitted(records, REDIS)
    with pytest.raises(UsageError, match="cannot be changed"):
        library.engine.rename("experiences", "others")
    with pytest.raises(UsageError, match="has no folder to be updated from"):
        library.engine.compare(["experiences"])


def test_an_index_that_gave_the_name_to_a_folder_says_so_and_goes_on_under_another(tmp_path):
    """As an older qmd left it: the migration takes the folder's documents out."""
    library = Library(tmp_path)
    library.write("tea.md", "# Tea")
    library.update()

    def older(cursor):
        run = cursor.connection.execute
        for table in ("experiences", "experience_counts"):
            run(f"drop table {table}")
        run("delete from schema_migrations where version = 4")
        run("update collections set name = 'experiences'")
        run("update documents set collection = 'experiences'")
        seen = config.digest(library.engine.place)
        run("update settings set value = ? where name = 'config_digest'", [seen])

    settings = library.folder / "index.yml"
    text = settings.read_text()
    settings.write_text(text.replace("notes:", "experiences:"))
    library.engine.database.write(older)
    with pytest.raises(ConfigError, match="is kept for the records that agents submit"):
        library.engine.search("tea")
    settings.write_text(text.replace("notes:", "work:"))
    anyio.run(library.engine.update)
    assert [each.file for each in library.engine.search("tea").results] == ["work/tea.md"]
    assert library.problems() == []
    library.engine.close()


def test_settings_that_are_made_anew_from_the_index_leave_the_records_out(records, library):
    submitted(records, REDIS)
    library.engine.search("redis")
    (library.folder / "index.yml").unlink()
    library.engine.change(lambda _, document: editing.set_context(document, Context(None, "", "x")))
    assert "experiences" not in (library.folder / "index.yml").read_text()
    assert names(library) == ["experiences", "notes"]


def test_nothing_outside_is_taken_for_a_record(records, library):
    """The collection has no root, so no path on disk lies below it."""
    id_ = submitted(records, REDIS)
    with pytest.raises(DocumentNotFound):
        library.engine.get(str(Path.cwd() / f"{id_}.md"))


# -- others at the same time -----------------------------------------------------------------------

SERVER = """
import sys
from itertools import pairwise
from pathlib import Path
from qmd.environment import Place
from qmd.engine import Engine
from qmd.experiences import Experiences
from qmd.store.cursor import Cursor

folder, name, count, stop = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
place = Place("index", folder / "index.yml", folder / "index.duckdb", None, folder / "trust")
records = Experiences(Engine(place, warm=True))
run = Cursor.run

def stopping(self, statement, /, **parameters):
    rows = run(self, statement, **parameters)
    if statement == stop:
        print("inside", flush=True)
        sys.stdin.readline()
    return rows

Cursor.run = stopping
for number in range(count):
    given = {"title": f"{name} {number}", "problem_description": "shared", "solution": name}
    outcome = records.submit(given)
    assert outcome["success"], outcome
    found = records.query({"keywords": f"{name} {number}"})["data"]["experiences"]
    assert any(each["id"] == outcome["data"]["id"] for each in found)
    print(outcome["data"]["id"], flush=True)
"""


def server(folder: Path, name: str, count: int = 1, *, stop: str = "") -> subprocess.Popen[str]:
    """A process that submits records and finds each, and stops within a submission if told to."""
    command = [sys.executable, "-c", SERVER, str(folder), name, str(count), stop]
    root = Path(__file__).parents[1]
    return subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True, cwd=root)


def test_processes_that_submit_at_once_lose_nothing(records, library):
    with server(library.folder, "one", 8) as one, server(library.folder, "two", 8) as two:
        own = [submitted(records, {**REDIS, "solution": f"shared {n}"}) for n in range(4)]
        said = (
            own + one.communicate(timeout=120)[0].split() + two.communicate(timeout=120)[0].split()
        )
    assert (one.returncode, two.returncode) == (0, 0)
    found = asked(records, "shared", limit=50)
    assert found["total"] == 20
    assert sorted(each["id"] for each in found["experiences"]) == sorted(said)
    assert library.problems() == []


@pytest.mark.parametrize(
    "statement",
    ["documents/add", "documents/add_postings", "words/learn", "experiences/add"],
)
def test_a_submission_that_is_killed_leaves_nothing(records, library, statement):
    submitted(records, REDIS)
    before = library.ask("select count(*) from postings")
    with server(library.folder, "killed", stop=statement) as process:
        assert process.stdout.readline() == "inside\n"
        process.kill()
        process.communicate(timeout=60)
    assert asked(records, "killed shared")["total"] == 0
    assert library.ask("select count(*) from postings") == before
    assert library.problems() == []
    submitted(records, DOCKER)
    assert asked(records, "docker redis")["total"] == 2


def test_threads_may_submit_query_and_count_at_once(tmp_path, library):
    engine = Engine(library.engine.place, Machine(hub=tmp_path / "hub"), warm=True)
    records = Experiences(engine)
    seen = Counter()

    def work(number: int) -> list[str]:
        id_ = submitted(records, {**REDIS, "title": f"Redis {number}"})
        found = [each["id"] for each in asked(records, "redis", limit=50)["experiences"]]
        assert id_ in found
        records.count()
        return found

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(work, range(8)):
            seen.update(found)
    records.count()
    assert dict(library.ask("select id, query_count from experience_counts")) == dict(seen)
    engine.close()


def test_the_first_record_makes_an_index(tmp_path):
    place = Place(
        "index", tmp_path / "index.yml", tmp_path / "a" / "x.duckdb", None, tmp_path / "t"
    )
    records = Experiences(Engine(place, Machine(hub=tmp_path / "hub")))
    assert asked(records, "redis")["total"] == 0
    submitted(records, REDIS)
    assert asked(records, "redis")["total"] == 1
