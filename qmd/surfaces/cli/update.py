"""`qmd update`, and what it says."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from textwrap import indent
from typing import TYPE_CHECKING, Any

from qmd.embedding.vector_status import vector_status
from qmd.errors import ModelError, QmdError
from qmd.ingest import fingerprint
from qmd.models import loader
from qmd.named_tuple import NamedTuple
from qmd.operations import left_out
from qmd.operations.update import compare_folders, needs_backfill, run_update, update_small
from qmd.operations.update import update as operation
from qmd.settings import environment
from qmd.surfaces import formats, wording
from qmd.surfaces.cli.common import PARTLY, Ended, Json, State, notice, say
from qmd.surfaces.cli.derive import interactive
from qmd.surfaces.cli.progress import Tell, bars
from qmd.visible import shown
from qmd.wording import on_one_line

if TYPE_CHECKING:
    from qmd.ingest.compare import Comparison
    from qmd.ingest.hooks import Hooks
    from qmd.operations.index import Index
    from qmd.reports import Report
    from qmd.surfaces.cli.framework import CollectionNames
    from qmd.types import Collection


class UpdateOutput(NamedTuple):
    """Options of `qmd update` alone."""

    names: CollectionNames = None
    as_json: Json = False


@interactive(operation, options=UpdateOutput)
def update(here: State, arguments: dict[str, Any], options: UpdateOutput) -> None:
    """Update collections, without DuckDB where nothing has changed."""
    named = (*arguments.get("collection", ()), *(options.names or ()))
    names, pull, as_json = list(dict.fromkeys(named)), arguments.get("pull", False), options.as_json
    removes = arguments.get("yes", False)
    before = fingerprint.NONE
    if not pull:
        vectors_of = partial(loader.vectors_of, here.place, environment.machine(here.environ))
        before = fingerprint.glance(here.place, names, vectors_of=vectors_of)
    if before.reports is not None:
        telling = _Telling(len(before.reports), as_json=as_json)
        for each, report in zip(before.found, before.reports, strict=True):
            telling.begun(each)
            telling.told(each, report)
        telling.end(before.reports, partial(_in_words, before.lacking))
        return
    with here.engine(warm=True) as engine:
        report_updates(engine, names, pull=pull, removes=removes, as_json=as_json, before=before)


def report_updates(
    engine: Index,
    names: Sequence[str],
    *,
    pull: bool = False,
    removes: bool = False,
    as_json: bool = False,
    added: bool = False,
    before: fingerprint.Glance = fingerprint.NONE,
) -> None:
    """Update collections and say what happened, each as it is done.

    Args:
        removes: documents of folders that have lost their files all at once.
        before: made just before; if it turns out that nothing has changed, that is noted.

    Raises:
        Exit: with code 2, if a collection could not be updated.
    """
    from qmd.ingest.hooks import Hooks

    chosen = engine.folders(names)
    if not chosen:
        say("[]" if as_json else "No collections yet. Add one with 'qmd collection add PATH'.")
        return
    hooks = Hooks(engine.place, engine.settings, pull=pull, told=notice)
    telling = _Telling(len(chosen), as_json=as_json, added=added)
    compared = {}
    if not any(hooks.wants(collection) for collection in chosen):
        compared = compare_folders(engine, names, before.found, removes=removes)
    reports: list[Report] = []
    rest: Sequence[str] | None = names
    if _at_once(engine, chosen, compared):
        # The usual case needs no pipeline, which takes longer to load than this took.
        reports, others = update_small(
            engine, names, compared, begun=telling.begun, told=telling.told
        )
        rest = others or None
    if rest is not None:
        reports += _in_pipeline(engine, rest, compared, hooks, telling, removes=removes)
    telling.end(reports, partial(_lacking, engine))
    if before.state and rest is None:
        _note(engine, before, compared, reports)


def _in_pipeline(
    engine: Index,
    names: Sequence[str],
    compared: Mapping[str, Comparison],
    hooks: Hooks,
    telling: _Telling,
    *,
    removes: bool,
) -> list[Report]:
    """Update collections with as much at once as this machine can do."""
    import anyio

    async def before(collection: Collection) -> None:
        telling.begun(collection)
        await hooks.run(collection)

    with bars() as progress:

        def shown(collection: Collection) -> Tell:
            return progress(f"Indexing {collection.name}")

        return anyio.run(
            lambda: run_update(
                engine,
                names,
                compared=compared,
                removes=removes,
                progress=shown,
                before=before,
                told=telling.told,
            )
        )


def _at_once(
    engine: Index, chosen: Sequence[Collection], compared: Mapping[str, Comparison]
) -> bool:
    """Return whether all is compared, and little has to be done."""
    from qmd.ingest.compare import is_little

    little = len(compared) == len(chosen) and is_little(compared.values())
    return little and not needs_backfill(engine)


def _note(
    engine: Index,
    before: fingerprint.Glance,
    compared: Mapping[str, Comparison],
    reports: Sequence[Report],
) -> None:
    """Note that there was nothing to do, if it was so with the settings as they are."""
    from qmd.storage.catalog import config_digest

    known = {}
    for report in reports:
        comparison = compared[report.collection]
        unusable = comparison.unusable(report)
        if unusable is None:
            return
        known[report.collection] = comparison.found, unusable
    with suppress(QmdError, OSError):  # who needs what cannot be read is told
        space, vectors = vector_status(engine)
        digest = engine.database.read(config_digest)
        if before.state and before.state.settings == digest:
            fingerprint.note(
                engine.place, before, known, space=space.fingerprint, lacking=vectors.lacking
            )


class _Telling:
    """The messages of an update, during it and at its end.

    Args:
        amount: of collections.
        added: it is the one that was just added.
    """

    def __init__(self, amount: int, *, as_json: bool = False, added: bool = False) -> None:
        self._amount = amount
        self._as_json = as_json
        self._added = added
        self._done = 0
        if not as_json and not added:
            say(f"Updating {wording.amount(amount, 'collection')}...")

    def begun(self, collection: Collection) -> None:
        """Name a collection before anything is done."""
        if not self._as_json:
            head = "" if self._added else f"[{self._done + 1}/{self._amount}] "
            say(f"{head}{shown(collection.name)} ({shown(collection.mask)})")
            sys.stdout.flush()  # before what its command prints

    def told(self, _: Collection, report: Report) -> None:
        """Say what was done."""
        self._done += 1
        if not self._as_json:
            say(summary(report))
            sys.stdout.flush()

    def end(self, reports: Sequence[Report], lacking: Callable[[], str]) -> None:
        """Say how it went.

        Args:
            lacking: gives words for the documents without vectors; none if all have some.

        Raises:
            Exit: with code 2, if a collection could not be updated.
        """
        failed = [report.collection for report in reports if report.failure]
        if self._as_json:
            say(formats.as_json([_as_record(report) for report in reports]))
        elif not failed and not self._added:
            say("All collections updated." + lacking())
        elif not failed and (words := lacking().strip()):
            say(words)
        for report in reports if self._added else ():
            if not (report.failure or report.skipped or report.new or report.unchanged):
                notice(
                    f"No file matches the mask {shown(report.mask)}. "
                    "Another one is given with --mask."
                )
        if failed:
            notice("Not updated: " + ", ".join(map(shown, failed)))
            raise Ended(PARTLY)


def _lacking(engine: Index) -> str:
    """Count the documents that need vectors, with the command that embeds them."""
    try:
        _, vectors = vector_status(engine)
    except ModelError as error:
        return f"\n{error}"
    return _in_words(vectors.lacking)


def _in_words(lacking: int) -> str:
    if not lacking:
        return ""
    documents = "1 document needs" if lacking == 1 else f"{lacking} documents need"
    return f" Run 'qmd embed' to update embeddings ({documents} vectors)."


def summary(report: Report) -> str:
    """Summarize the update of a collection."""
    if report.failure:
        return "Failed: " + indent(report.failure, "  ").lstrip()
    lines = [
        f"Indexed: {report.new} new, {report.updated} updated, {report.unchanged} unchanged, "
        f"{report.renamed} renamed, {report.removed} removed, {len(report.skipped)} skipped"
    ]
    for verb, told in (("skipped", report.skipped), ("note", report.notes)):
        lines += [
            f"  {verb} {shown(on_one_line(f'{report.collection}/{path}'))}: {shown(what)}"
            for path, what in told
        ]
    if set(report.kinds) - {"Markdown"}:
        counts = sorted(report.kinds.items(), key=lambda each: (-each[1], each[0]))
        lines.append("  read: " + ", ".join(f"{count} {shown(kind)}" for kind, count in counts))
    if report.data_bytes:
        data = left_out.data_in_words(report.data_documents, report.data_bytes, "searched")
        lines.append(f"  {data}")
    lines += [f"  {shown(line)}" for line in left_out.kept_in_words(report.collection, report.kept)]
    if report.left_out:
        lines.append("  not indexed: " + shown(left_out.reasons_in_words(report.left_out)))
    return "\n".join(lines)


def _as_record(report: Report) -> dict[str, object]:
    record = asdict(report)
    record["skipped"] = [{"file": path, "reason": why} for path, why in report.skipped]
    record["notes"] = [{"file": path, "note": what} for path, what in report.notes]
    record["kept"] = [each._asdict() for each in report.kept]
    record["left_out"] = left_out.as_records(report.left_out)
    del record["passing"]
    return record
