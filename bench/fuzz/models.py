"""Readers of responses of hubs and endpoints, and of model files."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench.fuzz.sources import Bytes, Input, Target

NAMES = (
    "data embedding index results relevance_score choices message content finish_reason error "
    "detail msg length"
).split()
KEY = "sk-secret"


def hub() -> Iterator[Target]:
    """Names of files on the hub and the cache of it: nothing outside of the cache is found."""
    from qmd.errors import UsageError
    from qmd.models import hub as ours
    from qmd.models.hub import uri

    with tempfile.TemporaryDirectory() as name:
        cache = Path(name) / "cache" / "hub"
        outside = Path(name) / "outside" / "f.gguf"
        outside.parent.mkdir()
        outside.write_bytes(b"GGUF")
        repo = cache / "models--a--b"
        (repo / "snapshots" / "c0").mkdir(parents=True)
        (repo / "snapshots" / "c0" / "f.gguf").write_bytes(b"GGUF")
        (repo / "refs").mkdir()

        def check(text: str, ref: bytes) -> None:
            with suppress(UsageError):
                found = uri.parse_uri(text)
                again = f"hf:{found.repo}/{found.file}"
                again += f"@{found.revision}" if found.revision else ""
                assert uri.parse_uri(again) == found
                for part in (found.repo, found.file, found.revision or "x"):
                    assert not part.startswith("/")
                    assert ".." not in part.split("/")
                path = ours.cached(text, cache)
                assert path is None or cache in path.parents
            (repo / "refs" / "main").write_bytes(ref)
            path = ours.cached("hf:a/b/f.gguf", cache)
            assert path is None or path.resolve().is_relative_to(cache)

        def made(source: Bytes) -> Input:
            kind, scheme = source.number(0, 2), source.pick(["hf:", ""])
            text = source.text()
            return scheme + text, [source.rest(), b"c0\n", text.encode()][kind]

        words = ["/", "..", "@", ".gguf", "--", "../../../../outside", str(outside.parent), "\\"]
        examples = (b"a/b/f.gguf@c0", b"../../../../outside\0\2", b"a/b/c/f.gguf\xffc0\0\0")
        yield Target(made, check, words, examples)


def gguf() -> Iterator[Target]:
    """Files that should be models: what is none is refused before a library reads it."""
    from qmd.errors import ModelUnusable
    from qmd.models.hub.cache import is_foreign, problem_of_cached
    from qmd.models.registry import Model, check_gguf

    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "model.gguf"

        def check(data: bytes) -> None:
            file.write_bytes(data)
            is_one = data.startswith(b"GGUF")
            assert is_foreign(file) != is_one
            assert (problem_of_cached(file) is None) == is_one
            try:
                check_gguf(Model("m", "embed", str(file)))
            except ModelUnusable:
                assert not is_one
            else:
                assert is_one

        def made(source: Bytes) -> Input:
            return (source.pick([b"", b"GGUF", b"<html>", b"GG"]) + source.rest(),)

        yield Target(made, check, (), (b"GGUF\3\0\0\0", b"<!doctype html>", b""))


def endpoint() -> Iterator[Target]:
    """Answers of an endpoint: vectors, scores and texts that can be used, or an error in words."""
    import httpx
    import numpy as np

    from qmd.errors import QmdError
    from qmd.models import remote
    from qmd.models.endpoint import Endpoint
    from qmd.models.registry import Model

    class Canned:
        """A transport with the same response to every request."""

        response: Any = None

        def post(self, path: str, content: bytes, between: Any) -> Any:
            json.loads(content)
            status, headers, data = self.response
            return httpx.Response(status, headers=headers, content=data)

    canned = Canned()

    def asked(kind: int) -> Any:
        address = Endpoint("http://user:pw@127.0.0.1:1/v1", KEY)
        roles = ("embed", remote.RemoteEmbedder), ("rerank", remote.RemoteReranker)
        role, make = (*roles, ("generate", remote.RemoteGenerator))[kind]
        model = make(Model("m", role, "openai:m"), address, sleep=lambda _: None)  # type: ignore[arg-type]
        model._line.close()
        model._line._connections = canned
        return model

    def check(data: bytes, kind: int, status: int, headers: dict[str, str]) -> None:
        canned.response = status, headers, data
        model = asked(kind)
        try:
            if kind == 0:
                vectors = model.embed(["tea", "pot"])
                assert vectors.shape == (2, model.dimensions)
                assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
            elif kind == 1:
                scores = model.score("tea", ["green", "pot"])
                assert len(scores) == 2
                assert all(0 <= score <= 1 for score in scores)
            else:
                model.generate("tea", grammar='root ::= "x"').encode()
        except QmdError as error:
            said = str(error)
            said.encode()
            assert len(said) < 2000
            assert KEY not in said
            assert all(part.isprintable() for part in said.split("\n"))

    def made(source: Bytes) -> Input:
        kind = source.number(0, 2)
        status = source.pick([200, 200, 200, 200, 400, 401, 404, 413, 429, 500, 501, 503])
        headers = {}
        shape, named = source.number(0, 4), source.number(0, 5)
        name = source.pick(["retry-after", "content-type"])
        if named == 5:
            headers[name] = source.text().encode("ascii", "ignore").decode().strip()
            headers[name] = "".join(filter(str.isprintable, headers[name]))
        if shape == 0:
            return source.rest(), kind, status, headers
        given: Any = source.json(NAMES)
        if shape > 1:
            numbers = [source.json(NAMES), source.json(NAMES)]
            vectors = [{"embedding": numbers, "index": at} for at in (0, 1)]
            scores = [{"relevance_score": each, "index": at} for at, each in enumerate(numbers)]
            choice = {"message": {"content": source.text(surrogates=True)}}
            given = {"data": vectors, "results": scores, "choices": [choice]}
            given |= source.fields(NAMES, source.number(0, 2))
        return json.dumps(given).encode(), kind, status, headers

    examples = (
        b'{"data": [{"embedding": [1, 0], "index": 1}, {"embedding": [1e-160, 2e-160]}]}',
        b'{"error": {"message": "input is too long: 600 > 512 sk-secret"}}',
        b"[" * 2000,
        b"Infinity",
    )
    yield Target(made, check, ("1e-170", "1e308", "[", "{", "sk-secret", "\\ud800"), examples)
