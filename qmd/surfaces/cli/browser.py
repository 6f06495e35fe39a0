"""`qmd open`: the page of the index in a browser."""

from __future__ import annotations

from typing import Annotated

import typer

from qmd.surfaces.cli.common import examples, notice, say, state


@examples(
    ("Search and read in the browser", "qmd open"),
    ("Begin with a search", "qmd open green tea"),
    ("Print the address, and open nothing", "qmd open --no-browser"),
)
def open(
    context: typer.Context,
    query: Annotated[
        list[str] | None, typer.Argument(metavar="[WORDS]...", help="Begin with this search.")
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, and open nothing.")
    ] = False,
) -> None:
    """Open the page of the index in the browser. A server is started if none runs."""
    from urllib.parse import urlencode

    from qmd.surfaces.cli import server_process
    from qmd.surfaces.cli.server_options import PORT, HttpOptions
    from qmd.surfaces.http import daemon
    from qmd.surfaces.tools.server_tools import PLAIN

    here = state(context)
    found = daemon.running(server_process.files_of(here))
    if found is None:
        access = HttpOptions().access(here, PORT if _is_free(PORT) else 0)
        found = server_process.started(here, PLAIN, access)
        notice("A server runs in the background now. 'qmd mcp stop' ends it.")
    words = " ".join(query or ())
    url = f"{found.url}/" + (f"?{urlencode({'q': words})}" if words else "")
    say(url)
    if not no_browser:
        import webbrowser

        if not webbrowser.open(url):
            notice("There is no browser here. Open the address in yours.")


def _is_free(port: int) -> bool:
    """Return whether a server may listen at a port of the loopback interface."""
    from qmd.errors import PortTaken, UsageError
    from qmd.surfaces.http import listener

    try:
        listener.listen("127.0.0.1", port, has_token=False).close()
    except (PortTaken, UsageError):
        return False
    return True
