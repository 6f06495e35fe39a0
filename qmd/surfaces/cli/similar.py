"""Output of `qmd similar`."""

from __future__ import annotations

from qmd.operations.similar import similar as nearest
from qmd.surfaces.cli.common import here
from qmd.surfaces.cli.derive import Call, command
from qmd.surfaces.cli.search import adjust, show
from qmd.surfaces.cli.search_options import SearchOutput


def _prepare(call: Call) -> None:
    adjust(call)
    call.arguments["folder"] = here()


similar = command(nearest, options=SearchOutput, adjust=_prepare)(show)
