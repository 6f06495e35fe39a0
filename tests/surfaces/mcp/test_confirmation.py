"""Writes for which the client asks the user."""

from __future__ import annotations

import re

import anyio
import mcp_types as types
import pytest

from qmd.surfaces.http.app import Options
from qmd.surfaces.tools.dispatch import CANNOT_ASK, Toolbox
from qmd.surfaces.tools.server_tools import ServerTools
from tests.surfaces.service import service

LONG = 40
"""Seconds after which something that has to happen is taken for stuck."""

NOTE = {"name": "tea.md", "text": "# Tea\n\nBrew it.\n"}


@pytest.fixture
def toolbox(faked):
    faked.update()
    return Toolbox(faked.engine, ServerTools(allow_write=True, confirm=True))


@pytest.fixture(params=["legacy", "auto"])
def talk(request, toolbox):
    """Lets a client, whose user gives an answer, talk with the server; the questions."""
    from mcp import Client

    from qmd.surfaces.mcp.server import make_server

    def talked(work, action=None):
        asked = []

        async def answer(_, params):
            asked.append(params.message)
            return types.ElicitResult(action=action)

        async def main():
            callback = None if action is None else answer
            with anyio.fail_after(LONG):
                async with Client(
                    make_server(toolbox), mode=request.param, elicitation_callback=callback
                ) as client:
                    return await work(client)

        return anyio.run(main), asked

    return talked


async def put(client, **changed):
    return await client.call_tool("put", {**NOTE, **changed})


def is_there(toolbox):
    return anyio.run(toolbox.call, "get", {"file": "inbox/tea.md"}).error is None


def test_a_write_that_the_user_allows_is_done(talk, toolbox):
    reply, asked = talk(put, "accept")
    assert not reply.is_error
    assert asked == ["Allow qmd: Put a document?\nname: tea.md\ntext: # Tea\\n\\nBrew it.\\n"]
    assert is_there(toolbox)


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_write_that_the_user_declines_is_not_done(talk, toolbox, action):
    reply, asked = talk(put, action)
    assert len(asked) == 1
    assert reply.is_error
    assert reply.content[0].text == "The user declined. Nothing was written."
    assert not is_there(toolbox)


def test_a_client_that_cannot_ask_writes_nothing(talk, toolbox):
    reply, _ = talk(put)
    assert reply.is_error
    assert reply.content[0].text == CANNOT_ASK
    assert not is_there(toolbox)


def test_the_question_shows_what_hides_and_how_much_is_cut(talk):
    text = "\x1b[2K\u202e" + 300 * "tea "

    async def work(client):
        return await put(client, text=text)

    _, (asked,) = talk(work, "decline")
    assert "\\x1b[2K\\u202e" in asked
    assert re.search(r"\[… .*characters …\]", asked)
    assert len(asked) < 400


@pytest.mark.parametrize("tool", ["status", "update"])
def test_what_writes_no_document_is_not_asked_about(talk, tool):
    async def work(client):
        return await client.call_tool(tool, {})

    reply, asked = talk(work, "decline")
    assert (reply.is_error, asked) == (False, [])


def test_consent_is_for_one_call(toolbox):
    from mcp import Client

    from qmd.surfaces.mcp.server import make_server

    agreed = {"consent": types.ElicitResult(action="accept")}

    async def answer(*_):
        raise AssertionError("the questions are answered by hand")

    async def main():
        async with Client(make_server(toolbox), mode="auto", elicitation_callback=answer) as client:
            call = client.session.call_tool
            asked = await call("put", NOTE, allow_input_required=True)
            other = {**NOTE, "text": "# Coffee\n"}
            for arguments, state in ((other, asked.request_state), (NOTE, "0" * 64), (NOTE, None)):
                again = await call(
                    "put",
                    arguments,
                    input_responses=agreed,
                    request_state=state,
                    allow_input_required=True,
                )
                assert again.result_type == "input_required"

    anyio.run(main)
    assert not is_there(toolbox)


def test_json_over_http_cannot_ask(toolbox):
    with service(toolbox, Options()) as server:
        answer = server.post("/put", NOTE)
    assert answer.status_code == 403
    assert answer.json()["detail"] == CANNOT_ASK
