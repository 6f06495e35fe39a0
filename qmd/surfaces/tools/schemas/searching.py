"""Tools that search: by words, by meaning, by both, and by another document."""

from __future__ import annotations

from qmd.operations.grep import grep
from qmd.operations.links import links
from qmd.operations.passages import passages
from qmd.operations.search import search
from qmd.operations.semantic_search import query, vector_search
from qmd.operations.similar import similar
from qmd.surfaces.tools.schemas.derive import paged, tool_of
from qmd.surfaces.tools.schemas.tool import array, integer, record, text

_RESULTS = record(
    {
        "results": array(
            record(
                {
                    "docid": text(
                        "Short document id, e.g. #abc123. Accepted by get and multi_get."
                    ),
                    "file": text("Display path: collection/relative/path.md"),
                    "title": text(),
                    "score": {"type": "number", "description": "Relevance 0-1, two decimals"},
                    "context": {
                        "anyOf": [{"type": "string"}, {"type": "null"}],
                        "description": "Context set with `qmd context add`, or null",
                    },
                    "snippet": text(
                        "Best matching passage (up to 300 characters), each line as 'N: text'"
                    ),
                    "line": integer("1-indexed line of the best match in the text"),
                    "size": integer("Bytes of the text of the document"),
                    "stale": {
                        "type": "boolean",
                        "description": "True if the file has changed or gone since the last update",
                    },
                    "unreviewed": {
                        "type": "boolean",
                        "description": "True if it is an experience record of an agent",
                    },
                    "place": text("Page, slide or time of that line, where a file has some"),
                    "alsoIn": array(
                        text(), description="Names of the same file in other collections"
                    ),
                    "similar": array(
                        text(), description="Near-duplicates that it stands for, as file"
                    ),
                },
                *("docid", "file", "title", "score", "context", "snippet"),
            )
        ),
        "nextCursor": text("Gives the results after these, with the same arguments"),
    },
    "results",
)

SEARCH = paged(tool_of(search, _RESULTS))
VSEARCH = tool_of(vector_search, _RESULTS)
QUERY = tool_of(query, _RESULTS)
GREP = paged(tool_of(grep))
LINKS = tool_of(links)
SIMILAR = tool_of(similar)
CONTEXT = tool_of(passages)
