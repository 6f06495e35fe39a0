"""Pages of long answers, by cursor."""

from __future__ import annotations

import base64
import re

import pytest

from qmd.surfaces.tools.dispatch import Toolbox
from qmd.surfaces.tools.paging import AnswerPage
from qmd.surfaces.tools.reply import Code
from tests.surfaces.tools.calling import call, text


@pytest.fixture
def toolbox(faked):
    for number in range(7):
        faked.write(f"tea{number}.md", f"# Tea {number}\n\n{'tea ' * (number + 1)}\ngreen\n")
    faked.update()
    return Toolbox(faked.engine)


def names(reply, tool):
    if tool == "grep":
        return [each["file"] for each in reply.structured["matches"]]
    part = "documents" if tool == "ls" else "results"
    return [each["file"] for each in reply.structured[part]]


ASKED = {"search": {"query": "tea"}, "grep": {"pattern": "green"}, "ls": {"path": "notes"}}


@pytest.mark.parametrize("tool", ASKED)
def test_pages_together_are_the_whole_answer(toolbox, tool):
    whole = names(call(toolbox, tool, **ASKED[tool], limit=100), tool)
    assert len(whole) == 7
    found, cursor = [], {}
    for _ in range(5):
        reply = call(toolbox, tool, **ASKED[tool], limit=3, **cursor)
        assert reply.error is None
        found += names(reply, tool)
        following = reply.structured.get("nextCursor")
        if following is None:
            break
        assert following in "".join(reply.content)  # a model reads it, too
        cursor = {"cursor": following}
    assert found == whole


@pytest.mark.parametrize("tool", ASKED)
def test_an_answer_that_is_whole_has_no_cursor(toolbox, tool):
    reply = call(toolbox, tool, **ASKED[tool], limit=20)
    assert "nextCursor" not in reply.structured
    assert "cursor" not in "".join(reply.content)


def test_the_size_of_a_page_may_change(toolbox):
    first = call(toolbox, "search", query="tea", limit=2)
    rest = call(toolbox, "search", query="tea", limit=9, cursor=first.structured["nextCursor"])
    assert len(names(rest, "search")) == 5


@pytest.mark.parametrize("tool", ASKED)
def test_a_cursor_is_refused_once_a_document_has_changed(toolbox, faked, tool):
    cursor = call(toolbox, tool, **ASKED[tool], limit=3).structured["nextCursor"]
    faked.write("tea3.md", "# Tea 3\n\nNo more tea, green.\n")
    faked.update()
    reply = call(toolbox, tool, **ASKED[tool], limit=3, cursor=cursor)
    assert reply.error is Code.INVALID_PARAMS
    assert text(reply).startswith("Documents have changed since this cursor was given.")


def test_a_cursor_of_another_call_is_refused(toolbox):
    cursor = call(toolbox, "search", query="tea", limit=3).structured["nextCursor"]
    for tool, asked in (
        ("search", {"query": "green"}),
        ("search", {"query": "tea", "collection": "notes"}),
        ("grep", {"pattern": "tea"}),
        ("ls", {"path": "notes"}),
    ):
        reply = call(toolbox, tool, **asked, cursor=cursor)
        assert reply.error is Code.INVALID_PARAMS
        assert text(reply).startswith('"cursor" belongs to another call.')


@pytest.mark.parametrize("cursor", ["x", "=", "AAAA", "A" * 23, "ü", "A" * 4000])
def test_what_is_no_cursor_is_refused(toolbox, cursor):
    reply = call(toolbox, "search", query="tea", cursor=cursor)
    assert text(reply).startswith('"cursor" is none that this server has given.')


def test_a_cursor_beyond_all_is_an_empty_page(toolbox):
    cursor = call(toolbox, "ls", path="notes", limit=3).structured["nextCursor"]
    data = base64.urlsafe_b64decode(cursor + "==")
    far = base64.urlsafe_b64encode((10**6).to_bytes(4) + data[4:]).decode().rstrip("=")
    assert names(call(toolbox, "ls", path="notes", cursor=far), "ls") == []


def test_the_name_with_the_prefix_takes_the_cursor_of_the_other(toolbox):
    cursor = call(toolbox, "qmd_search", query="tea", limit=3).structured["nextCursor"]
    assert re.fullmatch(r"[\w-]{22}", cursor)
    assert call(toolbox, "search", query="tea", cursor=cursor).error is None


def test_a_result_has_the_size_of_its_document(toolbox, faked):
    faked.write("long.md", "# Long\n\noolong ü\n" + "Words of it.\n" * 4000)
    faked.update()
    reply = call(toolbox, "search", query="oolong")
    [found] = reply.structured["results"]
    assert found["size"] == (faked.root / "long.md").stat().st_size
    assert " - Long (52.0 KB)" in text(reply)
    assert "B)" not in text(call(toolbox, "search", query="green"))


@pytest.mark.parametrize("tool", ASKED)
def test_a_page_is_refused_if_documents_change_while_it_is_found(toolbox, faked, monkeypatch, tool):
    first = call(toolbox, tool, **ASKED[tool], limit=2)
    cursor = {"cursor": first.structured["nextCursor"]}
    check = AnswerPage.check

    def checked(page, index):
        check(page, index)
        if not faked.ask("select 1 from documents where path = 'new.md'"):
            faked.write("new.md", "# New tea\n\ntea green\n")
            faked.update()

    monkeypatch.setattr(AnswerPage, "check", checked)
    reply = call(toolbox, tool, **ASKED[tool], limit=2, **cursor)
    assert text(reply).startswith("Documents have changed since this cursor was given.")
    assert call(toolbox, tool, **ASKED[tool], limit=2).error is None
