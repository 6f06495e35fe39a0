"""Operation `embed`: make the vectors that documents lack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated

from qmd.declaration.operation import Parameter, operation
from qmd.declaration.parameters import ByteProgress, WatchedCollections, named
from qmd.reports import EmbedStep
from qmd.settings import config

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.reports import Embedded

Force = Annotated[
    bool,
    Parameter(
        help="Embed all anew. The vectors from before stay in use until all are made.",
        flags=("-f", "--force"),
        absent={"tool": "It takes hours for a large index, which is for the user to decide."},
    ),
]

Within = Annotated[
    float | None,
    Parameter(
        help="Stop after so long.",
        helps={"tool": "Stop after so long; call again to go on."},
        flags=("--timeout",),
        metavar="MINUTES",
        json="maxSeconds",
        schema={"type": "integer", "minimum": 1},
        least=0,
    ),
]

BatchTokens = Annotated[
    int | None,
    Parameter(
        help="Tokens between two commits (16384).",
        least=1,
        absent={"tool": "The default suits all clients."},
    ),
]

Something = Annotated[
    bool,
    Parameter(
        help="Do not stop before something is committed.",
        defaults={"tool": True},
        absent={
            "tool": "Always: a client that calls again and again comes to the end.",
            "command": "A user who sets --timeout sees what was done.",
            "python": "A program that passes `within` sees what was done.",
        },
    ),
]

StepDetail = Annotated[
    Callable[[EmbedStep], None] | None,
    Parameter(
        help="Called with an EmbedStep: documents, passages, bytes and the file in hand.",
        kind="callback",
        absent={
            "command": "A progress bar is shown.",
            "tool": "The protocol has notifications of progress.",
        },
    ),
]


@operation(
    title="Make embeddings",
    description="Make the vectors that semantic search needs, for what has none yet. Reports "
    "progress; may take long.",
    writes=True,
    guarded=True,
    examples=(
        ("Make the vectors that are missing", "qmd embed"),
        ("Of one collection, for ten minutes at most", "qmd embed notes --timeout 10"),
        ("Make all of them again", "qmd embed --force"),
    ),
)
async def embed(
    index: Index,
    collection: WatchedCollections = None,
    *,
    force: Force = False,
    within: Within = None,
    batch_tokens: BatchTokens = None,
    something: Something = False,
    progress: ByteProgress = None,
    detail: StepDetail = None,
) -> Embedded:
    """Give every document the vectors that search by meaning needs. Goes on where it stopped.

    Args:
        collection: names; None: all.
        force: make those anew that are there.
        within: seconds after which to stop.
        batch_tokens: tokens between two commits.
        something: do not stop before something is committed.
        progress: called with (bytes done, bytes in all).
        detail: called with an `EmbedStep`: documents, passages, bytes and the file in hand.

    Raises:
        CollectionNotFound: no collection has one of the names.
        ModelError: the model cannot run here, or does not work at all.
        JobRunning: another process is embedding this index.
    """
    return await run_embed(
        index,
        named(collection),
        force=force,
        batch_tokens=batch_tokens,
        within=within,
        something=something,
        progress=progress,
        detail=detail,
    )


async def run_embed(
    index: Index,
    names: Sequence[str] = (),
    *,
    force: bool = False,
    batch_tokens: int | None = None,
    within: float | None = None,
    something: bool = False,
    progress: Callable[[int, int], None] | None = None,
    detail: Callable[[EmbedStep], None] | None = None,
) -> Embedded:
    """Make the vectors that documents lack, as one exclusive job.

    Args:
        names: of collections; none means all.
        force: make those anew that are there, which stay until all are made; what was made
            before an interruption is gone on with.
        batch_tokens: tokens between two commits; None: as many as there is time for.
        within: seconds after which to stop.
        something: do not stop before something is committed, so that repeated calls come to
            the end.
        progress: called with (bytes done, bytes in all).
        detail: called at the start and after each commit.

    Raises:
        ModelError: the model cannot run here, or does not work at all.
        JobRunning: another process is at it.
    """
    from anyio import to_thread

    from qmd.embedding import pipeline as embed
    from qmd.errors import IndexFailure
    from qmd.ingest.stale_chunks import drop_stale
    from qmd.operations import first_model
    from qmd.storage import maintenance
    from qmd.storage.descriptors import ensure_descriptors
    from qmd.storage.file_lock import errand

    ensure_descriptors(index.place.database)
    await to_thread.run_sync(index.check_collections, names)
    if config.is_blank(index.place):  # it may have chosen another model
        index.refuse_loss(await to_thread.run_sync(index.collections))
    said = await to_thread.run_sync(first_model.suggest_model, index)
    space = await to_thread.run_sync(index.models.space)
    with errand(index.place.database, "embed"):
        await to_thread.run_sync(drop_stale, index.database)
        report = await embed.embed(
            index.database,
            await to_thread.run_sync(index.models.embedder, space),
            space,
            collections=names,
            force=force,
            batch_tokens=batch_tokens,
            within=within,
            something=something,
            progress=progress,
            detail=detail,
        )
    report.notice = said
    if report.chunks and within is None:
        merge = partial(maintenance.merge, index.database, at_leisure=True)
        with suppress(IndexFailure):  # the vectors are there; another time will do
            await to_thread.run_sync(merge)
    if report.chunks and index.makes_sidecars:
        await to_thread.run_sync(index.vector_indexes.renew, space)
        await to_thread.run_sync(index.holder.note_fit)
    return report
