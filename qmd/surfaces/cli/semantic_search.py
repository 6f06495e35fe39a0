"""Output of `qmd vsearch` and `query`."""

from __future__ import annotations

from qmd.analytics.rows import Results
from qmd.operations.semantic_search import query as hybrid
from qmd.operations.semantic_search import vector_search
from qmd.surfaces import console
from qmd.surfaces.cli.common import notice
from qmd.surfaces.cli.derive import Call, command
from qmd.surfaces.cli.search import adjust, show
from qmd.surfaces.cli.search_options import SearchOutput

NO_HELP = (
    "No model here expands or reranks: this is what --mode hybrid finds. "
    "'qmd models list' shows models that do."
)


def _prepare(call: Call) -> None:
    adjust(call)
    if console.current().is_process:
        call.engine.database.missed = None  # all postings are read for the sake of later searches


def _show(call: Call, results: Results) -> None:
    """Write results; say so where models that were asked for are not set up."""
    if call.given.get("mode") == "full" and not any(
        call.engine.models.chosen(role) for role in ("generate", "rerank")
    ):
        notice(NO_HELP)
    show(call, results)


vsearch = command(vector_search, options=SearchOutput, adjust=adjust)(show)
query = command(hybrid, options=SearchOutput, adjust=_prepare)(_show)
