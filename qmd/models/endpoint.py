"""A server that speaks OpenAI's protocol: asked more than once if it has to be, its failures told.

Import this once a model is known to be an endpoint's: httpx alone costs a tenth of a second.
"""

from __future__ import annotations

import json
import random
import re
import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar

import httpx

from qmd.errors import ModelFailure, TextTooLong, UsageError
from qmd.models.connections import Connections
from qmd.models.protocols import Between
from qmd.models.registry import ENDPOINT, Model
from qmd.version import __version__

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
        reason: in the words of the server.
        answer: all that it said.
    """

    def __init__(self, message: str, *, reason: str, answer: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.answer = answer

    @property
    def is_about_length(self) -> bool:
        """Whether a text was too long."""
        return _TOO_LONG.search(self.reason) is not None

    @property
    def numbers(self) -> TextTooLong | None:
        """The same in numbers, if it names two: the tokens of the text, and the limit."""
        named = {int(digits) for digits in re.findall(r"\d+", self.reason)}
        named = {number for number in named if number >= SHORTEST}
        if not self.is_about_length or len(named) != 2:
            return None
        return TextTooLong(max(named), min(named))


class Line:
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
        self._connections = Connections(
            partial(
                httpx.Client,
                base_url=base,
                headers=headers,
                timeout=httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
                verify=_authorities(),
            )
        )

    def close(self) -> None:
        """Close its connections."""
        self._connections.close()

    def ask(
        self, path: str, body: dict[str, Any], read: Callable[[Any], Read], between: Between
    ) -> Read:
        """What `read` finds in the answer.

        Args:
            between: what it raises ends the asking at once, whatever the endpoint does.

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
        except Odd as error:
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
                response = self._connections.post(path, content, between)
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
            return Refused(message, reason=told, answer=response.text)
        return ModelFailure(message)

    def _told(self, response: httpx.Response) -> str:
        """The first line of what an endpoint says of an error; else what the status means."""
        try:
            said = response.json()
        except (ValueError, RecursionError):
            said = "" if response.text.lstrip().startswith("<") else response.text
        for name in ("error", "message", "detail", "msg"):
            said = said[0] if isinstance(said, list) and said else said
            said = said.get(name, said) if isinstance(said, dict) else said
        line = said.strip().partition("\n")[0] if isinstance(said, str) else ""
        line = self._safe("".join(filter(str.isprintable, line)))
        return line[:_TOLD] or response.reason_phrase or "no reason is given"

    def _safe(self, text: str) -> str:
        """A text without the key."""
        return text.replace(self._key, "…") if self._key else text


class Odd(Exception):
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
