"""Routes of the page in a browser."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import anyio
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from qmd.errors import DocumentNotFound, QmdError
from qmd.surfaces.connected import while_connected
from qmd.surfaces.page.address import AddressedSearch, document_url
from qmd.surfaces.page.marks import displayed
from qmd.surfaces.tools.build_reply import code_of
from qmd.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment

    from qmd.surfaces.tools.dispatch import Toolbox

Login = Callable[[str], str | None]
"""Gives the Set-Cookie header for a token; None: the token is wrong."""

Endpoint = Callable[[Request], Awaitable[Response]]

HERE = Path(__file__).parent

STATIC = {
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}

PICTURES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "avif": "image/avif",
    "svg": "image/svg+xml",
}
"""Suffixes of files that are served as pictures, with their types."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

SEALED = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""Policy of files of collections: an SVG that is opened by itself runs no script."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

PIECE = 1 << 16
"""Bytes of a file that are sent together."""

WRONG_TOKEN_SECONDS = 1.0
"""That a wrong token waits for its answer."""


def routes(toolbox: Toolbox, login: Login | None = None) -> list[Route]:
    """Return all pages.

    Args:
        login: checks the token of the log-in form; None: there is none.
    """
    return [
        Route("/", _shown(toolbox, _search), methods=["GET"]),
        Route("/doc/{file:path}", _shown(toolbox, _document), methods=["GET"]),
        Route("/links/{file:path}", _shown(toolbox, _around), methods=["GET"]),
        Route("/go", _shown(toolbox, _go), methods=["GET"]),
        Route("/picture", _shown(toolbox, _picture), methods=["GET"]),
        Route("/original/{file:path}", _shown(toolbox, _original), methods=["GET"]),
        Route("/look", _shown(toolbox, _look), methods=["GET"]),
        Route("/lists", _shown(toolbox, _lists), methods=["GET"]),
        Route("/map", _shown(toolbox, _map), methods=["GET"]),
        Route("/map/points.svg", _shown(toolbox, _points), methods=["GET"]),
        Route("/sql", _shown(toolbox, _sql), methods=["GET"]),
        Route("/sql/rows", _shown(toolbox, _rows), methods=["GET"]),
        Route("/static/{name}", _static, methods=["GET"]),
        Route("/login", _login(login), methods=["GET", "POST"]),
    ]


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        auto_reload=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: displayed(value) if type(value) is str else value,
    )
    made.globals["version"] = __version__
    return made


def _page(name: str, status: int = 200, **values: object) -> HTMLResponse:
    html = _templates().get_template(name).render(**values)
    return HTMLResponse(html, status, headers=HEADERS)


def _shown(toolbox: Toolbox, show: Callable[[Toolbox, Request], Awaitable[Response]]) -> Endpoint:
    """Make an endpoint; what goes wrong becomes a page."""

    async def endpoint(request: Request) -> Response:
        try:
            return await while_connected(request, partial(show, toolbox, request))
        except DocumentNotFound as error:
            return _page("problem.html", 404, title="Not found", problem=error.told("tool"))
        except QmdError as error:
            status = code_of(error).status
            return _page("problem.html", status, title="Sorry", problem=error.told("tool"))
        except HTTPException as error:
            if "text/html" not in request.headers.get("accept", ""):
                raise
            return _page("problem.html", error.status_code, title="Sorry", problem=error.detail)

    return endpoint


def not_found() -> Response:
    """Answer a browser that asks for a page which there is not."""
    return _page("problem.html", 404, title="Not found", problem="This server has no such page.")


async def _search(toolbox: Toolbox, request: Request) -> Response:
    from qmd.surfaces.page.search_page import search_view

    view = await search_view(toolbox, AddressedSearch.read(request.query_params))
    is_part = request.headers.get("x-part") == "results"
    return _page("results.html" if is_part else "search.html", view=view, asked=view.asked)


async def _document(toolbox: Toolbox, request: Request) -> Response:
    from qmd.surfaces.page.document_page import document_view

    given = request.query_params
    line = given.get("line", "")
    view = await toolbox.look(
        document_view,
        request.path_params["file"],
        query=given.get("q", "")[:1000],
        line=int(line) if line.isdecimal() and len(line) < 9 else 0,
        view=given.get("view", ""),
    )
    return _page("document.html", view=view, asked=AddressedSearch(query=view.query))


async def _around(toolbox: Toolbox, request: Request) -> Response:
    """Show what is around a document: beside it as lists, by itself with a drawing."""
    from qmd.surfaces.page.graph_page import graph_view
    from qmd.surfaces.page.links_page import alike_view, links_view

    file = request.path_params["file"]
    match request.headers.get("x-part"):
        case "links":
            return _page("links_part.html", view=await links_view(toolbox, file))
        case "alike":
            return _page("links_part.html", view=await alike_view(toolbox, file))
    return _page("links.html", view=await graph_view(toolbox, file))


async def _go(toolbox: Toolbox, request: Request) -> Response:
    """Lead on to the document that a link names, or to a search for its name."""
    from qmd.operations import reading
    from qmd.text.headings import slug

    origin, target = (request.query_params.get(name, "")[:2000] for name in ("from", "to"))
    bare, _, anchor = target.removeprefix("[[").removesuffix("]]").partition("#")
    bare = bare.partition("?")[0].strip()
    file = await toolbox.look(reading.linked, origin, bare) if bare else origin
    if file is None:
        name = bare.rstrip("/").rpartition("/")[2]
        return RedirectResponse(AddressedSearch(query=name).url() if name else "/", 303, HEADERS)
    fragment = f"h-{slug(anchor)}" if anchor else ""
    return RedirectResponse(document_url(file, fragment=fragment), 303, HEADERS)


