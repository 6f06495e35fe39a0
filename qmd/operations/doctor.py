"""Diagnosis of an index, with remedies."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Literal

from qmd.analytics.rows import Rows
from qmd.declaration.operation import Parameter, operation
from qmd.declaration.parameters import StepProgress
from qmd.embedding.vector_status import vector_status
from qmd.errors import NOT_REBUILT, IndexFailure, ModelError, QmdError, RuntimeMissing, extras
from qmd.models.registry import can_run, runtime
from qmd.named_tuple import NamedTuple
from qmd.operations import left_out
from qmd.operations.file_system import NETWORK, file_system
from qmd.operations.mapped_files import mapped_postings, mapped_vectors
from qmd.operations.outdated_readings import outdated_readings
from qmd.quoting import command
from qmd.settings import trust
from qmd.storage import catalog, maintenance, scratch
from qmd.text import kinds
from qmd.text.globs import matches_nothing
from qmd.types import EXPERIENCES
from qmd.visible import shown
from qmd.wording import amount, on_one_line, size

if TYPE_CHECKING:
    from qmd.operations.index import Index

LITTLE_SPACE = 200_000_000
"""Bytes free, below which a warning is due."""

MOST_REMARKS = 20
"""Files with remarks that are named."""

MANY_TEXTS = 100
"""Texts of earlier days that are no reason yet to clean up."""


class Finding(NamedTuple):
    """One thing that was looked at.

    Attributes:
        mend: the command that mends it, in words, or None.
        stops: the index is busy or cannot be read, so that nothing else can be done with it.
    """

    check: str
    status: Literal["ok", "warning", "problem"]
    detail: str
    mend: str | None = None
    stops: bool = False


AFRESH = f"Move the index away and run 'qmd update' to build it again. {NOT_REBUILT}"


Deep = Annotated[
    bool, Parameter(help="Compare the index with its texts, word by word: as long as to build it.")
]


@operation(
    title="Check the index",
    absent={"tool": "The user mends an index, not an agent."},
    examples=(
        ("Check the index", "qmd doctor"),
        ("Compare it with its texts, word by word", "qmd doctor --deep"),
    ),
)
def doctor(index: Index, *, deep: Deep = False, progress: StepProgress = None) -> Rows[Finding]:
    """Check the index, and say how to mend what is wrong.

    Args:
        deep: compare the index with its own texts, too, if nothing else is wrong.
        progress: called with (documents compared, documents in all).

    Returns:
        A finding for each thing that was looked at; nothing is changed.
    """
    found = examine(index)
    if deep and not any(finding.status == "problem" for finding in found):
        found += prove(index, progress=progress)
    return Rows(Finding, found)


def examine(index: Index) -> list[Finding]:
    """Look at everything that can be wrong; nothing is changed."""
    return [
        *_settings(index),
        *_place(index),
        *_left_behind(index),
        *_index(index),
        *_mapped(index),
        *_folders(index),
        *_ignored(index),
        *_remarks(index),
        *(Finding("readers", "warning", *found) for found in outdated_readings(index)),
        *_installed(),
        *_models(index),
    ]


def prove(index: Index, *, progress: Callable[[int, int], None] | None = None) -> list[Finding]:
    """Compare the index with what its own texts say; that takes as long as to build it anew.

    Args:
        progress: told (documents done, documents in all).
    """
    from qmd.ingest.verify import prove

    documents = index.totals().documents
    tell = (lambda done: progress(done, documents)) if progress else None
    problems = prove(index.database, progress=tell)
    wrong = [
        Finding("texts", "problem", f"not so {amount(times, 'time')}: {fact}", AFRESH)
        for fact, times in problems.items()
        if times
    ]
    return wrong or [Finding("texts", "ok", f"all say the same again, {len(problems)} facts hold")]


def _settings(index: Index) -> Iterator[Finding]:
    place = index.place
    try:
        settings = index.settings()
    except QmdError as error:
        yield Finding("settings", "problem", str(error), f"Edit {place.config}.")
        return
    collections = amount(len(settings.collections), "collection")
    yield Finding("settings", "ok", f"{place.config}, {collections}")
    if wanted := ", ".join(map(shown, trust.left_out(place, settings))):
        yield Finding("approval", "warning", f"left out: {wanted}", "Run 'qmd trust'.")


def _place(index: Index) -> Iterator[Finding]:
    folder = index.place.database.parent
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        yield Finding(
            "disk",
            "problem",
            f"{folder} cannot be made: {error.strerror or error}",
            "Choose another place with INDEX_PATH.",
        )
        return
    database = index.place.database
    own = [folder, database] if os.path.exists(database) else [folder]  # noqa: PTH110  # nor an error
    if not all(os.access(each, os.W_OK) for each in own):
        yield Finding(
            "permissions",
            "warning",
            f"{own[-1]} cannot be changed",
            "Check the permissions, or choose another place with INDEX_PATH.",
        )
    free = shutil.disk_usage(folder).free
    if free < LITTLE_SPACE:
        yield Finding("disk", "warning", f"{free // 1_000_000} MB are free", "Make room.")
    else:
        yield Finding("disk", "ok", f"{free // 1_000_000_000} GB are free")
    kind = file_system(folder)
    if kind in NETWORK:
        yield Finding(
            "file system",
            "warning",
            f"the index lies on {kind}, where locks cannot be trusted",
            "Move it to a local disk with INDEX_PATH.",
        )


def _left_behind(index: Index) -> Iterator[Finding]:
    for folder, taken in scratch.left_behind(index.place.database).items():
        detail = f"a process that was killed left {folder} ({size(taken)})"
        yield Finding("leftovers", "warning", detail, "Run 'qmd cleanup'.")


def _index(index: Index) -> Iterator[Finding]:
    try:
        facts = index.read(maintenance.problems)
        stray = index.read(maintenance.stray_paths)
        work = index.read(maintenance.merge_size)
        texts, taken = index.read(maintenance.orphans)
    except QmdError as error:
        first, _, mend = str(error).partition("\n\n")
        stops = isinstance(error, IndexFailure)
        yield Finding("index", "problem", first, mend or None, stops)
        return
    for each in stray:
        yield Finding(
            "index",
            "problem",
            f"a path of collection '{each.collection}' leaves its folder: {on_one_line(each.path)}",
            AFRESH,
        )
    broken = [fact for fact in facts if fact.times]
    for fact in broken:
        yield Finding(
            "index",
            "problem",
            f"not so {amount(fact.times, 'time')}: {fact.fact}",
            AFRESH,
        )
    if not broken and not stray:
        documents = amount(work.documents, "document")
        yield Finding("index", "ok", f"{documents}, {len(facts)} facts hold")
    if work.pays:
        yield Finding(
            "postings",
            "warning",
            f"{amount(work.tombstones, 'document')} gone, {amount(work.runs, 'commit')} not merged",
            "Run 'qmd cleanup'.",
        )
    if texts > max(work.documents, MANY_TEXTS):
        yield Finding(
            "room",
            "warning",
            f"{texts} texts are kept that no document has any more ({size(taken)})",
            "Run 'qmd cleanup'.",
        )


def _mapped(index: Index) -> Iterator[Finding]:
    """Look at the sidecars, which a search can do without."""
    for what, look in (("postings", mapped_postings), ("vectors", mapped_vectors)):
        try:
            found = look(index)
        except QmdError:
            continue  # told of as a problem of the index, or of its model
        if found is not None:
            yield Finding(f"mapped {what}", *found)


def _folders(index: Index) -> Iterator[Finding]:
    try:
        overview, passed_over = index.overview(), left_out.counted(index)
        kept = index.read(catalog.kept)
    except QmdError:
        return  # told of as a problem of the index
    for collection in overview:
        if not collection.root:
            yield Finding(
                f"collection {collection.name}",
                "ok",
                f"{amount(collection.documents, _noun(collection.name))}, in the index alone",
            )
        elif not os.path.isdir(collection.root):  # noqa: PTH112  # nor an error: who may not look
            yield Finding(
                f"collection {collection.name}",
                "problem",
                f"its folder is missing, or cannot be reached: {collection.root}",
                f"Bring it back, or run {command('qmd', 'collection', 'remove', collection.name)}.",
            )
        elif not os.access(collection.root, os.R_OK | os.X_OK):
            yield Finding(
                f"collection {collection.name}",
                "problem",
                f"its folder cannot be read: {collection.root}",
                "Check its permissions.",
            )
        elif not collection.documents:
            yield Finding(
                f"collection {collection.name}",
                "warning",
                f"no file of {collection.root} is indexed ({collection.mask})",
                f"Run {command('qmd', 'update', '-c', collection.name)}, or give it another mask.",
            )
        else:
            files = amount(collection.documents, "file")
            rest = left_out.reasons_in_words(passed_over.get(collection.name, ()))
            told = f"{files}; not indexed: {rest}" if rest else files
            if size_of_data := collection.data_bytes:
                told += f"; {left_out.data_in_words(collection.data_documents, size_of_data)}"
            yield Finding(f"collection {collection.name}", "ok", told)
        for each in kept.get(collection.name, ()):
            mend = left_out.removal(collection.name, each).replace("run", "Run", 1)
            check = f"collection {collection.name}"
            yield Finding(check, "warning", left_out.loss(each), f"{mend}.")


def _noun(collection: str) -> str:
    return "record" if collection == EXPERIENCES else "document"


def _ignored(index: Index) -> Iterator[Finding]:
    """Find ignored patterns that match nothing."""
    try:
        known = index.collections()
    except QmdError:
        return  # told of as a problem of the index
    for collection in known:
        for pattern in collection.ignored:
            if matches_nothing(pattern):
                why, mend = "paths begin at the folder of the collection", "Write 'work/**/*.md'."
            elif os.path.isdir(os.path.join(collection.root, pattern)) and pattern[-1] != "/":  # noqa: PTH112, PTH118  # nor an error
                why, mend = "it is a folder", f"Write '{pattern}/' for all that is below it."
            else:
                continue
            yield Finding(
                f"collection {collection.name}",
                "warning",
                f"'{pattern}' under 'ignore' leaves nothing out: {why}",
                mend,
            )


def _remarks(index: Index) -> Iterator[Finding]:
    """Find files that could not be read, or not all of which could."""
    try:
        found = index.read(partial(maintenance.remarks, limit=MOST_REMARKS))
        unread = index.read(catalog.unread_files)
    except QmdError:
        return  # told of as a problem of the index
    files = [
        (f"{name}/{path}", why)
        for name, each in unread.items()
        for path, why in each
        if why != kinds.EMPTY
    ]
    for file, why in files[:MOST_REMARKS]:
        detail = f"{on_one_line(file)} is not indexed: {on_one_line(why)}"
        yield Finding("files", "warning", detail, _ocr_mend(index, why))
    if len(files) > MOST_REMARKS:
        more = amount(len(files) - MOST_REMARKS, "file")
        yield Finding("files", "warning", f"and {more} more that cannot be read")
    for each in found:
        yield Finding("files", "warning", f"{on_one_line(each.file)}: {on_one_line(each.remark)}")
    if found and found[0].total > MOST_REMARKS:
        more = amount(found[0].total - MOST_REMARKS, "file")
        yield Finding("files", "warning", f"and {more} more with remarks")


def _ocr_mend(index: Index, why: str) -> str | None:
    """Say how the text of a file of pictures can be had."""
    if not why.startswith(kinds.NO_TEXT_ON):
        return None
    if not index.settings().ocr:
        return "If these are scans, write 'ocr: true' into index.yml, and Tesseract reads them."
    if not kinds.has_tesseract():
        return "Install Tesseract (tesseract-ocr), which 'ocr' in index.yml asks for."
    return None


def _installed() -> Iterator[Finding]:
    try:
        import_module("qmd.ingest.compiled.words")
        import_module("qmd.ingest.compiled.outlines")
        import_module("qmd.ranking.compiled.code_products")
        import_module("qmd.ranking.compiled.line_words")
        import_module("qmd.ranking.compiled.posting_search")
    except ImportError as error:
        yield Finding(
            "compiled",
            "warning",
            f"not all that could be: indexing or searching takes five times as long ({error})",
            f"Look for a C++ compiler, and run: {extras.command(None, again=True)}",
        )
    else:
        yield Finding("compiled", "ok", "postings, outlines, products of vectors, searches")


def _models(index: Index) -> Iterator[Finding]:
    try:
        space, state = vector_status(index)
    except ModelError as error:
        first, _, mend = str(error).partition("\n\n")
        yield Finding("model", "problem", first, mend)
        return
    except QmdError:
        return  # told of as a problem of the index
    if not can_run(space.model):
        first, _, mend = str(
            RuntimeMissing(space.model.name, library=runtime(space.model))
        ).partition("\n\n")
        yield Finding("model", "warning", first, mend)
        return
    yield Finding("model", "ok", f"{space.model.name} ({space.model.uri})")
    if state.lacking:
        yield Finding(
            "vectors",
            "warning",
            f"documents that lack some: {state.lacking} of {state.documents}",
            "Run 'qmd embed'.",
        )
    else:
        yield Finding("vectors", "ok", f"{state.vectors}, none is missing")
