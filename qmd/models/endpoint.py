"""Client of an OpenAI-compatible endpoint: retries and errors.

Import this module only for a model of an endpoint: httpx alone takes a tenth of a second to load.
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
from typing import Any, TypeVar

import httpx

from qmd.errors import ModelFailure, TextTooLong, UsageError
from qmd.models.connections import Connections
from qmd.models.protocols import Between
from qmd.models.registry import ENDPOINT, Model
from qmd.named_tuple import NamedTuple
from qmd.version import __version__

SHORTEST = 64
"""Tokens of the shortest cut. A passage refused at this length fails for another reason."""

TRIES = 5
FIRST_WAIT = 0.5
"""Seconds before the second try, at most; doubled before each further one."""

LONGEST_WAIT = 60.0
"""Seconds, even if the endpoint asks for more."""

SLICE = 0.1
"""Seconds of waiting after which an interrupt gets through."""

CONNECT_SECONDS = 10.0
READ_SECONDS = 60.0

_TOLD = 300
"""Characters of an endpoint's error message that are shown."""

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
"""Exceptions of a response in another form."""

Read = TypeVar("Read")


class Endpoint(NamedTuple):
    """Address and key of an OpenAI-compatible endpoint."""

    base_url: str
    key: str | None

    def __repr__(self) -> str:
        """Return the representation without the key."""
        return f"Endpoint({self.base_url!r}, key={'…' if self.key else None})"


class RequestRejected(ModelFailure):
    """A request that the endpoint rejects, and would reject again.

    Attributes:
        reason: message of the server.
        answer: all that it said.
    """

    def __init__(self, message: str, *, reason: str, answer: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.answer = answer

    @property
    def is_about_length(self) -> bool:
        """True if a text was too long."""
        return _TOO_LONG.search(self.reason) is not None

    @property
    def numbers(self) -> TextTooLong | None:
        """The error in numbers, if the response names the tokens of the text and the limit."""
        named = {int(digits) for digits in re.findall(r"\d+", self.reason)}
        named = {number for number in named if number >= SHORTEST}
        if not self.is_about_length or len(named) != 2:
            return None
        return TextTooLong(max(named), min(named))


class EndpointClient:
    """Client of one model at an endpoint, with retries."""

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
        """Close the connections."""
        self._connections.close()

    def ask(
        self, path: str, body: dict[str, Any], read: Callable[[Any], Read], between: Between
    ) -> Read:
        """Send a request and return the parsed response.

        Args:
            between: what it raises ends the asking at once, whatever the endpoint does.

        Raises:
            RequestRejected: the endpoint cannot do this.
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
        """Send a request, retry while that may help, and return the last response."""
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
        """Check that the same request may succeed on another try."""
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
        """Build the error for a failed response."""
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
            return RequestRejected(message, reason=told, answer=response.text)
        return ModelFailure(message)

    def _told(self, response: httpx.Response) -> str:
        """Return the first line of the endpoint's error message, else the meaning of the status."""
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
        """Remove the key from a text."""
        return text.replace(self._key, "…") if self._key else text


class Odd(Exception):
    """A malformed response, with the reason."""


@cache
def _authorities() -> ssl.SSLContext:
    """Load the certificate authorities once, since that takes longer than a small request."""
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
    """Parse the number or date of a Retry-After header; None if malformed."""
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
