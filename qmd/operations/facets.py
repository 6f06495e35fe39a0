"""Operation `facets`: numbers of documents by tag, folder, kind or year."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from qmd.analytics.rows import Rows
from qmd.declaration.operation import Parameter, operation
from qmd.declaration.parameters import UNLIMITED, Since, selected
from qmd.named_tuple import NamedTuple
from qmd.operations.listing import ListedPath

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.storage.cursor import Cursor
    from qmd.types import Filter

FacetName = Literal["tag", "folder", "kind", "year"]

FACET_NAMES: tuple[str, ...] = get_args(FacetName)

CountedBy = Annotated[FacetName, Parameter(help="What documents are counted by.")]


class FacetValue(NamedTuple):
    """A tag, folder, kind or year, with the number of documents that have it."""

    value: str
    documents: int


@operation(
    title="Counts by tag, folder, kind or year",
    sharded=True,
    absent={"tool": "`ls` with `by` counts, so that agents have one tool to find their way."},
    examples=(
        ("Which tags there are, the most frequent first", "qmd facets"),
        ("Years of a folder's documents", "qmd facets notes/journal --by year"),
        ("Kinds of files of this year, as JSON", "qmd facets --by kind --since 2025 --json"),
    ),
)
def facets(
    index: Index, path: ListedPath = None, *, by: CountedBy = "tag", since: Since = None
) -> Rows[FacetValue]:
    """Count documents by tag, folder, kind of file or year.

    Args:
        path: a collection, or one of its folders: `notes/work`; None: the collections that searches
            look into by default.
        by: "tag", "folder" (those directly in the path), "kind" (the suffix) or "year".
        since: only documents of this day or later.

    Returns:
        Values with their numbers of documents, the most frequent first.

    Raises:
        CollectionNotFound: no collection has this name.
        InvalidArgument: the day cannot be read.
    """
    from qmd.text import paths

    name = (path or "").removeprefix(paths.SCHEME).strip("/")
    collection, _, prefix = name.partition("/")
    among = selected(collection=collection or None, since=since)
    return Rows(FacetValue, index.read(partial(_counted, index, among, prefix, by)))


def _counted(index: Index, among: Filter, prefix: str, by: str, cursor: Cursor) -> list[FacetValue]:
    from qmd.ranking.postings import allowed_ids
    from qmd.storage.cursor import as_json
    from qmd.storage.document_lookup import documents_below

    narrowed = index.with_default_collections(cursor, among)
    if narrowed is None:
        return []
    ids = set(allowed_ids(cursor, narrowed))
    if prefix and among.collections:
        below = documents_below(cursor, among.collections[0], prefix)
        ids &= {each.document_id for each in below}
    depth = 1 + (prefix.count("/") + 1 if prefix else 0)
    rows = cursor.run("documents/facets", ids=as_json(sorted(ids)), depth=depth, most=UNLIMITED)
    return [FacetValue(value, documents) for facet, value, documents in rows if facet == by]
