"""Answers without the SDK, which are those of the SDK."""

from __future__ import annotations

import json
import os
import threading
from contextlib import contextmanager, suppress

import anyio
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qmd.errors import CollectionNotFound, UsageError
from qmd.surfaces.mcp import plain_messages, stdio
from qmd.surfaces.mcp.json_lines import Problem, message_of
from qmd.surfaces.mcp.plain_messages import VERSIONS, plain_call, plain_message, proposed_version
from qmd.surfaces.mcp.plain_session import PlainSession
from qmd.surfaces.mcp.stdio import Wire, serve_stdio
from qmd.surfaces.tools.dispatch import Toolbox
from qmd.surfaces.tools.reply import Reply
from qmd.surfaces.tools.server_tools import ServerTools
from tests.surfaces.mcp.server_process import INITIALIZE, INITIALIZED, LONG, request

CLIENT = INITIALIZE["params"]


def greeting(**params: object) -> dict[str, object]:
    """An `initialize` with other parameters."""
    return {**INITIALIZE, "params": {**CLIENT, **params}}


def asked(number: object, method: str, **params: object) -> dict[str, object]:
    """A request."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


@pytest.fixture
def talked(library):
    """Lets a client send messages to a server in this process, and returns what it wrote."""
    library.write("tea.md", "# Grüner Tee\n\nBrew it at 80 degrees. 🍵\n")
    library.write("pool.md", "# Pool\n\nSwim after tea.\n")
    library.update()

    def talk(*messages: object, **options: object) -> list[dict]:
        reading, writing = os.pipe()
        told, telling = os.pipe()
        data = b"".join(
            (each if isinstance(each, bytes) else json.dumps(each).encode()) + b"\n"
            for each in messages
        )
        os.write(writing, data)
        os.close(writing)

        async def main() -> None:
            toolbox = Toolbox(library.engine, ServerTools(**options))
            with anyio.fail_after(LONG):
                await serve_stdio(toolbox, wire=Wire(reading, telling))

        read: list[bytes] = []

        def collect() -> None:
            with open(told, "rb") as stream:
                read.extend(stream)

        reader = threading.Thread(target=collect)
        reader.start()
        try:
            anyio.run(main)
        finally:
            os.close(telling)
            os.close(reading)
            reader.join(LONG)
        return [json.loads(line) for line in read]

    return talk


@contextmanager
def only(monkeypatch: pytest.MonkeyPatch, way: str):
    """Have all answered without the SDK, or all by it."""

    async def refuse(session: object, line: bytes) -> bool:
        return False

    def fail() -> None:
        raise AssertionError("the SDK is loaded")

    with monkeypatch.context() as patch:
        if way == "sdk":
            patch.setattr(PlainSession, "takes", refuse)
        else:
            patch.setattr(stdio, "_load_session", fail)
        yield


def by_id(lines: list[dict]) -> dict[object, list[dict]]:
    """Messages by their ids; None: notifications."""
    found: dict[object, list[dict]] = {}
    for line in lines:
        found.setdefault(line.get("id"), []).append(line)
    return found


CALLS = [
    request(1, "search", query="tea"),
    request("two", "query", searches=[{"type": "lex", "query": "degrees"}], rerank=False),
    request(3, "get", file="notes/tea.md"),
    request(4, "get", file="notes/tee.md"),
    request(5, "multi_get", pattern="*.md"),
    request(6, "ls"),
    request(7, "search", query="tea", limit="many"),
    request(8, "qmd_search", query="tea", max_results=1),
    request(-9, "search", query="🍵"),
    asked(10, "tools/list"),
    asked(11, "tools/list", _meta={"x": 1}),
    asked(12, "ping"),
    asked(15, "prompts/list"),
    asked(16, "resources/list"),
    asked(17, "resources/templates/list", _meta={}),
    asked(13, "tools/call", name="ls"),
    asked(14, "tools/call", name="search", arguments={"query": "Tee"}, _meta={"progressToken": 1}),
]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tool_names": "prefixed", "compact": True},
        {"tool_names": "both", "allow_write": True},
        {"read_only": True},
    ],
)
@pytest.mark.parametrize("version", VERSIONS)
def test_the_answers_are_those_of_the_sdk(talked, monkeypatch, options, version):
    lines = [greeting(protocolVersion=version), INITIALIZED, *CALLS]
    answers = {}
    for way in ("plain", "sdk"):
        with only(monkeypatch, way):
            answers[way] = by_id(talked(*lines, **options))
    assert answers["plain"] == answers["sdk"]
    assert answers["plain"].keys() == {"hello", *(call["id"] for call in CALLS)}
    assert "result" in answers["plain"]["hello"][0]


@pytest.mark.parametrize(
    "message",
    [
        asked(2, "prompts/list", cursor="x"),
        asked(2, "resources/list", cursor="bm90ZXMvcG9vbC5tZA"),
        asked(2, "resources/read", uri="qmd://notes/tea.md"),
        asked(2, "prompts/get", name="query"),
        asked(2, "tea/brew"),
        asked(2, "tools/list", cursor=7),
        asked(2, "tools/call", name="brew", arguments={}),
        asked(2, "tools/call", name="search", arguments=[]),
        asked(2, "tools/call", nam="search"),
        asked(2, "ping", _meta={"io.modelcontextprotocol/protocolVersion": "2026-07-28"}),
        asked("hello", "initialize", **CLIENT),
        b'{"jsonrpc": "2.0", "id": null, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 2, "method": "ping", "params": {"a": "\\ud83d"}}',
        b"{bad",
    ],
)
def test_what_is_not_plain_is_answered_by_the_sdk_which_knows_what_came_before(
    talked, monkeypatch, message
):
    lines = [INITIALIZE, INITIALIZED, CALLS[0], message, CALLS[1], CALLS[10]]
    answers = by_id(talked(*lines))
    with only(monkeypatch, "sdk"):
        assert answers == by_id(talked(*lines))
    assert sum(map(len, answers.values())) == 5  # each once, the greeting as well


@pytest.mark.parametrize(
    "params",
    [
        {"protocolVersion": "2026-07-28"},
        {"protocolVersion": "1"},
        {"protocolVersion": 1},
        {"clientInfo": {"name": "x"}},
        {"capabilities": {"roots": {"listChanged": 7}}},
        {"capabilities": {"tasks": {}}},
        {"_meta": {}},
    ],
)
def test_a_greeting_that_is_not_plain_is_answered_by_the_sdk(talked, monkeypatch, params):
    lines = [greeting(**params), INITIALIZED, CALLS[0]]
    answers = by_id(talked(*lines))
    with only(monkeypatch, "sdk"):
        assert answers == by_id(talked(*lines))


def test_a_plain_call_tells_that_it_is_at_work(talked, monkeypatch):
    beaten = threading.Event()
    say = stdio.Talk.say

    async def heard(talk: stdio.Talk, message: dict) -> None:
        if message.get("method") == "notifications/progress":
            beaten.set()
        await say(talk, message)

    def search(*given: object, **named: object) -> None:
        assert beaten.wait(LONG)
        raise UsageError("Enough.")

    monkeypatch.setattr(stdio.Talk, "say", heard)
    monkeypatch.setattr("qmd.surfaces.tools.progress.BEAT", 0.01)
    monkeypatch.setattr("qmd.surfaces.tools.answers.finding.search", search)
    with only(monkeypatch, "plain"):
        lines = by_id(talked(INITIALIZE, INITIALIZED, CALLS[-1]))
    told = {"progressToken": 1, "progress": 0.01, "message": "search: 0.01 s"}
    assert lines[None][0]["params"] == told
    assert lines[14][0]["result"]["content"][0]["text"] == "Enough."


def test_a_call_that_asks_for_consent_is_for_the_sdk(talked, monkeypatch):
    lines = [INITIALIZE, INITIALIZED, request(1, "put", path="a.md", text="x", collection="notes")]
    answers = by_id(talked(*lines, allow_write=True, confirm=True))
    [refused] = answers[1]
    assert refused["result"]["_meta"]["qmd/errorCode"] == "NO_CONSENT"


def test_a_call_that_is_cancelled_gets_no_answer_even_if_it_has_one(talked, monkeypatch):
    async def call(*given: object, **named: object) -> Reply:
        with suppress(anyio.get_cancelled_exc_class()):
            await anyio.sleep_forever()
        return Reply(("The database was interrupted.",))

    monkeypatch.setattr(Toolbox, "call", call)
    cancelled = {"method": "notifications/cancelled", "params": {"requestId": "1"}}
    with only(monkeypatch, "plain"):
        answers = by_id(talked(INITIALIZE, CALLS[0], {"jsonrpc": "2.0", **cancelled}, CALLS[11]))
    assert answers.keys() == {"hello", 12}


def test_a_cancelled_call_that_outlasts_the_session_gets_no_answer(talked, monkeypatch):
    async def call(*given: object, **named: object) -> Reply:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.1)  # the input has ended by then
        return Reply(("Late.",))

    monkeypatch.setattr(Toolbox, "call", call)
    cancelled = {"method": "notifications/cancelled", "params": {"requestId": 1}}
    with only(monkeypatch, "plain"):
        answers = by_id(talked(INITIALIZE, CALLS[0], {"jsonrpc": "2.0", **cancelled}))
    assert answers.keys() == {"hello"}


def test_requests_of_one_id_all_end_with_the_session(talked, monkeypatch):
    began = []

    async def call(*given: object, **named: object) -> Reply:
        began.append(None)
        if len(began) == 1:
            await anyio.sleep_forever()
        return Reply(("Quick.",))

    monkeypatch.setattr(Toolbox, "call", call)
    monkeypatch.setattr("qmd.surfaces.mcp.patience.GRACE", 0.2)
    with only(monkeypatch, "plain"):
        answers = by_id(talked(INITIALIZE, CALLS[0], CALLS[0]))
    assert [sorted(each) for each in answers[1]] == [
        ["id", "jsonrpc", "result"],
        ["error", "id", "jsonrpc"],
    ]


@pytest.mark.parametrize(("given", "is_cancelled"), [("1", True), (" 1", True), (True, False)])
def test_ids_are_compared_as_the_sdk_does(talked, monkeypatch, given, is_cancelled):
    async def call(*given: object, **named: object) -> Reply:
        await anyio.sleep(0.05)
        return Reply(("Green.",))

    monkeypatch.setattr(Toolbox, "call", call)
    cancelled = {"method": "notifications/cancelled", "params": {"requestId": given}}
    with only(monkeypatch, "plain"):
        answers = by_id(talked(INITIALIZE, CALLS[0], {"jsonrpc": "2.0", **cancelled}))
    assert (1 in answers) is not is_cancelled


def test_documents_are_listed_by_page_as_the_sdk_would(talked, monkeypatch):
    monkeypatch.setattr("qmd.surfaces.mcp.results.MOST_LISTED", 1)
    lines = [INITIALIZE, INITIALIZED, asked(1, "resources/list")]
    with only(monkeypatch, "plain"):
        answers = by_id(talked(*lines))
    with only(monkeypatch, "sdk"):
        assert answers == by_id(talked(*lines))
    assert answers[1][0]["result"]["nextCursor"] == "bm90ZXMvcG9vbC5tZA"


def test_a_list_that_fails_is_the_error_that_the_sdk_would_give(talked, monkeypatch):
    async def look(*given: object, **named: object) -> None:
        raise CollectionNotFound("attic")

    monkeypatch.setattr(Toolbox, "look", look)
    lines = [INITIALIZE, INITIALIZED, asked(1, "resources/list")]
    with only(monkeypatch, "plain"):
        answers = by_id(talked(*lines))
    with only(monkeypatch, "sdk"):
        assert answers == by_id(talked(*lines))
    assert answers[1][0]["error"]["code"] == -32602


def test_a_list_that_fails_unexpectedly_does_not_end_the_server(talked, monkeypatch):
    async def look(*given: object, **named: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(Toolbox, "look", look)
    with only(monkeypatch, "plain"):
        answers = by_id(talked(INITIALIZE, asked(1, "resources/list"), asked(2, "ping")))
    assert answers[1][0]["error"]["code"] == -32603
    assert answers[2][0]["result"] == {}


def test_an_answer_that_json_cannot_hold_is_an_error_of_the_server(talked, monkeypatch):
    broken = {"score": float("nan")}
    monkeypatch.setattr("qmd.surfaces.mcp.results.call_tool_result", lambda reply, tool: broken)
    with only(monkeypatch, "plain"):
        answers = by_id(talked(INITIALIZE, CALLS[0], CALLS[11]))
    assert answers[1][0]["error"]["code"] == -32603
    assert answers[12][0]["result"] == {}


def test_the_versions_are_those_that_the_sdk_greets():
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

    assert VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS


_scalars = st.sampled_from([None, True, 0, 1, 1.5, "", "x", "2025-11-25", 10**30])
_FEATURES = "roots sampling elicitation tasks experimental extensions".split()
_KEYS = "listChanged form url context tools name version title icons progressToken ttl".split()
_keys = st.sampled_from([*_FEATURES, *_KEYS, "io.modelcontextprotocol/x"])
_objects = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_keys, inner, max_size=3),
    max_leaves=5,
)
_features = st.dictionaries(st.sampled_from(_FEATURES), _objects, max_size=2)
_params = st.fixed_dictionaries(
    {
        "protocolVersion": st.sampled_from(["2025-11-25", "2024-11-05", "x"]) | _objects,
        "capabilities": _features | _objects,
        "clientInfo": st.just({"name": "a", "version": "1"}) | _objects,
    },
    optional={"_meta": _objects, "more": _objects},
)


@given(_params)
@example({**CLIENT, "capabilities": {"elicitation": {"form": {"applyDefaults": True}}}})
def test_a_plain_greeting_is_one_to_the_sdk(params):
    from mcp_types.methods import validate_client_request

    line = json.dumps(greeting() | {"params": params}).encode()
    message = plain_message(line)
    if message is not None and proposed_version(message) is not None:
        validate_client_request("initialize", "2025-11-25", params)
        _same(line, message)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "name": st.just("search") | _objects,
            "arguments": st.just({}) | _objects,
            "_meta": _objects,
            "task": _objects,
            "more": _objects,
        },
    ),
    _scalars,
)
@example({"name": "search", "_meta": {"progressToken": True}}, 1)
def test_a_plain_call_is_one_to_the_sdk(params, number):
    from mcp_types import CallToolRequestParams
    from mcp_types.methods import validate_client_request

    line = json.dumps(asked(number, "tools/call", **params)).encode()
    message = plain_message(line)
    call = plain_call(message) if message is not None else None
    if call is None:
        return
    validate_client_request("tools/call", "2025-11-25", params)
    read = CallToolRequestParams.model_validate(params, by_name=False)
    assert (call.name, call.arguments) == (read.name, read.arguments or {})
    assert call.token == (read.meta or {}).get("progress_token")
    _same(line, message)


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": {"x": NaN}}}',
        b'{"jsonrpc": "2.0", "id": 1.0, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": true, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 1, "result": {}}',
        b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
        b'\xef\xbb\xbf{"jsonrpc": "2.0", "id": 1, "method": "ping"}',
        '{"jsonrpc": "2.0", "id": 1, "method": "ping"}'.encode("utf-16"),
        b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]',
        b"[" * 100_000,
        # The SDK refuses what is nested so deep.
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": {"x": %b}}}'
        % (b"[" * 250 + b"]" * 250),
    ],
)
def test_what_parsers_may_read_differently_is_not_plain(line):
    assert plain_message(line) is None


def _same(line: bytes, message: plain_messages.PlainMessage) -> None:
    read = message_of(line)
    assert not isinstance(read, Problem)
    assert (message.method, message.params) == (read.method, read.params or {})
    assert message.id == getattr(read, "id", None)
    assert type(message.id) is type(getattr(read, "id", None))
