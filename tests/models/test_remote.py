"""Models that an endpoint runs; here it listens on this machine and answers what a test says."""

from __future__ import annotations

import json
import math
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.errors import ModelFailure, TextTooLong, UsageError
from qmd.models import endpoint, remote
from qmd.models.endpoint import Endpoint
from qmd.models.registry import Model
from qmd.models.remote import RemoteEmbedder, RemoteGenerator, RemoteReranker

KEY = "sk-very-secret-7"

LONG = 20
"""Seconds after which something that has to happen is taken for stuck."""


class Answer:
    """Status, headers and body of an answer; a body that is not text is sent as JSON."""

    def __init__(self, body, status=200, **headers):
        self.body = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class FakeEndpoint:
    """Answers each request by `answer(path, body)`.

    Attributes:
        seen: path, body and headers of each request.
        silent: until this is set, nothing is answered.
    """

    def __init__(self):
        self.answer = lambda path, body: Answer({})
        self.seen = []
        self.silent = threading.Event()
        self.silent.set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # headers and body together, or each waits for the other's receipt

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.seen.append((self.path, body, dict(self.headers)))
                assert outer.silent.wait(LONG)
                answer = outer.answer(self.path, body)
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, request, client_address):
                """Who asked has gone: what some tests do on purpose."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.base_url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.silent.set()
        self.server.shutdown()
        self.server.server_close()

    @property
    def bodies(self):
        return [body for _, body, _ in self.seen]


@pytest.fixture
def server():
    fake = FakeEndpoint()
    yield fake
    fake.close()


@pytest.fixture
def make(server):
    """Makes models at the endpoint; what they waited for is in `make.slept`."""
    made = []

    def build(kind, *, key=KEY, base_url=None, name="m", dimensions=None, context=None):
        role = {RemoteEmbedder: "embed", RemoteReranker: "rerank"}.get(kind, "generate")
        model = Model(name, role, f"openai:{name}", dimensions=dimensions, context=context)
        made.append(kind(model, Endpoint(base_url or server.base_url, key), sleep=slept.append))
        return made[-1]

    build.slept = slept = []
    yield build
    for model in made:
        model.close()


def vector(text):
    """One that tells the text: its length, and 1."""
    return [float(len(text)), 1.0]


def unit(text):
    return np.array(vector(text)) / math.hypot(*vector(text))


def embedded(path, body):
    """As an endpoint may answer: not in order."""
    data = [{"index": at, "embedding": vector(text)} for at, text in enumerate(body["input"])]
    return Answer({"object": "list", "data": data[::-1]})


def with_vectors(*vectors):
    return lambda path, body: Answer(
        {"data": [{"index": at, "embedding": row} for at, row in enumerate(vectors)]}
    )


def with_scores(*scores):
    return lambda path, body: Answer(
        {"results": [{"index": at, "relevance_score": score} for at, score in enumerate(scores)]}
    )


def error(status, message, **more):
    return lambda path, body: Answer({"error": {"message": message, **more}}, status)


def one_after_another(*answers):
    rest = list(answers)
    return lambda path, body: rest.pop(0)(path, body)


def written(text, **more):
    return lambda path, body: Answer({"choices": [{"message": {"content": text}, **more}]})


def ask(model, **how):
    """Whatever it is, one question to it."""
    if isinstance(model, RemoteEmbedder):
        return model.embed(["tea"], **how)
    if isinstance(model, RemoteReranker):
        return model.score("tea", ["pot"], **how)
    return model.generate("tea", **how)


KINDS = pytest.mark.parametrize("kind", [RemoteEmbedder, RemoteReranker, RemoteGenerator])


# Vectors


def test_vectors_come_in_the_order_of_the_texts_and_with_length_1(server, make):
    server.answer = embedded
    rows = make(RemoteEmbedder).embed(["tea", "a pot", ""])
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, [unit("tea"), unit("a pot"), unit("")], rtol=1e-6)


def test_what_is_asked_is_openais_protocol(server, make):
    server.answer = embedded
    make(RemoteEmbedder, name="org/model").embed(["tea"])
    [(path, body, headers)] = server.seen
    assert path == "/v1/embeddings"
    assert body == {"model": "org/model", "input": ["tea"], "encoding_format": "float"}
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert headers["Content-Type"] == "application/json"


def test_without_a_key_none_is_sent(server, make):
    server.answer = embedded
    make(RemoteEmbedder, key=None).embed(["tea"])
    assert "Authorization" not in server.seen[0][2]


def test_a_slash_after_the_address_changes_nothing(server, make):
    server.answer = embedded
    make(RemoteEmbedder, base_url=server.base_url + "/").embed(["tea"])
    assert server.seen[0][0] == "/v1/embeddings"


def test_a_request_has_at_most_64_texts(server, make):
    server.answer = embedded
    texts = ["x" * at for at in range(150)]
    rows = make(RemoteEmbedder).embed(texts)
    assert [len(body["input"]) for body in server.bodies] == [64, 64, 22]
    np.testing.assert_allclose(rows, [unit(text) for text in texts], rtol=1e-6)


def test_a_request_has_at_most_8000_tokens_unless_one_text_has_more(server, make):
    server.answer = embedded
    texts = ["x" * 3 * tokens for tokens in (4000, 4000, 1, 8100, 1)]
    rows = make(RemoteEmbedder).embed(texts)
    assert [len(body["input"]) for body in server.bodies] == [2, 1, 1, 1]
    np.testing.assert_allclose(rows, [unit(text) for text in texts], rtol=1e-6)


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=200), st.integers(1, 64))
def test_every_text_is_in_one_request(tokens, at_once):
    start, sizes = 0, []
    while start < len(tokens):
        end = remote._end_of_request(tokens, start, at_once)
        assert start < end <= start + at_once
        assert end == start + 1 or sum(tokens[start:end]) <= remote.REQUEST_TOKENS
        sizes.append(end - start)
        start = end
    assert sum(sizes) == len(tokens)


def test_no_texts_are_no_vectors_and_no_request(server, make):
    assert make(RemoteEmbedder, dimensions=2).embed([]).shape == (0, 2)
    assert not server.seen


def test_tokens_are_a_third_of_the_bytes(make):
    assert make(RemoteEmbedder).count(["", "tea", "teas", "茶"]) == [0, 1, 2, 1]


def test_dimensions_are_those_of_the_registry(server, make):
    assert make(RemoteEmbedder, dimensions=384).dimensions == 384
    assert not server.seen


def test_dimensions_are_learnt_by_one_short_text(server, make):
    server.answer = embedded
    model = make(RemoteEmbedder)
    assert (model.dimensions, model.dimensions) == (2, 2)
    assert [body["input"] for body in server.bodies] == [["dimensions"]]


def test_dimensions_are_known_after_the_first_vectors(server, make):
    server.answer = embedded
    model = make(RemoteEmbedder)
    model.embed(["tea"])
    assert model.dimensions == 2
    assert len(server.seen) == 1


def test_the_limit_is_that_of_the_registry_or_8192(make):
    assert make(RemoteEmbedder, context=512).limit == 512
    assert make(RemoteEmbedder).limit == 8192


def test_a_text_over_the_limit_is_refused_before_it_is_sent(server, make):
    with pytest.raises(TextTooLong) as caught:
        make(RemoteEmbedder, context=10).embed(["tea", "x" * 31])
    assert (caught.value.tokens, caught.value.limit) == (11, 10)
    assert not server.seen


@pytest.mark.parametrize(
    ("vectors", "told"),
    [
        ([[1, 2]], "1 vectors for 2 texts"),
        ([[1, 2]] * 3, "3 vectors for 2 texts"),
        ([[1, 2], [1, 2, 3]], "a vector of 3 numbers, where 2 were expected"),
        ([[1, 2], [1, math.nan]], "not finite"),
        ([[1, 2], [1, math.inf]], "not finite"),
        ([[1, 2], [1, None]], "not finite"),
        ([[1, 2], [1, 1e300]], "not finite"),
        ([[1, 2], [0, 0]], "nothing but zeros"),
        ([[], []], "nothing but zeros"),
        ([[1, 2], [1, 10**400]], "not what /embeddings answers"),
        ([[1, 2], [1, [2]]], "not what /embeddings answers"),
        ([[1, 2], "AACAPw=="], "where 2 were expected"),
        ([1, 2], "not what /embeddings answers"),
    ],
)
def test_vectors_that_are_none_are_told_of(server, make, vectors, told):
    server.answer = with_vectors(*vectors)
    with pytest.raises(ModelFailure) as caught:
        make(RemoteEmbedder).embed(["tea", "pot"])
    assert told in str(caught.value)
    assert "OPENAI_BASE_URL" in str(caught.value)


def test_vectors_of_another_dimension_than_before_are_told_of(server, make):
    server.answer = one_after_another(embedded, with_vectors([1, 2, 3]))
    model = make(RemoteEmbedder)
    model.embed(["tea"])
    with pytest.raises(ModelFailure, match="of 3 numbers, where 2 were expected"):
        model.embed(["tea"])


def test_vectors_of_another_dimension_than_the_models_are_told_of(server, make):
    server.answer = embedded
    with pytest.raises(ModelFailure, match="of 2 numbers, where 384 were expected"):
        make(RemoteEmbedder, dimensions=384).embed(["tea"])


def test_an_order_that_cannot_be_told_is_told_of(server, make):
    items = [{"index": 1, "embedding": [1, 2]}, {"index": 1, "embedding": [1, 2]}]
    server.answer = lambda path, body: Answer({"data": items})
    with pytest.raises(ModelFailure, match="not one of the vectors for each text"):
        make(RemoteEmbedder).embed(["tea", "pot"])


def test_vectors_without_an_index_are_taken_in_order(server, make):
    items = [{"embedding": vector("tea")}, {"embedding": vector("a pot")}]
    server.answer = lambda path, body: Answer({"data": items})
    rows = make(RemoteEmbedder).embed(["tea", "a pot"])
    np.testing.assert_allclose(rows, [unit("tea"), unit("a pot")], rtol=1e-6)


def test_an_endpoint_that_takes_fewer_texts_gets_fewer(server, make):
    def picky(path, body):
        many = len(body["input"])
        if many > 10:
            return Answer({"error": f"batch size {many} > maximum allowed batch size 10"}, 422)
        return embedded(path, body)

    server.answer = picky
    model = make(RemoteEmbedder)
    texts = ["x" * at for at in range(70)]
    np.testing.assert_allclose(model.embed(texts), [unit(text) for text in texts], rtol=1e-6)
    sizes = [len(body["input"]) for body in server.bodies]
    assert sizes == [64, 32, 16, *[8] * 8, 6]
    model.embed(texts)
    assert max(len(body["input"]) for body in server.bodies[len(sizes) :]) == 8


@pytest.mark.parametrize(
    ("status", "message", "tokens", "limit"),
    [
        (
            500,
            "input (992 tokens) is too large to process. increase the physical batch size "
            "(current batch size: 512)",
            992,
            512,
        ),
        (
            400,
            "This model's maximum context length is 8192 tokens, however you requested 10000 "
            "tokens (10000 in your prompt; 0 for the completion). Please reduce your prompt.",
            10000,
            8192,
        ),
        (413, "`inputs` must have less than 512 tokens. Given: 600", 600, 512),
    ],
)
def test_a_text_that_the_endpoint_finds_too_long_is_told_in_numbers(
    server, make, status, message, tokens, limit
):
    def answer(path, body):
        too_long = error(status, message)(path, body)
        return too_long if "long" in body["input"] else embedded(path, body)

    server.answer = answer
    model = make(RemoteEmbedder)
    with pytest.raises(TextTooLong) as caught:
        model.embed(["tea", "pot", "long", "cup"])
    assert (caught.value.tokens, caught.value.limit) == (tokens, limit)
    assert not make.slept
    server.seen.clear()
    model.embed(["tea"] * 64)
    assert len(server.seen) == 1


def test_a_text_that_is_too_long_without_numbers_is_told_in_the_endpoints_words(server, make):
    server.answer = error(400, "Invalid 'input': maximum input length is 8192 tokens.")
    with pytest.raises(ModelFailure, match="answered 400 for m: Invalid 'input': maximum input"):
        make(RemoteEmbedder).embed(["tea"])


# Scores


def test_scores_come_in_the_order_of_the_passages(server, make):
    items = [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.25}]
    server.answer = lambda path, body: Answer({"results": items})
    assert make(RemoteReranker).score("tea", ["pot", "cup"]) == [0.25, 0.9]
    [(path, body, _)] = server.seen
    assert path == "/v1/rerank"
    assert body == {"model": "m", "query": "tea", "documents": ["pot", "cup"], "top_n": 2}


def test_logits_go_through_a_sigmoid_all_of_them(server, make):
    server.answer = with_scores(-3.0, 0.5, 900)
    scores = make(RemoteReranker).score("tea", ["a", "b", "c"])
    assert scores == pytest.approx([1 / (1 + math.exp(3)), 1 / (1 + math.exp(-0.5)), 1])
    assert all(0 <= score <= 1 for score in scores)


def test_who_gave_logits_once_gives_logits(server, make):
    server.answer = one_after_another(with_scores(0.5), with_scores(-3.0), with_scores(0.5))
    model = make(RemoteReranker)
    scores = [model.score("tea", ["pot"])[0] for _ in range(3)]
    assert scores == pytest.approx([0.5, 1 / (1 + math.exp(3)), 1 / (1 + math.exp(-0.5))])


def test_no_passages_are_no_scores_and_no_request(server, make):
    assert make(RemoteReranker).score("tea", []) == []
    assert not server.seen


def test_a_passage_that_is_too_long_is_cut_between_characters(server, make):
    server.answer = with_scores(0.5, 0.5)
    make(RemoteReranker, context=102).score("tea", ["é" * 1000, "pot"])
    assert server.bodies[0]["documents"] == ["é" * 151, "pot"]  # 303 bytes are no whole number


def test_passages_that_the_endpoint_finds_too_long_are_cut_further(server, make):
    def short_only(path, body):
        longest = max(map(len, body["documents"]))
        if longest > 1000:
            return error(500, "input (900 tokens) is too large to process.")(path, body)
        return with_scores(*[0.5] * len(body["documents"]))(path, body)

    server.answer = short_only
    model = make(RemoteReranker)
    assert model.score("tea", ["x" * 3000, "pot"]) == [0.5, 0.5]
    assert [len(body["documents"][0]) for body in server.bodies] == [3000, 1500, 750]
    model.score("tea", ["x" * 3000])
    assert len(server.bodies[-1]["documents"][0]) == 750
    assert not make.slept


def test_a_reranker_for_which_everything_is_too_long_is_told_of(server, make):
    server.answer = error(400, "too long")
    with pytest.raises(ModelFailure, match="too long"):
        make(RemoteReranker).score("tea", ["x" * 3000])
    assert len(server.bodies[-1]["documents"][0]) == 3 * endpoint.SHORTEST


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ([0.5], "1 scores for 2 texts"),
        ([0.5, math.nan], "not finite"),
        ([0.5, None], "not what /rerank answers"),
        ([0.5, "much"], "not what /rerank answers"),
    ],
)
def test_scores_that_are_none_are_told_of(server, make, scores, told):
    server.answer = with_scores(*scores)
    with pytest.raises(ModelFailure, match=told):
        make(RemoteReranker).score("tea", ["pot", "cup"])


# Text


def test_a_prompt_is_answered(server, make):
    server.answer = written("green tea")
    assert make(RemoteGenerator).generate("tea", tokens=9) == "green tea"
    [(path, body, _)] = server.seen
    assert path == "/v1/chat/completions"
    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": "tea"}],
        "max_tokens": 9,
        "temperature": 0,
    }


def test_a_grammar_is_passed_on(server, make):
    server.answer = written("tea")
    make(RemoteGenerator).generate("tea", grammar='root ::= "tea"')
    assert server.bodies[0]["grammar"] == 'root ::= "tea"'


@pytest.mark.parametrize(
    "refusal",
    [
        error(400, "Unrecognized request argument supplied: grammar"),
        lambda path, body: Answer(
            {"detail": [{"loc": ["body", "grammar"], "msg": "Extra inputs are not permitted"}]}, 422
        ),
    ],
)
def test_a_grammar_that_is_refused_is_left_out_from_then_on(server, make, refusal):
    server.answer = lambda path, body: (refusal if "grammar" in body else written("tea"))(
        path, body
    )
    model = make(RemoteGenerator)
    assert model.generate("tea", grammar="root") == "tea"
    assert model.generate("tea", grammar="root") == "tea"
    assert ["grammar" in body for body in server.bodies] == [True, False, False]
    assert ["temperature" in body for body in server.bodies] == [True, True, True]


def test_a_model_that_thinks_gets_what_it_takes(server, make):
    def thinking(path, body):
        if "max_tokens" in body:
            return error(
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                "'max_completion_tokens' instead.",
            )(path, body)
        if "temperature" in body:
            return error(400, "Unsupported value: 'temperature' does not support 0.")(path, body)
        return written("tea")(path, body)

    server.answer = thinking
    assert make(RemoteGenerator).generate("tea", tokens=9) == "tea"
    assert server.bodies[-1] == {
        "model": "m",
        "messages": [{"role": "user", "content": "tea"}],
        "max_completion_tokens": 9,
    }


def test_another_refusal_is_told_of(server, make):
    server.answer = error(400, "Your prompt has no taste.\nNone at all.")
    with pytest.raises(ModelFailure) as caught:
        make(RemoteGenerator).generate("tea")
    assert str(caught.value) == f"{server.base_url} answered 400 for m: Your prompt has no taste."
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (written(None), "it has no text"),
        (written("", finish_reason="length"), "used up before the text began"),
        (lambda path, body: Answer({"choices": []}), "not what /chat/completions answers"),
    ],
)
def test_no_text_is_told_of(server, make, answer, told):
    server.answer = answer
    with pytest.raises(ModelFailure, match=told):
        make(RemoteGenerator).generate("tea")


# Failures


@KINDS
@pytest.mark.parametrize("body", ["<html>", "", "[" * 100_000, "null", "[]", "7", '{"data": 7}'])
def test_an_answer_of_another_kind_is_told_of(server, make, kind, body):
    server.answer = lambda path, _: Answer(body)
    with pytest.raises(ModelFailure, match="cannot be used: not what /"):
        ask(make(kind))


@KINDS
@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_not_accepted_names_the_variable(server, make, kind, status):
    server.answer = error(status, f"Incorrect API key provided: {KEY}")
    with pytest.raises(ModelFailure, match=rf"does not accept the key \({status}\)") as caught:
        ask(make(kind))
    assert "OPENAI_API_KEY" in str(caught.value)
    assert KEY not in str(caught.value)
    assert len(server.seen) == 1


def test_a_key_that_is_wanted_names_the_variable(server, make):
    server.answer = error(401, "no key")
    with pytest.raises(ModelFailure, match=r"wants a key \(401\)\n\nSet OPENAI_API_KEY"):
        ask(make(RemoteEmbedder, key=None))


def test_why_access_is_forbidden_is_told(server, make):
    server.answer = error(403, "not in your country")
    with pytest.raises(ModelFailure, match=r"\(403\): not in your country"):
        ask(make(RemoteEmbedder))


@KINDS
def test_what_is_not_found_names_the_model_and_the_address(server, make, kind):
    server.answer = error(404, "The model does not exist")
    with pytest.raises(
        ModelFailure, match=r"has no model pot, .*The model does not exist"
    ) as caught:
        ask(make(kind, name="pot"))
    assert server.base_url in str(caught.value)
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"error": {"message": "first\nsecond"}}, "first"),
        ({"error": "plain"}, "plain"),
        ({"message": "cohere"}, "cohere"),
        ({"detail": "jina"}, "jina"),
        ({"detail": [{"msg": "pydantic"}]}, "pydantic"),
        ({"error": {"message": "\x1b[31mred\x07"}}, "[31mred"),
        ({"error": {"message": "x" * 999}}, "x" * 300),
        ({"error": None}, "I'm a Teapot"),
        ([], "I'm a Teapot"),
        ("just text\nand more", "just text"),
        ("<html>\n<body>", "I'm a Teapot"),
        ("", "I'm a Teapot"),
    ],
)
def test_the_first_line_of_what_the_endpoint_says_is_told(server, make, body, told):
    server.answer = lambda path, _: Answer(body, 418)
    with pytest.raises(ModelFailure) as caught:
        ask(make(RemoteEmbedder))
    assert str(caught.value) == f"{server.base_url} answered 418 for m: {told}"


def test_a_key_in_what_the_endpoint_says_is_not_told(server, make):
    server.answer = error(400, "x" * 295 + KEY)
    with pytest.raises(ModelFailure) as caught:
        ask(make(RemoteEmbedder))
    assert str(caught.value).endswith("x…")
    assert KEY[:3] not in str(caught.value)


def test_the_key_is_in_no_repr(make):
    one = Endpoint("http://localhost", KEY)
    assert repr(one) == "Endpoint('http://localhost', key=…)"
    assert KEY not in f"{one} {one!r}"
    assert repr(Endpoint("http://localhost", None)) == "Endpoint('http://localhost', key=None)"
    model = make(RemoteEmbedder)
    assert KEY not in repr(model) + repr(vars(model))


@pytest.mark.parametrize("key", ["sk-a\nb", "sk-ключ", "sk-\x00"])
def test_a_key_that_cannot_be_sent_is_refused_without_showing_it(make, key):
    with pytest.raises(UsageError, match="OPENAI_API_KEY") as caught:
        make(RemoteEmbedder, key=key)
    assert "sk-" not in str(caught.value)


def test_space_around_the_key_is_dropped(server, make):
    server.answer = embedded
    make(RemoteEmbedder, key=f" {KEY}\n").embed(["tea"])
    assert server.seen[0][2]["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "base_url",
    ["localhost:8080/v1", "", "file:///etc", "ftp://host/v1", "http://", "http://host:port/v1"],
)
def test_an_address_that_is_none_is_refused(make, base_url):
    model = Model("m", "embed", "openai:m")
    with pytest.raises(UsageError, match="OPENAI_BASE_URL"):
        RemoteEmbedder(model, Endpoint(base_url, None))


def test_a_password_in_the_address_is_not_told(server, make):
    server.answer = error(404, "no")
    base_url = server.base_url.replace("//", "//me:hidden@")
    with pytest.raises(ModelFailure) as caught:
        ask(make(RemoteEmbedder, base_url=base_url, key=None))
    assert server.base_url in str(caught.value)
    assert "hidden" not in str(caught.value)
    assert server.seen[0][2]["Authorization"].startswith("Basic ")


# Tries


@KINDS
@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_tried_five_times_with_longer_and_longer_waits(server, make, kind, status):
    server.answer = error(status, "later")
    with pytest.raises(ModelFailure, match=f"answered {status} for m: later"):
        ask(make(kind))
    assert len(server.seen) == endpoint.TRIES == 5
    longest = 0.5 + 1 + 2 + 4
    assert longest / 2 <= sum(make.slept) <= longest
    assert max(make.slept) <= endpoint.SLICE


@KINDS
@pytest.mark.parametrize("status", [400, 418, 501])
def test_what_does_not_pass_is_tried_once(server, make, kind, status):
    server.answer = error(status, "no")
    with pytest.raises(ModelFailure):
        ask(make(kind))
    assert len(server.seen) == 1
    assert not make.slept


def test_a_quota_that_is_used_up_does_not_come_back_by_waiting(server, make):
    server.answer = error(429, "You exceeded your current quota", code="insufficient_quota")
    with pytest.raises(ModelFailure, match="exceeded your current quota"):
        ask(make(RemoteEmbedder))
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("asked", "waited"),
    [
        ("7", 7),
        ("0", 0),
        ("0.35", 0.35),
        ("999", 60),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 60),
        ("Fri, 31 Dec 1999 23:59:59 GMT", 0),
        ("Fri, 31 Dec 1999 23:59:59 -0000", 0),
        ("-5", 0),
    ],
)
def test_the_endpoint_says_how_long_to_wait(server, make, asked, waited):
    server.answer = one_after_another(
        lambda path, body: Answer({}, 429, Retry_After=asked), embedded
    )
    ask(make(RemoteEmbedder))
    assert sum(make.slept) == pytest.approx(waited)


@pytest.mark.parametrize("asked", ["soon", "", "nan"])
def test_what_cannot_be_read_is_no_reason_to_wait_for_long(server, make, asked):
    server.answer = one_after_another(
        lambda path, body: Answer({}, 429, Retry_After=asked), embedded
    )
    ask(make(RemoteEmbedder))
    assert sum(make.slept) <= endpoint.FIRST_WAIT


@KINDS
def test_an_interrupt_gets_through_while_waiting(server, make, kind):
    server.answer = lambda path, body: Answer({}, 503, Retry_After="60")
    model, calls = make(kind), []

    def between():
        calls.append(1)
        if len(make.slept) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(model, between=between)
    assert len(server.seen) == 1
    assert len(calls) == 5
    assert sum(make.slept) <= 0.31


def test_an_interrupt_gets_through_between_two_requests(server, make):
    server.answer = embedded

    def between():
        if server.seen:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(RemoteEmbedder).embed(["tea"] * 100, between=between)
    assert len(server.seen) == 1


def test_where_nothing_listens_is_tried_and_told_of(make):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        base_url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    with pytest.raises(ModelFailure, match=r"cannot be reached: .*refused") as caught:
        ask(make(RemoteEmbedder, base_url=base_url))
    assert base_url in str(caught.value)
    assert "OPENAI_BASE_URL" in str(caught.value)
    assert sum(make.slept) >= (0.5 + 1 + 2 + 4) / 2


def test_an_endpoint_that_does_not_answer_is_tried_and_told_of(server, make, monkeypatch):
    monkeypatch.setattr(endpoint, "READ_SECONDS", 0.05)
    server.silent.clear()
    with pytest.raises(ModelFailure, match=r"cannot be reached: no answer within 0\.05 seconds"):
        ask(make(RemoteEmbedder))
    assert sum(make.slept) >= (0.5 + 1 + 2 + 4) / 2


def test_a_connection_that_breaks_is_made_again(server, make):
    def broken(path, body):
        raise ConnectionResetError

    server.answer = one_after_another(broken, embedded)
    assert make(RemoteEmbedder).embed(["tea"]).shape == (1, 2)
    assert len(server.seen) == 2
