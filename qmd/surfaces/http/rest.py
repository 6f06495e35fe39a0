"""The tools as plain JSON over HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from qmd.declaration.parameters import LONGEST_QUERY
from qmd.errors import QmdError
from qmd.surfaces.connected import while_connected
from qmd.surfaces.tools.build_reply import UnknownTool, code_of
from qmd.surfaces.tools.reply import MARKDOWN, Reply, Resource

if TYPE_CHECKING:
    from qmd.surfaces.tools.dispatch import Toolbox

Value = TypeVar("Value")
Endpoint = Callable[[Request], Awaitable[Response]]
Shape = Callable[[Reply], object]

DEPRECATED = "Qmd-Deprecated"
"""Header of a response whose request used something deprecated; it says what to do instead."""

MOST_TEXTS = 1000
"""Of one request for vectors."""


def routes(toolbox: Toolbox) -> list[Route]:
    """Return the routes of REST: all but those of MCP."""
    posted: Mapping[str, Shape] = {
        "search": _results,
        "vsearch": _results,
        "query": _results,
        "grep": _lines,
        "similar": _results,
        "context": _lines,
        "links": _lines,
        "ls": _lines,
        "get": _documents,
        "multi_get": _documents,
        "query_experiences": _object,
        "submit_experience": _object,
        "put": _object,
        "remove": _object,
        "append": _object,
        "edit": _object,
        "move": _object,
        "undo": _object,
    }
    return [
        Route("/health", _health(toolbox), methods=["GET"]),
        Route("/status", _answering(toolbox, "status", _object), methods=["GET"]),
        Route("/ask", _asking(toolbox), methods=["POST"]),
        Route("/embed", _embedding(toolbox), methods=["POST"]),
        *(
            Route(f"/{name}", _answering(toolbox, name, shape), methods=["POST"])
            for name, shape in posted.items()
        ),
    ]


def failure(status: int, detail: str, more: Mapping[str, object] | None = None) -> JSONResponse:
    """Build the response for an error.

    Args:
        more: what else the body says.
    """
    return JSONResponse({**(more or {}), "detail": detail, "status_code": status}, status)


async def http_failure(request: Request, error: Exception) -> Response:
    """Answer a request without a route, or with a method that its route does not take."""
    assert isinstance(error, HTTPException)
    answer = failure(error.status_code, error.detail)
    answer.headers.update(error.headers or {})
    return answer


async def our_failure(request: Request, error: Exception) -> Response:
    """Answer after an internal error; the log has the details."""
    return failure(500, "Internal error. See the server log.")


def _health(toolbox: Toolbox) -> Endpoint:
    began = time.monotonic()

    async def health(request: Request) -> Response:
        uptime = round(time.monotonic() - began, 3)
        loaded = toolbox.model_loaded
        return JSONResponse({"status": "healthy", "model_loaded": loaded, "uptime": uptime})

    return health


def _answering(toolbox: Toolbox, name: str, shape: Shape) -> Endpoint:
    """Make the endpoint of a tool."""

    async def endpoint(request: Request) -> Response:
        arguments = await _body(request) if request.method == "POST" else {}
        # Typed sub-queries may be by meaning: `query` answers them, whichever route they come by.
        tool = "query" if name == "search" and "searches" in arguments else name
        try:
            reply = await while_connected(request, partial(toolbox.call, tool, arguments))
        except UnknownTool as error:
            return failure(404, str(error))
        if reply.error is not None:
            answer = failure(reply.error.status, _reason(reply), reply.structured)
        else:
            answer = JSONResponse(shape(reply))
        if reply.deprecated:
            answer.headers[DEPRECATED] = " ".join(reply.deprecated)
        return answer

    return endpoint


def _embedding(toolbox: Toolbox) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        texts = _texts(await _body(request))
        try:
            work = partial(toolbox.embed_texts, texts)
            vectors = await while_connected(request, work) if texts else []
        except QmdError as error:
            return failure(code_of(error).status, error.told("tool"))
        return JSONResponse({"embeddings": vectors})

    return endpoint


def _asking(toolbox: Toolbox) -> Endpoint:
    """Make the endpoint that answers a question by a model that the user has chosen."""

    async def endpoint(request: Request) -> Response:
        from qmd.operations.ask import ask, in_json

        asked = _question(await _body(request))
        try:
            work = partial(toolbox.look, ask, asks_models=True, **asked)
            answer = await while_connected(request, work)
        except QmdError as error:
            return failure(code_of(error).status, error.told("tool"))
        return JSONResponse(in_json(answer))

    return endpoint


def _question(body: Mapping[str, Any]) -> dict[str, Any]:
    """Take the question of a request, with those before it.

    Raises:
        HTTPException: it is missing, or something else than texts.
    """
    valid = {"question": "question", "earlier": "earlier", "maxTokens": "max_tokens"}
    for name in body:
        if name not in valid:
            raise HTTPException(
                400, f"Unknown parameter {json.dumps(name)}. Valid: {', '.join(valid)}."
            )
    question, most = body.get("question"), body.get("maxTokens", 1500)
    if not isinstance(question, str) or not question.strip() or len(question) > LONGEST_QUERY:
        raise HTTPException(400, f'"question" must be a text of 1 to {LONGEST_QUERY} characters.')
    if not isinstance(most, int) or isinstance(most, bool) or not 100 <= most <= 50_000:
        raise HTTPException(400, '"maxTokens" must be a whole number from 100 to 50000.')
    earlier = body.get("earlier", [])
    if not isinstance(earlier, list) or not all(
        isinstance(each, list) and len(each) == 2 and all(isinstance(part, str) for part in each)
        for each in earlier
    ):
        raise HTTPException(400, '"earlier" must be an array of pairs of question and answer.')
    return {"question": question, "max_tokens": most, "earlier": earlier}


# -- what is asked -------------------------------------------------------------------


async def _body(request: Request) -> dict[str, Any]:
    """Read the JSON object in a request.

    Raises:
        HTTPException: it brings something else.
    """
    try:
        text = (await request.body()).decode()
        value = json.loads(text, parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise HTTPException(400, "The body is not UTF-8 text.") from error
    except RecursionError as error:
        raise HTTPException(400, "The body is nested too deeply.") from error
    except ValueError as error:
        raise HTTPException(400, f"The body is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise HTTPException(400, "The body must be a JSON object.")
    if "\\u" in text and not _is_unicode(value):
        raise HTTPException(400, "The body has half of a surrogate pair, which is no character.")
    return value


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is not a number")


def _is_unicode(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _texts(body: Mapping[str, Any]) -> list[str]:
    """Take the texts to embed from a request.

    Raises:
        HTTPException: there are none, too many, or other things.
    """
    texts = body.get("texts")
    for name in body:
        if name != "texts":
            raise HTTPException(400, f"Unknown parameter {json.dumps(name)}. Valid: texts.")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise HTTPException(400, '"texts" must be an array of strings.')
    if len(texts) > MOST_TEXTS:
        raise HTTPException(400, f'"texts" may have {MOST_TEXTS} items at most, not {len(texts)}.')
    return texts


# -- what is answered ----------------------------------------------------------------


def _results(reply: Reply) -> object:
    return {"results": [], **(reply.structured or {}), "content": _first_text(reply)}


def _lines(reply: Reply) -> object:
    return {**(reply.structured or {}), "content": _first_text(reply)}


def _documents(reply: Reply) -> object:
    return {"content": [_part(part) for part in reply.content]}


def _part(part: str | Resource) -> object:
    if isinstance(part, str):
        return part
    return {
        "uri": part.uri,
        "name": part.name,
        "title": part.title,
        "mimeType": MARKDOWN,
        "text": part.text,
    }


def _object(reply: Reply) -> object:
    return reply.structured


def _first_text(reply: Reply) -> str:
    return next((part for part in reply.content if isinstance(part, str)), "")


def _reason(reply: Reply) -> str:
    """Return the reason of an error, as text."""
    error = (reply.structured or {}).get("error")
    if isinstance(error, Mapping) and isinstance(error.get("message"), str):
        return str(error["message"])
    return _first_text(reply)
