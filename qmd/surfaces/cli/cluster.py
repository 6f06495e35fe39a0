"""`qmd cluster …`: an index in shards, for more than one machine holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qmd.errors import UsageError
from qmd.settings import environment
from qmd.settings.config_reader import check_name
from qmd.settings.schema import NEW_MASK
from qmd.surfaces import formats, wording
from qmd.surfaces.cli.common import PARTLY, Ended, Json, State, examples, here, notice, say, state
from qmd.surfaces.cli.framework import Whole
from qmd.surfaces.cli.progress import bars
from qmd.types import Collection
from qmd.visible import shown

if TYPE_CHECKING:
    from qmd.cluster.store import ShardStore

app = typer.Typer(
    no_args_is_help=True,
    help="Build and check an index in shards, which several machines can hold together.",
)

Folder = Annotated[str, typer.Argument(metavar="DEST", help="Folder or URL with the shards.")]


@app.command()
@examples(
    ("Cut the index of a folder into shards", "qmd cluster build ~/notes --to ~/kb --shards 2"),
    ("Go on after an interruption, or bring it up to date", "qmd cluster build ~/notes --to ~/kb"),
    (
        "Read from an object store, and write to it",
        "qmd cluster build s3://bucket/texts --to s3://bucket/kb --shards 8",
    ),
    (
        "Build shards at the same time, with vectors",
        "qmd cluster build ~/notes --to ~/kb --embed --address local",
    ),
)
def build(
    context: typer.Context,
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="Folder or URL with the files, or Parquet (NAME.parquet)."
        ),
    ],
    to: Annotated[str, typer.Option("--to", metavar="DEST", help="Folder or URL for the shards.")],
    shards: Annotated[
        int | None,
        typer.Option(
            "--shards",
            click_type=Whole(1),
            help="Their number, a power of two; else as before, or 1.",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the collection; else of the folder.")
    ] = None,
    mask: Annotated[
        str,
        typer.Option(
            "--mask",
            metavar="GLOB",
            help="Which files: documents, code, data, all; or globs, with commas between.",
        ),
    ] = NEW_MASK,
    ignore: Annotated[
        list[str] | None,
        typer.Option("--ignore", metavar="GLOB", help="Files to leave out; may be repeated."),
    ] = None,
    embed: Annotated[bool, typer.Option("--embed", help="Make vectors, too.")] = False,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME", help="Embedding model; else as 'qmd embed'."),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            "--address",
            metavar="HOST:PORT",
            help="Build on this Ray cluster; 'local': on all processors here.",
        ),
    ] = None,
    gpus_per_worker: Annotated[
        float,
        typer.Option(
            "--gpus-per-worker",
            min=0,
            metavar="F",
            help="GPUs that one shard reserves while it is built on a cluster.",
        ),
    ] = 0.0,
    no_gpu: Annotated[bool, typer.Option("--no-gpu", help="Run models on the CPU.")] = False,
    as_json: Json = False,
) -> None:
    """Build an index in shards from a folder, or bring one up to date."""
    from qmd.cluster import build as builder
    from qmd.cluster import build_lock, sources, store
    from qmd.text.globs import check_mask

    now = state(context)
    check_mask(mask)
    is_staged = sources.is_staged(source)
    name = name or (sources.name_of(source) if is_staged else _folder(source).name)
    check_name(name)
    target = store.cache_folder(to) / "build" if store.is_url(to) else _folder(to)
    root = target / sources.STAGED if is_staged else _folder(source)
    plan = builder.Plan(
        target,
        Collection(name, str(root), mask, tuple(ignore or ())),
        shards or _as_before(to if store.is_url(to) else target),
        embed,
        _machine(now, model, gpu=not no_gpu),
    )
    carry: builder.Carry = builder.one_by_one
    if address is not None:
        if store.is_url(to) and address != "local":
            raise UsageError(
                "With --address, DEST is a folder that all machines have under the same path.\n\n"
                "Build it there, and copy it to the store afterwards."
            )
        from qmd.cluster import ray_build

        carry = ray_build.on_cluster(address, gpus=gpus_per_worker)
    elif gpus_per_worker:
        raise UsageError("--gpus-per-worker is for a cluster: --address HOST:PORT, or local.")
    builder.check(plan)
    with build_lock.holding(to if store.is_url(to) else str(target), target) as check, bars() as of:
        tell: dict[str, object] = {}

        def progress(step: str, done: int, total: int) -> None:
            if step not in tell:
                tell[step] = of(step)
            tell[step](done, total or None)  # type: ignore[operator]

        if store.is_url(to):
            store.fetch_build(to, target)
        if is_staged:
            place = source if store.is_url(source) else str(_folder(source))
            sources.stage(place, root, lambda done, total: progress("copying texts", done, total))
        built = builder.build(plan, progress, carry)
        if store.is_url(to):
            store.publish(target, to, check)
    for path, reason in built.skipped:
        notice(f"Left out: {shown(path)}: {reason}")
    made = built.manifest
    if as_json:
        facts = {**made._asdict(), "shards": [each._asdict() for each in made.shards]}
        say(formats.as_json({**facts, "built": built.built, "kept": built.kept}))
        return
    documents = wording.amount(made.documents, "document")
    amount = wording.amount(len(made.shards), "shard")
    how = f"{built.built} built, {built.kept} as before"
    say(f"{documents} in {amount} ({wording.size(made.bytes)}; {how}).")
    say(f"Search it: qmd --engine shards:{shown(to)} search WORDS")


@app.command()
@examples(
    ("Show its shards", "qmd cluster status ~/kb"),
    ("For a program", "qmd cluster status ~/kb --json"),
)
def status(context: typer.Context, folder: Folder, as_json: Json = False) -> None:
    """Show the shards of an index, as its manifest describes them."""
    found = _store(folder).manifest()
    if as_json:
        shards = [each._asdict() for each in found.shards]
        say(formats.as_json({**found._asdict(), "shards": shards}))
        return
    say(
        f"Build {shown(found.build)} of {shown(found.root)}, collection "
        f"'{shown(found.collection)}', by qmd {shown(found.qmd)}"
    )
    vectors = sum(each.vectors for each in found.shards)
    say(
        f"{wording.amount(found.documents, 'document')}, {wording.amount(vectors, 'vector')}, "
        f"{wording.size(found.bytes)} in {wording.amount(len(found.shards), 'shard')}:"
    )
    for each in found.shards:
        size = wording.size(each.bytes)
        say(f"  {shown(each.file)}  {each.documents} documents, {each.vectors} vectors, {size}")


@app.command()
@examples(
    ("Compare the shards with their checksums", "qmd cluster verify ~/kb"),
    ("For a program", "qmd cluster verify ~/kb --json"),
)
def verify(context: typer.Context, folder: Folder, as_json: Json = False) -> None:
    """Compare all shards with the manifest: sizes, checksums, counts."""
    from qmd.cluster import verify as checking

    with bars() as of:
        tell = of("checking shards")
        verdicts = checking.verify(_store(folder).source, lambda done, total: tell(done, total))
    bad = [each for each in verdicts if each.problem]
    if as_json:
        say(formats.as_json([each._asdict() for each in verdicts]))
    else:
        for each in bad:
            say(f"{shown(each.file)}: {shown(each.problem)}")
        say(f"{len(verdicts) - len(bad)} of {len(verdicts):,} shards are whole.")
    if bad:
        if not as_json:
            notice("Run the same 'qmd cluster build' again to make the others anew.")
        raise Ended(PARTLY)


def _folder(given: str) -> Path:
    """Return the path of a folder that an argument names.

    Raises:
        UsageError: the name is empty.
    """
    if not given.strip():
        raise UsageError("The name of a folder is empty.")
    path = environment.expand_home(given, Path.home())
    return Path(here() / path).absolute()


def _machine(now: State, model: str | None, *, gpu: bool) -> environment.Machine:
    """Return what the environment says of models, with the model that an option names."""
    found = environment.machine(now.environ, gpu=gpu)
    return found._replace(chosen={**found.chosen, "embed": model}) if model else found


def _store(given: str) -> ShardStore:
    """Return the folder or the prefix with shards that an argument names."""
    from qmd.cluster import store

    return store.ShardStore(given if store.is_url(given) else _folder(given))


def _as_before(source: str | Path) -> int:
    """Return the number of shards of the build before, or 1."""
    from qmd.cluster.store import ShardStore
    from qmd.errors import NotAManifest

    try:
        return len(ShardStore(source).manifest().shards)
    except NotAManifest:
        return 1
