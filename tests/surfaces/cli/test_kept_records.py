"""`qmd experiences`: what the user does with the records that agents submit."""

from __future__ import annotations

import json

import pytest

from qmd.experiences.table import UNREVIEWED
from qmd.operations.experiences import Experiences
from qmd.operations.index import Index
from qmd.settings.environment import Machine, Place
from qmd.surfaces.tools.dispatch import Toolbox
from qmd.surfaces.tools.reply import Code
from tests.surfaces.tools.calling import call, text

REDIS = {
    "title": "Redis times out",
    "problem_description": "It times out every night.",
    "root_cause": "The moon.",
    "solution": "Wait for the morning.",
    "keywords": ["redis"],
}


@pytest.fixture
def engine(qmd, tmp_path):
    config = tmp_path / "config"
    place = Place(
        "index", config / "index.yml", tmp_path / "index.duckdb", None, tmp_path / "trust"
    )
    engine = Index(place, Machine(hub=tmp_path / "hub"))
    yield engine
    engine.close()


@pytest.fixture
def submit(engine):
    def submitted(**more):
        outcome = Experiences(engine).submit({**REDIS, **more})
        engine.database.close()
        return outcome["data"]["id"]

    return submitted


@pytest.fixture
def notes(qmd, tmp_path):
    root = tmp_path / "notes"
    root.mkdir()
    for number in range(3):
        (root / f"{number}.md").write_text(f"# Note {number}\n\nSomething else, redis, more.\n")
    assert qmd("collection", "add", root)[0] == 0
    return root


def found(qmd, *words):
    return [each["file"] for each in json.loads(qmd("search", *words, "--json")[1])]


def test_records_are_listed(qmd, submit):
    assert qmd("experiences", "list")[1] == "No experience records.\n"
    first = submit()
    [line] = qmd("experiences", "list")[1].splitlines()
    assert line.startswith(first[:8])
    assert line.endswith("0 answers  Redis times out")
    [shown] = json.loads(qmd("experiences", "list", "--json")[1])
    assert (shown["id"], shown["solution"], shown["retired"]) == (first, REDIS["solution"], False)


def test_a_record_is_corrected_and_stays_what_it_was_otherwise(qmd, engine, submit):
    number = submit()
    records = Experiences(engine)
    assert records.query({"keywords": "redis"})["success"]
    records.count()
    engine.database.close()
    assert qmd("experiences", "correct", number[:8], "--solution", "Raise the timeout.")[0] == 0
    assert qmd("experiences", "correct", number, "--cause", "")[0] == 0
    [shown] = json.loads(qmd("experiences", "list", "--json")[1])
    assert shown["solution"] == "Raise the timeout."
    assert (shown["root_cause"], shown["query_count"], shown["id"]) == (None, 1, number)
    assert found(qmd, "raise") == [f"experiences/{number}.md"]
    assert found(qmd, "morning") == []
    assert qmd("doctor")[0] == 0


def test_a_correction_is_checked_like_a_submission(qmd, submit):
    number = submit()
    code, _, err = qmd("experiences", "correct", number, "--title", " ")
    assert (code, "Title must be" in err) == (1, True)
    code, _, err = qmd("experiences", "correct", number)
    assert (code, "--solution" in err) == (1, True)
    secret = "-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEow\n-----END RSA PRIVATE " + "KEY-----"
    code, _, err = qmd("experiences", "correct", number, "--problem", secret)
    assert (code, "unsanitized" in err) == (1, True)
    assert "MIIEow" not in err


def test_a_retired_record_is_found_by_no_search_until_it_is_restored(qmd, submit):
    number = submit()
    before = json.loads(qmd("experiences", "list", "--json")[1])
    assert qmd("experiences", "retire", number)[0] == 0
    assert found(qmd, "redis") == []
    assert qmd("ls", "experiences")[1] == ""
    assert "retired" in qmd("experiences", "list", "--retired")[1]
    assert qmd("experiences", "retire", number)[0] == 1
    qmd("cleanup")
    assert qmd("experiences", "restore", number[:6])[0] == 0
    assert json.loads(qmd("experiences", "list", "--json")[1]) == before
    assert found(qmd, "redis") == [f"experiences/{number}.md"]
    assert qmd("experiences", "restore", number)[0] == 1
    assert qmd("doctor")[0] == 0


