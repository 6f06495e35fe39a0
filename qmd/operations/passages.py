"""Operation `passages`: the best passages for a question, within a budget of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Unpack

from qmd.analytics.rows import Excerpts
from qmd.declaration.operation import Parameter, operation
from qmd.declaration.parameters import LONGEST_QUERY, Exact, Mode, Selection, TokenBudget
from qmd.operations.semantic_search import query

if TYPE_CHECKING:
    from qmd.operations.index import Index

DOCUMENTS = 20
"""Documents that passages are taken from, at most."""

USUAL = 1_000
"""Tokens of an answer."""

PassageQuestion = Annotated[
    str,
    Parameter(
        help="A question in your own words, or words to look for; - reads stdin.",
        helps={"tool": "A question or keywords."},
        json="query",
        words=True,
        longest=LONGEST_QUERY,
        aliases=("q", "text", "question", "keywords", "search"),
    ),
]


@operation(
    title="Passages for a question",
    unlisted=("mode", "exact", "before", "filter", "collections"),
    tool_name="context",
    description="Answer a question in one call: the best passages with text, file:lines and "
    "headings, up to maxTokens. Try it first.",
    asks_models=True,
    forwardable=True,
    sharded=True,
    examples=(
        ("What the notes say about a question", "qmd passages 'how hot should tea water be'"),
        ("As much as fits into 4,000 tokens", "qmd passages 'brewing tea' --max-tokens 4000"),
        ("From one collection, as JSON", "qmd passages 'what is planned' -c work --json"),
    ),
)
async def passages(
    index: Index,
    question: PassageQuestion,
    *,
    max_tokens: TokenBudget = USUAL,
    mode: Mode = None,
    exact: Exact = False,
    **among: Unpack[Selection],
) -> Excerpts:
    """Collect the best passages for a question, up to a number of tokens.

    Documents are found as `query` finds them. Passages of one document that touch are joined, and
    one that says what another has said is left out.

    Args:
        question: in your own words, or words to look for.
        max_tokens: of the answer; a token counts as four bytes of UTF-8.
        mode: "fast": words only; "hybrid": and meaning; "full": and models that expand and rerank;
            None: as `query` chooses.
        exact: look for words as they are written; see `search`.
        among: documents that may answer; see `Selection`.

    Returns:
        The passages, and as `text` all that a model needs to read.

    Raises:
        QueryError: the question cannot be read.
        UsageError: a date or the filter cannot be read.
        CollectionNotFound: no collection has one of the names.
    """
    found = await query(
        index, question, limit=DOCUMENTS, mode=mode, exact=exact, max_tokens=max_tokens, **among
    )
    return found.passages or Excerpts(question, (), notice=found.notice)
