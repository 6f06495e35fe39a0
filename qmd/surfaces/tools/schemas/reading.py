"""Tools that read documents, and what the index is made of."""

from __future__ import annotations

from qmd.operations.documents import get, multi_get
from qmd.operations.facets import FACET_NAMES
from qmd.operations.listing import documents
from qmd.operations.status import status
from qmd.surfaces.tools.schemas.derive import paged, tool_of
from qmd.surfaces.tools.schemas.tool import KEPT, array, flag, integer, record, text

_NUMBERED = {
    "lineNumbers": flag(False, "Prefix each line with 'N: '."),
}

_WHOLE = {
    "full": flag(False, "All of a long document, not its outline and first part."),
}

GET = tool_of(get, extras=_NUMBERED | _WHOLE)
GET = GET._replace(unlisted=GET.unlisted | _WHOLE.keys())  # a long answer names it
MULTI_GET = tool_of(multi_get, extras=_NUMBERED)

_PAGE = {
    "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100},
    "offset": {"type": "integer", "minimum": 0, "default": 0},
}

LS = paged(
    tool_of(documents, extras={"by": {"type": "string", "enum": list(FACET_NAMES)}, **_PAGE})
)
LS = LS._replace(unlisted=LS.unlisted | _PAGE.keys())  # a long answer names a cursor

STATUS = tool_of(
    status,
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
                        "dataDocuments": integer(),
                        "dataBytes": integer(),
                        "kept": KEPT,
                    },
                    *("name", "path", "pattern", "documents", "lastUpdated"),
                )
            ),
        },
        *("totalDocuments", "needsEmbedding", "hasVectorIndex", "collections"),
    ),
)
