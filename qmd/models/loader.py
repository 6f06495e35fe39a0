"""Models of one index, each loaded once on first use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from qmd.models.protocols import nothing
from qmd.named_tuple import NamedTuple
from qmd.settings.environment import Machine, Place
from qmd.settings.schema import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from qmd.models.protocols import Between, Embedder, Generator, Reranker
    from qmd.models.registry import Model, Role
    from qmd.models.selection import Space

Kind = TypeVar("Kind")

QUESTIONS = 500
"""Cached query vectors, the latest ones: agents repeat a query with another filter or limit, or for
the next page."""


class Helper(NamedTuple, Generic[Kind]):
    """A model that loads on first use.

    Attributes:
        identity: fingerprint of its file or endpoint, a part of the cache key.
            Raises a ModelError if its file is not here.
        load: gives it; raises a ModelError if it cannot run.
    """

    model: Model
    identity: Callable[[], str]
    load: Callable[[], Kind]


class _Asked(NamedTuple):
    """A query with its vector; its beginning if the query was too long."""

    vector: NDArray[np.float32]
    tokens: int | None


class Models:
    """Embedder, reranker and generator of an index. Safe to share between threads.

    Args:
        settings: returns the settings of index.yml, as far as they are approved.
        folder: what a relative path in index.yml begins at.
    """

    def __init__(self, settings: Callable[[], Settings], machine: Machine, folder: Path) -> None:
        self.machine = machine
        self._settings = settings
        self._folder = folder
        self._turn = threading.Lock()
        self._loaded: dict[Role, tuple[object, Any]] = {}
        self._asked: dict[tuple[str, str], _Asked] = {}  # the last one asked is last

    def close(self) -> None:
        """Release the memory of all models."""
        with self._turn:
            for _, model in self._loaded.values():
                model.close()
            self._loaded.clear()
            self._asked.clear()

    @property
    def loaded(self) -> bool:
        """True if a model is in memory."""
        return bool(self._loaded)

    def chosen(self, role: Role) -> Model | None:
        """Return the model of a role, or None if the role has none.

        Raises:
            UnknownModel: the settings name no known model.
        """
        from qmd.models import selection

        return selection.chosen(role, self._settings(), self.machine, folder=self._folder)

    def is_picked(self, role: Role) -> bool:
        """Check that the user has chosen a model for a role."""
        return role in self.machine.chosen or role in self._settings().models

    def space(self) -> Space:
        """Return the vector space of searches: the model in use with the current settings.

        Raises:
            ModelMissing, ModelUnusable: the file of the model is not here, or something else.
        """
        from qmd.models import selection

        model = self.chosen("embed")
        assert model is not None
        return selection.space(model, self._settings(), self.machine)

    def embedder(self, space: Space) -> Embedder:
        """Load the embedder of a vector space.

        Raises:
            ModelError: it cannot run here.
        """
        from qmd.models import selection

        make = partial(selection.embedder, space.model, self.machine, limit=space.tokens)
        return self._once("embed", space.fingerprint, make)

    def vectors(
        self,
        space: Space,
        questions: Sequence[str],
        *,
        between: Between = nothing,
        cut: Callable[[str, int], object] = lambda question, tokens: None,
    ) -> NDArray[np.float32]:
        """Embed queries, with the model's query prompt: (queries, dimensions).

        Those of an endpoint are not remembered: it may put another model in the place of one.

        Args:
            cut: told of each question that has more tokens than the model takes: of so many, from
                its beginning, the vector is.

        Raises:
            ModelError: it cannot run here, or could not do it.
        """
        from qmd.models import truncation

        if space.model.is_remote:
            rows, short = truncation.query_vectors(self.embedder(space), questions, between=between)
            for text, tokens in short.items():
                cut(text, tokens)
            return rows
        import numpy as np

        keys = {text: (space.fingerprint, text) for text in questions}
        with self._turn:
            known = {text: self._asked[key] for text, key in keys.items() if key in self._asked}
        unknown = [text for text in keys if text not in known]
        if unknown:
            rows, short = truncation.query_vectors(self.embedder(space), unknown, between=between)
            for text, row in zip(unknown, rows, strict=True):
                known[text] = _Asked(row, short.get(text))
        with self._turn:
            for text, key in keys.items():
                self._asked.pop(key, None)
                self._asked[key] = known[text]
            while len(self._asked) > QUESTIONS:
                del self._asked[next(iter(self._asked))]
        for text, asked in known.items():
            if asked.tokens is not None:
                cut(text, asked.tokens)
        return np.stack([known[text].vector for text in questions])

    def reranker(self) -> Helper[Reranker] | None:
        """Return the reranker, or None."""
        from qmd.models import selection

        return self._helper("rerank", selection.reranker)

    def generator(self) -> Helper[Generator] | None:
        """Return the generator, or None."""
        from qmd.models import selection

        return self._helper("generate", selection.generator)

    def help_at_once(self) -> bool:
        """Check that reranker and generator respond in about a second: on a GPU or an endpoint."""
        models = [model for role in ("generate", "rerank") if (model := self.chosen(role))]
        if not models or all(model.is_remote for model in models):
            return bool(models)
        from qmd.models.registry import can_run

        if not self.machine.gpu or not all(map(can_run, models)):
            return False
        from qmd.models.llama_bindings import uses_gpu

        return uses_gpu()

    def _helper(self, role: Role, make: Callable[[Model, Machine], Kind]) -> Helper[Kind] | None:
        from qmd.models import selection

        model = self.chosen(role)
        if model is None:
            return None

        def load() -> Kind:
            here = selection.located(model, self.machine)
            key = selection.identity(model, self.machine)
            return self._once(role, key, partial(make, here, self.machine))

        return Helper(model, partial(selection.identity, model, self.machine), load)

    def _once(self, role: Role, key: object, make: Callable[[], Kind]) -> Kind:
        """Return the model of a role, and close a previous one after its last use."""
        with self._turn:
            if role not in self._loaded or self._loaded[role][0] != key:
                if role in self._loaded:
                    self._loaded.pop(role)[1].close()
                self._loaded[role] = key, make()
            model: Kind = self._loaded[role][1]
            return model


def vectors_of(place: Place, machine: Machine, settings: Settings) -> str:
    """Return the fingerprint of the vectors that settings ask for, without loading a model.

    Raises:
        ModelMissing: the file of the model is not here.
    """
    from qmd.settings import trust

    models = Models(partial(trust.approved, place, settings), machine, place.config.parent)
    return models.space().fingerprint
