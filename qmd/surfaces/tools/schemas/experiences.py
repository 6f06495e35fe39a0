"""Tools that find and take experience records."""

from __future__ import annotations

from qmd.surfaces.tools.schemas.tool import Schema, Tool, array, integer, record, takes, text


def _outcome(data: Schema) -> Schema:
    """Compose the schema of replies about experience records: data, or an error."""
    return record(
        {
            "success": {"type": "boolean"},
            "data": data,
            "error": record(
                {
                    "code": text(),
                    "message": text(),
                    "validation_errors": array(
                        record({"field": text(), "message": text()}, "field", "message")
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
    takes(
        {
            "keywords": text("Keywords or a question.", minLength=1),
            "limit": integer("1-50, default 10.", minimum=1, maximum=50, default=10),
            "offset": integer("Paging offset, default 0.", minimum=0, default=0),
        },
        "keywords",
    ),
    _outcome(
        record(
            {
                "experiences": array(
                    record(
                        {
                            "id": text(),
                            "title": text(),
                            "problem_description": text(),
                            "root_cause": text(),
                            "solution": text(),
                            "context": text(),
                            "keywords": array(text()),
                            "query_count": integer(),
                            "created_at": text(),
                            "relevance_score": {"type": "number"},
                        },
                        *("id", "title", "problem_description", "solution", "keywords"),
                        *("query_count", "created_at", "relevance_score"),
                    )
                ),
                "total": integer(),
                "limit": integer(),
                "offset": integer(),
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
    takes(
        {
            "title": text(minLength=1, maxLength=500),
            "problem_description": text(minLength=1),
            "root_cause": text(minLength=1),
            "solution": text(minLength=1),
            "context": text("Optional; code must be sanitized."),
            "keywords": array(text(minLength=1, maxLength=100), maxItems=100),
        },
        *("title", "problem_description", "solution"),
    ),
    _outcome(
        record(
            {
                "id": text(),
                "status": {"type": "string", "enum": ["published"]},
                "message": text(),
            },
            *("id", "status", "message"),
        )
    ),
    writes=True,
    idempotent=False,
)
