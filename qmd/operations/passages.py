"""Operation `passages`: the best passages for a question, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Unpack

from qmd.analytics.rows import Rows
from qmd.declaration.operation import Parameter, operation
from qmd.declaration.parameters import LONGEST_QUERY, Exact, Mode, Selection
from qmd.operations.record_order import is_record
from qmd.operations.semantic_search import query
from qmd.ranking import excerpts
from qmd.ranking.excerpts import Excerpt, Excerpted, Spot
from qmd.ranking.matcher import Matcher
from qmd.storage import document_lookup
from qmd.storage.cursor import as_json
from qmd.text import headings
from qmd.text.tokens import estimated_tokens
from qmd.wording import MOST_OF_VALUE, shortened

if TYPE_CHECKING:
    from qmd.analytics.rows import Results
    from qmd.operations.index import Index
    from qmd.storage.cursor import Cursor

DOCUMENTS = 20
"""Documents that passages are taken from, at most."""

PER_FILE = 5
"""Passages of a document, at most."""

WINDOW = 600
"""Characters around a match, which then grow to the bounds of a section."""

RELATED = 0.35
"""Share of the best score below which a document is not worth its tokens."""

USUAL, LEAST, MOST = 1_000, 100, 50_000
"""Tokens of an answer: usually, and the bounds."""

RESERVED = 60
"""Tokens kept for the places that are left out."""

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

TokenBudget = Annotated[
    int,
    Parameter(
        help="Tokens of the answer at most; a token counts as four bytes.",
        helps={"tool": "4 bytes a token."},
        flags=("-t", "--max-tokens"),
        json="maxTokens",
        least=LEAST,
        most=MOST,
        aliases=("tokens", "budget", "tokenBudget", "tokenLimit", "maxLength"),
    ),
]


class Excerpts(Rows[Excerpt]):
    """Passages for a question, document by document, the best first.

    Attributes:
        notice: something to know about them, such as that documents lack vectors; or None.
        left_out: further passages that found no room, the best first.
    """

    def __init__(
        self,
        question: str,
        found: Iterable[Excerpt],
        left_out: Sequence[Excerpt] = (),
        notice: str | None = None,
    ) -> None:
        super().__init__(Excerpt, found)
        self.left_out = tuple(left_out)
        self.notice = notice
        self._question = question

    @property
    def text(self) -> str:
        """All of it but the notice, as models read it, within the budget."""
        return self.told()

    def told(self, budget: str = "maxTokens") -> str:
        """Write the passages, and the places of those that are left out.

        Args:
            budget: name of the option that makes the answer longer.
        """
        if not self:
            return f'No results found for "{shortened(self._question, MOST_OF_VALUE)}"'
        parts, context = [], None
        for number, each in enumerate(self, 1):
            if each.context and each.context != context:
                parts.append(f"Context: {' '.join(each.context.split())}")
            context = each.context
            parts.append(each.told(number))
        if self.left_out:
            parts.append(_remainder(self.left_out, budget))
        return "\n".join(parts)


def _remainder(left_out: Sequence[Excerpt], budget: str) -> str:
    """Name the passages that found no room, and how to get them."""
    named = list(excerpts.places_of(left_out[: excerpts.NAMED]))
    rest = len(left_out) - len(named)
    more = f" and {rest} more" if rest else ""
    return f"[Left out: {', '.join(named)}{more}; raise {budget}, or get one of them]"


@operation(
    title="Passages for a question",
    unlisted=("mode", "exact", "before", "filter", "collections"),
    tool_name="context",
    description="Answer a question in one call: the best passages with text, file:lines and "
    "headings, up to maxTokens. Try it first.",
    asks_models=True,
    forwardable=True,
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
    from anyio import to_thread

    found = await query(
        index,
        question,
        limit=DOCUMENTS,
        per_file=PER_FILE,
        mode=mode,
        exact=exact,
        length=WINDOW,
        **among,
    )
    work = partial(_packed, question, found, max_tokens)
    return await to_thread.run_sync(partial(index.read, work))


def _packed(question: str, found: Results, most: int, cursor: Cursor) -> Excerpts:
    """Take as many passages of the results as the budget holds."""
    spots: dict[str, list[tuple[int, int, int]]] = {}
    for result in found:
        if found and result.score < RELATED * found[0].score:
            continue
        numbers = [int(line.partition(":")[0]) for line in result.snippet.split("\n")]
        spots.setdefault(result.file, []).append((result.line, numbers[0], numbers[-1]))
    documents = _documents(cursor, found, list(spots))
    match = Matcher(found.about)
    spotted: list[Spot] = []
    for number, (document, _) in enumerate(documents):
        own = [excerpts.grown(document, Spot(number, *lines)) for lines in spots[document.file]]
        more = excerpts.further(document.lines, match, own, number, PER_FILE - len(own))
        spotted += [*own, *(excerpts.grown(document, each) for each in more)]
    notice = f"{found.notice}\n" if found.notice else ""
    room = most - estimated_tokens(notice) - RESERVED
    budget = excerpts.Budget(documents, room)
    ordered = excerpts.ranked_places(documents, spotted, match)
    if found and not is_record(found[0]):  # then they are not asked for, and stand behind
        ordered.sort(key=lambda spot: is_record(documents[spot.document][0]))
    for spot in ordered:
        budget.add(spot)
    return Excerpts(question, budget.excerpts(), budget.left, found.notice)


def _documents(
    cursor: Cursor, found: Results, files: Sequence[str]
) -> list[tuple[Excerpted, float]]:
    """Load the texts and headings of results; those that are gone since are left out."""
    best = {result.file: result for result in reversed(found)}
    there = {file: document_lookup.exactly(cursor, file) for file in files}
    known = {file: document.hash for file, document in there.items() if document is not None}
    bodies = document_lookup.bodies(cursor, list(known.values()))
    outlines = {
        str(key): headings.stored_headings(*stored)
        for key, *stored in cursor.run(
            "documents/outlines", hashes=as_json(list(dict.fromkeys(known.values())))
        )
    }
    return [
        (
            Excerpted(
                best[file].docid,
                file,
                best[file].title,
                best[file].context,
                bodies[digest].split("\n"),
                outlines.get(digest, []),
            ),
            best[file].score,
        )
        for file, digest in known.items()
        if digest in bodies
    ]
