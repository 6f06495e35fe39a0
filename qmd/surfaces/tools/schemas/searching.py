"""Tools that search: by words, by meaning, and by both."""

from __future__ import annotations

from qmd.surfaces.tools.schemas.tool import Schema, Tool, array, flag, integer, record, takes, text

MOST_CHARACTERS = 10_000
"""Of a question."""


def _question(description: str) -> Schema:
    return text(description, minLength=1, maxLength=MOST_CHARACTERS)


def _least(score: float) -> Schema:
    return {
        "type": "number",
        "minimum": 0,
        "maximum": 1,
        "default": score,
        "description": f"Minimum relevance 0-1 (default {score}).",
    }


_LIMIT = integer("Maximum number of results (default 10).", minimum=1, maximum=500, default=10)
_COLLECTIONS = {
    "collection": text(
        "Search only this collection (same as collections with one name).", minLength=1
    ),
    "collections": array(
        text(minLength=1),
        maxItems=100,
        description="Search only these collections (OR). Omit for the default collections.",
    ),
}

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
                    "place": text("Page, slide or time of that line, where a file has some"),
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
    takes(
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
    takes(
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
    "Best-quality search: BM25 and vectors combined, with query expansion and reranking where "
    "models for them are set up. Give either `query` (plain text, expanded automatically) or "
    "`searches` (1-10 typed sub-queries lex/vec/hyde; the first counts double), not both.",
    takes(
        {
            "query": _question("Plain-text query. Mutually exclusive with searches."),
            "searches": {
                "type": "array",
                "minItems": 1,
                "maxItems": 10,
                "description": "Typed sub-queries. The first gets 2x weight.",
                "items": takes(
                    {
                        "type": {
                            "type": "string",
                            "enum": ["lex", "vec", "hyde"],
                            "description": "lex = BM25 keywords; vec = semantic question; "
                            "hyde = hypothetical answer passage",
                        },
                        "query": text(minLength=1, maxLength=MOST_CHARACTERS),
                    },
                    *("type", "query"),
                ),
            },
            "limit": _LIMIT,
            "minScore": _least(0),
            **_COLLECTIONS,
            "candidateLimit": integer(
                "Candidates passed to the reranker (default 40).",
                minimum=1,
                maximum=200,
                default=40,
            ),
            "intent": text("Background that disambiguates the query. Not searched on its own."),
            "rerank": flag(True, "Rerank with the local model (default true)."),
        }
    ),
    _RESULTS,
    asks_models=True,
)
