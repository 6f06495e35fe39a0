"""Output of `qmd facets`."""

from __future__ import annotations

from collections.abc import Sequence

from qmd.named_tuple import NamedTuple
from qmd.operations.facets import FacetValue
from qmd.operations.facets import facets as counted
from qmd.surfaces import formats
from qmd.surfaces.cli.common import Json, say
from qmd.surfaces.cli.derive import Call, command


class FacetsOutput(NamedTuple):
    """Option of `qmd facets` alone."""

    as_json: Json = False


@command(counted, options=FacetsOutput)
def facets(call: Call, found: Sequence[FacetValue]) -> None:
    """Write values with their numbers of documents."""
    if call.options.as_json:
        say(formats.as_json([each._asdict() for each in found]))
    elif not found:
        say("Nothing to count.")
    else:
        say(formats.table([(str(each.documents), each.value) for each in found]))
