"""Operations on experience records, as agents call them; `experiences` carries them out.

Limits are those of the contract for experience records, which checks all arguments at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from qmd.declaration.operation import Parameter, Surface, operation

if TYPE_CHECKING:
    from qmd.operations.experiences import Outcome
    from qmd.operations.index import Index

OF_AGENTS: dict[Surface, str] = {
    "command": "Agents keep these records; a search finds them like documents.",
    "python": "Agents keep these records; a program reads their documents.",
}

NAMELESS = {"tool": ""}
"""Help of fields whose names say enough to a language model."""

_KEYWORD = {"type": "string", "minLength": 1, "maxLength": 100}

RecordQuery = Annotated[
    str, Parameter(help="Keywords or a question.", aliases=("query", "q", "text"), bare=True)
]
Page = Annotated[int, Parameter(help="1-50, default 10.", least=1, most=50, bare=True)]
Offset = Annotated[int, Parameter(help="Paging offset, default 0.", least=0, bare=True)]

Title = Annotated[str, Parameter(help="Title of the record.", helps=NAMELESS, longest=500)]
Problem = Annotated[str, Parameter(help="The problem.", helps=NAMELESS, json="problem_description")]
Cause = Annotated[
    str | None,
    Parameter(
        help="Its cause.",
        helps=NAMELESS,
        json="root_cause",
        schema={"type": "string", "minLength": 1},
    ),
]
Solution = Annotated[str, Parameter(help="What solved it.", helps=NAMELESS)]
Surroundings = Annotated[str | None, Parameter(help="Optional; code must be sanitized.")]
Keywords = Annotated[
    Sequence[str] | None,
    Parameter(
        help="Words to find it by.",
        helps=NAMELESS,
        kind="names",
        schema={"type": "array", "items": _KEYWORD, "maxItems": 100},
    ),
]


@operation(
    title="Query experiences",
    idempotent=False,
    asks_models=True,
    absent=OF_AGENTS,
)
def query_experiences(
    index: Index, keywords: RecordQuery, *, limit: Page = 10, offset: Offset = 0
) -> Outcome:
    """Find recorded problem/solution experiences, ranked by relevance, use and recency.

    Args:
        keywords: words, or a question.
        limit: records of a page.
        offset: records before the page.
    """
    from qmd.operations.experiences import Experiences

    return Experiences(index).query({"keywords": keywords, "limit": limit, "offset": offset})


@operation(
    title="Submit experience",
    description="Record a solved problem so that later searches find it. Secrets and personal data "
    "must be removed from context first.",
    writes=True,
    idempotent=False,
    absent=OF_AGENTS,
)
def submit_experience(
    index: Index,
    *,
    title: Title,
    problem_description: Problem,
    root_cause: Cause = None,
    solution: Solution,
    context: Surroundings = None,
    keywords: Keywords = None,
) -> Outcome:
    """Record a solved problem so that later searches find it.

    Args:
        title: of the record.
        problem_description: what went wrong.
        root_cause: of the problem.
        solution: what solved it.
        context: of the problem, without secrets and personal data.
        keywords: to find it by.
    """
    from qmd.operations.experiences import Experiences

    given = {
        "title": title,
        "problem_description": problem_description,
        "root_cause": root_cause,
        "solution": solution,
        "context": context,
        "keywords": keywords and list(keywords),
    }
    return Experiences(index).submit(given)
