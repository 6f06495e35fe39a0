"""Output of `qmd links`."""

from __future__ import annotations

from collections.abc import Sequence

from qmd.named_tuple import NamedTuple
from qmd.operations.links import LinkedDocument, in_lines
from qmd.operations.links import links as around
from qmd.surfaces import formats
from qmd.surfaces.cli.common import Json, here, say
from qmd.surfaces.cli.derive import Call, command
from qmd.visible import shown


class LinksOutput(NamedTuple):
    """Option of `qmd links` alone."""

    as_json: Json = False


def _in_folder(call: Call) -> None:
    call.arguments["folder"] = here()


@command(around, options=LinksOutput, adjust=_in_folder)
def links(call: Call, found: Sequence[LinkedDocument]) -> None:
    """Write linked documents, by direction."""
    if call.options.as_json:
        say(formats.as_json([each._asdict() for each in found]))
    elif not found:
        say("No links.")
    else:
        for each in in_lines(found):
            say(shown(each))
