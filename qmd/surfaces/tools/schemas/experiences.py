"""Tools that find and take experience records."""

from __future__ import annotations

from qmd.operations.experience_records import query_experiences, submit_experience
from qmd.surfaces.tools.schemas.derive import tool_of
from qmd.surfaces.tools.schemas.tool import Schema, array, integer, record, text


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


QUERY_EXPERIENCES = tool_of(
    query_experiences,
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
)

SUBMIT_EXPERIENCE = tool_of(
    submit_experience,
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
)

OF_RECORDS = (QUERY_EXPERIENCES.name, SUBMIT_EXPERIENCE.name)
"""Names of the tools that are there unless index.yml switches experience records off."""
