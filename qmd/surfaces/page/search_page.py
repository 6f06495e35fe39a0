"""Search page: results, facets as chips, and the newest documents before anything is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

from qmd.errors import QmdError
from qmd.named_tuple import NamedTuple
from qmd.operations import browse
from qmd.operations.semantic_search import query, vector_search
from qmd.surfaces import render
from qmd.surfaces.page.address import MEANING, MODES, ON_A_PAGE, AddressedSearch, document_url
from qmd.surfaces.page.marks import NumberedLine, snippet_lines
from qmd.text import kinds

if TYPE_CHECKING:
    from qmd.analytics.rows import Results
    from qmd.operations.browse import Facets, ListedDocument
    from qmd.surfaces.tools.dispatch import Toolbox
    from qmd.types import Result

NAMES = {
    "collection": "Collection",
    "folder": "Folder",
    "tag": "Tag",
    "kind": "Kind",
    "year": "Year",
}
"""Facets in the order in which they are shown."""

LENGTH = 420
"""Characters of a snippet."""

OPENING = 260
"""Characters of the beginning of a document in the list of the newest."""


class Chip(NamedTuple):
    """A value of a filter, to click.

    Attributes:
        documents: how many have it; None: it is set, and another click unsets it.
    """

    text: str
    url: str
    documents: int | None


class ChipGroup(NamedTuple):
    """Chips of a facet."""

    name: str
    chips: list[Chip]

    @property
    def is_set(self) -> bool:
        """True if one of the chips is set."""
        return any(each.documents is None for each in self.chips)


class Card(NamedTuple):
    """A result as it is shown.

    Attributes:
        trail: collection and folders.
        percent: score from 0 to 100; None: there is none.
        kind: name of the kind of file, or '' for Markdown.
        reasons: how the score came about.
    """

    title: str
    url: str
    file: str
    trail: tuple[str, ...]
    name: str
    lines: list[NumberedLine]
    percent: int | None = None
    place: str | None = None
    context: str | None = None
    kind: str = ""
    dated: date | None = None
    stale: bool = False
    similar: tuple[tuple[str, str], ...] = ()
    reasons: tuple[str, ...] = ()


class SearchView(NamedTuple):
    """Content of the search page.

    Attributes:
        asked: the search.
        documents: that match, or may answer.
        problem: why there are no results, of a search that cannot be carried out.
        more: address of the next results, or None.
        back: address of those before, or None.
    """

    asked: AddressedSearch
    modes: list[Chip]
    groups: list[ChipGroup]
    cards: list[Card]
    documents: int = 0
    notice: str | None = None
    problem: str | None = None
    more: str | None = None
    back: str | None = None
    why: str | None = None


async def search_view(toolbox: Toolbox, asked: AddressedSearch) -> SearchView:
    """Carry out a search; what cannot be searched is shown as a problem."""
    modes = [
        Chip(name, asked.url(mode=mode), None if mode == asked.mode else 0)
        for mode, name in MODES.items()
    ]
    shown = SearchView(asked, modes, [], [])
    skip = (asked.page - 1) * ON_A_PAGE
    try:
        facets = await _facets(toolbox, asked)
        shown = shown._replace(groups=_groups(asked, facets), documents=facets.documents)
        if asked.query.strip():
            found = await found_documents(toolbox, asked, skip + ON_A_PAGE + 1)
            cards = _cards(asked, found, found[skip : skip + ON_A_PAGE])
            has_more = len(found) > skip + ON_A_PAGE
            shown = shown._replace(notice=found.notice, why=asked.url(why=not asked.why))
        else:
            listed = await toolbox.look(
                browse.newest, limit=ON_A_PAGE + 1, skip=skip, **asked.selection()
            )
            cards = [_newest(each) for each in listed[:ON_A_PAGE]]
            has_more = len(listed) > ON_A_PAGE
    except QmdError as error:
        return shown._replace(problem=error.told("tool"), groups=_groups(asked, None))
    return shown._replace(
        cards=cards,
        more=asked.url(page=asked.page + 1) if has_more else None,
        back=asked.url(page=asked.page - 1) if asked.page > 1 else None,
    )


async def found_documents(toolbox: Toolbox, asked: AddressedSearch, limit: int) -> Results:
    """Return the results of a search, best first.

    Raises:
        QmdError: it cannot be carried out.
    """
    among = asked.selection()
    if asked.mode == MEANING and not asked.why:
        found: Results = await toolbox.look(
            vector_search, asked.query, asks_models=True, limit=limit, length=LENGTH, **among
        )
        return found
    explained: Results = await toolbox.look(
        query,
        f"vec: {' '.join(asked.query.split())}" if asked.mode == MEANING else asked.query,
        asks_models=asked.mode != "words",
        mode="hybrid" if asked.mode != "words" else "fast",
        limit=limit,
        length=LENGTH,
        explain=asked.why,
        **among,
    )
    return explained


async def _facets(toolbox: Toolbox, asked: AddressedSearch) -> Facets:
    depth = asked.folder.count("/") + 1 if asked.folder else 1
    words = asked.query if asked.mode != MEANING else ""
    found: Facets = await toolbox.look(browse.facet_counts, words, depth=depth, **asked.selection())
    return found


def _groups(asked: AddressedSearch, facets: Facets | None) -> list[ChipGroup]:
    """Make the chips: values that are set come first, each to be unset."""
    of: Mapping[str, Sequence[tuple[str, int]]] = facets.of if facets else {}
    groups = []
    for facet, name in NAMES.items():
        chips = [Chip(text, url, None) for text, url in _set(asked, facet)]
        taken = {chip.text for chip in chips}
        values = [each for each in of.get(facet, ()) if each[0] not in taken]
        # A value that all documents have tells nothing.
        if facets is not None and len(values) == 1 and values[0][1] == facets.documents:
            values = []
        for value, documents in sorted(values, reverse=True) if facet == "year" else values:
            chips.append(Chip(value, asked.url(**_with(asked, facet, value)), documents))
        if chips:
            groups.append(ChipGroup(name, chips))
    return groups


def _set(asked: AddressedSearch, facet: str) -> list[tuple[str, str]]:
    """List the values of a facet that are set, with addresses without them."""
    match facet:
        case "collection":
            return [
                (each, asked.url(collections=tuple(c for c in asked.collections if c != each)))
                for each in asked.collections
            ]
        case "tag":
            return [
                (each, asked.url(tags=tuple(tag for tag in asked.tags if tag != each)))
                for each in asked.tags
            ]
        case "folder" if asked.folder:
            return [(asked.folder, asked.url(folder=""))]
        case "kind" if asked.kind:
            return [(asked.kind, asked.url(kind=""))]
        case "year" if asked.since or asked.before:
            span = f"{asked.since or '…'} – {asked.before or '…'}"
            return [(span, asked.url(since="", before=""))]
    return []


def _with(asked: AddressedSearch, facet: str, value: str) -> dict[str, object]:
    """Return the changes of a search that a value of a facet makes."""
    match facet:
        case "collection":
            return {"collections": (*asked.collections, value)}
        case "tag":
            return {"tags": (*asked.tags, value)}
        case "year":
            return {"since": f"{int(value):04}-01-01", "before": f"{int(value) + 1:04}-01-01"}
    return {facet: value}


def _cards(asked: AddressedSearch, found: Results, results: Sequence[Result]) -> list[Card]:
    from qmd.ranking.matcher import matcher_of

    is_match = matcher_of(found.words) if asked.mode != MEANING else None
    return [_card(asked, result, is_match) for result in results]


def _card(asked: AddressedSearch, result: Result, is_match: Any) -> Card:
    query = asked.query if asked.mode != MEANING else ""

    def url(file: str, line: int = 0) -> str:
        return document_url(file, fragment="hit" if line else "", q=query, line=line)

    *trail, name = result.file.split("/")
    return Card(
        result.title,
        url(result.file, result.line),
        result.file,
        tuple(trail),
        name,
        snippet_lines(result.snippet, is_match),
        max(0, min(100, round(100 * result.score))),
        result.place,
        result.context,
        kind_name(result.file),
        stale=result.stale,
        similar=tuple((file, url(file)) for file in (*result.similar, *result.also_in)),
        reasons=tuple(render.explained(result.explain)) if result.explain else (),
    )


def _newest(each: ListedDocument) -> Card:
    *trail, name = each.file.split("/")
    text = " ".join(line for line in each.opening.splitlines() if not line.startswith("# "))
    words = " ".join(text.split())
    opening = words if len(words) <= OPENING else words[:OPENING].rpartition(" ")[0] + " …"
    return Card(
        each.title,
        document_url(each.file),
        each.file,
        tuple(trail),
        name,
        snippet_lines(f"1: {opening}", None) if opening else [],
        kind=kind_name(each.file),
        dated=each.dated.date(),
    )


def kind_name(file: str) -> str:
    """Return the name of the kind of a file; '' for Markdown, which most are."""
    kind = kinds.kind_of(file)
    return "" if kind is None or kind.name == "Markdown" else kind.name
