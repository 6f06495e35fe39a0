"""An endpoint of models that listens on this machine and answers what a test says."""

from __future__ import annotations

import json
import math
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

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
        callers: addresses of the other side of each request.
        silent: until this is set, nothing is answered.
    """

    def __init__(self):
        self.answer = lambda path, body: Answer({})
        self.seen = []
        self.callers = []
        self.silent = threading.Event()
        self.silent.set()
        self._more = threading.Semaphore(0)
        self._is_stuck = False
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # headers and body together, or each waits for the other's receipt

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.callers.append(self.client_address)
                outer.seen.append((self.path, body, dict(self.headers)))
                outer._more.release()
                outer.wait()
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
        assert not self._is_stuck, "somebody waited for an answer that did not come"

    def wait(self):
        """Wait until it may answer."""
        if not self.silent.wait(LONG):
            self._is_stuck = True

    def await_requests(self, amount):
        """Wait until there have been so many."""
        while len(self.seen) < amount:
            assert self._more.acquire(timeout=LONG)

    @property
    def bodies(self):
        return [body for _, body, _ in self.seen]


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
