"""Tools that bring the index up to date, where the user allows it."""

from __future__ import annotations

from qmd.surfaces.tools.schemas.tool import Tool, array, integer, record, takes, text

UPDATE = Tool(
    "update",
    "Update the index",
    "Index what has changed in the files of the collections. Reports progress.",
    takes({"collections": array(text(minLength=1), maxItems=100)}),
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
                        "failure": text("Why the collection could not be updated."),
                    },
                    *("name", "new", "updated", "unchanged", "renamed", "removed", "skipped"),
                )
            )
        },
        "collections",
    ),
    writes=True,
    optional=True,
)

EMBED = Tool(
    "embed",
    "Make embeddings",
    "Make the vectors that semantic search needs, for what has none yet. Reports progress; may "
    "take long.",
    takes(
        {
            "collections": array(text(minLength=1), maxItems=100),
            "maxSeconds": integer("Stop after so long; call again to go on.", minimum=1),
        }
    ),
    record(
        {
            "chunks": integer("Passages that got a vector."),
            "documents": integer("Documents of the index."),
            "lacking": integer("Documents still without all of their vectors."),
            "failed": integer("Passages that could not be embedded."),
            "stopped": {"type": "boolean", "description": "The time was over before all was done."},
        },
        *("chunks", "documents", "lacking", "failed", "stopped"),
    ),
    writes=True,
    optional=True,
)
