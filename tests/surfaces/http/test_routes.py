"""The HTTP server in plain JSON: what its routes answer, and how errors look."""

from __future__ import annotations

import httpx
import pytest

from qmd.errors import ModelMissing
from qmd.surfaces.tools.dispatch import Toolbox
from qmd.surfaces.tools.reply import Code, Reply
from qmd.surfaces.tools.server_tools import ServerTools
from tests.surfaces.service import LONG, Waiting, service

# -- the routes ----------------------------------------------------------------


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


@pytest.mark.parametrize("route", ["/query", "/search"])
def test_typed_searches_are_taken(served, route):
    body = {"searches": [{"type": "lex", "query": "swim"}], "rerank": False}
    assert [each["file"] for each in served.post(route, body).json()["results"]] == [
        "notes/pool.md"
    ]


def test_search_by_meaning_without_vectors_is_unavailable(served):
    answer = served.post("/vsearch", {"query": "hot drinks"})
    assert answer.status_code == 503
    assert answer.json() == {
        "detail": "Vector index not found. Run 'qmd embed' first to create embeddings.",
        "status_code": 503,
    }


def test_what_should_be_known_of_an_answer_comes_with_it(served):
    fallen_back = served.post("/query", {"query": "tea"}).json()
    assert fallen_back["notice"].startswith("Searched by words alone.")
    assert "notice" not in served.post("/search", {"query": "tea"}).json()


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


# -- errors --------------------------------------------------------------------


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
    with service(Toolbox(shelf.engine, ServerTools(read_only=True))) as server:
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
