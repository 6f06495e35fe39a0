"""The tools for experience records."""

from __future__ import annotations

import json
import threading
from functools import partial
from pathlib import Path

import anyio
import pytest

from qmd.errors import IndexBusy
from qmd.experiences.table import UNREVIEWED
from qmd.operations.threads import READERS
from qmd.surfaces.tools import reply_text
from qmd.surfaces.tools.dispatch import Toolbox
from qmd.surfaces.tools.reply import Code
from qmd.surfaces.tools.server_tools import ServerTools
from tests.surfaces.tools.calling import LONG, call, text

RECORD = {"title": "Kettle hums", "problem_description": "It hums.", "solution": "Fill it."}


@pytest.mark.parametrize(
    ("given_value", "kept"),
    [("tea", ["tea"]), ('["tea", "pot"]', ["tea", "pot"]), ("[odd", ["[odd"]), (["tea"], ["tea"])],
)
def test_keywords_of_a_record_are_read_like_any_array(toolbox, given_value, kept):
    assert call(toolbox, "submit_experience", **RECORD, keywords=given_value).error is None
    found = call(toolbox, "query_experiences", keywords="kettle").structured
    assert found["data"]["experiences"][0]["keywords"] == kept


def test_a_query_for_records_is_read_like_any_other(toolbox):
    for title in ("Kettle hums", "Kettle hums again"):
        call(toolbox, "submit_experience", **{**RECORD, "title": title})
    asked = {"keywords": ["kettle", "hums"], "limit": "1", "offset": 1.0}
    data = call(toolbox, "query_experiences", **asked).structured["data"]
    assert (data["limit"], data["offset"], data["total"]) == (1, 1, 2)
    assert len(data["experiences"]) == 1


def test_what_is_no_parameter_of_a_record_is_told_as_its_contract_has_it(toolbox):
    reply = call(toolbox, "submit_experience", title="x", solutio="y")
    assert reply.structured["error"]["code"] == "MISSING_REQUIRED_FIELDS"
    [told] = [e for e in reply.structured["error"]["validation_errors"] if e["field"] == "solutio"]
    assert told["message"] == (
        'Unknown parameter "solutio" for tool "submit_experience". Did you mean "solution"? '
        "Valid parameters: title, problem_description, root_cause, solution, context, keywords."
    )
    assert json.loads(text(reply)) == reply.structured
    error = call(toolbox, "query_experiences", keywords="kettle", ofset=1).structured["error"]
    assert error["code"] == "VALIDATION_ERROR"
    assert [each["field"] for each in error["validation_errors"]] == ["ofset"]


def test_a_model_that_takes_long_keeps_nobody_from_reading(faked, fake, toolbox):
    """More queries than readers wait for it, and others are answered."""
    call(toolbox, "submit_experience", **RECORD)
    faked.embed()
    asked, go_on = threading.Semaphore(0), threading.Event()

    def before(batch, between):
        asked.release()
        assert go_on.wait(LONG)

    fake.before = before

    async def work():
        async def ask():
            reply = await toolbox.call("query_experiences", {"keywords": "kettle"})
            assert reply.structured["data"]["total"] == 1

        with anyio.fail_after(LONG):
            async with anyio.create_task_group() as tasks:
                for _ in range(READERS + 1):
                    tasks.start_soon(ask)
                assert await anyio.to_thread.run_sync(partial(asked.acquire, timeout=LONG))
                await anyio.wait_all_tasks_blocked()
                assert (await toolbox.call("search", {"query": "tea"})).error is None
                go_on.set()

    anyio.run(work)


def test_a_busy_index_is_told_of_as_the_contract_of_records_has_it(toolbox, monkeypatch):
    busy = IndexBusy(Path("index"), holder="process 7", waited=8)

    def fail(*given, **named):
        raise busy

    monkeypatch.setattr(toolbox.engine.database, "read", fail)
    monkeypatch.setattr(toolbox.engine.database, "write", fail)
    for name, arguments in (
        ("query_experiences", {"keywords": "x"}),
        ("submit_experience", RECORD),
    ):
        reply = call(toolbox, name, **arguments)
        assert reply.error is Code.DATABASE_BUSY
        assert reply.structured == {
            "success": False,
            "error": {"code": "DATABASE_ERROR", "message": str(busy)},
        }


def test_experience_records_that_do_not_fit_are_on_the_next_page(toolbox):
    for n in range(6):
        told = {"title": f"Tea {n}", "problem_description": "cold " * 13_000, "solution": "Brew."}
        assert call(toolbox, "submit_experience", **told).error is None
    seen, offset = set(), 0
    while True:
        reply = call(toolbox, "query_experiences", keywords="tea", offset=offset)
        page = reply.structured["data"]
        assert page["total"] == 6
        assert json.loads(text(reply)) == reply.structured
        assert len(text(reply).encode()) <= reply_text.MOST_BYTES
        seen |= {each["id"] for each in page["experiences"]}
        offset += len(page["experiences"])
        assert reply.content[-1] == UNREVIEWED
        if len(reply.content) == 2:
            break
        assert reply.content[1] == f"[... the answer is full; go on with offset={offset}]"
    assert len(seen) == 6


def test_who_may_only_read_counts_nothing(faked, toolbox):
    told = {"title": "Tea", "problem_description": "Cold.", "solution": "Brew."}
    assert call(toolbox, "submit_experience", **told).error is None
    reader = Toolbox(faked.engine, ServerTools(read_only=True))
    assert call(reader, "query_experiences", keywords="tea").structured["data"]["total"] == 1
    reader.close()
    [found] = call(toolbox, "query_experiences", keywords="tea").structured["data"]["experiences"]
    assert found["query_count"] == 0
    toolbox.close()
    [found] = call(toolbox, "query_experiences", keywords="tea").structured["data"]["experiences"]
    assert found["query_count"] == 1
