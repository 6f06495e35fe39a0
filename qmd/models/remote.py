"""Remote models over the OpenAI protocol.

Requests go through `models/endpoint.py`. Import this module only for a model of an endpoint: httpx
alone takes a tenth of a second to load.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qmd.errors import TextTooLong
from qmd.models.endpoint import SHORTEST, Endpoint, EndpointClient, Odd, RequestRejected
from qmd.models.protocols import Between, nothing
from qmd.models.registry import Model

LIMIT = 8192
"""Token limit of a model that the registry does not know."""

REQUEST_TEXTS = 64
REQUEST_TOKENS = 8000
"""Tokens of one request for vectors, at most; a longer text goes alone."""

BYTES_PER_TOKEN = 3
"""Bytes of a token, below the average in English as in Chinese."""


class RemoteEmbedder:
    """Embedder over `POST /embeddings`.

    Args:
        sleep: waits some seconds between two tries.
    """

    def __init__(
        self, model: Model, endpoint: Endpoint, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.model = model
        self._line = EndpointClient(model, endpoint, sleep)
        self._dimensions = model.dimensions
        self._at_once = REQUEST_TEXTS

    @property
    def dimensions(self) -> int | None:
        """Dimensions of the vectors; None for an unknown model until its first vector."""
        return self._dimensions

    @property
    def limit(self) -> int:
        """Token limit of a text with its prompt."""
        return self.model.context or LIMIT

    def count(self, texts: Sequence[str]) -> list[int]:
        """Estimate the tokens of each text from above: a third of its bytes."""
        return [_tokens(text) for text in texts]

    def embed(self, texts: Sequence[str], *, between: Between = nothing) -> NDArray[np.float32]:
        """Compute a vector of length 1 for each text, in order: (texts, dimensions).

        A request that is refused is tried again with half of its texts: some endpoints take
        no more than 32, or 10. How many were taken is kept in mind.

        Raises:
            TextTooLong: a text has more tokens than `limit`, or than the endpoint takes.
            ModelFailure: the endpoint cannot be reached, refuses, or its vectors are no vectors.
        """
        tokens = self.count(texts)
        if tokens and max(tokens) > self.limit:
            raise TextTooLong(max(tokens), self.limit)
        found = [np.zeros((0, self._dimensions or 0), np.float32)]
        start, at_once = 0, self._at_once
        while start < len(texts):
            end = _end_of_request(tokens, start, at_once)
            try:
                found.append(self._asked(texts[start:end], between))
            except RequestRejected as refused:
                if end - start == 1:
                    if refused.numbers:
                        raise refused.numbers from refused
                    raise
                at_once = (end - start) // 2
            else:
                start = end
        self._at_once = at_once
        return np.concatenate(found if len(found) == 1 else found[1:])

    def _asked(self, texts: Sequence[str], between: Between) -> NDArray[np.float32]:
        rows = self._line.ask(
            "embeddings",
            {"input": list(texts), "encoding_format": "float"},
            partial(_vectors, amount=len(texts), dimensions=self._dimensions),
            between,
        )
        self._dimensions = rows.shape[1]
        return rows

    def close(self) -> None:
        """Close the connections."""
        self._line.close()


class RemoteReranker:
    """Reranker over `POST /rerank`, as Jina, Cohere, vLLM and llama.cpp's server have it."""

    def __init__(
        self, model: Model, endpoint: Endpoint, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.model = model
        self._line = EndpointClient(model, endpoint, sleep)
        self._limit = model.context or LIMIT
        self._gives_logits = False

    def score(
        self, query: str, passages: Sequence[str], *, between: Between = nothing
    ) -> list[float]:
        """Score each passage from 0 to 1, in order; a passage above the limit is cut.

        Some endpoints give logits. One score outside of 0 to 1 tells them: from then on all
        go through a sigmoid.

        Raises:
            ModelFailure: the endpoint cannot be reached, refuses, or its scores are no scores.
        """
        if not passages:
            return []
        while True:
            room = max(self._limit - _tokens(query), SHORTEST)
            cut = [_cut(passage, room) for passage in passages]
            try:
                scores = self._line.ask(
                    "rerank",
                    {"query": query, "documents": cut, "top_n": len(cut)},
                    partial(_scores, amount=len(cut)),
                    between,
                )
            except RequestRejected as refused:
                longest = max(map(_tokens, cut))
                if not refused.is_about_length or longest <= SHORTEST:
                    raise
                self._limit = _tokens(query) + max(longest // 2, SHORTEST)
            else:
                break
        if not all(0 <= score <= 1 for score in scores):
            self._gives_logits = True
        return [_sigmoid(score) for score in scores] if self._gives_logits else scores

    def close(self) -> None:
        """Close the connections."""
        self._line.close()


class RemoteGenerator:
    """Generator over `POST /chat/completions`."""

    def __init__(
        self, model: Model, endpoint: Endpoint, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.model = model
        self._line = EndpointClient(model, endpoint, sleep)
        self._length = "max_tokens"
        self._unknown: set[str] = set()

    def generate(
        self,
        prompt: str,
        *,
        grammar: str | None = None,
        tokens: int = 256,
        between: Between = nothing,
    ) -> str:
        """Generate the response to the prompt.

        What not every endpoint understands is sent until one refuses it by name, and then
        left out: a temperature of 0, which OpenAI's models that think do not take, and
        `grammar`. llama.cpp's server follows a grammar, most others ignore it, and nothing
        tells them apart beforehand. So the text may not follow it: who reads it has to be
        ready for that.

        Raises:
            ModelFailure: the endpoint cannot be reached, refuses, or wrote nothing.
        """
        while True:
            wishes: dict[str, Any] = {"temperature": 0}
            if grammar is not None:
                wishes["grammar"] = grammar
            wishes = {name: wish for name, wish in wishes.items() if name not in self._unknown}
            body = {"messages": [{"role": "user", "content": prompt}], self._length: tokens}
            try:
                return self._line.ask("chat/completions", body | wishes, _text, between)
            except RequestRejected as refused:
                unknown = {name for name in wishes if name in refused.answer}
                if self._length == "max_tokens" and "max_completion_tokens" in refused.answer:
                    self._length = "max_completion_tokens"
                elif not unknown:
                    raise
                self._unknown |= unknown

    def close(self) -> None:
        """Close the connections."""
        self._line.close()


def _tokens(text: str) -> int:
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


def _cut(text: str, tokens: int) -> str:
    """Cut a text to at most so many tokens."""
    return text.encode("utf-8", "replace")[: tokens * BYTES_PER_TOKEN].decode("utf-8", "ignore")


def _end_of_request(tokens: Sequence[int], start: int, at_once: int) -> int:
    """Find the end of the texts of one request, the first of them at `start`."""
    end, size = start + 1, tokens[start]
    while end < min(len(tokens), start + at_once) and size + tokens[end] <= REQUEST_TOKENS:
        size += tokens[end]
        end += 1
    return end


def _in_order(items: list[dict[str, Any]], amount: int, what: str) -> list[dict[str, Any]]:
    """Sort the items of a response by the order of the request."""
    if len(items) != amount:
        raise Odd(f"{len(items)} {what} for {amount} texts")
    ordered = {item.get("index", place): item for place, item in enumerate(items)}
    if ordered.keys() != set(range(amount)):
        raise Odd(f"not one of the {what} for each text")
    return [ordered[place] for place in range(amount)]


def _vectors(answer: Any, *, amount: int, dimensions: int | None) -> NDArray[np.float32]:
    """Parse vectors of length 1 from a response of /embeddings."""
    rows = [item["embedding"] for item in _in_order(answer["data"], amount, "vectors")]
    expected = dimensions or len(rows[0])
    for row in rows:
        if len(row) != expected:
            raise Odd(f"a vector of {len(row)} numbers, where {expected} were expected")
    vectors = np.array(rows, dtype=np.float64).reshape(amount, expected)
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise Odd("a vector with a number that is not finite")
    if not lengths.all():
        raise Odd("a vector of nothing but zeros")
    unit: NDArray[np.float32] = (vectors / lengths).astype(np.float32)
    return unit


def _scores(answer: Any, *, amount: int) -> list[float]:
    """Parse the raw scores from a response of /rerank."""
    items = _in_order(answer["results"], amount, "scores")
    scores = [float(item["relevance_score"]) for item in items]
    if not all(map(math.isfinite, scores)):
        raise Odd("a score that is not finite")
    return scores


def _text(answer: Any) -> str:
    """Parse the text from a response of /chat/completions."""
    choice = answer["choices"][0]
    text = choice["message"]["content"]
    if not text and choice.get("finish_reason") == "length":
        raise Odd("all its tokens were used up before the text began, as by a model that thinks")
    if not isinstance(text, str):
        raise Odd("it has no text")
    # JSON can have halves of surrogate pairs, which no encoding of Unicode writes.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _sigmoid(logit: float) -> float:
    return 0.5 * (1 + math.tanh(logit / 2))
