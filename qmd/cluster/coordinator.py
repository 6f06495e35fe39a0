"""Coordinator: shards of an index behind the interfaces of one index file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from qmd.cluster.numbers import numbers_by_shard, overall_number
from qmd.cluster.partial import LostShards, RemainingShards, missing_from
from qmd.cluster.rules import Gathered, Shards, on_all
from qmd.cluster.shard import ShardRequest
from qmd.cluster.statements import HERE, RULES
from qmd.cluster.term_rules import terms_of
from qmd.declaration.parameters import UNLIMITED
from qmd.errors import DocumentNotFound, NotOverShards, ShardsMissing, ShardsReadOnly
from qmd.ranking import bm25
from qmd.ranking.postings import NO_BEGINS, Near, Tally, Wanted
from qmd.storage import cancellation
from qmd.storage.attachment import USUAL, Writing
from qmd.storage.cursor import Cursor, Memory, Value, as_json, connected
from qmd.storage.database import Database
from qmd.storage.duckdb_errors import translating
from qmd.storage.long_texts import with_bodies
from qmd.types import FileStamp, FromFile, Text

if TYPE_CHECKING:
    from qmd.storage.cursor import Connection

Result = TypeVar("Result")
Key = TypeVar("Key", bound=Hashable)

_FACETS = Gathered(only="ids")

REMEMBERED = 2000
"""Results of whole operations that are kept at most."""


class ShardedPostings:
    """Postings of all shards as those of one index; see `Postings`."""

    columns = None

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self.shelf = ShardedDocuments(shards)

    def near(
        self,
        words: Sequence[str],
        whole: Collection[str] = (),
        begins: Mapping[str, str] = NO_BEGINS,
    ) -> Mapping[str, Near]:
        """See `Postings`."""
        found: dict[str, dict[str, int]] = {word: {} for word in words}
        for answer in self._ask_all("near", list(words), list(whole), dict(begins)):
            for word, near in answer.items():
                found[word].update(near)
        return {word: sorted(near.items()) for word, near in found.items()}

    def documents(self, terms: Sequence[int]) -> Mapping[int, int]:
        """See `Postings`."""
        found = dict.fromkeys(terms, 0)
        for answer in self._ask_all("documents", list(terms)):
            for term, count in answer.items():
                found[term] += count
        return found

    def any_of(self, clauses: Sequence[Sequence[int]]) -> Mapping[int, Tally]:
        """See `Postings`."""
        return self._tallies("any_of", clauses) if any(clauses) else {}

    def phrases(self, phrases: Sequence[Sequence[tuple[int, int]]]) -> Mapping[int, Tally]:
        """See `Postings`."""
        return self._tallies("phrases", phrases) if phrases else {}

    def ranked(self, wanted: Wanted, limit: int) -> list[tuple[int, float]]:
        """See `Postings`."""
        count = self._shards.count
        banned = numbers_by_shard(wanted.banned, count)
        allowed = None if wanted.allowed is None else numbers_by_shard(wanted.allowed, count)
        counted = {term: _split(tally, count) for term, tally in wanted.counted.items()}
        requests = {}
        for shard in range(count):
            if allowed is not None and not allowed[shard]:
                continue
            own = Wanted(
                wanted.terms,
                {term: tallies[shard] for term, tallies in counted.items()},
                wanted.average,
                None if allowed is None else allowed[shard],
                frozenset(banned[shard]),
            )
            requests[shard] = ShardRequest("ranked", (own, limit))
        answers = self._shards.ask(requests) if requests else {}
        rows = [
            (overall_number(number, shard, count), score)
            for shard, found in answers.items()
            for number, score in found
        ]
        rows.sort(key=lambda row: (-row[1], row[0]))
        if len(rows) > limit:
            least = rows[limit - 1][1]
            rows = [row for row in rows if row[1] >= least]
        return rows

    def _ask_all(self, kind: str, *arguments: Any) -> list[Any]:
        request = ShardRequest(kind, arguments)
        return list(self._shards.ask(dict.fromkeys(range(self._shards.count), request)).values())

    def _tallies(self, kind: str, asked: Sequence[Sequence[Any]]) -> dict[int, Tally]:
        """Join the counts of all shards, in the order of the numbers of documents."""
        count = self._shards.count
        request = ShardRequest(kind, ([list(each) for each in asked],))
        pairs: dict[int, list[tuple[int, float]]] = {}
        for shard, found in self._shards.ask(dict.fromkeys(range(count), request)).items():
            for number, tally in found.items():
                documents = (overall_number(each, shard, count) for each in tally.documents)
                pairs.setdefault(number, []).extend(zip(documents, tally.frequencies, strict=True))
        tallies = {}
        for number, rows in sorted(pairs.items()):
            rows.sort()
            tallies[number] = Tally([row[0] for row in rows], [row[1] for row in rows])
        return tallies


def _split(tally: Tally, count: int) -> list[Tally]:
    """Give each shard its own of the counts of a phrase."""
    own: list[tuple[list[int], list[float]]] = [([], []) for _ in range(count)]
    for number, frequency in zip(tally.documents, tally.frequencies, strict=True):
        documents, frequencies = own[number % count]
        documents.append(number // count)
        frequencies.append(frequency)
    return [Tally(*each) for each in own]


class ShardedDocuments:
    """Columns of the documents of all shards."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    def places(self, ids: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Return (collection, path) of documents, by number."""
        rows = RULES["search/paths"](self._shards, "search/paths", {"ids": list(ids)})
        return {number: (collection, path) for number, collection, path in rows}

    def named(self, ids: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Return (path, title) of documents, by number."""
        rows = RULES["search/named"](self._shards, "search/named", {"ids": list(ids)})
        return {number: (path, title) for number, _, path, title in rows}

    def texts(
        self, cursor: Cursor, ids: Sequence[int], from_file: FromFile | None = None
    ) -> dict[int, Text]:
        """Load documents with their texts, by number."""
        rows = cursor.rows(Text, "search/documents", ids=list(ids))
        return {text.document_id: text for text in with_bodies(cursor, rows)}

    def hashes(self, ids: Iterable[int]) -> dict[int, str]:
        """Return none: a statement on the shards finds what they are asked for."""
        return {}

    def files(self, cursor: Cursor, ids: Iterable[int]) -> dict[int, FileStamp]:
        """Return none: the files of documents are not held here."""
        return {}


class ShardedCursor(Cursor):
    """Cursor whose statements run on all shards.

    Args:
        connection: an engine without tables, for statements that read none.
    """

    def __init__(self, connection: Connection, shards: Shards, memory: Memory) -> None:
        super().__init__(connection, memory)
        self._shards = shards

    def run(self, name: str, /, **parameters: Value) -> list[tuple[Any, ...]]:
        """Run a statement on the shards, and return the rows of all of them.

        Raises:
            NotOverShards: the statement has no rule.
        """
        cancellation.check()
        if name == "search/blend":
            return self._blended(parameters)
        if name == "documents/facets":
            return self._facets(parameters)
        if name == "search/telling_words":
            return self._telling(parameters)
        if name in HERE:
            return super().run(name, **parameters)
        rule = RULES.get(name)
        if rule is None:
            raise NotOverShards(name)
        return rule(self._shards, name, parameters)

    def _blended(self, parameters: Mapping[str, Value]) -> list[tuple[Any, ...]]:
        """Blend ranks with the scores of a reranker; numbers over all shards may exceed 32 bits."""
        import json

        fused = json.loads(str(parameters["fused"]))
        numbers = [each["document_id"] for each in fused]
        places = [{**each, "document_id": place} for place, each in enumerate(fused)]
        rows = super().run("search/blend", fused=as_json(places))
        return [(numbers[place], *rest) for place, *rest in rows]

    def _facets(self, parameters: Mapping[str, Value]) -> list[tuple[Any, ...]]:
        """Add up the facets of all shards, of which each lists all of its own."""
        own = {**parameters, "most": UNLIMITED}
        rows = _FACETS(self._shards, "documents/facets", own)
        told = [dict(zip(("facet", "value", "documents"), row, strict=True)) for row in rows]
        return super().run("cluster/facets", rows=as_json(told), most=parameters["most"])

    def _telling(self, parameters: Mapping[str, Value]) -> list[tuple[Any, ...]]:
        """Choose the words that tell a document from the others of all shards."""
        counted = on_all(self._shards, "cluster/counts", {}).values()
        total = sum(documents for [(documents, _)] in counted)
        terms = as_json(terms_of(self._shards, parameters))
        return super().run("cluster/telling", terms=terms, total=total, limit=parameters["limit"])

    def again(self, name: str, /, **parameters: Value) -> list[tuple[Any, ...]]:
        """Run a statement; see `run`."""
        return self.run(name, **parameters)

    def get_ready(self, name: str, /, **parameters: Value) -> None:
        """Do nothing: shards plan their statements themselves."""


def _memory_of(shards: Shards) -> Memory:
    postings: bm25.Held = ShardedPostings(shards)
    memory = Memory()
    memory.held[bm25.POSTINGS] = postings
    return memory


class ShardedDatabase(Database):
    """Shards of one build of an index; it never changes, so that all reads see one state.

    Args:
        path: of the manifest.

    Attributes:
        lost: shards that did not answer of late.
    """

    def __init__(self, path: Path, shards: Shards) -> None:
        super().__init__(path)
        self._shards = shards
        self._engine = connected()
        self._lasting = _memory_of(shards)
        self.lost = LostShards(shards.count)
        self._results: dict[Hashable, Any] = {}
        self._guard = threading.Lock()

    def read(
        self, work: Callable[[Cursor], Result], *, aside: bool = False, small: bool = False
    ) -> Result:
        """Run `work` on the shards, beside other reads.

        In an operation that may leave shards out, it runs again without those that are missing: so
        all of a result is of the same shards.

        Raises:
            ClusterFailure: a shard does not answer, or the work cannot be done over shards.
        """
        self.check_own()
        missing = missing_from(self)
        with translating(self.path):
            while True:
                try:
                    if missing:
                        return self._read_without(missing, work)
                    return work(ShardedCursor(self._engine.cursor(), self._shards, self._lasting))
                except ShardsMissing as error:
                    if missing is None or missing.issuperset(error.numbers):
                        raise
                    missing.update(error.numbers)
                    self.lost.add(error.numbers)
                    if len(missing) == self._shards.count:
                        raise

    def aside(self, work: Callable[[Cursor], Result]) -> Result:
        """Run `work` on an engine without tables."""
        return work(Cursor(self._engine.cursor()))

    def _read_without(self, missing: set[int], work: Callable[[Cursor], Result]) -> Result:
        """Run `work` on the other shards. Nothing of it is remembered."""
        shards = RemainingShards(self._shards, missing)
        try:
            return work(ShardedCursor(self._engine.cursor(), shards, _memory_of(shards)))
        except DocumentNotFound as error:
            numbers = sorted(missing)
            raise ShardsMissing(numbers, shards.count, "the document may be there.") from error

    def remembered(
        self, key: Hashable, work: Callable[[Cursor], Result], *, cursor: Cursor | None = None
    ) -> Result:
        """Run `work`, or return its result of the time before."""
        with self._guard:
            if key in self._results:
                known: Result = self._results[key]
                return known
        found = self.read(work) if cursor is None else work(cursor)
        with self._guard:
            if len(self._results) < REMEMBERED and not missing_from(self):
                self._results[key] = found
        return found

    def write(self, work: Callable[[Cursor], Result], *, writing: Writing = USUAL) -> Result:
        """Refuse to write.

        Raises:
            ShardsReadOnly: always.
        """
        raise ShardsReadOnly

    def replace(self, new: Path, agree: Callable[[Cursor], None]) -> None:
        """Refuse to replace the index.

        Raises:
            ShardsReadOnly: always.
        """
        raise ShardsReadOnly

    def apart(self, work: Callable[[Callable[[Connection], None]], Result]) -> Result:
        """Refuse to attach the shards to another engine.

        Raises:
            NotOverShards: always.
        """
        raise NotOverShards("sql")

    def close(self, patience: float | None = None) -> None:
        """Let go of the engine."""
        self._results.clear()
        self._engine.close()
