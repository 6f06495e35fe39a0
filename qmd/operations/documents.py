"""Operations that read documents: `get` and `multi_get`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from qmd.analytics.rows import Rows
from qmd.declaration.operation import Parameter, operation
from qmd.errors import Ambiguous, DocumentNotFound, UsageError
from qmd.operations import document_parts
from qmd.ranking import search_log
from qmd.storage import catalog, document_lookup
from qmd.storage.cursor import Cursor
from qmd.storage.long_texts import LongText
from qmd.text import globs, paths
from qmd.types import DocumentRow, Passage
from qmd.wording import on_one_line, readable

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.text.headings import SectionHeading

LARGEST_OF_SEVERAL = 10_240
"""Bytes from which on a document is left out of several. Source: tobi/qmd (MIT), multi-get."""

SUGGESTED = 5
"""Missing documents of several for which names that are like theirs are looked for."""

LINE_COUNTS = ("lines", "numLines", "count", "limit")
"""Names that models give the number of lines."""

_CURRENT = "Paths begin in the current folder."

DocumentName = Annotated[
    str,
    Parameter(
        help="collection/path, a docid, or a path; file:120:40 for lines, file#Heading "
        "for a section.",
        helps={
            "tool": "Path, #docid or qmd:// URI; an optional :line or :line:count suffix wins over "
            "fromLine/maxLines."
        },
        json="file",
        metavar="FILE",
        several=frozenset({"command"}),
        aliases=("path", "docid", "id", "name", "uri", "filename", "filePath", "document"),
        bare=True,
    ),
]

FirstLine = Annotated[
    int | None,
    Parameter(
        help="Line to begin with.",
        helps={"tool": "Start line, 1-indexed."},
        flags=("--from",),
        json="fromLine",
        least=1,
        unbounded=frozenset({"command", "tool"}),
        aliases=("line", "start", "offset", "startLine", "from", "first"),
        bare=True,
    ),
]

LineCount = Annotated[
    int | None,
    Parameter(
        help="Lines at most.",
        helps={"tool": "Maximum number of lines."},
        flags=("-l", "--lines"),
        json="maxLines",
        least=1,
        aliases=LINE_COUNTS,
        bare=True,
    ),
]

LinesOfEach = Annotated[
    int | None,
    Parameter(
        help="Lines of each at most.",
        helps={"tool": "Maximum lines per file."},
        flags=("-l", "--lines"),
        json="maxLines",
        least=1,
        aliases=LINE_COUNTS[:2],
        bare=True,
    ),
]

Pattern = Annotated[
    str | Sequence[str],
    Parameter(
        help="A glob, a {brace,set}, or a comma list of paths and docids; *.md:1:10 for lines.",
        helps={"tool": "Glob, or comma-separated paths/docids."},
        metavar="PATTERN",
        kind="text",
        several=frozenset({"command", "python", "tool"}),
        aliases=("files", "paths", "names", "docids", "ids", "glob", "file", "path"),
        bare=True,
    ),
]

Largest = Annotated[
    int,
    Parameter(
        help="Leave out documents larger than this.",
        helps={"tool": "Skip files larger than this (default {default})."},
        flags=("--max-bytes",),
        json="maxBytes",
        least=1,
        aliases=("maxSize",),
        bare=True,
    ),
]

CurrentFolder = Annotated[
    Path | None,
    Parameter(
        help="Folder in which paths such as ./tea.md begin.",
        kind="path",
        absent={
            "command": _CURRENT,
            "tool": "A client has no current folder.",
            "python": "A path begins in a collection.",
        },
    ),
]


@operation(
    title="Get document",
    forwardable=True,
    sharded=True,
    partial=True,
    description="Get one document by path, docid (#abc123) or qmd:// URI; 'file.md:120' from a "
    "line, 'file.md:120:40' for 40 lines, 'file.md#Heading' for a section. A folder is listed.",
    examples=(
        ("Read a document", "qmd get notes/tea.md"),
        (
            "Three lines from line 5 on, with their numbers",
            "qmd get notes/tea.md:5:3 --line-numbers",
        ),
        ("One section", "qmd get 'notes/coffee.md#Coffee'"),
        ("Several, as JSON", "qmd get notes/tea.md work/plan.md --json"),
    ),
)
def get(
    index: Index,
    name: DocumentName,
    *,
    first: FirstLine = None,
    count: LineCount = None,
    folder: CurrentFolder = None,
) -> Passage:
    """Show one document.

    A range behind the name, as in `name:first:count`, wins over `first` and `count`.

    Args:
        name: `collection/path`, a docid, a path, or the end of one; `name:120:40` for lines.
        first: line to begin with, from 1.
        count: lines at most.
        folder: where paths such as `./tea.md` begin; see `document_lookup.found`.

    Raises:
        DocumentNotFound, Ambiguous: the name names no document, or several.
        UsageError: the range lies outside the document, or the document is of another index.
    """
    name = _of_this(index, name)
    return index.read(partial(_get, index, name, first=first, count=count, folder=folder))


def _get(
    index: Index,
    name: str,
    cursor: Cursor,
    *,
    first: int | None,
    count: int | None,
    folder: Path | None,
) -> Passage:
    document, asked = document_parts.resolved(cursor, paths.Range(name, first, count), folder)
    some = asked.first is not None or asked.lines is not None
    body = document_parts.body_of(cursor, document, some=some)
    context = index.context_of(cursor, document)
    if index.log and index.database.remembered("log", search_log.is_kept, cursor=cursor):
        index.log.opened(document.name)
    return document_parts.passage(document, body, context, asked.first, asked.lines)


@operation(
    title="Get several documents",
    forwardable=True,
    sharded=True,
    description="Get several documents by glob ('journals/2025-05*.md') or comma-separated "
    "paths/docids. Files over maxBytes are skipped.",
    examples=(
        ("All documents of a folder", "qmd multi-get 'notes/journal/*.md'"),
        ("Files that a shell names", "cd ~/notes && qmd multi-get *.md"),
        (
            "The first ten lines of each, as Markdown",
            "qmd multi-get '{notes,work}/*.md' -l 10 --md",
        ),
    ),
)
def multi_get(
    index: Index,
    pattern: Pattern,
    *,
    count: LinesOfEach = None,
    largest: Largest = LARGEST_OF_SEVERAL,
    folder: CurrentFolder = None,
) -> Rows[Passage]:
    """Show several documents.

    The path of one document is no list, though it has a comma in it. A document that is not found,
    or is larger than `largest` bytes as far as it is asked for, is in the list with a `reason` in
    place of its text.

    Args:
        pattern: glob, brace set, or comma list of paths and docids, with `:first:count`; or several
            of these.
        count: lines of each at most.
        largest: bytes of a document at most.
        folder: where paths such as `./tea.md` and `./*.md` begin; see `document_lookup.found`.
    """
    patterns = [pattern] if isinstance(pattern, str) else list(pattern)
    work = partial(_multi_get, index, patterns, count=count, largest=largest, folder=folder)
    return Rows(Passage, index.read(work))


def _multi_get(
    index: Index,
    patterns: Sequence[str],
    cursor: Cursor,
    *,
    count: int | None,
    largest: int,
    folder: Path | None,
) -> list[Passage]:
    parts: list[str] = []
    for pattern in patterns:
        own = [_of_this(index, part) for part in globs.split_mask(pattern)]
        is_odd = "," in pattern or pattern != pattern.strip()
        parts += [pattern] if is_odd and _is_one(cursor, pattern, folder) else own
    if not parts:
        raise UsageError("Name documents by a glob such as 'notes/2025-*.md' or by a list.")
    chosen: dict[tuple[object, ...], tuple[DocumentRow, paths.Range]] = {}
    missing: list[Passage] = []
    everything: list[DocumentRow] | None = None
    for part in parts:
        whole = paths.Range(part, None, count)
        is_glob = any(mark in part for mark in "*?[{")
        resolved = partial(document_parts.resolved, similar=len(missing) < SUGGESTED)
        try:
            one = (document_parts.find if is_glob else resolved)(cursor, whole, folder)
        except (DocumentNotFound, Ambiguous) as error:
            if not is_glob:
                missing.append(Passage.missing(part, str(error)))
                continue
            one = None
        found = [one] if one else []
        if not found:
            begin = document_lookup.folder_of_matches(part, folder)
            if everything is None and not begin:
                everything = document_lookup.documents_below(cursor, None)
            documents = everything or document_lookup.documents_below(cursor, None, begin=begin)
            found = document_parts.globbed(cursor, whole, folder, documents)
            if not found:
                missing.append(Passage.missing(part, readable(f"No documents match: {part}")))
        for document, asked in found:
            chosen[document.document_id, asked.first, asked.lines] = document, asked
    wanted = [
        d.hash
        for d, asked in chosen.values()
        if (asked.first or d.size <= largest) and d.size <= document_parts.LARGE_BYTES
    ]
    bodies = document_lookup.bodies(cursor, wanted)
    passages = list(missing)
    for document, asked in chosen.values():
        context = index.context_of(cursor, document)
        if asked.first is None and document.size > largest:
            passages.append(document_parts.too_large(document, context, document.size, largest))
            continue
        body: str | bytes | LongText
        if document.hash in bodies:
            body = bodies[document.hash]
        else:
            body = document_parts.body_of(cursor, document, some=asked.first is not None)
        try:
            passage = document_parts.passage(document, body, context, asked.first, asked.lines)
        except UsageError as error:
            passages.append(Passage.missing(asked.name, str(error)))
            continue
        size = len(passage.body.encode()) if asked.first else document.size
        if size > largest:
            passage = document_parts.too_large(document, context, size, largest, asked.first)
        passages.append(passage)
    return passages


def _of_this(index: Index, name: str) -> str:
    """Remove the index from a name: `qmd://notes/tea.md?index=work`.

    Raises:
        UsageError: that is another one.
    """
    bare, other = paths.of_index(name)
    if other not in (None, index.place.name):
        raise UsageError(
            f"{on_one_line(name)} is of the index '{other}', and this is "
            f"'{index.place.name}'.\n\nAsk that one: qmd --index {shlex.quote(other)}"
        )
    return bare


def _is_one(cursor: Cursor, name: str, folder: Path | None) -> bool:
    """Return whether a name stands for one document, or for several."""
    try:
        return document_lookup.found(cursor, name, folder) is not None
    except Ambiguous:
        return True


def outline_of_document(index: Index, name: str) -> list[SectionHeading]:
    """Return the headings of a document, named as `collection/path`; none if it has gone."""

    def look(cursor: Cursor) -> list[SectionHeading]:
        document = document_lookup.exactly(cursor, name)
        return [] if document is None else document_parts.headings_of(cursor, document)

    return index.read(look)


def folder_named(index: Index, name: str) -> tuple[str, str]:
    """Resolve `qmd://collection/folder` to a collection and a folder in it.

    A percent-encoded name is undone where nothing is called as it is written.
    """
    name = paths.normalise(_of_this(index, name)).removeprefix(paths.SCHEME)
    collection, _, prefix = name.strip("/").partition("/")
    known = [each.name for each in index.read(catalog.collections)]
    if collection not in known and paths.decoded(collection) in known:
        collection = paths.decoded(collection)
    if "%" in prefix and collection in known and not below(index, collection, prefix):
        prefix = paths.decoded(prefix)
    return collection, prefix


def below(index: Index, collection: str | None, prefix: str = "") -> list[DocumentRow]:
    """Return the documents of a collection, or below one of its folders; None: all."""
    return index.read(
        partial(document_lookup.documents_below, collection=collection, prefix=prefix)
    )
