"""Models that an endpoint runs, spoken to in OpenAI's protocol.

Import this once a model is known to be an endpoint's: httpx alone costs a tenth of a second.
"""

from __future__ import annotations

import json
import math
import random
import re
import ssl
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar

import httpx
import numpy as np
from numpy.typing import NDArray

from qmd import __version__
from qmd.errors import ModelFailure, TextTooLong, UsageError
from qmd.models.base import Between, nothing
from qmd.models.registry import ENDPOINT, Model

LIMIT = 8192
"""Tokens that a model takes if the registry does not know it."""

REQUEST_TEXTS = 64
REQUEST_TOKENS = 8000
"""Of one request for vectors, at most; a text with more goes alone."""

SHORTEST = 64
"""Tokens. A passage that is refused though it was cut to so few has another trouble."""

TRIES = 5
FIRST_WAIT = 0.5
"""Seconds before the second try, at most; twice as many before each further one."""

LONGEST_WAIT = 60.0
"""Seconds, even if the endpoint asks for more."""

SLICE = 0.1
"""Seconds of waiting after which an interrupt gets through."""

CONNECT_SECONDS = 10.0
READ_SECONDS = 60.0

BYTES_PER_TOKEN = 3
"""Fewer than a token has on average, in English as in Chinese."""

_TOLD = 300
"""Characters of an endpoint's own words that are shown."""

_TOO_LONG = re.compile(
    r"too (long|large|many tokens)|(context|input|sequence) (length|size|window)"
    r"|larger than|less than \d+ tokens",
    re.IGNORECASE,
)
_WORTH_A_RETRY = (
    httpx.TimeoutException,
    httpx.NetworkError,
    httpx.RemoteProtocolError,
    httpx.ProxyError,
)
_UNREADABLE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What comes of reading an answer that has another form."""

Read = TypeVar("Read")


class Endpoint(NamedTuple):
    """Where a server that speaks OpenAI's protocol is."""

    base_url: str
    key: str | None

    def __repr__(self) -> str:
        """Without the key."""
        return f"Endpoint({self.base_url!r}, key={'…' if self.key else None})"


class Refused(ModelFailure):
    """The endpoint cannot do what it was asked, nor could it the next time.

    Attributes:
        told: why, in its own words.
        answer: all that it said.
    """

    def __init__(self, message: str, *, told: str, answer: str) -> None:
        super().__init__(message)
        self.told = told
        self.answer = answer

    @property
    def is_about_length(self) -> bool:
        """Whether a text was too long."""
        return _TOO_LONG.search(self.told) is not None

    @property
    def numbers(self) -> TextTooLong | None:
        """The same in numbers, if it names two: the tokens of the text, and the limit."""
        named = {int(digits) for digits in re.findall(r"\d+", self.told)}
        named = {number for number in named if number >= SHORTEST}
        if not self.is_about_length or len(named) != 2:
            return None
        return TextTooLong(max(named), min(named))


