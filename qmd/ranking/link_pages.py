"""Lists of links in a ranked list: such a page does not come before a page that it points to.

A table of contents has the words of all pages, so that it may match a question better than the page
that answers it. It is placed behind the best of the pages that it points to, and behind others with
comparable scores, and its score becomes a little less than theirs. If the question has no word
beside those of its own name, it stays. A page whose links lead nowhere in the list stays, too.

The percentage of a text in lists of links is computed while indexing (`text/link_lists.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from qmd.named_tuple import NamedTuple

if TYPE_CHECKING:
    from qmd.ranking.fusion import Ranked
    from qmd.storage.cursor import Cursor
    from qmd.types import Nearest

    LinksFromFile = Callable[
        [Cursor, int, tuple[str, str], str], tuple[Sequence[str], Sequence[str]] | None
    ]
    """Reads the links of a document, by number, from its file, by collection and path: texts of
    links, tags and headings, and targets of links, of others nothing. None if the text of the file
    has another SHA-256, is long, or is not to be read."""

BEST, OTHERS = 0.3, 0.6
"""Share of the score of a list of links from which on the best page that it points to, and other
ones, come before it."""

STEP = 1e-9
"""Difference in score to the page before it."""

MOST_LINKS = 50_000
"""Links of a page that are read."""

CACHED = 500_000
"""Links of pages that are cached."""

FEW_PAGES = 3
"""Pages whose links are read one by one, each in a third of the time of a join: of more, all
together."""

_INDEXES = ("readme", "index", "_index")
"""Names of files that a link to their folder leads to."""

_STEM, _REST = 4, 3
"""Letters that two forms of a word have in common at least, and that follow them at most."""


class Name(NamedTuple):
    """Names of a document."""

    path: str
    title: str


class Links(NamedTuple):
    """Links of a page, in lower case.

    Attributes:
        places: paths, also without their suffix and without the folders that they start from.
        texts: what is shown of them.
        ends: last segments of the paths.
    """

    places: frozenset[str]
    texts: frozenset[str]
    ends: frozenset[str]


def lowered(
    cursor: Cursor,
    scores: Sequence[tuple[int, float]],
    pages: Collection[int],
    *,
    question: str,
    from_file: LinksFromFile | None,
    only: Collection[int] | None = None,
) -> dict[int, float]:
    """Compute the scores of lists of links that stand behind pages which they point to.

    Args:
        scores: (document_id, score), best first; of a document that is there twice the first one.
        pages: documents that are lists of links.
        question: as the user wrote it.
        from_file: reads the links of a document in a third of the time that a statement takes.
        only: lists of links to look at; None: all.

    Returns:
        New scores of those that others come before now.
    """
    best = dict(reversed(scores))
    found = [number for number in best if number in (pages if only is None else only)]
    others = [number for number in best if number not in pages]
    if not found or not others:
        return {}
    names = _names(cursor, best)
    links = _links(cursor, found, from_file)
    moved = {}
    for page in found:
        behind = [
            best[other]
            for other in others
            if BEST * best[page] <= best[other] <= best[page]
            and page in links
            and {page, other} <= names.keys()
            and points_to(links[page], names[other])
            and not is_meant(question, names[page], rather_than=names[other])
        ]
        if behind:
            near = [score for score in behind if score >= OTHERS * best[page]]
            moved[page] = round(min(near, default=max(behind)) - STEP, 12)
    return moved


def behind(
    cursor: Cursor,
    scores: Sequence[tuple[int, float]],
    pages: Collection[int],
    *,
    question: str,
    shown: int,
    from_file: LinksFromFile | None,
    always: Collection[int] = (),
) -> Sequence[tuple[int, float]]:
    """Place lists of links behind pages that they point to; see `lowered`.

    Those below what is shown stay where they are: their links need not be read.

    Args:
        shown: documents that are, at most.
        from_file: see `lowered`.
        always: documents whose order counts wherever they are.
    """
    moved: dict[int, float] = {}
    known: set[int] = set()
    order = scores
    while order:
        least = order[:shown][-1][1]
        near = {number for number, score in order if score >= least or number in always}
        unknown = {number for number in near if number in pages} - known
        if not unknown:
            break
        known |= unknown
        moved |= lowered(
            cursor, scores, pages, question=question, from_file=from_file, only=unknown
        )
        order = sorted(
            ((number, moved.get(number, score)) for number, score in scores),
            key=lambda row: -row[1],
        )
    return order


def passages_behind(
    cursor: Cursor,
    found: Sequence[Nearest],
    pages: Collection[int],
    *,
    question: str,
    from_file: LinksFromFile | None,
) -> Sequence[Nearest]:
    """Place passages of lists of links behind pages that these point to; see `lowered`."""
    scores = [(each.document_id, each.score) for each in found]
    moved = lowered(cursor, scores, pages, question=question, from_file=from_file)
    if not moved:
        return found
    return sorted(
        (
            each._replace(score=min(each.score, moved.get(each.document_id, each.score)))
            for each in found
        ),
        key=lambda each: -each.score,
    )


def ranked_behind(
    cursor: Cursor,
    found: Sequence[Ranked],
    pages: Collection[int],
    *,
    question: str,
    from_file: LinksFromFile | None,
) -> Sequence[Ranked]:
    """Place lists of links behind pages that they point to, and explain that; see `lowered`."""
    scores = [(each.document_id, each.score) for each in found]
    moved = lowered(cursor, scores, pages, question=question, from_file=from_file)
    if not moved:
        return found
    return sorted(
        (
            each
            if each.document_id not in moved
            else each._replace(
                score=moved[each.document_id],
                explain={
                    **each.explain,
                    "link_page": round(moved[each.document_id] - each.score, 12),
                    "fused": moved[each.document_id],
                },
            )
            for each in found
        ),
        key=lambda each: -each.score,
    )


def points_to(links: Links, other: Name) -> bool:
    """Check that one of the links of a page leads to a document, by its path or by its title."""
    if other.title.casefold() in links.texts:
        return True
    whole = other.path.casefold()
    return not links.ends.isdisjoint(_ends(whole)) and not links.places.isdisjoint(_ways(whole))


def is_meant(question: str, page: Name, *, rather_than: Name) -> bool:
    """Check that a question asks for a list of links by its name, and for another page less so."""
    from qmd.ranking.query import content_words, plain_words

    asked = content_words(question)
    own, other = (
        plain_words(f"{each.title} {_stem(each.path.rpartition('/')[2])}")
        for each in (page, rather_than)
    )
    return bool(asked) and _has_all(own, asked) and not _has_all(other, asked)


def _has_all(words: Sequence[str], asked: Iterable[str]) -> bool:
    return all(any(_is_form(word, each) for word in words) for each in asked)


def _is_form(word: str, other: str) -> bool:
    """Check that two words begin alike, as forms of one word do; the index may not be asked."""
    if word == other:
        return True
    same = next(
        (at for at, (one, two) in enumerate(zip(word, other, strict=False)) if one != two),
        min(len(word), len(other)),
    )
    return same >= _STEM and max(len(word), len(other)) - same <= _REST


def read_links(texts: Sequence[str], targets: Sequence[str]) -> Links:
    """Read the links of an outline.

    Args:
        texts: of links, tags and headings.
        targets: of links, as written; of others nothing.
    """
    places: set[str] = set()
    shown: set[str] = set()
    for text, target in islice(zip(texts, targets, strict=False), MOST_LINKS):
        if target and (place := _place(target)):
            places.update((place, _stem(place)))
            shown.add(text.strip().casefold())
    ends = frozenset(place.rpartition("/")[2] for place in places)
    return Links(frozenset(places), frozenset(shown - {""}), ends)


def _place(target: str) -> str:
    """Return the path of a target, without the host and without the folders that it goes up."""
    address = target.partition("#")[0].partition("?")[0]
    named = address.partition("://")[2] or address
    if "%" in named:
        from urllib.parse import unquote  # of no use to most links

        named = unquote(named)
    parts = named.casefold().split("/")
    if "://" in address:
        parts = parts[1:]
    return "/".join(part.strip() for part in parts if part not in ("", ".", ".."))


def _stem(path: str) -> str:
    """Leave out the suffix of a path."""
    start, dot, _ = path.rpartition(".")
    return start if dot and not start.endswith("/") else path


def _ends(whole: str) -> tuple[str, ...]:
    """Return the last segments of all ways in which a link may name a path."""
    folder, _, name = _stem(whole).rpartition("/")
    ends = whole.rpartition("/")[2], name
    return (*ends, folder.rpartition("/")[2]) if folder and name in _INDEXES else ends


def _ways(whole: str) -> set[str]:
    """List the ways in which a link may name a path: with fewer folders, without its suffix.

    Args:
        whole: the path, without case.
    """
    wholes = {whole, _stem(whole)}
    folder, _, name = _stem(whole).rpartition("/")
    if folder and name in _INDEXES:
        wholes.add(folder)
    return {
        "/".join(parts[first:])
        for each in wholes
        for parts in [each.split("/")]
        for first in range(len(parts))
    }


def _names(cursor: Cursor, ids: Iterable[int]) -> Mapping[int, Name]:
    """Load the names of documents, by number, without deleted ones."""
    from qmd.ranking import bm25

    postings = bm25.held(cursor)
    if postings is not None:
        return {number: Name(*each) for number, each in postings.shelf.named(ids).items()}

    def read(unknown: list[int]) -> dict[int, Name]:
        rows = cursor.run("search/named", ids=unknown)
        return {number: Name(path, title) for number, _, path, title in rows}

    return cursor.each("names", ids, read)


def _links(
    cursor: Cursor, ids: Iterable[int], from_file: LinksFromFile | None
) -> Mapping[int, Links]:
    """Load the links of documents, by number."""
    from qmd.ranking import bm25

    postings = bm25.held(cursor)
    hashes = postings.shelf.hashes(ids) if postings is not None else {}
    numbers = {hashed: number for number, hashed in hashes.items()}

    def of_texts(unknown: list[str]) -> dict[str, Links]:
        found = {}
        if from_file is not None and postings is not None:
            asked = {numbers[hashed]: hashed for hashed in unknown}
            for number, place in postings.shelf.places(asked).items():
                row = from_file(cursor, number, place, asked[number])
                if row is not None:
                    found[asked[number]] = read_links(*row)
        others = [hashed for hashed in unknown if hashed not in found]
        if len(others) <= FEW_PAGES:
            for hashed in others:
                for row in cursor.run("search/links_of_text", hash=hashed):
                    found[hashed] = read_links(*row)
            return found
        read = of_documents([numbers[hashed] for hashed in others])
        return found | {hashes[number]: links for number, links in read.items()}

    def of_documents(unknown: list[int]) -> dict[int, Links]:
        rows = cursor.again("search/links_of", ids=unknown)
        return {number: read_links(*row) for number, *row in rows}

    others = [number for number in ids if number not in hashes]
    found = cursor.each("links", others, of_documents, most=CACHED, size=_size)
    if hashes:
        known = cursor.each("links", numbers, of_texts, most=CACHED, size=_size, of_texts=True)
        found |= {number: known[hashed] for number, hashed in hashes.items() if hashed in known}
    return found


def _size(links: Links) -> int:
    return 1 + len(links.places)
