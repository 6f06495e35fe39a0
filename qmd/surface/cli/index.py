"""`qmd update`, `watch`, `doctor`, `cleanup`, `init`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict
from textwrap import indent
from typing import TYPE_CHECKING, Annotated

import typer

from qmd import environment
from qmd.errors import QmdError, UsageError
from qmd.surface import formats, wording
from qmd.surface.cli import common
from qmd.surface.cli.common import PARTLY, Collections, Json, State, notice, say, state
from qmd.surface.cli.progress import bar, bars, busy, unseen
from qmd.text.paths import on_one_line

if TYPE_CHECKING:
    from qmd.engine import Engine
    from qmd.pipeline.compare import Comparison
    from qmd.types import Collection, Embedded, Report


def update(
    context: typer.Context,
    collection: Collections = None,
    pull: Annotated[
        bool, typer.Option("--pull", help="Run 'git pull --ff-only' first where git is used.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Index what has changed."""
    here = state(context)
    with here.engine(warm=True) as engine:
        report_updates(here, engine, collection or [], pull=pull, as_json=as_json)


def report_updates(
    here: State,
    engine: Engine,
    names: Sequence[str],
    *,
    pull: bool = False,
    as_json: bool = False,
    added: bool = False,
) -> None:
    """Update collections and say what happened, each as it is done.

    Raises:
        Exit: with code 2, if a collection could not be updated.
    """
    from qmd.pipeline.hooks import Hooks

    chosen = engine.folders(names)
    if not chosen:
        say("[]" if as_json else "No collections yet. Add one with 'qmd collection add PATH'.")
        return
    hooks = Hooks(engine.place, engine.settings, pull=pull, told=notice)
    if not as_json and not added:
        say(f"Updating {wording.amount(len(chosen), 'collection')}...")
    done = 0

    def begun(collection: Collection) -> None:
        if not as_json:
            head = "" if added else f"[{done + 1}/{len(chosen)}] "
            say(f"{head}{collection.name} ({collection.mask})")
            sys.stdout.flush()  # before what its command prints

    def told(_: Collection, report: Report) -> None:
        nonlocal done
        done += 1
        if not as_json:
            say(_report(report))
            sys.stdout.flush()

    compared = {}
    if not any(hooks.wants(collection) for collection in chosen):
        compared = engine.compare(names)
    reports: list[Report] = []
    rest: Sequence[str] | None = names
    if _at_once(engine, chosen, compared):
        # The usual case needs no pipeline, which takes longer to load than this took.
        reports, others = engine.update_at_once(names, compared, begun=begun, told=told)
        rest = others or None
    if rest is not None:
        import anyio

        async def before(collection: Collection) -> None:
            begun(collection)
            await hooks.run(collection)

        with bars() as progress:

            def shown(collection: Collection) -> Callable[[int, int], None]:
                return progress(f"Indexing {collection.name}") if progress else unseen

            reports += anyio.run(
                lambda: engine.update(
                    rest, compared=compared, progress=shown, before=before, told=told
                )
            )
    failed = [report for report in reports if report.failure]
    if as_json:
        say(formats.as_json([_as_record(report) for report in reports]))
    elif not failed and not added:
        say("All collections updated." + _lacking(engine))
    elif not failed and not as_json and (lacking := _lacking(engine).strip()):
        say(lacking)
    for report in reports if added else ():
        if not (report.failure or report.skipped or report.new or report.unchanged):
            notice(f"No file matches the mask {report.mask}. Another one is given with --mask.")
    if failed:
        notice("Not updated: " + ", ".join(report.collection for report in failed))
        raise typer.Exit(PARTLY)


def _at_once(
    engine: Engine, chosen: Sequence[Collection], compared: Mapping[str, Comparison]
) -> bool:
    """Whether all has been compared, and little has to be done."""
    from qmd.pipeline.compare import is_little

    little = len(compared) == len(chosen) and is_little(compared.values())
    return little and not engine.has_arrears()


def _lacking(engine: Engine) -> str:
    """How many documents need vectors, and what gives them some."""
    from qmd.errors import ModelError

    try:
        _, state = engine.vectors()
    except ModelError as error:
        return f"\n{error}"
    if not state.lacking:
        return ""
    documents = "1 document needs" if state.lacking == 1 else f"{state.lacking} documents need"
    return f" Run 'qmd embed' to update embeddings ({documents} vectors)."


