"""What is submitted is found by the next query, or refused with all that is wrong."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest

from qmd.errors import IndexBusy
from qmd.operations.experiences import timed_out
from tests.experiences.submitting import DOCKER, REDIS, asked, faults, refused, submitted, titles


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

    def fail(work, **named):
        raise busy

    monkeypatch.setattr(library.engine.database, "write", fail)
    monkeypatch.setattr(library.engine.database, "read", fail)
    expected = {"code": "DATABASE_ERROR", "message": str(busy)}
    assert refused(records.submit(REDIS)) == expected
    assert refused(records.query({"keywords": "redis"})) == expected
