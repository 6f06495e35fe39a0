"""Answers of shards, which equal those of one index."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qmd.errors import QmdError
from qmd.operations.documents import get, multi_get
from qmd.operations.facets import FACET_NAMES, facets
from qmd.operations.grep import grep
from qmd.operations.index import Index
from qmd.operations.listing import documents
from qmd.operations.search import search
from qmd.operations.semantic_search import query, vector_search
from qmd.operations.similar import similar
from qmd.operations.statistics import stats
from qmd.operations.status import status
from tests.cluster import corpus
from tests.library import Library

KEYWORDS = [
    "tea",
    "green tea",
    "kettle steam river",
    "configuration",
    "config",
    "configure running",
    "errors",
    "quartz",
    "quartz feldspar",
    "identical words",
    "page",
    "same",
    "tie 3",
    "brewing",
    "first brewing",
    "parse_json",
    "email",
    "e-mail",
    "C++",
    '"tea water"',
    '"water kettle"',
    '"quartz and feldspar"',
    '"no such phrase"',
    "tea -water",
    "tea -green",
    'tea -"water kettle"',
    "quartz -feldspar",
    "harv*",
    "con*",
    "te*",
    "mountian",
    "configuratoin",
    "kettel leaf",
    "quarz",
    "teawater",
    "quarzs quarz",
    "tea OR quartz",
    "(green OR black) kettle",
    "tag:water",
    "tag:tea leaf",
    "path:plain tea",
    "-path:plain tea",
    "title:brewing",
    "绿茶",
    "茶",
    "水",
    "日本",
    "お茶 京都",
    "녹차",
    "보성",
    "Garten",
    "Haus",
    "Häuser",
    "théière",
    "chinois marché",
    "résumé",
    "resume",
    "->",
    "!=",
    "zzzz",
    "the of and",
    "page-03",
    "index search",
    "runs",
    "river mountain garden harvest brew pot cup steam black",
]

FILTERS: list[dict[str, Any]] = [
    {},
    {"since": "2024-06"},
    {"before": "2024-04"},
    {"since": "2024-03", "before": "2024-08"},
    {"filter": "status = open"},
    {"filter": "rank >= 12"},
    {"filter": "tags = water"},
    {"path": "plain/*"},
    {"path": "guide/**"},
    {"limit": 1},
    {"limit": 3},
    {"limit": 5, "all_copies": True},
    {"limit": None},
    {"full": True},
    {"min_score": 0.6},
]


class Pair:
    """One index, and the same documents in shards.

    Args:
        known: answers of the one index, which several pairs share; they are added to it.
    """

    def __init__(
        self,
        library: Library,
        count: int,
        *,
        embeds: bool,
        in_memory: bool,
        known: dict[Hashable, Any] | None = None,
    ) -> None:
        self._known = {} if known is None else known
        built = corpus.build_shards(library, count, embeds=embeds)
        self.one: Index = library.engine
        self.many: Index = corpus.opened(library, built, in_memory=in_memory)
        self.built = built

    def check(self, work: Callable[[Index], Any], *, key: Hashable = None) -> Any:
        """Compare the answers of both, and return that of one.

        Args:
            key: of a question whose answer may be known; None: it is asked once.
        """
        alone = self._known.get(key) or self._told(work, self.one)
        if key is not None:
            self._known[key] = alone
        assert self._told(work, self.many) == alone
        return alone

    def _told(self, work: Callable[[Index], Any], index: Index) -> Any:
        try:
            found = work(index)
        except QmdError as error:
            return type(error), str(error)
        facts = {name: getattr(found, name, None) for name in ("notice", "words", "respelled")}
        return (found if isinstance(found, tuple) else list(found)), facts


@pytest.fixture(scope="module")
def embedded(written: Library) -> Iterator[Pair]:
    made = Pair(written, 4, embeds=True, in_memory=False)
    yield made
    made.many.close()


@pytest.fixture(scope="module")
def known() -> dict[Hashable, Any]:
    """Answers of one index."""
    return {}


@pytest.mark.parametrize(("count", "in_memory"), [(1, False), (4, False), (8, True)])
def test_keyword_searches_find_the_same(
    count: int, in_memory: bool, written: Library, known: dict[Hashable, Any]
) -> None:
    pair = Pair(written, count, embeds=count == 4, in_memory=in_memory, known=known)
    found = 0
    for text in KEYWORDS:
        results, _ = pair.check(lambda index, text=text: search(index, text, limit=20), key=text)
        found += isinstance(results, list) and bool(results)
    pair.many.close()
    assert found > 50  # so that it is not that nothing is found


@pytest.mark.parametrize("options", FILTERS, ids=str)
def test_filters_choose_the_same(options: dict[str, Any], embedded: Pair) -> None:
    for text in ("tea", "quartz", "brewing tea", "identical", "tag:tea", '"tea water" -green'):
        embedded.check(lambda index, text=text: search(index, text, **options))


def test_a_document_with_near_duplicates_in_other_shards_stands_for_them(embedded: Pair) -> None:
    results, _ = embedded.check(lambda index: search(index, "title:brewing"))
    assert len(results[0].similar) == 2
    copies, _ = embedded.check(lambda index: search(index, "identical"))
    assert len(copies) == 1
    assert len(copies[0].similar) == 5


def test_documents_are_read_and_listed_alike(embedded: Pair) -> None:
    for name in ("notes/plain/page-03.md", "page-03.md:3:4", "plain/page-99.md", "brewing.md"):
        embedded.check(lambda index, name=name: get(index, name))
    for pattern in ("notes/plain/*.md", "same/1.md, tie/2.md", "nothing/*"):
        embedded.check(lambda index, pattern=pattern: multi_get(index, pattern))
    for path in (None, "notes", "notes/plain", "notes/none", "other"):
        embedded.check(lambda index, path=path: documents(index, path))
    embedded.check(lambda index: grep(index, "quartz.*feldspar"))


def test_facets_are_those_of_all_shards(library: Library) -> None:
    for number in range(12):
        tags = ("Tea", "tea", "TEA", "Water", "straße")
        text = f"---\ntags: [{tags[number % 5]}]\ndate: {2020 + number % 3}-01-02\n---\n{number}\n"
        library.write(f"{number % 4}/{number}.md", text)
    library.update()
    pair = Pair(library, 4, embeds=False, in_memory=False)
    for by in FACET_NAMES:
        for path in (None, "notes/1"):
            results, _ = pair.check(lambda index, by=by, path=path: facets(index, path, by=by))
            assert results or (by, path) == ("folder", "notes/1")
    results, _ = pair.check(lambda index: facets(index))
    assert [(each.value, each.documents) for each in results] == [
        ("tea", 8),
        ("Water", 2),
        ("straße", 2),
    ]
    pair.many.close()


def test_totals_are_those_of_all_shards(embedded: Pair) -> None:
    one, many = status(embedded.one), status(embedded.many)
    assert many.documents == one.documents > 40
    assert (many.contents, many.words, many.postings) == (one.contents, one.words, one.postings)
    assert [each.documents for each in many.collections] == [one.documents]


NAMES = (
    *(f"plain/page-{number:02}.md" for number in range(0, 24, 4)),
    *("guide/second/brewing.md", "same/3.md", "tie/4.md", "cjk/zh.md", "cjk/ja.md", "cjk/ko.md"),
    *("de/tee.md", "fr/the.md", "code/signs.md", "brewing.md", "plain/page-99.md"),
)


def test_similar_documents_are_those_of_all_shards(embedded: Pair) -> None:
    found = 0
    for name in NAMES:
        results, _ = embedded.check(lambda index, name=name: similar(index, name))
        found += bool(results) and isinstance(results, list)
    assert found > 12
    options: list[dict[str, Any]] = [
        {"limit": 3, "all_copies": True},
        {"limit": None, "full": True},
        {"filter": "status = open"},
        {"path": "guide/**"},
        {"min_score": 0.6},
    ]
    for each in options:
        for name in (*NAMES[:3], "brewing.md", "same/3.md"):
            embedded.check(lambda index, name=name, each=each: similar(index, name, **each))


def test_documents_without_vectors_are_compared_by_the_words_of_all_shards(
    library: Library,
) -> None:
    corpus.write(library)
    library.update()
    pair = Pair(library, 8, embeds=False, in_memory=False)
    for name in NAMES:
        pair.check(lambda index, name=name: similar(index, name))
    results, facts = pair.check(lambda index: similar(index, "plain/page-03.md"))
    assert results
    assert facts["notice"].startswith("Compared by words alone")
    pair.many.close()


@pytest.mark.parametrize("options", [{}, {"terms": 3, "longest": 2}, {"terms": 100}, {"terms": 0}])
def test_statistics_are_those_of_all_shards(options: dict[str, Any], embedded: Pair) -> None:
    for collection in (None, "notes", "none"):
        embedded.check(
            lambda index, collection=collection: (asdict(stats(index, collection, **options)),)
        )


@settings(max_examples=5)
@given(
    texts=st.lists(
        st.lists(st.sampled_from("a1 run runs running the 12 x tea teas zz".split()), max_size=9),
        max_size=9,
    ),
    count=st.sampled_from([2, 4]),
    terms=st.integers(1, 4),
)
def test_statistics_of_any_documents_are_those_of_all_shards(
    texts: list[list[str]], count: int, terms: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    library = Library(tmp_path_factory.mktemp("library"))
    for number, words in enumerate(texts):
        library.write(f"{number}.md", " ".join(words))
    library.update()
    pair = Pair(library, count, embeds=False, in_memory=False)
    pair.check(lambda index: (asdict(stats(index, terms=terms)),))
    pair.many.close()
    library.engine.close()


def test_searches_by_meaning_find_the_same(embedded: Pair) -> None:
    for text in ("green tea", "what is quartz?", "水の温度", "page 3", "a question about nothing"):
        for options in ({}, {"per_file": 2}, {"since": "2024-06"}, {"all_copies": True}):
            given: dict[str, Any] = {"limit": 7, "min_score": -1, **options}
            results, _ = embedded.check(
                lambda index, text=text, given=given: vector_search(index, text, **given)
            )
            assert results


def test_hybrid_searches_find_the_same(embedded: Pair) -> None:
    questions = [
        "green tea",
        "quartz -feldspar",
        "how hot is water?",
        "绿茶",
        "brewing",
        "mountian",
    ]
    options: list[dict[str, Any]] = [
        {"explain": True},
        {"fusion": "rrf", "explain": True},
        {"mode": "fast"},
        {"per_file": 2},
        {"path": "plain/*"},
        {"all_copies": True, "limit": 30},
    ]
    found = 0
    for text in [*questions, "lex: tea\nvec: steam of a kettle\nintent: a garden"]:
        for each in options:
            work = partial(query, question=text, **{"mode": "hybrid", **each})
            results, _ = embedded.check(lambda index, work=work: anyio.run(work, index))
            found += len(results)
    assert found > 200


def test_recent_documents_are_preferred_alike(
    embedded: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qmd.ranking.fusion._now", lambda: "2025-01-01 00:00:00")
    for fusion in ("scores", "rrf"):
        work = partial(query, question="green tea", fusion=fusion, recent=30, explain=True)
        results, _ = embedded.check(lambda index, work=work: anyio.run(work, index))
        assert any(each.explain["recency"] for each in results)


@pytest.mark.parametrize("least", [10_000, 1], ids=["in memory", "mapped"])
def test_vectors_outside_of_duckdb_find_the_same(
    least: int, embedded: Pair, written: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qmd.ranking.vector_sidecar.LEAST", least)
    held = corpus.opened(written, embedded.built, in_memory=True)
    try:
        for text in ("green tea", "steam"):
            for options in ({}, {"path": "plain/*"}):
                given: dict[str, Any] = {"limit": 7, "min_score": -1, **options}
                alone = vector_search(embedded.one, text, **given)
                assert list(vector_search(held, text, **given)) == list(alone)
        beside = list(written.folder.rglob("*.vectors"))
        assert bool(beside) is (least == 1)
    finally:
        held.close()


def test_an_empty_folder_has_no_results(library: Library) -> None:
    library.update()
    pair = Pair(library, 4, embeds=False, in_memory=False)
    results, _ = pair.check(lambda index: search(index, "tea"))
    assert results == []
    pair.many.close()


LETTERS = st.sampled_from(["tea", "teas", "teapot", "water", "watery", "茶", "café", "cafe", "x1"])


@settings(max_examples=5)
@given(
    texts=st.lists(st.lists(LETTERS, min_size=1, max_size=12), min_size=1, max_size=12),
    asked=st.lists(st.lists(LETTERS, min_size=1, max_size=3), min_size=1, max_size=6),
    count=st.sampled_from([2, 4]),
)
def test_shards_of_any_documents_find_the_same(
    texts: list[list[str]],
    asked: list[list[str]],
    count: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    library = Library(tmp_path_factory.mktemp("library"))
    for number, words in enumerate(texts):
        library.write(f"{number}.md", f"# {words[0]}\n\n{' '.join(words)}\n")
    library.update()
    pair = Pair(library, count, embeds=False, in_memory=False)
    for words in asked:
        text = " ".join(words)
        for each in (text, f'"{text}"', f"{words[0]} -{words[-1]}", f"{words[0][:2]}*"):
            pair.check(lambda index, each=each: search(index, each, limit=3))
    pair.many.close()
    library.engine.close()
