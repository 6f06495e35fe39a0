"""Truncation of queries that exceed the token limit of the embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from qmd.errors import TextTooLong
from qmd.models.protocols import Between, nothing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qmd.models.protocols import Embedder
    from qmd.models.registry import Model

SHORTEST = 16
"""Tokens of the shortest cut. A query refused at this length fails for another reason."""

SHOWN = 40
"""Characters of a query in a notice."""


def query_vectors(
    embedder: Embedder, questions: Sequence[str], *, between: Between = nothing
) -> tuple[NDArray[np.float32], dict[str, int]]:
    """Embed each query, in order, and report the token limit of those that were cut.

    Raises:
        TextTooLong: the model takes next to nothing.
        ModelFailure: it could not do it.
    """
    given, limit = list(questions), embedder.limit
    while True:
        try:
            made = embedder.embed(given, between=between)
        except TextTooLong as refused:
            limit = min(limit, refused.limit)
            cut = [_beginning(embedder, text, limit) for text in given]
            if cut == given:  # an endpoint counts more tokens than we do
                if limit <= SHORTEST:
                    raise
                limit //= 2
                cut = [_beginning(embedder, text, limit) for text in given]
            given = cut
        else:
            whole = zip(questions, given, strict=True)
            return made, {text: limit for text, used in whole if used != text}


def _beginning(embedder: Embedder, text: str, limit: int) -> str:
    """Cut a text to the longest beginning within a token limit."""
    [tokens] = embedder.count([text])
    if tokens <= limit:
        return text
    fits, too_long = 0, len(text)
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        [tokens] = embedder.count([text[:middle]])
        fits, too_long = (middle, too_long) if tokens <= limit else (fits, middle)
    return text[:fits]


def truncation_notice(question: str, model: Model, tokens: int) -> str:
    """Build the notice for a query that was cut."""
    shown = question if len(question) <= SHOWN else f"{question[:SHOWN].rstrip()}…"
    return (
        f"Only the beginning of '{shown}' was searched by meaning: "
        f"{model.name} takes {tokens} tokens."
    )
