"""Operations `stats` and `map`: facts about all documents, and their map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from qmd.declaration.operation import Parameter, operation
from qmd.declaration.parameters import WatchedCollections, named

if TYPE_CHECKING:
    from qmd.analytics.document_map import Map
    from qmd.analytics.report import Stats
    from qmd.operations.index import Index

FOR_PEOPLE = "It is for people to look at."

_FIXED = "The report lists a fixed number."

Terms = Annotated[
    int, Parameter(help="Terms that are listed.", least=0, absent={"command": _FIXED})
]

Longest = Annotated[
    int, Parameter(help="Longest documents that are listed.", least=0, absent={"command": _FIXED})
]

MapMethod = Annotated[
    Literal["pca", "tsne"],
    Parameter(help="pca: overall likeness; tsne: which documents are nearest to which."),
]


@operation(
    title="Statistics",
    sharded=True,
    absent={"tool": FOR_PEOPLE},
    examples=(
        ("Show sizes, months and frequent terms", "qmd stats"),
        ("Of one collection, for a program", "qmd stats -c notes --json"),
        ("Draw them", "qmd stats --plot notes.svg"),
    ),
)
def stats(
    index: Index,
    collection: WatchedCollections = None,
    *,
    terms: Terms = 20,
    longest: Longest = 10,
) -> Stats:
    """Show facts about the documents: over time, sizes, collections, frequent terms.

    Args:
        collection: only these collections.
        terms: frequent terms that are listed.
        longest: longest documents that are listed.

    Raises:
        CollectionNotFound: no collection has one of the names.
    """
    from qmd.analytics.report import gather

    return gather(index, named(collection), terms=terms, longest=longest)


@operation(
    title="Map of documents",
    absent={"tool": FOR_PEOPLE},
    examples=(
        ("Draw a map to look at in a browser", "qmd map"),
        ("Of one collection, as a picture", "qmd map notes.svg -c notes"),
        ("Put the nearest neighbours together", "qmd map neighbours.html --method tsne"),
    ),
)
def map(index: Index, collection: WatchedCollections = None, *, method: MapMethod = "pca") -> Map:
    """Draw a map of the documents by what they mean: each a point, near to what is like it.

    Args:
        collection: only these collections.
        method: "pca" for overall likeness; "tsne" for which documents are nearest to which.

    Raises:
        CollectionNotFound: no collection has one of the names.
        NotEmbedded, ModelError: there are no vectors of the model in use, or it is not here.
        UsageError: scikit-learn is not installed, which computes t-SNE.
    """
    from qmd.analytics.document_map import make

    return make(index, named(collection), method=method)