class RemoteEmbedder:
    """Vectors from `POST /embeddings`.

    Args:
        sleep: waits some seconds between two tries.
    """

    def __init__(
        self, model: Model, endpoint: Endpoint, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.model = model
        self._line = _Line(model, endpoint, sleep)
        self._dimensions = model.dimensions
        self._at_once = REQUEST_TEXTS

    @property
    def dimensions(self) -> int:
        """Of its vectors; asks the endpoint if nobody knows yet."""
        if self._dimensions is None:
            self.embed(["dimensions"])
        assert self._dimensions is not None
        return self._dimensions

    @property
    def limit(self) -> int:
        """Tokens of a text with its prompt, at most."""
        return self.model.context or LIMIT

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, estimated from above: a third of its bytes."""
        return [_tokens(text) for text in texts]

    def embed(self, texts: Sequence[str], *, between: Between = nothing) -> NDArray[np.float32]:
        """A vector of length 1 for each text, in order: (texts, dimensions).

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
            except Refused as refused:
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
        """Close its connections."""
        self._line.close()


class RemoteReranker:
    """Scores from `POST /rerank`, as Jina, Cohere, vLLM and llama.cpp's server have it."""

    def __init__(
        self, model: Model, endpoint: Endpoint, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.model = model
        self._line = _Line(model, endpoint, sleep)
        self._limit = model.context or LIMIT
        self._gives_logits = False

    def score(
        self, query: str, passages: Sequence[str], *, between: Between = nothing
    ) -> list[float]:
        """0 to 1 for each passage, in order; a passage that is too long is cut.

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
            except Refused as refused:
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
        """Close its connections."""
        self._line.close()


class RemoteGenerator:
    """Text from `POST /chat/completions`."""

    def __init__(
        self, model: Model, endpoint: Endpoint, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.model = model
        self._line = _Line(model, endpoint, sleep)
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
        """What the model answers to the prompt.

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
            except Refused as refused:
                unknown = {name for name in wishes if name in refused.answer}
                if self._length == "max_tokens" and "max_completion_tokens" in refused.answer:
                    self._length = "max_completion_tokens"
                elif not unknown:
                    raise
                self._unknown |= unknown

    def close(self) -> None:
        """Close its connections."""
        self._line.close()


class _Line:
    """Asks one model at an endpoint, more than once if it has to be."""

    def __init__(self, model: Model, endpoint: Endpoint, sleep: Callable[[float], None]) -> None:
        base = _checked(endpoint.base_url)
        self._name = model.uri.removeprefix(ENDPOINT)
        self._key = _checked_key(endpoint.key)
        self._shown = str(base.copy_with(username=None, password=None))
        self._sleep = sleep
        headers = {"User-Agent": f"qmd/{__version__}", "Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        self._http = httpx.Client(
            base_url=base,
            headers=headers,
            timeout=httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
            verify=_authorities(),
        )

    def close(self) -> None:
        self._http.close()

    def ask(
        self, path: str, body: dict[str, Any], read: Callable[[Any], Read], between: Between
    ) -> Read:
        """What `read` finds in the answer.

        Raises:
            Refused: the endpoint cannot do this.
            ModelFailure: it does not answer, or what it answers cannot be read.
        """
        content = json.dumps({"model": self._name, **body}).encode()
        response = self._answered(path, content, between)
        if not response.is_success:
            raise self._failure(path, response)
        try:
            return read(response.json())
        except _Odd as error:
            problem = str(error)
        except _UNREADABLE:
            problem = f"not what /{path} answers"
        raise ModelFailure(
            f"The answer of {self._name} at {self._shown} cannot be used: {problem}.\n\n"
            "Check that the model does this, and that OPENAI_BASE_URL is right ('…/v1')."
        )

    def _answered(self, path: str, content: bytes, between: Between) -> httpx.Response:
        """The answer, good or bad, after some tries if a further one may change it."""
        tries = 0
        while True:
            between()
            tries += 1
            wait = random.uniform(0.5, 1) * FIRST_WAIT * 2 ** (tries - 1)
            try:
                response = self._http.post(path, content=content)
            except httpx.RequestError as error:
                if not isinstance(error, _WORTH_A_RETRY) or tries == TRIES:
                    raise self._unreachable(error) from error
            else:
                if not self._may_change(response) or tries == TRIES:
                    return response
                asked = _seconds(response.headers.get("Retry-After"))
                wait = wait if asked is None else min(asked, LONGEST_WAIT)
            while wait > 0:
                between()
                self._sleep(min(wait, SLICE))
                wait -= SLICE

    def _may_change(self, response: httpx.Response) -> bool:
        """Whether the same question may be answered the next time."""
        if response.status_code == httpx.codes.TOO_MANY_REQUESTS:
            return "insufficient_quota" not in response.text
        if response.status_code == httpx.codes.NOT_IMPLEMENTED:
            return False
        # llama.cpp's server answers 500 to a text that is longer than its batch.
        return response.is_server_error and not _TOO_LONG.search(self._told(response))

    def _unreachable(self, error: httpx.RequestError) -> ModelFailure:
        if isinstance(error, httpx.ConnectTimeout):
            problem = f"no connection within {CONNECT_SECONDS:g} seconds"
        elif isinstance(error, httpx.TimeoutException):
            problem = f"no answer within {READ_SECONDS:g} seconds"
        else:
            problem = self._safe(str(error)) or type(error).__name__
        return ModelFailure(
            f"{self._shown} cannot be reached: {problem}.\n\n"
            "Check that the server runs. OPENAI_BASE_URL says where it is."
        )

    def _failure(self, path: str, response: httpx.Response) -> ModelFailure:
        """An answer that is none, in words a user can act on."""
        told, status = self._told(response), response.status_code
        if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            # What a 401 says may have a part of the key in it.
            why = f": {told}" if status == httpx.codes.FORBIDDEN else ""
            problem = "does not accept the key" if self._key else "wants a key"
            return ModelFailure(
                f"{self._shown} {problem} ({status}){why}\n\n"
                "Set OPENAI_API_KEY to a key that may use this model."
            )
        if status == httpx.codes.NOT_FOUND:
            return ModelFailure(
                f"{self._shown} has no model {self._name}, or no /{path}: {told}\n\n"
                "Check the name under 'models' in index.yml, and OPENAI_BASE_URL ('…/v1')."
            )
        message = f"{self._shown} answered {status} for {self._name}: {told}"
        refusals = (
            httpx.codes.BAD_REQUEST,
            httpx.codes.REQUEST_ENTITY_TOO_LARGE,
            httpx.codes.UNPROCESSABLE_ENTITY,
        )
        if status in refusals or _TOO_LONG.search(told):
            return Refused(message, told=told, answer=response.text)
        return ModelFailure(message)

    def _told(self, response: httpx.Response) -> str:
        """The first line of what an endpoint says of an error; else what the status means."""
        try:
            said = response.json()
        except ValueError:
            said = "" if response.text.lstrip().startswith("<") else response.text
        for name in ("error", "message", "detail", "msg"):
            said = said[0] if isinstance(said, list) and said else said
            said = said.get(name, said) if isinstance(said, dict) else said
        line = said.strip().partition("\n")[0] if isinstance(said, str) else ""
        line = "".join(filter(str.isprintable, self._safe(line)))
        return line[:_TOLD] or response.reason_phrase or "no reason is given"

    def _safe(self, text: str) -> str:
        """A text without the key."""
        return text.replace(self._key, "…") if self._key else text


class _Odd(Exception):
    """An answer that cannot be used, and why."""


@cache
def _authorities() -> ssl.SSLContext:
    """Who vouches for endpoints; read once, for it takes longer than a small question."""
    return httpx.create_ssl_context()


def _checked(base_url: str) -> httpx.URL:
    try:
        url = httpx.URL(base_url.strip())
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise UsageError(
            f"OPENAI_BASE_URL is not the address of a server: '{base_url}'.\n\n"
            "An address looks like http://127.0.0.1:8080/v1"
        )
    return url


def _checked_key(key: str | None) -> str:
    key = (key or "").strip()
    if not (key.isascii() and key.isprintable()):
        raise UsageError("OPENAI_API_KEY has characters that no key has.\n\nSet it again.")
    return key


def _tokens(text: str) -> int:
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


def _cut(text: str, tokens: int) -> str:
    """The beginning of a text, of at most so many tokens."""
    return text.encode("utf-8", "replace")[: tokens * BYTES_PER_TOKEN].decode("utf-8", "ignore")


def _end_of_request(tokens: Sequence[int], start: int, at_once: int) -> int:
    """Where the texts end that go into one request, the first of them at `start`."""
    end, size = start + 1, tokens[start]
    while end < min(len(tokens), start + at_once) and size + tokens[end] <= REQUEST_TOKENS:
        size += tokens[end]
        end += 1
    return end


def _seconds(retry_after: str | None) -> float | None:
    """What a Retry-After asks for, by a number or a date; None if it cannot be read."""
    if retry_after is None:
        return None
    try:
        return float(retry_after)
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - datetime.now(UTC)).total_seconds()


def _in_order(items: list[dict[str, Any]], amount: int, what: str) -> list[dict[str, Any]]:
    """The items of an answer in the order of what was asked."""
    if len(items) != amount:
        raise _Odd(f"{len(items)} {what} for {amount} texts")
    ordered = {item.get("index", place): item for place, item in enumerate(items)}
    if ordered.keys() != set(range(amount)):
        raise _Odd(f"not one of the {what} for each text")
    return [ordered[place] for place in range(amount)]


def _vectors(answer: Any, *, amount: int, dimensions: int | None) -> NDArray[np.float32]:
    """Vectors of length 1, from an answer of /embeddings."""
    rows = [item["embedding"] for item in _in_order(answer["data"], amount, "vectors")]
    expected = dimensions or len(rows[0])
    for row in rows:
        if len(row) != expected:
            raise _Odd(f"a vector of {len(row)} numbers, where {expected} were expected")
    vectors = np.array(rows, dtype=np.float64).reshape(amount, expected)
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise _Odd("a vector with a number that is not finite")
    if not lengths.all():
        raise _Odd("a vector of nothing but zeros")
    unit: NDArray[np.float32] = (vectors / lengths).astype(np.float32)
    return unit


def _scores(answer: Any, *, amount: int) -> list[float]:
    """Scores as they come, from an answer of /rerank."""
    items = _in_order(answer["results"], amount, "scores")
    scores = [float(item["relevance_score"]) for item in items]
    if not all(map(math.isfinite, scores)):
        raise _Odd("a score that is not finite")
    return scores


def _text(answer: Any) -> str:
    """What the model wrote, from an answer of /chat/completions."""
    choice = answer["choices"][0]
    text = choice["message"]["content"]
    if not text and choice.get("finish_reason") == "length":
        raise _Odd("all its tokens were used up before the text began, as by a model that thinks")
    if not isinstance(text, str):
        raise _Odd("it has no text")
    return text


def _sigmoid(logit: float) -> float:
    return 0.5 * (1 + math.tanh(logit / 2))
