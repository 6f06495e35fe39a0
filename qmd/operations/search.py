"""Searching by words, and what all searches have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from qmd.operations.base import Base
from qmd.ranking import search_log
from qmd.storage import catalog
from qmd.storage.cursor import Cursor
from qmd.types import ALL, Filter, Result

if TYPE_CHECKING:
    from qmd.ranking.query import Query
    from qmd.ranking.results import Form, Match

UNLIMITED = 1_000_000
"""Results when all are asked for."""

NONE_INCLUDED = (
    "All collections are excluded from searches that name none. "
    "Name one with -c, or run 'qmd collection include NAME'."
)

NO_COLLECTIONS = "Nothing is indexed yet. Add a folder with 'qmd collection add PATH'."
NO_DOCUMENTS = "Nothing is indexed yet. Run 'qmd update'."


class Answer(NamedTuple):
    """Results of a search, best first.

    Attributes:
        notice: something the user should know, such as that nothing was searched.
        words: of the index, that were looked for, each with the word of the query it answers.
        intent: those that say what the query is about.
    """

    results: list[Result]
    notice: str | None = None
    words: Mapping[str, str] = MappingProxyType({})
    intent: Mapping[str, str] = MappingProxyType({})

    @property
    def about(self) -> dict[str, str]:
        """The words that snippets are chosen by."""
        return {**self.words, **self.intent}


class Searching(Base):
    """Finds documents by words."""

    def search(
        self,
        text: str,
        *,
        among: Filter = ALL,
        limit: int = 5,
        min_score: float = 0.0,
        length: int = 500,
        full: bool = False,
    ) -> Answer:
        """Documents that contain words of a query, best first.

        Args:
            among: documents that may answer; without collections, those included by default.
            limit: results at most.
            min_score: 0 to 1.
            length: characters of a snippet.
            full: give whole bodies instead of snippets.

        Raises:
            QueryError: the query cannot be read.
            CollectionNotFound: a collection of the filter does not exist.
        """
        from qmd.ranking import query

        made = search_log.begin("search", text, among.collections, limit)
        asked = query.parse(text)
        return self.read(
            partial(
                self._search,
                asked,
                made,
                among=among,
                limit=limit,
                min_score=min_score,
                length=length,
                full=full,
            )
        )

    def _search(
        self,
        asked: Query,
        made: search_log.Search,
        cursor: Cursor,
        *,
        among: Filter,
        limit: int,
        min_score: float,
        length: int,
        full: bool,
    ) -> Answer:
        from qmd.ranking import bm25 as search
        from qmd.ranking.results import Form, Match
        from qmd.ranking.scale import attained

        narrowed = self._narrowed(cursor, among)
        if narrowed is None:
            return Answer([], NONE_INCLUDED)
        found = search.bm25(cursor, asked, self.stemmer, among=narrowed, limit=limit)
        matches = {Match(number): bm25 for number, bm25 in found.scores}
        shown = self._results(cursor, Form(found.words, length, full), matches)
        hits = [
            (bm25, shown[match]._replace(score=attained(bm25, found.most)))
            for match, bm25 in matches.items()
        ]
        # Those that score the same by path, which nothing before has had to know.
        hits.sort(key=lambda hit: (-hit[0], hit[1].file.partition("/")))
        results = [result for _, result in hits if result.score >= min_score]
        self._note(cursor, made, results)
        notice = None if results else self._emptiness(cursor)
        return Answer(results, notice, dict(found.words))

    def get_ready(self, limit: int) -> None:
        """Load and plan what the first search needs, if there is an index.

        Args:
            limit: results that will be asked for.
        """
        import importlib

        from qmd.ranking import bm25 as search

        if not self.place.database.exists():
            return
        for name in (
            "ranking.results",
            "ranking.hybrid",
            "ranking.query",
            "ranking.query_document",
        ):
            importlib.import_module(f"qmd.{name}")

        def work(cursor: Cursor) -> None:
            self._narrowed(cursor, ALL)
            self._described(cursor)
            search.get_ready(cursor, limit=limit)

        self.database.read(work)  # what index.yml says is put into the tables by who asks
        if self._stays:
            self.holder.prepare()

    def emptiness(self) -> str | None:
        """What to do about an index without documents; None: it has some."""
        return self.read(self._emptiness)

    def _emptiness(self, cursor: Cursor) -> str | None:
        if not cursor.one("documents/is_empty"):
            return None
        known = self.database.remembered("collections", catalog.collections, cursor=cursor)
        return NO_DOCUMENTS if known else NO_COLLECTIONS

    def _results(self, cursor: Cursor, form: Form, matches: Iterable[Match]) -> dict[Match, Result]:
        """Matches as results that still have no score; without documents that are gone by now."""
        from qmd.ranking.results import results

        return results(cursor, form, self._described(cursor), matches)

    def _note(self, cursor: Cursor, made: search_log.Search, results: Sequence[Result]) -> None:
        """Put a search into the log, if it is kept."""
        if self.log and self.database.remembered("log", search_log.is_kept, cursor=cursor):
            self.log.add(made, [result.file for result in results])
