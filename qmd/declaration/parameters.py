"""Parameters that several operations share, each defined once.

A parameter is an annotated type: the type is for Python, the `Parameter` for all surfaces.
`Selection` groups those that choose documents; an operation takes them with
`**among: Unpack[Selection]` and turns them into a `Filter` with `selected(**among)`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Literal

from qmd.declaration.operation import Parameter
from qmd.errors import InvalidArgument
from qmd.types import Filter

if TYPE_CHECKING:
    from typing import TypedDict
else:

    class TypedDict:
        """Base of a group of parameters, whose annotations stay text until they are read."""

        def __init_subclass__(cls, *, total: bool) -> None:
            """Take what type checkers read."""


UNLIMITED = 1_000_000
"""Results when all are asked for."""

LONGEST_QUERY = 10_000
"""Characters of a query over MCP and REST."""

Names = str | Iterable[str] | None
"""One name, or several; None means all, in a search the collections included by default."""

Day = date | str | None
"""A day or a moment, in UTC if it does not say; text as 2025-03-14."""

File = str | os.PathLike[str]
"""A path on disk."""

_WRITTEN_IN_TEXT = "An answer to a model is a text of fixed shape."
_SIZED = "Snippets for models have a fixed size."

# -- which documents ---------------------------------------------------------------------

Collections = Annotated[
    Names,
    Parameter(
        help="Only this collection; may be repeated.",
        helps={
            "tool": "Search only these collections (OR). Omit for the default collections.",
            "sql": "One collection; null: those that searches look into by default.",
        },
        flags=("-c", "--collection"),
        metavar="NAME",
        json="collections",
        single="collection",
        items=100,
        kind="names",
        complete="collections",
        bare=True,
    ),
]

Since = Annotated[
    Day,
    Parameter(
        help="Documents of this day or later: 2025-03-14, 2025-03, 7d.",
        helps={"tool": "2025-03-14, 2025-03, 7d."},
        metavar="DATE",
        kind="day",
    ),
]

Before = Annotated[
    Day, Parameter(help="Documents from before this day.", metavar="DATE", kind="day", bare=True)
]

FrontmatterFilter = Annotated[
    str | None, Parameter(help="On frontmatter: 'status = open'.", metavar="TEST")
]

PathGlob = Annotated[
    str | None,
    Parameter(
        help="Documents under a folder, or that a glob matches: docs/api, 'journal/2024-*'.",
        helps={"tool": "Folder or glob: docs/api, 'journal/2024-*'."},
        metavar="GLOB",
    ),
]


class Selection(TypedDict, total=False):
    """Parameters that choose documents; without any, those that searches look into by default."""

    collection: Collections
    since: Since
    before: Before
    filter: FrontmatterFilter
    path: PathGlob


def selected(
    *,
    collection: Names = None,
    since: Day = None,
    before: Day = None,
    filter: str | None = None,
    path: str | None = None,
) -> Filter:
    """Make the filter that a selection means.

    Raises:
        InvalidArgument: a date cannot be read.
        UsageError: the frontmatter filter or the path cannot be read.
    """
    # A search without filters loads none of what reads them.
    chosen = Filter(named(collection) or None)
    if since is not None or before is not None:
        chosen = chosen._replace(since=_moment(since, "since"), before=_moment(before, "before"))
    if filter is not None:
        from qmd.text.filters import parse_filter

        chosen = chosen._replace(conditions=parse_filter(filter))
    if path is not None:
        from qmd.text import globs

        chosen = chosen._replace(path=globs.under_folder(path))
    return chosen


def named(names: Names) -> tuple[str, ...]:
    """Return names as a tuple, which is empty for None."""
    return (names,) if isinstance(names, str) else tuple(names or ())


def _moment(value: Day, name: str) -> datetime | None:
    """Return the moment that a day begins with.

    Raises:
        InvalidArgument: it cannot be read.
    """
    from qmd.text.dates import DAYS, named_day

    if value is None:
        return None
    found = named_day(value)
    if found is None or found != found:  # as the NaT of pandas
        raise InvalidArgument(name, f"takes a date such as {DAYS}, not {value!r}.")
    return found


# -- what to look for, and how much of it -------------------------------------------------

Keywords = Annotated[
    str,
    Parameter(
        help='Words to look for. "exact phrase"; "tea -green" or -- tea -green; - reads stdin. '
        "Fields title: path: tag: type: lang: after: before:; conf*; a OR b; (a AND b) OR c.",
        helps={
            "tool": 'Keywords, "quoted phrases", -negation, prefix*, OR, (groups); fields title: '
            "path: tag: type: lang: after: before:."
        },
        words=True,
        longest=LONGEST_QUERY,
        aliases=("q", "text", "keywords", "search", "searchQuery"),
    ),
]

Question = Annotated[
    str,
    Parameter(
        help="What you want to know, in your own words; - reads stdin.",
        helps={"tool": "A natural-language question."},
        json="query",
        words=True,
        longest=LONGEST_QUERY,
        aliases=("q", "text", "question", "search", "searchQuery"),
        bare=True,
    ),
]

Limit = Annotated[
    int | None,
    Parameter(
        help="Results at most (5; 20 with --json and --files).",
        helps={"tool": "Maximum number of results (default 10)."},
        flags=("-n", "--limit"),
        least=1,
        json_most=500,
        defaults={"command": None},
        aliases=("topK", "k", "n", "count", "maxResults", "numResults", "size"),
        bare=True,
    ),
]

MinScore = Annotated[
    float,
    Parameter(
        help="Leave out lower scores (0; vsearch: 0.3, also with --all).",
        helps={"tool": "Minimum relevance 0-1 (default {default})."},
        least=0,
        most=1,
        unbounded=frozenset({"python"}),
        defaults={"command": None},
        aliases=("threshold", "minRelevance"),
        bare=True,
    ),
]

AllCopies = Annotated[
    bool,
    Parameter(
        help="Show near-duplicates one by one, not folded into the best of them.",
        flags=("--all-copies",),
        json="allCopies",
    ),
]

PerFile = Annotated[int, Parameter(help="Passages of one document at most.", least=1)]

Exact = Annotated[
    bool,
    Parameter(
        help="Search words as they are written, also those that no document has.",
        helps={"tool": "No near words in place of those that no document has."},
    ),
]

Full = Annotated[
    bool,
    Parameter(
        help="Whole documents, no snippets.",
        absent={"tool": "`get` and `multi_get` return documents, within a size limit."},
    ),
]

Length = Annotated[
    int,
    Parameter(
        help="Characters of a snippet.",
        least=1,
        defaults={"tool": 300},
        absent={
            "tool": _SIZED,
            "command": "The output format decides: 300 in JSON, 500 elsewhere.",
        },
    ),
]

LEAST_TOKENS, MOST_TOKENS = 100, 50_000
"""Tokens of an answer: bounds."""

_BUDGET = Parameter(
    help="Passages with their text, up to so many tokens; a token counts as four bytes.",
    helps={"tool": "4 bytes a token."},
    flags=("-t", "--max-tokens"),
    metavar="N",
    json="maxTokens",
    least=LEAST_TOKENS,
    most=MOST_TOKENS,
    aliases=("tokens", "budget", "tokenBudget", "tokenLimit", "maxLength"),
)

TokenBudget = Annotated[int, _BUDGET]

PassagesUpTo = Annotated[int | None, _BUDGET]
"""Of a search that answers with passages in place of snippets, if it is given."""

# -- hybrid search -------------------------------------------------------------------------

QueryDocument = Annotated[
    str | None,
    Parameter(
        help="A question, or lines lex: vec: hyde: intent:; - reads stdin.",
        helps={"tool": "Plain-text query. Mutually exclusive with searches."},
        json="query",
        words=True,
        longest=LONGEST_QUERY,
        aliases=("q", "text", "question", "search", "searchQuery"),
        bare=True,
    ),
]

TypedQueries = Annotated[
    "list[dict[str, str]] | None",
    Parameter(
        help="Typed sub-queries. The first gets 2x weight.",
        kind="json",
        schema={
            "type": "array",
            "minItems": 1,
            "maxItems": 10,
            "items": {
                "type": "object",
                "properties": {
                    "type": {
                        "type": "string",
                        "enum": ["lex", "vec", "hyde"],
                        "description": "lex = BM25 keywords; vec = semantic question; "
                        "hyde = hypothetical answer passage",
                    },
                    "query": {"type": "string", "minLength": 1, "maxLength": LONGEST_QUERY},
                },
                "additionalProperties": False,
                "required": ["type", "query"],
            },
        },
        absent={"command": "A query of several lines `lex:`, `vec:`, `hyde:` says the same."},
        bare=True,
    ),
]

Fresh = Annotated[
    bool,
    Parameter(
        help="Update the index first, without update commands.",
        helps={"tool": "Index what has changed in the files before the search."},
    ),
]

Mode = Annotated[
    Literal["fast", "hybrid", "full"] | None,
    Parameter(help="fast: words; hybrid: and meaning; full: and models that help."),
]

Meaning = Annotated[
    bool,
    Parameter(
        help="Search by meaning, too.",
        absent={
            "command": "`--mode fast` says the same.",
            "tool": "`mode` says the same.",
        },
    ),
]

Intent = Annotated[
    str | None,
    Parameter(
        help="What the question is about.",
        helps={"tool": "What an ambiguous query is about."},
        metavar="WORDS",
    ),
]

Candidates = Annotated[
    int,
    Parameter(
        help="Documents that a model judges.",
        helps={"tool": "Candidates passed to the reranker (default 40)."},
        flags=("-C", "--candidate-limit"),
        json="candidateLimit",
        least=1,
        json_most=200,
        bare=True,
    ),
]

Expand = Annotated[
    bool | None,
    Parameter(
        help="Search as it is asked, not also in other words.",
        flags=("--no-expand",),
        absent={"tool": "`query` is expanded, `searches` are not; `mode` decides as well."},
    ),
]

Rerank = Annotated[
    bool | None,
    Parameter(
        help="Let no model judge the results.",
        helps={"tool": "Rerank with the local model (default true)."},
        flags=("--no-rerank",),
        defaults={"tool": True},
        bare=True,
    ),
]

Fusion = Annotated[
    Literal["scores", "rrf"],
    Parameter(help="How the lists become one: by scores, or by reciprocal ranks."),
]

RrfK = Annotated[
    int,
    Parameter(
        help="With --fusion rrf: the larger, the less the first ranks count.",
        helps={"tool": "Constant of RRF."},
        flags=("--rrf-k",),
        json="rrfK",
        least=1,
        json_most=10_000,
    ),
]

Timeout = Annotated[
    float | None,
    Parameter(
        help="For each model that helps.",
        metavar="SECONDS",
        least=0,
        defaults={"tool": 20.0},
        absent={"tool": "A call has a time limit of its own."},
    ),
]


def _in_short(value: float) -> str:
    """Return a number as it is written, cut where it is long."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _half_life_problem(value: float) -> str | None:
    from qmd.text.dates import HALF_LIFE, is_half_life

    return None if is_half_life(value) else HALF_LIFE.format("", _in_short(value)).strip()


Recent = Annotated[
    float | None,
    Parameter(
        help="Prefer new documents; half after so long.", metavar="DAYS", problem=_half_life_problem
    ),
]

Explain = Annotated[
    bool,
    Parameter(help="Show how each score came about.", absent={"tool": _WRITTEN_IN_TEXT}),
]

# -- writing -------------------------------------------------------------------------------

WatchedCollections = Annotated[
    Names,
    Parameter(
        help="Only this collection; may be repeated.",
        helps={"tool": "Only these collections; all without."},
        flags=("-c", "--collection"),
        metavar="NAME",
        json="collections",
        items=100,
        kind="names",
        complete="collections",
    ),
]

_SHOWN = {
    "command": "A progress bar is shown.",
    "tool": "The protocol has notifications of progress.",
}

ByteProgress = Annotated[
    Callable[[int, int], None] | None,
    Parameter(help="Called with (bytes done, bytes in all).", kind="callback", absent=_SHOWN),
]

StepProgress = Annotated[
    Callable[[int, int], None] | None,
    Parameter(help="Called with (done, in all).", kind="callback", absent=_SHOWN),
]
