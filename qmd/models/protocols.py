"""Protocols of models: embedder, reranker, generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qmd.models.registry import Model

Between = Callable[[], None]
"""Callback between two steps of a long computation; an exception ends it."""


def nothing() -> None:
    """Do nothing between two steps."""


class Embedder(Protocol):
    """Embedding model: texts to vectors.

    Attributes:
        dimensions: of its vectors; None until one is made, if only an endpoint can tell.
        limit: tokens of a text with its prompt, at most.
    """

    model: Model

    @property
    def dimensions(self) -> int | None:
        """Dimensions of the vectors."""
        ...

    @property
    def limit(self) -> int:
        """Token limit of a text."""
        ...

    def count(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text; an upper bound where only the endpoint could count."""
        ...

    def embed(self, texts: Sequence[str], *, between: Between = nothing) -> NDArray[np.float32]:
        """Compute a vector of length 1 for each text, in order: (texts, dimensions).

        Raises:
            TextTooLong: a text has more tokens than `limit`.
            ModelFailure: the model could not do it.
        """
        ...

    def close(self) -> None:
        """Release the memory."""
        ...


class Reranker(Protocol):
    """Reranking model: relevance of passages to a query."""

    model: Model

    def score(
        self, query: str, passages: Sequence[str], *, between: Between = nothing
    ) -> list[float]:
        """Score each passage from 0 to 1, in order; a passage above the limit is cut.

        Raises:
            ModelFailure: the model could not do it.
        """
        ...

    def close(self) -> None:
        """Release the memory."""
        ...


class Generator(Protocol):
    """Generative model."""

    model: Model

    def generate(
        self,
        prompt: str,
        *,
        grammar: str | None = None,
        tokens: int = 256,
        between: Between = nothing,
    ) -> str:
        """Generate the continuation of the prompt.

        Args:
            prompt: message of the user; the model's chat template is applied to it.
            grammar: GBNF that the text has to follow, if the model runs here.
            tokens: at most.

        Raises:
            ModelFailure: the model could not do it.
        """
        ...

    def close(self) -> None:
        """Release the memory."""
        ...
