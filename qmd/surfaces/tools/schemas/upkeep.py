"""Tools that bring the index up to date, where the user allows it."""

from __future__ import annotations

from qmd.operations.editing import append, edit, move
from qmd.operations.embed import embed
from qmd.operations.put import put, remove
from qmd.operations.undoing import undo
from qmd.operations.update import update
from qmd.surfaces.tools.schemas.derive import tool_of
from qmd.surfaces.tools.schemas.tool import KEPT, array, integer, record, text

UPDATE = tool_of(
    update,
    record(
        {
            "collections": array(
                record(
                    {
                        "name": text(),
                        **{
                            each: integer()
                            for each in ("new", "updated", "unchanged", "renamed", "removed")
                        },
                        "skipped": integer("Files that could not be indexed."),
                        "kept": KEPT,
                        "failure": text("Why the collection could not be updated."),
                    },
                    *("name", "new", "updated", "unchanged", "renamed", "removed", "skipped"),
                )
            )
        },
        "collections",
    ),
)

PUT = tool_of(
    put,
    record(
        {
            "file": text("collection/path"),
            "docid": text(),
            "title": text(),
            "replaced": {"type": "boolean", "description": "It took the place of another."},
        },
        *("file", "docid", "title", "replaced"),
    ),
)

_CHANGED = record(
    {
        "number": integer("Of the write; `undo` takes it."),
        "file": text("collection/path of the document, afterwards."),
        "docid": text("Of the document, afterwards; empty if it has gone."),
        "also": array(text(), description="Other documents that were changed."),
    },
    *("number", "file", "docid", "also"),
)

APPEND = tool_of(append, _CHANGED)
EDIT = tool_of(edit, _CHANGED)
MOVE = tool_of(move, _CHANGED)
UNDO = tool_of(undo, _CHANGED)

REMOVE = tool_of(remove, record({"file": text("collection/path of what is gone.")}, "file"))

EMBED = tool_of(
    embed,
    record(
        {
            "chunks": integer("Passages that got a vector."),
            "documents": integer("Documents of the index."),
            "lacking": integer("Documents still without all of their vectors."),
            "failed": integer("Passages that could not be embedded."),
            "stopped": {"type": "boolean", "description": "The time was over before all was done."},
            "dataBytes": integer("Bytes of data, such as base64, that are not embedded."),
        },
        *("chunks", "documents", "lacking", "failed", "stopped", "dataBytes"),
    ),
)
