"""The tools: their names, what they take and what they give, as JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

Schema = dict[str, Any]


class Tool(NamedTuple):
    """A tool as clients see it.

    Attributes:
        writes: it changes the index.
        optional: it is only there if the user allows it, and may take as long as it needs.
        asks_models: it may take longer than one that reads the index.
    """

    name: str
    title: str
    description: str
    input: Schema
    output: Schema | None = None
    writes: bool = False
    idempotent: bool = True
    optional: bool = False
    asks_models: bool = False

    @property
    def annotations(self) -> dict[str, bool]:
        """Hints of the protocol."""
        return {
            "readOnlyHint": not self.writes,
            "destructiveHint": False,
            "idempotentHint": self.idempotent,
            "openWorldHint": False,
        }


def _takes(properties: Mapping[str, Schema], *required: str) -> Schema:
    schema: Schema = {
        "type": "object",
        "properties": dict(properties),
        "additionalProperties": False,
    }
    return schema | ({"required": list(required)} if required else {})


def _object(properties: Mapping[str, Schema], *required: str) -> Schema:
    schema: Schema = {"type": "object", "properties": dict(properties)}
    return schema | ({"required": list(required)} if required else {})


def _array(items: Schema, **bounds: int | str) -> Schema:
    return {"type": "array", "items": items, **bounds}


def _text(description: str | None = None, **bounds: int) -> Schema:
    about = {} if description is None else {"description": description}
    return {"type": "string", **bounds, **about}


def _integer(description: str | None = None, **bounds: int) -> Schema:
    about = {} if description is None else {"description": description}
    return {"type": "integer", **bounds, **about}


def _flag(default: bool, description: str) -> Schema:
    return {"type": "boolean", "default": default, "description": description}


MOST_CHARACTERS = 10_000
"""Of a question."""


def _question(description: str) -> Schema:
    return _text(description, minLength=1, maxLength=MOST_CHARACTERS)


def _least(score: float) -> Schema:
    return {
        "type": "number",
        "minimum": 0,
        "maximum": 1,
        "default": score,
        "description": f"Minimum relevance 0-1 (default {score}).",
    }


_LIMIT = _integer("Maximum number of results (default 10).", minimum=1, maximum=500, default=10)
_COLLECTIONS = {
    "collection": _text(
        "Search only this collection (same as collections with one name).", minLength=1
    ),
    "collections": _array(
        _text(minLength=1),
        maxItems=100,
        description="Search only these collections (OR). Omit for the default collections.",
    ),
}
_NUMBERED = {
    "lineNumbers": _flag(False, "Prefix each line with 'N: '."),
}

_RESULTS = _object(
    {
        "results": _array(
            _object(
                {
                    "docid": _text(
                        "Short document id, e.g. #abc123. Accepted by get and multi_get."
                    ),
                    "file": _text("Display path: collection/relative/path.md"),
                    "title": _text(),
                    "score": {"type": "number", "description": "Relevance 0-1, two decimals"},
                    "context": {
                        "anyOf": [{"type": "string"}, {"type": "null"}],
                        "description": "Context set with `qmd context add`, or null",
                    },
                    "snippet": _text(
                        "Best matching passage (up to 300 characters), each line as 'N: text'"
                    ),
                    "line": _integer("1-indexed line of the best match in the source file"),
                },
                *("docid", "file", "title", "score", "context", "snippet"),
            )
        )
    },
    "results",
)

SEARCH = Tool(
    "search",
    "Keyword search (BM25)",
    'Fast BM25 keyword search. Supports "quoted phrases" and -negation. No model needed.',
    _takes(
        {
            "query": _question('Keywords, "quoted phrases", -negation.'),
            "limit": _LIMIT,
            "minScore": _least(0),
            **_COLLECTIONS,
        },
        "query",
    ),
    _RESULTS,
)

VSEARCH = Tool(
    "vsearch",
    "Semantic search (vectors)",
    "Semantic similarity search over embeddings. Needs `qmd embed` to have been run.",
    _takes(
        {
            "query": _question("A natural-language question."),
            "limit": _LIMIT,
            "minScore": _least(0.3),
            **_COLLECTIONS,
        },
        "query",
    ),
    _RESULTS,
    asks_models=True,
)

QUERY = Tool(
    "query",
    "Hybrid search",
    "Best-quality search: BM25 + vectors fused with RRF, query expansion and reranking. Give "
    "either `query` (plain text, expanded automatically) or `searches` (1-10 typed sub-queries "
    "lex/vec/hyde; the first counts double), not both.",
    _takes(
        {
            "query": _question("Plain-text query. Mutually exclusive with searches."),
            "searches": {
                "type": "array",
                "minItems": 1,
                "maxItems": 10,
                "description": "Typed sub-queries. The first gets 2x weight.",
                "items": _takes(
                    {
                        "type": {
                            "type": "string",
                            "enum": ["lex", "vec", "hyde"],
                            "description": "lex = BM25 keywords; vec = semantic question; "
                            "hyde = hypothetical answer passage",
                        },
                        "query": _text(minLength=1, maxLength=MOST_CHARACTERS),
                    },
                    *("type", "query"),
                ),
            },
            "limit": _LIMIT,
            "minScore": _least(0),
            **_COLLECTIONS,
            "candidateLimit": _integer(
                "Candidates passed to the reranker (default 40).",
                minimum=1,
                maximum=200,
                default=40,
            ),
            "intent": _text("Background that disambiguates the query. Not searched on its own."),
            "rerank": _flag(True, "Rerank with the local model (default true)."),
        }
    ),
    _RESULTS,
    asks_models=True,
)

GET = Tool(
    "get",
    "Get document",
    "Get one document by path, docid (#abc123) or qmd:// URI. 'file.md:120' starts at line 120, "
    "'file.md:120:40' reads 40 lines. Suggests similar files when not found.",
    _takes(
        {
            "file": _text(
                "Path, #docid or qmd:// URI; an optional :line or :line:count suffix wins over "
                "fromLine/maxLines.",
                minLength=1,
            ),
            "fromLine": _integer("Start line, 1-indexed."),
            "maxLines": _integer("Maximum number of lines.", minimum=1),
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
    _takes(
        {
            "pattern": _text("Glob, or comma-separated paths/docids.", minLength=1),
            "maxLines": _integer("Maximum lines per file.", minimum=1),
            "maxBytes": _integer(
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
    _takes({}),
    _object(
        {
            "totalDocuments": _integer(),
            "needsEmbedding": _integer(),
            "hasVectorIndex": {"type": "boolean"},
            "collections": _array(
                _object(
                    {
                        "name": _text(),
                        "path": _text(),
                        "pattern": _text(),
                        "documents": _integer(),
                        "lastUpdated": _text("ISO 8601"),
                    },
                    *("name", "path", "pattern", "documents", "lastUpdated"),
                )
            ),
        },
        *("totalDocuments", "needsEmbedding", "hasVectorIndex", "collections"),
    ),
)


def _outcome(data: Schema) -> Schema:
    """What the tools of experience records answer: data, or an error."""
    return _object(
        {
            "success": {"type": "boolean"},
            "data": data,
            "error": _object(
                {
                    "code": _text(),
                    "message": _text(),
                    "validation_errors": _array(
                        _object({"field": _text(), "message": _text()}, "field", "message")
                    ),
                    "details": {
                        "type": "object",
                        "additionalProperties": True,
                        "description": "Optional extra detail",
                    },
                },
                *("code", "message"),
            ),
        },
        "success",
    )


QUERY_EXPERIENCES = Tool(
    "query_experiences",
    "Query experiences",
    "Find recorded problem/solution experiences, ranked by relevance, use and recency.",
    _takes(
        {
            "keywords": _text("Keywords or a question.", minLength=1),
            "limit": _integer("1-50, default 10.", minimum=1, maximum=50, default=10),
            "offset": _integer("Paging offset, default 0.", minimum=0, default=0),
        },
        "keywords",
    ),
    _outcome(
        _object(
            {
                "experiences": _array(
                    _object(
                        {
                            "id": _text(),
                            "title": _text(),
                            "problem_description": _text(),
                            "root_cause": _text(),
                            "solution": _text(),
                            "context": _text(),
                            "keywords": _array(_text()),
                            "query_count": _integer(),
                            "created_at": _text(),
                            "relevance_score": {"type": "number"},
                        },
                        *("id", "title", "problem_description", "solution", "keywords"),
                        *("query_count", "created_at", "relevance_score"),
                    )
                ),
                "total": _integer(),
                "limit": _integer(),
                "offset": _integer(),
            },
            *("experiences", "total", "limit", "offset"),
        )
    ),
    idempotent=False,
    asks_models=True,
)

SUBMIT_EXPERIENCE = Tool(
    "submit_experience",
    "Submit experience",
    "Record a solved problem so that later searches find it. Secrets and personal data must be "
    "removed from context first.",
    _takes(
        {
            "title": _text(minLength=1, maxLength=500),
            "problem_description": _text(minLength=1),
            "root_cause": _text(minLength=1),
            "solution": _text(minLength=1),
            "context": _text("Optional; code must be sanitized."),
            "keywords": _array(_text(minLength=1, maxLength=100), maxItems=100),
        },
        *("title", "problem_description", "solution"),
    ),
    _outcome(
        _object(
            {
                "id": _text(),
                "status": {"type": "string", "enum": ["published"]},
                "message": _text(),
            },
            *("id", "status", "message"),
        )
    ),
    writes=True,
    idempotent=False,
)

UPDATE = Tool(
    "update",
    "Update the index",
    "Index what has changed in the files of the collections. Reports progress.",
    _takes({"collections": _array(_text(minLength=1), maxItems=100)}),
    _object(
        {
            "collections": _array(
                _object(
                    {
                        "name": _text(),
                        **{
                            each: _integer()
                            for each in ("new", "updated", "unchanged", "renamed", "removed")
                        },
                        "skipped": _integer("Files that could not be indexed."),
                        "failure": _text("Why the collection could not be updated."),
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
    _takes(
        {
            "collections": _array(_text(minLength=1), maxItems=100),
            "maxSeconds": _integer("Stop after so long; call again to go on.", minimum=1),
        }
    ),
    _object(
        {
            "chunks": _integer("Passages that got a vector."),
            "documents": _integer("Documents of the index."),
            "lacking": _integer("Documents still without all of their vectors."),
            "failed": _integer("Passages that could not be embedded."),
            "stopped": {"type": "boolean", "description": "The time was over before all was done."},
        },
        *("chunks", "documents", "lacking", "failed", "stopped"),
    ),
    writes=True,
    optional=True,
)

TOOLS = (
    SEARCH,
    VSEARCH,
    QUERY,
    GET,
    MULTI_GET,
    STATUS,
    QUERY_EXPERIENCES,
    SUBMIT_EXPERIENCE,
    UPDATE,
    EMBED,
)

PREFIX = "qmd_"
"""Before the name of a tool, for clients that put the tools of all servers in one list."""
