"""`qmd watch`, `doctor`, `cleanup`, `init`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING, Annotated, Any

from qmd.errors import QmdError, UsageError
from qmd.operations.cleanup import Cleaned
from qmd.operations.cleanup import cleanup as clean
from qmd.operations.doctor import Finding
from qmd.operations.doctor import doctor as examine
from qmd.settings import environment
from qmd.surfaces import formats, wording
from qmd.surfaces.cli import common
from qmd.surfaces.cli.common import AsJson, Ended, examples, notice, say, state
from qmd.surfaces.cli.derive import Call, command
from qmd.surfaces.cli.progress import bar, busy
from qmd.visible import shown

if TYPE_CHECKING:
    import typer

    from qmd.reports import Embedded, Report
    from qmd.surfaces.cli.framework import CollectionNames, Collections
    from qmd.types import Collection, Kept


@examples(
    ("Follow all collections", "qmd watch"),
    ("One of them, and make vectors of what changes", "qmd watch notes --embed"),
)
def watch(
    context: typer.Context,
    names: CollectionNames = None,
    collection: Collections = None,
    embed: Annotated[
        bool, typer.Option("--embed", help="Make vectors of what has changed, too.")
    ] = False,
) -> None:
    """Keep the index fresh while files change, until interrupted."""
    import anyio

    from qmd.operations.watch import watch as watched
    from qmd.surfaces import cli, forwarded
    from qmd.surfaces.cli import embed as embedding
    from qmd.surfaces.cli.update import summary

    here = state(context)
    named = [*(collection or ()), *(names or ())]
    with here.engine(warm=True) as engine:
        chosen = engine.folders(named)
        if not chosen:
            raise UsageError("There is nothing to watch. Add one with 'qmd collection add PATH'.")
        notice(f"Watching {', '.join(shown(each.name) for each in chosen)}. Stop with Ctrl-C.")

        kept: dict[str, list[Kept]] = {}

        def told(_: Collection, report: Report) -> None:
            is_other = report.kept != kept.get(report.collection, [])
            kept[report.collection] = report.kept
            changed = report.new or report.updated or report.renamed or report.removed
            if report.failure or changed or is_other:
                say(f"{shown(report.collection)}: {summary(report)}")
                sys.stdout.flush()

        def embedded(report: Embedded) -> None:
            if report.chunks or report.failed:
                say(embedding.summary(report))
                sys.stdout.flush()

        before = ""

        def failed(error: QmdError) -> None:
            nonlocal before
            said = error.told("command")
            if said != before:  # it is tried again and again
                notice(said)
            before = said

        with forwarded.serving(engine, cli.carry_out_here):
            anyio.run(
                lambda: watched(
                    engine,
                    named,
                    told=told,
                    embedded=embedded if embed else None,
                    failed=failed,
                )
            )


def _deep(call: Call) -> AbstractContextManager[Any]:
    return bar("Comparing") if call.given.get("deep") else nullcontext()


@command(examine, options=AsJson, progress=_deep)
def doctor(call: Call, findings: Sequence[Finding]) -> None:
    """Write the findings."""
    if call.options.as_json:
        told = Finding._fields[:-1]
        say(formats.as_json([dict(zip(told, each, strict=False)) for each in findings]))
    else:
        marks = {"ok": "ok  ", "warning": "warn", "problem": "FAIL"}
        for finding in findings:
            say(f"{marks[finding.status]}  {finding.check}: {finding.detail}")
            if finding.mend:
                say(f"      {finding.mend}")
    if any(finding.status == "problem" for finding in findings):
        raise Ended(3 if any(finding.stops for finding in findings) else 1)


def _progress(call: Call) -> AbstractContextManager[None]:
    return nullcontext() if call.given.get("dry_run") else busy("Cleaning up")


@command(clean, options=AsJson, progress=_progress)
def cleanup(call: Call, done: Cleaned) -> None:
    """Write the report of a cleanup."""
    dry_run = call.given.get("dry_run", False)
    if done.notice:
        notice(done.notice)
    removed = done.waste
    if call.options.as_json:
        sidecars = done.postings + done.mapped_vectors
        freed = 0 if dry_run else sum(done.leftovers.values()) + sidecars
        record = {
            **removed._asdict(),
            "leftovers": [{"path": str(p), "bytes": taken} for p, taken in done.leftovers.items()],
            "postings": done.postings,
            "mappedVectors": done.mapped_vectors,
            "dryRun": dry_run,
            "freed": done.before - done.after + freed,
        }
        say(formats.as_json(record))
        return
    verb = "Would remove" if dry_run else "Removed"
    gone = "is" if removed.documents == 1 else "are"
    say(
        f"{verb} {wording.amount(removed.texts, 'text')} that no document has "
        f"({wording.size(removed.bytes)}), {wording.amount(removed.words, 'unused word')}, "
        f"{wording.amount(removed.vectors, 'unused vector')}, "
        f"{wording.amount(removed.answers, 'kept model answer')}, and what was left of "
        f"{wording.amount(removed.documents, 'document')} that {gone} gone."
    )
    for path, taken in done.leftovers.items():
        say(f"{verb} what a process that was killed left: {shown(path)} ({wording.size(taken)}).")
    for what, taken in (("postings", done.postings), ("vectors", done.mapped_vectors)):
        if taken:
            said = f"{verb} the mapped {what} ({wording.size(taken)})"
            say(f"{said}, which are made again when they are needed.")
    if not dry_run:
        say(f"The index takes {wording.size(done.after)}; it was {wording.size(done.before)}.")


@examples(
    ("Give a project its own index", "cd ~/project && qmd init"),
    (
        "And index the project",
        "cd ~/project && qmd init && qmd collection add . --mask '**/*.{md,txt}'",
    ),
)
def init(context: typer.Context) -> None:
    """Give the current folder an index of its own, in .qmd/."""
    here = state(context)
    if here.index_name is not None:
        raise UsageError(
            "--index names an index of yours, and 'qmd init' makes one of this folder.\n\n"
            "Leave it out. An index of yours is made by 'qmd --index NAME collection add PATH'."
        )
    root = common.here()
    folder = root / environment.LOCAL_FOLDER
    settings = folder / "index.yml"
    if settings.exists():
        raise UsageError(f"{shown(settings)} is there already.")
    try:
        folder.mkdir(exist_ok=True)
        with settings.open("x", encoding="utf-8") as file:
            file.write(
                "# Settings of this project's own qmd index. See 'qmd collection --help'.\n"
                "collections:\n"
            )
        with suppress(FileExistsError), (folder / ".gitignore").open("x") as file:
            file.write("index.duckdb*\nindex.yml.lock\n")
    except OSError as error:
        raise UsageError(f"{shown(folder)} cannot be made: {error.strerror}") from error
    others = [name for name in ("QMD_CONFIG_DIR", "INDEX_PATH") if here.environ.get(name)]
    if others:
        say(f"Made {shown(settings)}.")
        notice(
            f"{' and '.join(others)} {'is' if len(others) == 1 else 'are'} set, and so commands "
            "here use another index. Unset it to use the one of this folder."
        )
        return
    with here.engine() as engine:
        engine.read(lambda _: None)
    name = shlex.quote(shown(root.name))
    say(f"Made {shown(settings)}.\n\nAdd this folder with: qmd collection add . --name {name}")
