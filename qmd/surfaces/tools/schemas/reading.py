"""Tools that read documents, and what the index is made of."""

from __future__ import annotations

from qmd.surfaces.tools.schemas.tool import Tool, array, flag, integer, record, takes, text

_NUMBERED = {
    "lineNumbers": flag(False, "Prefix each line with 'N: '."),
}

GET = Tool(
    "get",
    "Get document",
    "Get one document by path, docid (#abc123) or qmd:// URI. 'file.md:120' starts at line 120, "
    "'file.md:120:40' reads 40 lines. Suggests similar files when not found.",
    takes(
        {
            "file": text(
                "Path, #docid or qmd:// URI; an optional :line or :line:count suffix wins over "
                "fromLine/maxLines.",
                minLength=1,
            ),
            "fromLine": integer("Start line, 1-indexed."),
            "maxLines": integer("Maximum number of lines.", minimum=1),
            **_NUMBERED,
        },
        "file",
    ),
)

MULTI_GET = Tool(
    "multi_get",
    "Get several documents",
    "Get several documents by glob ('journals/2025-05*.md') or comma-separated list of "
    "paths/docids. Files over maxBytes are skipped with a notice.",
    takes(
        {
            "pattern": text("Glob, or comma-separated paths/docids.", minLength=1),
            "maxLines": integer("Maximum lines per file.", minimum=1),
            "maxBytes": integer(
                "Skip files larger than this (default 10240).", minimum=1, default=10240
            ),
            **_NUMBERED,
        },
        "pattern",
    ),
)

STATUS = Tool(
    "status",
    "Index status",
    "Collections, document counts and embedding status of the index.",
    takes({}),
    record(
        {
            "totalDocuments": integer(),
            "needsEmbedding": integer(),
            "hasVectorIndex": {"type": "boolean"},
            "collections": array(
                record(
                    {
                        "name": text(),
                        "path": text(),
                        "pattern": text(),
                        "documents": integer(),
                        "lastUpdated": text("ISO 8601"),
                    },
                    *("name", "path", "pattern", "documents", "lastUpdated"),
                )
            ),
        },
        *("totalDocuments", "needsEmbedding", "hasVectorIndex", "collections"),
    ),
)
