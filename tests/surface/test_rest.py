"""The HTTP server: plain JSON, MCP, and what reaches neither."""

from __future__ import annotations

import json
import socket

import anyio
import httpx
import pytest

from qmd.errors import ModelMissing
from qmd.surface.http import app, connection, guard
from qmd.surface.http.app import Options, load
from qmd.surface.http.guard import policy
from qmd.surface.http.listening import listen
from qmd.surface.tools.replies import Code, Reply
from qmd.surface.tools.toolbox import Toolbox
from tests.library import Library
from tests.surface.service import LONG, Waiting, all_of, service, until

SSE = {"accept": "application/json, text/event-stream"}
JSON = b"Content-Type: application/json\r\n"


def filled(library):
    """The library with three notes, indexed."""
    library.write("tea.md", "# Green tea\n\nBrew it at 80 degrees.\nNever boil it.\n")
    library.write("deep/ünï code.md", "# Umlauts\n\nÜber den Tee.\n")
    library.write("pool.md", "# Pool\n\nSwim after tea.\n")
    library.update()
    return library


@pytest.fixture
def shelf(faked):
    """Three notes, and a model that is known."""
    return filled(faked)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server of three notes, for tests that change nothing."""
    library = filled(Library(tmp_path_factory.mktemp("shelf")))
    with service(Toolbox(library.engine)) as made:
        yield made
    library.engine.close()


@pytest.fixture
def waiting():
    """Tools that wait, and their server."""
    tools = Waiting()
    with service(tools) as made:
        yield tools, made
        tools.go_on.set()


# -- the routes ----------------------------------------------------------------------


def test_health_says_that_it_is_well_and_since_when(served):
    answer = served.get("/health")
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "healthy",
        "model_loaded": False,
        "uptime": pytest.approx(answer.json()["uptime"]),
    }
    assert answer.headers["server"].startswith("qmd/")


def test_a_search_gives_results_and_a_summary(served):
    found = served.post("/search", {"query": "boil", "limit": 3}).json()
    [result] = found["results"]
    assert (result["file"], result["line"], result["title"]) == ("notes/tea.md", 4, "Green tea")
    assert found["content"].startswith('Found 1 result for "boil":\n\n#')


def test_both_spellings_of_a_parameter_are_understood(served):
    for name in ("minScore", "min_score"):
        assert served.post("/search", {"query": "boil", name: 1}).json()["results"] == []


def test_query_takes_typed_searches(served):
    body = {"searches": [{"type": "lex", "query": "swim"}], "rerank": False}
    assert [each["file"] for each in served.post("/query", body).json()["results"]] == [
        "notes/pool.md"
    ]


def test_search_by_meaning_without_vectors_is_unavailable(served):
    answer = served.post("/vsearch", {"query": "hot drinks"})
    assert answer.status_code == 503
    assert answer.json() == {
        "detail": "Vector index not found. Run 'qmd embed' first to create embeddings.",
        "status_code": 503,
    }


def test_search_by_meaning_finds_what_has_vectors(shelf):
    shelf.embed()
    with service(Toolbox(shelf.engine)) as server:
        answer = server.post("/vsearch", {"query": "hot drinks", "minScore": 0})
        assert answer.status_code == 200
        assert answer.json()["content"].endswith(' for "hot drinks"') or answer.json()["results"]
        assert server.get("/health").json()["model_loaded"] is True


def test_a_document_comes_with_its_names(served):
    assert served.post("/get", {"file": "notes/tea.md:3:1", "lineNumbers": True}).json() == {
        "content": [
            {
                "uri": "qmd://notes/tea.md",
                "name": "notes/tea.md",
                "title": "Green tea",
                "mimeType": "text/markdown",
                "text": "3: Brew it at 80 degrees.",
            }
        ]
    }


def test_several_documents_come_after_what_is_told_of_others(served):
    content = served.post("/multi_get", {"pattern": "absent.md, tea.md, pool.md"}).json()["content"]
    assert "absent.md" in content[0]
    assert [part["name"] for part in content[1:]] == ["notes/tea.md", "notes/pool.md"]


def test_a_missing_document_is_not_found_and_similar_ones_are_named(served):
    answer = served.post("/get", {"file": "notes/te.md"})
    assert answer.status_code == 404
    assert answer.json()["detail"].startswith("Document not found: notes/te.md\n\nDid you mean")
    assert answer.json()["status_code"] == 404


def test_status_is_an_object(served):
    facts = served.get("/status").json()
    assert (facts["totalDocuments"], facts["hasVectorIndex"]) == (3, False)
    assert [each["name"] for each in facts["collections"]] == ["notes"]


def test_a_record_that_is_submitted_is_found(shelf):
    record = {
        "title": "Kettle boils over",
        "problem_description": "The kettle boils over at noon.",
        "solution": "Fill it less.",
    }
    with service(Toolbox(shelf.engine)) as server:
        answer = server.post("/submit_experience", record)
        assert (answer.status_code, answer.json()["success"]) == (200, True)
        found = server.post("/query_experiences", {"keywords": "kettle"}).json()
    assert [each["title"] for each in found["data"]["experiences"]] == ["Kettle boils over"]


def test_a_record_that_is_refused_says_why_in_both_manners(served):
    answer = served.post("/submit_experience", {"title": "No solution"})
    body = answer.json()
    assert (answer.status_code, body["status_code"], body["success"]) == (400, 400, False)
    assert body["error"]["code"] == "MISSING_REQUIRED_FIELDS"
    assert body["detail"] == body["error"]["message"]


def test_embed_gives_a_vector_for_each_text(shelf, fake):
    with service(Toolbox(shelf.engine)) as server:
        vectors = server.post("/embed", {"texts": ["tea", "pool"]}).json()["embeddings"]
        assert [len(vector) for vector in vectors] == [fake.dimensions] * 2
        assert vectors[0] != vectors[1]
        assert server.post("/embed", {"texts": []}).json() == {"embeddings": []}


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"texts": ["tea"] * 1001}, '"texts" may have 1000 items at most, not 1001.'),
        ({"texts": "tea"}, '"texts" must be an array of strings.'),
        ({"texts": [1]}, '"texts" must be an array of strings.'),
        ({}, '"texts" must be an array of strings.'),
        ({"texts": [], "model": "x"}, 'Unknown parameter "model". Valid: texts.'),
    ],
)
def test_embed_says_what_it_takes(served, body, problem):
    answer = served.post("/embed", body)
    assert answer.json() == {"detail": problem, "status_code": 400}
    assert answer.status_code == 400


def test_embed_without_a_model_is_unavailable(waiting):
    tools, server = waiting

    def missing():
        raise ModelMissing("small", "no such file")

    tools.go_on.set()
    tools.embed_texts = lambda given: tools._wait(missing)
    answer = server.post("/embed", {"texts": ["tea"]})
    assert answer.status_code == 503
    assert answer.json()["detail"].startswith("The model small is not here: no such file")


# -- errors --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"{", "The body is not JSON"),
        (b"", "The body is not JSON"),
        (b'{"query": NaN}', "NaN is not a number"),
        (b'{"limit": ' + b"1" * 5000 + b"}", "The body is not JSON"),
        (b"[1, 2]", "The body must be a JSON object."),
        (b'"tea"', "The body must be a JSON object."),
        (b'{"query": "\\ud83d"}', "half of a surrogate pair"),
        (b'{"\\ud83d": 1}', "half of a surrogate pair"),
        (b'{"query": "\xff"}', "The body is not UTF-8 text."),
        (b"[" * 100_000, "The body is nested too deeply."),
        (b'{"query": "tea", "limt": 3}', 'Unknown parameter "limt"'),
        (b'{"query": "tea", "limit": 0}', '"limit" must be at least 1'),
        (b'{"query": "tea", "collection": "x"}', "Collection not found: x."),
    ],
)
def test_a_request_that_cannot_be_understood_says_why(served, body, problem):
    headers = {"content-type": "application/json"}
    answer = httpx.post(f"{served.url}/search", content=body, headers=headers, timeout=LONG)
    assert problem in answer.json()["detail"]
    assert answer.status_code == answer.json()["status_code"] == 400


def test_whole_surrogate_pairs_are_characters(served):
    headers = {"content-type": "application/json"}
    body = b'{"query": "\\ud842\\udfb7"}'
    answer = httpx.post(f"{served.url}/search", content=body, headers=headers, timeout=LONG)
    assert answer.json()["content"] == 'No results found for "𠮷"'


def test_unknown_paths_and_methods_are_errors_like_all_others(served):
    absent = served.get("/absent")
    assert (absent.status_code, absent.json()) == (404, {"detail": "Not Found", "status_code": 404})
    wrong = served.get("/search")
    assert wrong.status_code == wrong.json()["status_code"] == 405
    assert wrong.headers["allow"] == "POST"


@pytest.mark.parametrize("code", list(Code))
def test_an_error_has_the_status_of_its_code(waiting, code):
    tools, server = waiting
    tools.answer = lambda: Reply(("Sorry.",), None, code)
    tools.go_on.set()
    answer = server.post("/search", {})
    assert (answer.status_code, answer.json()["detail"]) == (code.status, "Sorry.")


def test_a_tool_that_is_not_offered_is_not_found(shelf):
    with service(Toolbox(shelf.engine, read_only=True)) as server:
        answer = server.post("/submit_experience", {})
        assert answer.status_code == 404
        assert answer.json()["detail"].startswith("Unknown tool: submit_experience.")


def test_our_own_mistake_tells_the_log_and_nobody_else(caplog):
    tools = Waiting()
    tools.answer = lambda: 1 / 0
    tools.go_on.set()
    with service(tools) as server:
        answer = server.post("/search", {})
    assert answer.json() == {"detail": "Internal error. See the server log.", "status_code": 500}
    assert "ZeroDivisionError" in caplog.text


# -- clients that leave, and servers that end --------------------------------------------


@pytest.mark.parametrize("path", ["/search", "/embed", "/mcp", "/mcp of 2026"])
def test_a_call_ends_when_its_client_leaves(waiting, path):
    tools, server = waiting
    params = {"name": "search", "arguments": {}}
    body = {"texts": []} if path == "/embed" else {"query": "tea"}
    headers = dict(SSE)
    if path == "/embed":
        body = {"texts": ["tea"]}
    if path.startswith("/mcp"):
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    if path.endswith("2026"):
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        }
        headers |= {
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": "search",
        }
    data = json.dumps(body).encode()
    head = f"POST {path.split()[0]} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(data)}\r\n"
    more = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    with server.connect() as link:
        link.sendall(head.encode() + JSON + more.encode() + b"\r\n" + data)
        assert tools.begun.wait(LONG)
    assert tools.cancelled.wait(LONG)


@pytest.mark.parametrize("path", ["/search", "/mcp"])
def test_a_server_that_is_to_end_answers_first(path):
    tools = Waiting()
    params = {"name": "search", "arguments": {}}
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    with service(tools) as server, anyio.from_thread.start_blocking_portal() as portal:
        asked = portal.start_task_soon(
            anyio.to_thread.run_sync, lambda: server.post(path, call, headers=SSE)
        )
        assert tools.begun.wait(LONG)
        server.end()
        until(server.is_deaf)
        tools.go_on.set()
        answer = asked.result(LONG)
    assert answer.status_code == 200
    assert "Found nothing." in answer.text


@pytest.mark.parametrize("path", ["/search", "/mcp"])
def test_a_server_that_is_to_end_does_not_wait_for_ever(path, monkeypatch, caplog):
    monkeypatch.setattr(app, "GRACE", 0.01)
    tools = Waiting()
    params = {"name": "search", "arguments": {}}
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    with service(tools) as server, anyio.from_thread.start_blocking_portal() as portal:
        asked = portal.start_task_soon(
            anyio.to_thread.run_sync, lambda: server.post(path, call, headers=SSE)
        )
        assert tools.begun.wait(LONG)
        server.end()
        answer = asked.result(LONG)
    assert tools.cancelled.is_set()
    assert answer.text == "" if path == "/mcp" else answer.status_code == 503
    assert "Traceback" not in caplog.text


def test_a_server_that_is_to_end_does_not_wait_for_who_has_not_asked_yet(caplog):
    with service(Waiting()) as server, server.connect() as half:
        half.sendall(HEAD + b"Content-Length: 9\r\n\r\n{")
        assert server.get("/health").status_code == 200
        server.end()
        assert all_of(half) == b""
    assert not caplog.text


def test_streams_are_not_cut_off_by_a_signal():
    from sse_starlette.sse import AppStatus

    load()
    assert not AppStatus.enable_automatic_graceful_drain


# -- connections -----------------------------------------------------------------------


def test_sixty_clients_that_say_half_of_something_stop_nobody(served, monkeypatch):
    monkeypatch.setattr(guard, "MOST_REQUESTS", 2)
    links = [served.connect() for _ in range(60)]
    try:
        for link in links[20:40]:
            link.sendall(b"POST /search HTTP/1.1\r\nHost: loc")
        for link in links[40:]:
            link.sendall(b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n")
            link.sendall(JSON + b"\r\n{")
        assert served.post("/search", {"query": "boil"}).status_code == 200
        assert served.get("/status").status_code == 200
    finally:
        for link in links:
            link.close()


@pytest.mark.parametrize("said", [b"", b"GET /health HTTP/1.1\r\nHost: loc"])
def test_who_says_nothing_or_half_of_a_head_is_not_waited_for(served, monkeypatch, said):
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.01)
    assert served.said(said) == b""


def test_who_says_half_of_a_second_head_is_not_waited_for(served, monkeypatch):
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.01)
    with served.connect() as link:
        link.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = b""
        while not answer.endswith(b"}"):
            answer += link.recv(65536)
        link.sendall(b"GET /health HTTP/1.1\r\n")
        assert all_of(link) == b""


def test_who_sends_half_of_a_body_is_told_that_it_took_too_long(served, monkeypatch):
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.01)
    monkeypatch.setattr(guard, "LINGER_SECONDS", 0)
    head = b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n"
    assert served.said(head + JSON + b"\r\n{").startswith(b"HTTP/1.1 408")


def test_of_too_many_connections_the_one_that_is_silent_longest_ends(served, monkeypatch):
    monkeypatch.setattr(connection, "MOST_CONNECTIONS", 2)
    links = [served.connect() for _ in range(3)]
    try:
        assert all_of(links[0]) == b""
        for link in links[1:]:
            link.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert all_of(link).startswith(b"HTTP/1.1 200")
    finally:
        for link in links:
            link.close()


def test_a_connection_whose_request_is_under_way_is_not_the_one_that_ends(waiting, monkeypatch):
    monkeypatch.setattr(connection, "MOST_CONNECTIONS", 1)
    tools, server = waiting
    data = b'{"query": "tea"}'
    with server.connect() as link:
        head = f"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(data)}\r\n"
        link.sendall(head.encode() + JSON + b"Connection: close\r\n\r\n" + data)
        assert tools.begun.wait(LONG)
        with server.connect() as other:
            assert all_of(other) == b""
        tools.go_on.set()
        assert all_of(link).startswith(b"HTTP/1.1 200")


def test_what_is_answered_is_sent_at_once():
    """Else the end of an answer waits until the client has confirmed its beginning."""
    with listen("127.0.0.1", 0, has_token=False) as made:
        assert made.proto == socket.IPPROTO_TCP  # what asyncio looks for


def test_what_is_no_http_is_an_error_like_all_others(served):
    head, _, body = served.said(b"\x16\x03\x01\x02\x00 hello\r\n\r\n").partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert json.loads(body)["status_code"] == 400


# -- the guard, over the wire ------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status", "detail"),
    [
        ({"host": "evil.example"}, 421, "Host not allowed: evil.example"),
        ({"origin": "https://evil.example"}, 403, "Origin not allowed: https://evil.example"),
        ({"origin": "null"}, 403, "Origin not allowed: null"),
        ({"content-type": "text/plain"}, 415, "Content-Type must be application/json."),
        ({"authorization": "Bearer other"}, 401, "The bearer token is not right."),
        ({"authorization": ""}, 401, "The bearer token is not right."),
    ],
)
@pytest.mark.parametrize("path", ["/search", "/mcp", "/absent"])
def test_the_guard_stands_in_front_of_everything(shelf, path, headers, status, detail):
    options = Options(policy("127.0.0.1"), "right")
    given = {"authorization": "Bearer right", **SSE, **headers}
    with service(Toolbox(shelf.engine), options) as server:
        answer = server.post(path, {"query": "tea"}, headers=given)
        assert answer.status_code == status
        assert answer.json() == {"detail": detail, "status_code": status}
        assert ("www-authenticate" in answer.headers) == (status == 401)


def test_with_the_right_token_everything_is_as_without(shelf):
    options = Options(policy("127.0.0.1"), "right")
    with service(Toolbox(shelf.engine), options) as server:
        assert server.get("/health").status_code == 200
        assert server.get("/status").status_code == 401
        headers = {"authorization": "Bearer right", "origin": "http://localhost:3000"}
        assert server.get("/status", headers=headers).status_code == 200


def test_no_page_is_told_that_it_may_read_answers(served):
    headers = {"origin": "http://localhost:3000", "access-control-request-method": "POST"}
    for method in ("OPTIONS", "POST"):
        answer = httpx.request(
            method, f"{served.url}/search", json={"query": "tea"}, headers=headers, timeout=LONG
        )
        assert not [name for name in answer.headers if name.startswith("access-control")]


HEAD = b"POST /search HTTP/1.1\r\nHost: localhost\r\n" + JSON


def test_a_body_that_says_it_is_too_large_is_refused_before_it_is_sent(served, monkeypatch):
    monkeypatch.setattr(guard, "LINGER_SECONDS", 0)
    size = f"Content-Length: {guard.LARGEST_BODY + 1}\r\n\r\n".encode()
    answer = served.said(HEAD + size)
    assert answer.startswith(b"HTTP/1.1 413")
    assert b"connection: close" in answer


def test_chunks_that_never_end_are_refused_and_no_longer_read(served):
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    with served.connect() as link:
        link.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        sent = 0
        try:
            while sent < 64 * guard.LARGEST_BODY:
                link.sendall(chunk)
                sent += len(chunk)
        except OSError:
            pass
        answer = all_of(link)
    assert sent < 64 * guard.LARGEST_BODY
    assert answer.startswith(b"HTTP/1.1 413") or answer == b""  # read before it was reset, or not


def test_chunks_that_are_too_many_are_refused_in_words(served):
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    many = guard.LARGEST_BODY // 0x10000 + 2
    answer = served.said(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", chunk * many + b"0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 413")


def test_a_body_of_the_largest_size_is_taken(served):
    filler = b" " * (guard.LARGEST_BODY - len(b'{"query": "boil"}'))
    answer = httpx.post(
        f"{served.url}/search",
        content=b'{"query": "boil"}' + filler,
        headers={"content-type": "application/json"},
        timeout=LONG,
    )
    assert answer.status_code == 200


# -- MCP -------------------------------------------------------------------------------


def said(answer):
    """The messages of a stream."""
    lines = answer.text.splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]


def test_mcp_needs_no_session_and_no_greeting(served):
    params = {"name": "search", "arguments": {"query": "boil"}}
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    [message] = said(served.post("/mcp", call, headers=SSE))
    assert message["id"] == 7
    [result] = message["result"]["structuredContent"]["results"]
    assert result["file"] == "notes/tea.md"


def test_mcp_greets_who_greets(served):
    params = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    call = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    answer = served.post("/mcp", call, headers=SSE)
    [message] = said(answer)
    assert message["result"]["serverInfo"]["name"] == "qmd"
    assert message["result"]["protocolVersion"] == "2025-06-18"
    assert "mcp-session-id" not in answer.headers


def test_the_client_of_the_sdk_finds_and_reads(served):
    from mcp.client import Client

    async def work():
        with anyio.fail_after(LONG):
            async with Client(f"{served.url}/mcp") as client:
                names = [tool.name for tool in (await client.list_tools()).tools]
                found = await client.call_tool("search", {"query": "boil"})
                return names, found.structured_content

    names, found = anyio.run(work)
    assert "multi_get" in names
    assert found["results"][0]["file"] == "notes/tea.md"


def test_progress_comes_while_the_call_is_at_work(shelf):
    params = {"name": "update", "arguments": {}, "_meta": {"progressToken": "p"}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    shelf.write("new.md", "# New\n\nWater.\n")
    with service(Toolbox(shelf.engine, allow_write=True)) as server:
        *told, answer = said(server.post("/mcp", call, headers=SSE))
    assert {message["method"] for message in told} == {"notifications/progress"}
    assert answer["result"]["structuredContent"]["collections"][0]["new"] == 1


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_there_are_no_sessions_to_listen_to_or_to_end(served, method):
    answer = httpx.request(method, f"{served.url}/mcp", headers=SSE, timeout=LONG)
    assert answer.status_code == answer.json()["status_code"] == 405


@pytest.mark.parametrize(
    ("body", "number", "code", "told"),
    [
        (b"{", None, -32700, "the message is not valid JSON"),
        (b"\xff", None, -32700, "the message is not valid UTF-8"),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "\\ud83d"}', 7, -32700, "has a surrogate"),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', None, -32600, "is one JSON object"),
        (b"[]", None, -32600, "is one JSON object"),
        (b'"ping"', None, -32600, "is one JSON object"),
        (b'{"jsonrpc": "1.0", "id": 7, "method": "ping"}', 7, -32600, "not a message"),
        (b'{"jsonrpc": "2.0", "id": "x", "method": 5}', "x", -32600, "not a message"),
        (b"", None, -32700, "the message is not valid JSON"),
    ],
)
def test_what_is_no_message_is_told_in_the_protocol(served, body, number, code, told):
    headers = {"content-type": "application/json", **SSE}
    answer = httpx.post(f"{served.url}/mcp", content=body, headers=headers, timeout=LONG)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (answer.json()["id"], error["code"]) == (number, code)
    assert told in error["message"]


def test_a_client_has_to_take_both_kinds_of_answers(served):
    call = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    for accept in ("application/json", "text/event-stream"):
        assert served.post("/mcp", call, headers={"accept": accept}).status_code == 406
    assert said(served.post("/mcp", call, headers={"accept": "*/*"})) == [
        {"jsonrpc": "2.0", "id": 1, "result": {}}
    ]


def test_tools_are_listed_under_the_names_that_are_wished(shelf):
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    with service(Toolbox(shelf.engine), Options(names="prefixed")) as server:
        [message] = said(server.post("/mcp", call, headers=SSE))
    names = [tool["name"] for tool in message["result"]["tools"]]
    assert all(name.startswith("qmd_") for name in names)


def test_a_port_is_given_back_at_the_end(shelf):
    with service(Toolbox(shelf.engine)) as server:
        port = server.port
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", port))
