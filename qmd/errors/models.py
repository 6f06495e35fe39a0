"""Exceptions for models, model files and missing vectors."""

from __future__ import annotations

from collections.abc import Sequence

from qmd.errors.base import QmdError
from qmd.visible import shown


class ModelError(QmdError):
    """A model that cannot be used."""


class UnknownModel(ModelError):
    """No model has this name in this role."""

    def __init__(
        self, name: str, role: str, *, known: Sequence[str], does: str | None = None
    ) -> None:
        problem = (
            f"{shown(name)} is a model to {does}, not to {role}."
            if does
            else f"Unknown model: {shown(name)}."
        )
        super().__init__(
            f"{problem} Known: {', '.join(known)}.\n\n"
            "A model is one of these names, hf:org/repo/file.gguf, the path of a GGUF file, or "
            "openai:NAME for an endpoint."
        )
        self.name = name
        self.known = tuple(known)


class ModelMissing(ModelError):
    """The file of a model is not on this machine."""

    def __init__(
        self, name: str, problem: str, *, pull: bool = True, mend: str = "Check the path"
    ) -> None:
        mend = "Fetch it with 'qmd models pull'" if pull else mend
        super().__init__(
            f"The model {shown(name)} is not here: {shown(problem)}\n\n{mend}, or choose another "
            "under 'models' in index.yml ('qmd models list' shows them)."
        )
        self.name = name


class ModelUnusable(ModelError):
    """The file of a model is damaged or of another kind."""

    def __init__(
        self, name: str, problem: str, *, mend: str = "Fetch it again with 'qmd models pull'"
    ) -> None:
        super().__init__(
            f"The model {shown(name)} cannot be used: {shown(problem)}\n\n"
            f"{mend}, or choose another ('qmd models list')."
        )
        self.name = name


class RuntimeMissing(ModelError):
    """The library for local models is not installed."""

    def __init__(
        self,
        name: str,
        problem: str = "is not installed",
        *,
        library: str = "llama-cpp-python",
    ) -> None:
        from qmd.errors import extras

        extra = "llama" if library == "llama-cpp-python" else None
        super().__init__(
            f"The model {shown(name)} needs {library}, which {problem}.\n\n"
            f"Install it with: {extras.command(extra)}. Keyword search works without it."
        )
        self.name = name
        self.library = library


class HubFailure(ModelError):
    """The download of a model file failed."""

    def __init__(self, name: str, problem: str, mend: str) -> None:
        super().__init__(
            f"The model {shown(name)} could not be fetched: {shown(problem)}\n\n{mend}"
        )
        self.name = name


class ModelFailure(ModelError):
    """A call to a model failed."""


class TextTooLong(ModelError):
    """A text exceeds the token limit of the model."""

    def __init__(self, tokens: int, limit: int) -> None:
        super().__init__(
            f"A text of {tokens} tokens is too long for the model, which takes {limit}."
        )
        self.tokens = tokens
        self.limit = limit


class NotEmbedded(QmdError):
    """The index has no vectors of the model in use."""

    def __init__(self, hint: str = "") -> None:
        super().__init__(
            "Vector index not found. Run 'qmd embed' first to create embeddings."
            + (f"\n\n{hint}" if hint else "")
        )


class VectorsRemoved(QmdError):
    """Another process removed the vectors while this one added to them."""

    def __init__(self, model: str) -> None:
        super().__init__(
            f"The vectors of {shown(model)} were removed while more of them were being made.\n\n"
            "Another process did that, with 'qmd cleanup' or another model. Run 'qmd embed' again."
        )
        self.model = model
