"""Output of `qmd get`, `multi-get` and `ls`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any

from qmd.declaration.operation import Parameter
from qmd.errors import Ambiguous, DocumentNotFound, InvalidArgument, UsageError
from qmd.named_tuple import NamedTuple
from qmd.operations import documents as operations
from qmd.operations import listing
from qmd.operations.listing import Document
from qmd.surfaces import formats, wording
from qmd.surfaces.cli.common import PARTLY, Ended, Json, RawCsv, State, complain, here, notice, say
from qmd.surfaces.cli.derive import Call, command, interactive
from qmd.surfaces.cli.search_options import FormatName, chosen_format
from qmd.surfaces.formats import Format
from qmd.surfaces.render_documents import documents_as
from qmd.text import paths
from qmd.visible import shown
from qmd.wording import on_one_line

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.storage.catalog import Overview
    from qmd.types import Passage


class DocumentOutput(NamedTuple):
    """Options of the commands that show documents."""

    line_numbers: Annotated[
        bool, Parameter(help="Number the lines.", flags=("--line-numbers",))
    ] = False
    full: Annotated[
        bool, Parameter(help="Whole documents, which is the default.", flags=("--full",))
    ] = False
    form: FormatName = None
    as_json: Json = False
    as_csv: Annotated[bool, Parameter(help="Write CSV.", flags=("--csv",))] = False
    raw_csv: RawCsv = False
    as_md: Annotated[bool, Parameter(help="Write Markdown.", flags=("--md",))] = False
    as_xml: Annotated[bool, Parameter(help="Write XML.", flags=("--xml",))] = False
    as_files: Annotated[bool, Parameter(help="Write docid,file.", flags=("--files",))] = False

    @property
    def format(self) -> Format:
        """Format that is meant."""
        return chosen_format(
            self.form,
            json=self.as_json,
            csv=self.as_csv,
            md=self.as_md,
            xml=self.as_xml,
            files=self.as_files,
        )


@interactive(operations.get, options=DocumentOutput)
def get(at: State, arguments: dict[str, Any], options: DocumentOutput) -> None:
    """Write documents, each of the index that its name may tell."""
    assert options.format  # a wrong one is refused before anything is read
    names: tuple[str, ...] = arguments.pop("name")
    passages: list[Passage] = []
    for index, files in groupby(map(paths.of_index, names), itemgetter(1)):
        with at.of(index).engine() as engine:
            for file, _ in files:
                try:
                    passages.append(_passage(engine, file, arguments))
                except (DocumentNotFound, Ambiguous, UsageError) as error:
                    if len(names) == 1:
                        raise
                    complain(error.told("command"))
    if passages:
        say(_rendered(passages, options, single=len(names) == 1))
    if len(passages) < len(names):
        raise Ended(PARTLY if passages else 1)


def _passage(engine: Index, file: str, arguments: dict[str, Any]) -> Passage:
    passage = operations.get(engine, file, folder=here(), **arguments)
    asked = paths.split_range(file)
    suffix = file.removeprefix(asked.name)
    if suffix and not passage.file.endswith(suffix):
        if "first" in arguments:
            raise UsageError(f"Give the first line either with {suffix} or with --from.")
        if "count" in arguments and asked.lines is not None:
            raise UsageError(f"Give the number of lines either with {suffix} or with -l.")
    return passage


def _rendered(passages: Sequence[Passage], options: DocumentOutput, *, single: bool = False) -> str:
    return documents_as(
        passages,
        options.format,
        numbered=options.line_numbers,
        single=single,
        raw_csv=options.raw_csv,
    )


def _begin_here(call: Call) -> None:
    assert call.options.format  # a wrong one is refused before anything is read
    call.arguments["folder"] = here()


@command(operations.multi_get, options=DocumentOutput, adjust=_begin_here)
def multi_get(call: Call, passages: Sequence[Passage]) -> None:
    """Write several documents; what is not found is told on stderr.

    Formats for programs have a record of it, too.
    """
    options: DocumentOutput = call.options
    missing = [passage for passage in passages if not passage.docid]
    found = [passage for passage in passages if passage.docid]
    written = found if options.format in (Format.CLI, Format.MD) else passages
    say(_rendered(written, options))
    for passage in missing:
        complain(str(passage.reason))
    if missing:
        notice("\nSee what there is with 'qmd ls', or look for words with 'qmd search WORDS'.")
        raise Ended(PARTLY if found else 1)


class ListOutput(NamedTuple):
    """Options of `qmd ls` alone."""

    left_out: Annotated[
        bool, Parameter(help="List the files that are not indexed, and why.", flags=("--left-out",))
    ] = False
    as_json: Json = False


@interactive(listing.documents, options=ListOutput)
def ls(at: State, arguments: dict[str, Any], options: ListOutput) -> None:
    """Write the collections, or the documents of one, of the index that the path may tell."""
    given = arguments.get("path")
    path, index = paths.of_index(given) if given is not None else (None, None)
    with at.of(index).engine(warm=True) as engine:
        if options.left_out:
            _list_left_out(engine, path, as_json=options.as_json)
            return
        since = arguments.get("since")
        if path is None and since is None:
            _list_collections(engine.overview(), as_json=options.as_json)
            return
        collection, prefix = (None, "") if path is None else _listed(engine, path)
        found = operations.below(engine, collection, prefix)
        try:
            documents = listing.changed(found, since)
        except InvalidArgument as error:
            raise error.named("--since") from error
    if options.as_json:
        say(formats.as_json([_record(Document.of(each)) for each in documents]))
        return
    if not documents and since is not None:
        notice("No file has changed since then.")
    elif not documents and path is not None:
        notice(f"No files below {shown(path)}.\n\n'qmd ls' lists the collections.")
    rows = [(wording.size(d.size), wording.day(d.modified), on_one_line(d.name)) for d in documents]
    say(formats.table(rows, right=frozenset({0})))


def _record(document: Document) -> dict[str, object]:
    return {
        "docid": document.docid,
        "file": document.file,
        "title": document.title,
        "size": document.size,
        "date": document.date.isoformat(),
        "modified": document.modified.isoformat(),
        "uri": document.uri,
    }


def _list_collections(collections: Sequence[Overview], *, as_json: bool) -> None:
    if as_json:
        say(
            formats.as_json(
                [{"name": c.name, "documents": c.documents, "path": c.root} for c in collections]
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


def _list_left_out(engine: Index, path: str | None, *, as_json: bool) -> None:
    from qmd.operations import left_out

    collection, prefix = _listed(engine, path) if path is not None else (None, "")
    below = f"{collection}/{prefix}/" if prefix else ""
    found = [each for each in left_out.files(engine, collection) if each[0].startswith(below)]
    if as_json:
        say(formats.as_json([{"file": file, "reason": why} for file, why in found]))
    elif found:
        say(formats.table([(on_one_line(file), why) for file, why in found]))
    else:
        say("No file is left out.")


def _listed(engine: Index, path: str) -> tuple[str, str]:
    """Resolve an argument to a collection, and a folder in it.

    The argument is a name, or a folder on the disk.

    Raises:
        UsageError: a folder is in no collection.
    """
    if not path.strip():
        raise UsageError("The path is empty.\n\n'qmd ls' alone lists the collections.")
    begins = path.partition("/")[0]
    if begins in (".", "..", "~") or (path.startswith("/") and not path.startswith("//")):
        from qmd.operations.contexts import on_disk

        inside = on_disk(engine, str(here() / paths.at_home(path)))
        if inside is not None:
            return inside
        if begins:
            raise UsageError(
                f"{path} is in no collection.\n\n'qmd ls' lists the collections that there are."
            )
    return operations.folder_named(engine, path)