@pytest.mark.parametrize("retired", [False, True])
def test_a_record_is_removed_for_good(qmd, submit, retired):
    number = submit()
    kept = submit(title="Another")
    if retired:
        qmd("experiences", "retire", number)
    assert qmd("experiences", "remove", f"experiences/{number}.md")[0] == 0
    assert [each["id"] for each in json.loads(qmd("experiences", "list", "--json")[1])] == [kept]
    assert qmd("experiences", "remove", number)[0] == 1
    assert qmd("doctor")[0] == 0


@pytest.mark.parametrize("name", ["12345678", "nope", "", "../x"])
def test_a_record_that_is_not_there_is_an_error(qmd, submit, name):
    submit()
    code, _, err = qmd("experiences", "remove", name)
    assert (code, "qmd experiences list" in err) == (1, True)


def test_the_beginning_of_several_ids_is_refused(qmd, submit, monkeypatch):
    numbers = ("aaaa1111-0000-4000-8000-00000000000", "aaaa2222-0000-4000-8000-00000000000")
    for each in numbers:
        monkeypatch.setattr("uuid.uuid4", lambda each=each: each + "0")
        submit()
    code, _, err = qmd("experiences", "remove", "aaaa")
    assert (code, "2 records begin with aaaa" in err) == (1, True)


@pytest.mark.parametrize("command", [["search"], ["query", "--mode", "fast"]])
def test_records_stand_behind_documents_unless_their_collection_is_named(
    qmd, notes, submit, command
):
    number = submit(title="Redis redis", problem_description="redis " * 9, solution="redis")
    record = f"experiences/{number}.md"

    def files(*options):
        out = qmd(*command, "redis", "--json", *options)[1]
        return [each["file"] for each in json.loads(out)]

    assert files() == ["notes/0.md", "notes/1.md", "notes/2.md", record]
    assert files("-n", "2") == ["notes/0.md", record]
    assert files("-n", "1") == ["notes/0.md"]
    assert files("-c", "notes", "-c", "experiences")[0] == record


def test_many_records_leave_room_for_documents(qmd, notes, submit):
    for number in range(12):
        submit(title=f"Redis {number}", problem_description="redis " * 9, solution="redis")
    shown = found(qmd, "redis", "-n", "5")
    assert [each.partition("/")[0] for each in shown] == [*["notes"] * 3, *["experiences"] * 2]


def test_agents_are_told_that_records_are_unreviewed(engine, notes, submit):
    number = submit(title="Redis redis", problem_description="redis " * 9, solution="redis")
    toolbox = Toolbox(engine)
    reply = call(toolbox, "search", query="redis")
    marked = [each["file"] for each in reply.structured["results"] if each.get("unreviewed")]
    assert marked == [f"experiences/{number}.md"]
    assert "(record of an agent, unreviewed)" in text(reply).splitlines()[-1]
    assert call(toolbox, "query_experiences", keywords="redis").content[-1] == UNREVIEWED
    passages = text(call(toolbox, "context", query="redis"))
    assert passages.index("notes/0.md") < passages.index(f"experiences/{number}.md")
    toolbox.close()


def test_settings_switch_records_off(qmd, engine, notes, submit, tmp_path):
    number = submit()
    settings = tmp_path / "config" / "index.yml"
    running = Toolbox(engine)
    settings.write_text(f"experiences: false\n{settings.read_text()}")
    assert found(qmd, "morning") == []
    assert found(qmd, "morning", "-c", "experiences") == [f"experiences/{number}.md"]
    refused = call(running, "submit_experience", **REDIS)
    assert refused.error is Code.INVALID_PARAMS
    assert "switched off" in text(refused)
    assert call(running, "query_experiences", keywords="redis").error is Code.INVALID_PARAMS
    names = [tool.name for tool in Toolbox(engine).tools]
    assert [name for name in names if "experience" in name] == []
    settings.write_text(settings.read_text().replace("experiences: false\n", ""))
    assert found(qmd, "morning") == [f"experiences/{number}.md"]