async def _picture(toolbox: Toolbox, request: Request) -> Response:
    from qmd.operations import reading

    origin, target = (request.query_params.get(name, "")[:2000] for name in ("from", "to"))
    kind = PICTURES.get(target.rpartition(".")[2].lower())
    data = await toolbox.look(reading.picture, origin, target) if kind else None
    if data is None:
        raise HTTPException(404, "There is no such picture.")
    headers = {**HEADERS, "Content-Security-Policy": SEALED}
    return Response(data, media_type=kind, headers=headers)


async def _original(toolbox: Toolbox, request: Request) -> Response:
    """Give the file of a document away, to be saved and not to be shown."""
    from urllib.parse import quote

    from qmd.operations import reading

    file = request.path_params["file"]
    data = await toolbox.look(reading.original, file)
    if data is None:
        raise HTTPException(404, "The file is no longer there.")
    name = quote(file.rpartition("/")[2])
    headers = {
        **HEADERS,
        "Content-Security-Policy": SEALED,
        "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
    }
    return Response(data, media_type="application/octet-stream", headers=headers)


async def _look(toolbox: Toolbox, request: Request) -> Response:
    from qmd.surfaces.page.look_page import look_view

    return _page("look.html", view=await look_view(toolbox))


async def _lists(toolbox: Toolbox, request: Request) -> Response:
    from qmd.surfaces.page.look_page import ends_view

    is_part = "x-part" in request.headers
    view = await ends_view(toolbox)
    return _page("lists_part.html" if is_part else "lists.html", view=view)


async def _map(toolbox: Toolbox, request: Request) -> Response:
    from qmd.surfaces.page.map_page import map_view, near_view

    if request.headers.get("x-part") == "near":
        return _page("map_near.html", view=await near_view(toolbox, request.query_params))
    return _page("map.html", view=await map_view(toolbox, request.query_params))


async def _points(toolbox: Toolbox, request: Request) -> Response:
    """Give the picture of all points, which the map shows below labels and results."""
    from qmd.surfaces.page.map_page import kept_map

    kept = await kept_map(toolbox)
    headers = {
        **HEADERS,
        "Content-Security-Policy": SEALED,
        "Cache-Control": "private, max-age=3600",
    }
    return Response(kept.result.svg(), media_type=PICTURES["svg"], headers=headers)


async def _sql(toolbox: Toolbox, request: Request) -> Response:
    from qmd.surfaces.page.sql_page import AddressedQuery, sql_view

    asked = AddressedQuery.read(request.query_params, from_elsewhere=_is_from_elsewhere(request))
    return _page("sql.html", view=await sql_view(toolbox, asked))


async def _rows(toolbox: Toolbox, request: Request) -> Response:
    """Give the rows of a query away as a file."""
    from qmd.surfaces.page.sql_page import FORMATS, AddressedQuery, rows_file

    asked = AddressedQuery.read(request.query_params, from_elsewhere=_is_from_elsewhere(request))
    if not asked.runs:
        return RedirectResponse(asked.url(), 303, HEADERS)
    wanted = request.query_params.get("form", "csv")
    form = next((each for each in FORMATS if each.value == wanted), None)
    if form is None:
        raise HTTPException(404, f"Rows come as {', '.join(FORMATS)}.")
    file = await rows_file(toolbox, asked, form)
    headers = {
        **HEADERS,
        "Content-Security-Policy": SEALED,
        "Content-Disposition": f'attachment; filename="rows.{form.value}"',
    }
    return StreamingResponse(
        iter(partial(file.read, PIECE), b""),
        media_type="application/octet-stream",
        headers=headers,
        background=BackgroundTask(file.close),
    )


def _is_from_elsewhere(request: Request) -> bool:
    """Return whether another site has led here, or may have.

    Source: W3C, Fetch Metadata Request Headers: `none` is an address that a person has entered.
    """
    return request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none")


async def _static(request: Request) -> Response:
    kind = STATIC.get(request.path_params["name"])
    if kind is None:
        raise HTTPException(404)
    headers = {**HEADERS, "Cache-Control": "max-age=3600"}
    return Response(_file(request.path_params["name"]), media_type=kind, headers=headers)


@cache
def _file(name: str) -> bytes:
    return (HERE / "static" / name).read_bytes()


def _login(login: Login | None) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        there = _below(request.query_params.get("next", "/"))
        if login is None:
            return RedirectResponse(there, 303, HEADERS)
        if request.method != "POST":
            return _page("login.html", next=there, wrong=False)
        form: dict[str, Any] = parse_qs((await request.body()).decode("latin-1"))
        there = _below(form.get("next", ["/"])[0])
        cookie = login(form.get("token", [""])[0])
        if cookie is None:
            await anyio.sleep(WRONG_TOKEN_SECONDS)
            return _page("login.html", 403, next=there, wrong=True)
        return RedirectResponse(there, 303, {**HEADERS, "Set-Cookie": cookie})

    return endpoint


def _below(there: str) -> str:
    r"""Return a path of this server; `//host` and `/\host` lead elsewhere."""
    is_ours = there.startswith("/") and there[1:2] not in ("/", "\\") and there.isprintable()
    return there if is_ours else "/"
