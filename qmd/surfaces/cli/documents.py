"""`qmd get`, `multi-get`, `ls`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from qmd.errors import UsageError
from qmd.surfaces import formats, render, wording
from qmd.surfaces.cli.common import Json, collection_names, here, say, state
from qmd.surfaces.cli.search_options import FormatName, chosen_format
from qmd.text import paths
from qmd.wording import on_one_line

if TYPE_CHECKING:
    from qmd.operations.engine import Engine

LineNumbers = Annotated[bool, typer.Option("--line-numbers", help="Number the lines.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Write CSV.")]
AsMd = Annotated[bool, typer.Option("--md", help="Write Markdown.")]
AsXml = Annotated[bool, typer.Option("--xml", help="Write XML.")]
AsFiles = Annotated[bool, typer.Option("--files", help="Write docid,file.")]


def get(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(help="collection/path, a docid, or a path; file:120:40 for lines.")
    ],
    first: Annotated[int | None, typer.Option("--from", help="Line to begin with.")] = None,
    count: Annotated[int | None, typer.Option("-l", "--lines", help="Lines at most.")] = None,
    line_numbers: LineNumbers = False,
    form: FormatName = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_md: AsMd = False,
    as_xml: AsXml = False,
    as_files: AsFiles = False,
) -> None:
    """Show one document."""
    chosen = chosen_format(form, json=as_json, csv=as_csv, md=as_md, xml=as_xml, files=as_files)
    file, index = paths.of_index(file)
    with state(context).of(index).engine() as engine:
        passage = engine.get(file, first=first, count=count, folder=here())
    asked = paths.split_range(file)
    suffix = file.removeprefix(asked.name)
    if suffix and not passage.file.endswith(suffix):
        if first is not None:
            raise UsageError(f"Give the first line either with {suffix} or with --from.")
        if count is not None and asked.lines is not None:
            raise UsageError(f"Give the number of lines either with {suffix} or with -l.")
    say(render.passages([passage], chosen, numbered=line_numbers, single=True))


def multi_get(
    context: typer.Context,
    pattern: Annotated[
        str,
        typer.Argument(
            help="A glob, a {brace,set}, or a comma list of paths and docids; *.md:1:10 for lines."
        ),
    ],
    count: Annotated[
        int | None, typer.Option("-l", "--lines", min=1, help="Lines of each at most.")
    ] = None,
    largest: Annotated[
        int, typer.Option("--max-bytes", min=1, help="Leave out documents larger than this.")
    ] = 10_240,
    line_numbers: LineNumbers = False,
    form: FormatName = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_md: AsMd = False,
    as_xml: AsXml = False,
    as_files: AsFiles = False,
) -> None:
    """Show several documents."""
    chosen = chosen_format(form, json=as_json, csv=as_csv, md=as_md, xml=as_xml, files=as_files)
    with state(context).engine() as engine:
        passages = engine.multi_get(pattern, count=count, largest=largest, folder=here())
    say(render.passages(passages, chosen, numbered=line_numbers))
    missing = [passage for passage in passages if passage.reason and not passage.docid]
    if missing:
        raise typer.Exit(1 if len(missing) == len(passages) else 2)


def ls(
    context: typer.Context,
    path: Annotated[
        str | None,
        typer.Argument(
            metavar="[COLLECTION[/PREFIX]]",
            help="What to list; also a folder: ./drafts.",
            autocompletion=collection_names,
        ),
    ] = None,
    left_out: Annotated[
        bool, typer.Option("--left-out", help="List the files that are not indexed, and why.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List collections, or the files of one."""
    if left_out:
        _list_left_out(context, path, as_json=as_json)
        return
    path, index = paths.of_index(path) if path is not None else (None, None)
    with state(context).of(index).engine() as engine:
        if path is None:
            collections = engine.overview()
            if as_json:
                say(
                    formats.as_json(
                        [
                            {"name": c.name, "documents": c.documents, "path": c.root}
                            for c in collections
                        ]
                    )
                )
            elif not collections:
                say("No collections yet. Add one with 'qmd collection add PATH'.")
            else:
                rows = [
                    (f"{c.name}/", wording.amount(c.documents, "file"), wording.folder(c.root))
                    for c in collections
                ]
                say(formats.table(rows, right=frozenset({1})))
            return
        collection, prefix = _listed(engine, path)
        documents = engine.documents(collection, prefix)
    if as_json:
        say(
            formats.as_json(
                [
                    {
                        "docid": document.docid,
                        "file": document.name,
                        "title": document.title,
                        "size": document.size,
                        "date": document.dated.isoformat(),
                        "modified": document.modified.isoformat(),
                        "uri": paths.uri(document.collection, document.path),
                    }
                    for document in documents
                ]
            )
        )
        return
    rows = [(wording.size(d.size), wording.day(d.modified), on_one_line(d.name)) for d in documents]
    say(formats.table(rows, right=frozenset({0})) if rows else f"No files below {path}.")


def _list_left_out(context: typer.Context, path: str | None, *, as_json: bool) -> None:
    from qmd.operations import left_out

    name, index = paths.of_index(path) if path is not None else (None, None)
    with state(context).of(index).engine() as engine:
        collection, prefix = _listed(engine, name) if name is not None else (None, "")
        below = f"{collection}/{prefix}/" if prefix else ""
        found = [each for each in left_out.files(engine, collection) if each[0].startswith(below)]
    if as_json:
        say(formats.as_json([{"file": file, "reason": why} for file, why in found]))
    elif found:
        say(formats.table([(on_one_line(file), why) for file, why in found]))
    else:
        say("No file is left out.")


def _listed(engine: Engine, path: str) -> tuple[str, str]:
    """The collection that is meant, and what of it: by its name, or by a folder on the disk.

    Raises:
        UsageError: a folder is in no collection.
    """
    if not path.strip():
        raise UsageError("The path is empty.\n\n'qmd ls' alone lists the collections.")
    begins = path.partition("/")[0]
    if begins in (".", "..", "~") or (path.startswith("/") and not path.startswith("//")):
        from qmd.operations.collections import on_disk

        inside = on_disk(engine, path)
        if inside is not None:
            return inside
        if begins:
            raise UsageError(
                f"{path} is in no collection.\n\n'qmd ls' lists the collections that there are."
            )
    return engine.folder(path)