def _report(report: Report) -> str:
    if report.failure:
        return "Failed: " + indent(report.failure, "  ").lstrip()
    lines = [
        f"Indexed: {report.new} new, {report.updated} updated, {report.unchanged} unchanged, "
        f"{report.renamed} renamed, {report.removed} removed, {len(report.skipped)} skipped"
    ]
    for verb, told in (("skipped", report.skipped), ("note", report.notes)):
        lines += [
            f"  {verb} {on_one_line(f'{report.collection}/{path}')}: {what}" for path, what in told
        ]
    return "\n".join(lines)


def _as_record(report: Report) -> dict[str, object]:
    record = asdict(report)
    record["skipped"] = [{"file": path, "reason": why} for path, why in report.skipped]
    record["notes"] = [{"file": path, "note": what} for path, what in report.notes]
    return record


def watch(
    context: typer.Context,
    collection: Collections = None,
    embed: Annotated[
        bool, typer.Option("--embed", help="Make vectors of what has changed, too.")
    ] = False,
) -> None:
    """Keep the index fresh while files change, until interrupted."""
    import anyio

    from qmd.pipeline.watching import watch as watched
    from qmd.surface.cli import embedding

    here = state(context)
    with here.engine(warm=True) as engine:
        chosen = engine.folders(collection or [])
        if not chosen:
            raise UsageError("There is nothing to watch. Add one with 'qmd collection add PATH'.")
        notice(f"Watching {', '.join(each.name for each in chosen)}. Stop with Ctrl-C.")

        def told(_: Collection, report: Report) -> None:
            if report.failure or report.new or report.updated or report.renamed or report.removed:
                say(f"{report.collection}: {_report(report)}")
                sys.stdout.flush()

        def embedded(report: Embedded) -> None:
            if report.chunks or report.failed:
                say(embedding.summary(report))
                sys.stdout.flush()

        before = ""

        def failed(error: QmdError) -> None:
            nonlocal before
            if str(error) != before:  # it is tried again and again
                notice(str(error))
            before = str(error)

        anyio.run(
            lambda: watched(
                engine,
                collection or [],
                told=told,
                embedded=embedded if embed else None,
                failed=failed,
            )
        )


def doctor(
    context: typer.Context,
    deep: Annotated[
        bool, typer.Option("--deep", help="Compare the index with its texts, word by word.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check the index, and say how to mend what is wrong."""
    from qmd.doctor import Finding, examine, prove

    with state(context).engine(warm=deep) as engine:
        findings = examine(engine)
        if deep and not any(finding.status == "problem" for finding in findings):
            with bar("Comparing") as progress:
                findings += prove(engine, progress=progress)
    if as_json:
        shown = Finding._fields[:-1]
        say(formats.as_json([dict(zip(shown, each, strict=False)) for each in findings]))
    else:
        marks = {"ok": "ok  ", "warning": "warn", "problem": "FAIL"}
        for finding in findings:
            say(f"{marks[finding.status]}  {finding.check}: {finding.detail}")
            if finding.mend:
                say(f"      {finding.mend}")
    if any(finding.status == "problem" for finding in findings):
        raise typer.Exit(3 if any(finding.stops for finding in findings) else 1)


def cleanup(
    context: typer.Context,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be removed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Remove what nothing needs any more, put the index in order, and make its file small."""
    from qmd.cleaning import clean

    with state(context).engine() as engine, nullcontext() if dry_run else busy("Cleaning up"):
        done = clean(engine, dry_run=dry_run)
    if done.notice:
        notice(done.notice)
    removed = done.waste
    if as_json:
        freed = 0 if dry_run else sum(done.leftovers.values())
        record = {
            **removed._asdict(),
            "leftovers": [{"path": str(p), "bytes": taken} for p, taken in done.leftovers.items()],
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
        say(f"{verb} what a process that was killed left: {path} ({wording.size(taken)}).")
    if not dry_run:
        say(f"The index takes {wording.size(done.after)}; it was {wording.size(done.before)}.")


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
        raise UsageError(f"{settings} is there already.")
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
        raise UsageError(f"{folder} cannot be made: {error.strerror}") from error
    others = [name for name in ("QMD_CONFIG_DIR", "INDEX_PATH") if here.environ.get(name)]
    if others:
        say(f"Made {settings}.")
        notice(
            f"{' and '.join(others)} {'is' if len(others) == 1 else 'are'} set, and so commands "
            "here use another index. Unset it to use the one of this folder."
        )
        return
    with here.engine() as engine:
        engine.read(lambda _: None)
    name = shlex.quote(root.name)
    say(f"Made {settings}.\n\nAdd this folder with: qmd collection add . --name {name}")
