"""Output of `qmd passages`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qmd.named_tuple import NamedTuple
from qmd.operations.passages import passages as best
from qmd.surfaces import formats
from qmd.surfaces.cli.common import Json, notice, say
from qmd.surfaces.cli.derive import Call, command

if TYPE_CHECKING:
    from qmd.analytics.rows import Excerpts
    from qmd.ranking.excerpts import Excerpt


class PassagesOutput(NamedTuple):
    """Option of `qmd passages` alone."""

    as_json: Json = False


@command(best, options=PassagesOutput)
def passages(call: Call, found: Excerpts) -> None:
    """Write the passages; notices go to stderr."""
    if found.notice:
        notice(found.notice)
    write_passages(found, as_json=call.options.as_json)


def write_passages(found: Excerpts, *, as_json: bool) -> None:
    """Write passages as text, or as JSON."""
    if as_json:
        say(formats.as_json([_record(each) for each in found]))
    elif not found:
        say("No results found.")
    else:
        say(found.told("--max-tokens"))


def _record(found: Excerpt) -> dict[str, Any]:
    return {
        "docid": found.docid,
        "file": found.file,
        "line": found.line,
        "last": found.last,
        "title": found.title,
        "headings": list(found.headings),
        "score": round(found.score, 2),
        "context": found.context,
        "body": found.body,
        "also": list(found.also),
    }
