"""Methods that change an index, or what is beside it."""

from __future__ import annotations

from qmd.operations.cleanup import cleanup
from qmd.operations.collections import (
    add_collection,
    add_context,
    collections,
    contexts,
    remove_collection,
    remove_context,
)
from qmd.operations.embed import embed
from qmd.operations.exchange import export, import_
from qmd.operations.update import update
from qmd.surfaces.python.base import Base
from qmd.surfaces.python.derive import awaited


class Keeping(Base):
    """Methods that change an index, or what is beside it."""

    export = awaited(export)
    import_ = awaited(import_)
    collections = awaited(collections)
    add_collection = awaited(add_collection)
    remove_collection = awaited(remove_collection)
    contexts = awaited(contexts)
    add_context = awaited(add_context)
    remove_context = awaited(remove_context)
    update = awaited(update)
    embed = awaited(embed)
    cleanup = awaited(cleanup)
