"""Methods that change an index, or what is beside it."""

from __future__ import annotations

from qmd.operations.cleanup import cleanup
from qmd.operations.collection_settings import (
    exclude_collection,
    ignore_files,
    include_collection,
    set_update_command,
)
from qmd.operations.collections import (
    add_collection,
    collection,
    collections,
    remove_collection,
    rename_collection,
)
from qmd.operations.contexts import add_context, contexts, missing_contexts, remove_context
from qmd.operations.editing import append, edit, move
from qmd.operations.embed import embed
from qmd.operations.exchange import export, import_
from qmd.operations.put import put, remove
from qmd.operations.undoing import journal, undo
from qmd.operations.update import update
from qmd.surfaces.python.base import Base
from qmd.surfaces.python.derive import awaited


class Keeping(Base):
    """Methods that change an index, or what is beside it."""

    export = awaited(export)
    import_ = awaited(import_)
    collections = awaited(collections)
    collection = awaited(collection)
    add_collection = awaited(add_collection)
    remove_collection = awaited(remove_collection)
    rename_collection = awaited(rename_collection)
    include_collection = awaited(include_collection)
    exclude_collection = awaited(exclude_collection)
    ignore_files = awaited(ignore_files)
    set_update_command = awaited(set_update_command)
    contexts = awaited(contexts)
    missing_contexts = awaited(missing_contexts)
    add_context = awaited(add_context)
    remove_context = awaited(remove_context)
    put = awaited(put)
    remove = awaited(remove)
    append = awaited(append)
    edit = awaited(edit)
    move = awaited(move)
    undo = awaited(undo)
    journal = awaited(journal)
    update = awaited(update)
    embed = awaited(embed)
    cleanup = awaited(cleanup)
