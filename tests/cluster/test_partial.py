"""Answers without shards that do not answer, on every surface."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from qmd.analytics.sandbox import Limits
from qmd.cluster import partial as lost
from qmd.cluster.in_process import ShardsHere
from qmd.cluster.manifest import NAME
from qmd.cluster.open_index import ShardedIndex
from qmd.cluster.shard import ShardRequest
from qmd.declaration.operation import OPERATIONS
from qmd.errors import ShardsMissing
from qmd.operations import documents, listing, search, semantic_search
from qmd.operations.sql import run_sql
from qmd.surfaces.http.rest import routes
from qmd.surfaces.python import KnowledgeBase
from qmd.surfaces.tools.dispatch import Toolbox
from tests.cluster import corpus
from tests.library import Library

Qmd = Callable[..., tuple[int, str, str]]

SEARCH = OPERATIONS["search"]


class SomeSilent(ShardsHere):
    """Shards of which some never answer.

    Attributes:
        silent: their numbers.
        tried: how often one of them was asked.
    """

    silent: frozenset[int] = frozenset()
    tried = 0

    def ask(self, requests: Mapping[int, ShardRequest]) -> Mapping[int, Any]:
        late = sorted(self.silent.intersection(requests))
        if late:
            self.tried += 1
            raise ShardsMissing(late, self.count, "3 seconds are over.")
        return super().ask(requests)


class Kept:
    """An index of four shards, and the place of a document in each."""

    def __init__(self, library: Library) -> None:
        for number in range(16):
            library.write(f"{number}.md", f"# Note {number}\n\ntea number {number}\n")
        library.write("long.md", "# Long\n\n" + "much about it\n" * 3000)
        self.library = library
        self.built = corpus.build_shards(library, 4)
        self.shards = SomeSilent(corpus.folder_of(library, 4), self.built.manifest)

    def index(self, *, allow_partial: bool) -> ShardedIndex:
        return ShardedIndex(
            self.library.engine.place,
            corpus.machine(self.library),
            manifest=corpus.folder_of(self.library, 4) / NAME,
            shards=self.shards,
            close_shards=lambda: None,
            size=1,
            allow_partial=allow_partial,
        )


@pytest.fixture
def kept(library: Library) -> Iterator[Kept]:
    made = Kept(library)
    yield made
    made.shards.close()


def _files(results: Any) -> set[str]:
    return {each.file for each in results}


def test_without_the_switch_a_missing_shard_is_an_error_that_names_it(kept: Kept) -> None:
    kb = KnowledgeBase(kept.index(allow_partial=False))
    kept.shards.silent = frozenset({2})
    with kb, pytest.raises(ShardsMissing, match=r"1 shard of 4 did not answer \(2\): 3 seconds"):
        kb.search("tea")


def test_with_the_switch_results_are_of_the_others_and_marked(kept: Kept) -> None:
    index = kept.index(allow_partial=True)
    with KnowledgeBase(index) as kb:
        everything = kb.search("tea", limit=20)
        kept.shards.silent = frozenset({2})
        assert kb.search("tea", limit=20).missing_shards == ()  # it is known from before
        some = kb.search("note", limit=20)
        assert everything.missing_shards == ()
        assert some.missing_shards == (2,)
        assert some.notice == (
            "Partial: without the documents of shards that do not answer (2, of 4)."
        )
        lacking = kept.built.manifest.shards[2].documents
        assert 0 < lacking == len(everything) - len(some)
        assert _files(some) < _files(everything)
        # Words that only the missing shard has are not remembered as missing.
        kept.shards.silent = frozenset()
        index.database.lost._since.clear()
        again = kb.search("note", limit=20)
        assert (again.missing_shards, _files(again)) == ((), _files(everything))


def test_a_missing_shard_is_not_waited_for_at_each_search(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(lost.time, "monotonic", lambda: now[0])
    kept.shards.silent = frozenset({1, 3})
    with KnowledgeBase(kept.index(allow_partial=True)) as kb:
        for word in ("tea", "note", "number"):
            assert kb.search(word).missing_shards == (1, 3)
        assert kept.shards.tried == 1
        kept.shards.silent = frozenset()
        assert kb.search("tea 3").missing_shards == (1, 3)
        now[0] += lost.AGAIN_SECONDS + 1
        assert kb.search("tea 4").missing_shards == ()


def test_without_any_shard_there_is_no_result(kept: Kept) -> None:
    kept.shards.silent = frozenset(range(4))
    with KnowledgeBase(kept.index(allow_partial=True)) as kb:
        for _ in range(2):
            with pytest.raises(ShardsMissing, match="4 shards of 4 did not answer"):
                kb.search("tea")


def test_a_document_that_may_be_in_a_missing_shard_is_not_called_missing(kept: Kept) -> None:
    index = kept.index(allow_partial=True)
    with KnowledgeBase(index) as kb:
        everything = _files(kb.search("tea", limit=20))
        kept.shards.silent = frozenset({0})
        left = _files(kb.search("note", limit=20))
        for name in sorted(left):
            assert kb.get(name).body
        for name in sorted(everything - left):
            with pytest.raises(ShardsMissing, match="the document may be there"):
                kb.get(name)
        # What lists all documents needs all shards.
        with pytest.raises(ShardsMissing):
            kb.ls("notes")
        with pytest.raises(ShardsMissing):
            kb.status()


def test_what_one_operation_may_lack_ends_with_it_and_is_of_its_index(kept: Kept) -> None:
    kept.shards.silent = frozenset({2})
    index, strict = kept.index(allow_partial=True), kept.index(allow_partial=False)
    with index.during(SEARCH):
        assert index.ended(search.search(index, "tea")).missing_shards == (2,)
        with pytest.raises(ShardsMissing):
            search.search(strict, "tea")
        with index.during(OPERATIONS["sql"]), pytest.raises(ShardsMissing):
            search.search(index, "note")
        assert index.ended(search.search(index, "number")).missing_shards == (2,)
    with pytest.raises(ShardsMissing):
        search.search(index, "tea 3")
    with pytest.raises(ZeroDivisionError), index.during(SEARCH):
        raise ZeroDivisionError
    with pytest.raises(ShardsMissing):
        search.search(index, "tea 4")
    strict.close()
    index.close()


def test_sql_needs_all_shards(kept: Kept) -> None:
    index = kept.index(allow_partial=True)
    with KnowledgeBase(index) as kb:
        everything = kb.sql("select file from bm25('tea') order by file").arrow().to_pylist()
        kept.shards.silent = frozenset({2})
        assert kb.search("note").missing_shards == (2,)
        for text in ("select count(*) from documents", "select file from bm25('number')"):
            with index.during(SEARCH), pytest.raises(ShardsMissing, match=r"answer \(2\)"):
                run_sql(index, text, (), Limits())
        kept.shards.silent = frozenset()
        again = kb.sql("select file from bm25('tea') order by file").arrow().to_pylist()
        assert again == everything


def test_tools_and_rest_mark_partial_results(kept: Kept) -> None:
    kept.shards.silent = frozenset({2})
    toolbox = Toolbox(kept.index(allow_partial=True))

    async def call() -> Any:
        return await toolbox.call("search", {"query": "tea"})

    reply = anyio.run(call)
    assert reply.error is None
    assert (reply.structured["partial"], reply.structured["missingShards"]) == (True, [2])
    assert reply.structured["notice"].startswith("Partial: without the documents of shards")
    client = TestClient(Starlette(routes=routes(toolbox)))
    body = client.post("/search", json={"query": "tea"}).json()
    assert (body["partial"], body["missingShards"]) == (True, [2])
    strict = TestClient(Starlette(routes=routes(Toolbox(kept.index(allow_partial=False)))))
    answer = strict.post("/search", json={"query": "tea"})
    assert answer.status_code >= 500
    assert "1 shard of 4 did not answer (2)" in answer.text


def test_tools_read_documents_of_the_shards_that_answer(kept: Kept) -> None:
    shown = []
    for shard in range(4):
        kept.shards.silent = frozenset({shard})
        toolbox = Toolbox(kept.index(allow_partial=True))
        reply = anyio.run(toolbox.call, "get", {"file": "notes/long.md"})
        try:
            read = anyio.run(toolbox.resource, "notes/long.md").text
        except ShardsMissing:
            read = ""
        shown.append((reply.error is None, read.count("much")))
        toolbox.close()
    # The text is long, so that `get` reads its outline besides.
    assert sorted(shown) == [(False, 0), *[(True, 3000)] * 3]


def test_the_command_marks_partial_results(
    kept: Kept, qmd: Qmd, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.shards.silent = frozenset({2})
    monkeypatch.setattr(
        "qmd.cluster.engines.opened",
        lambda *given, **named: kept.index(allow_partial=given[2].allow_partial),
    )
    code, out, err = qmd("--engine", "ray:kb", "search", "tea", "--json")
    assert (code, out) == (3, "")
    assert "1 shard of 4 did not answer (2)" in err
    assert "--allow-partial" in err
    for arguments in (
        ("--engine", "ray:kb", "--allow-partial", "search", "tea", "--json"),
        ("search", "tea", "--json", "--engine", "ray:kb", "--allow-partial"),
        ("search", "tea", "--json", "--format", "json", "--allow-partial", "--engine", "ray:kb"),
    ):
        code, out, err = qmd(*arguments)
        assert code == 2, err
        assert "Partial: without the documents of shards that do not answer (2, of 4)." in err
        records = json.loads(out)
        assert records
        assert all((each["partial"], each["missingShards"]) == (True, [2]) for each in records)
    code, out, err = qmd("--allow-partial", "search", "tea")
    assert (code, "--allow-partial is for an index of shards" in err) == (1, True)


def test_what_may_be_partial_is_what_can_be_marked() -> None:
    assert documents, (listing, search, semantic_search)
    found = {each.name for each in OPERATIONS.values() if each.partial}
    assert found == {"search", "vsearch", "query", "similar", "get"}
    assert all(each.sharded for each in OPERATIONS.values() if each.partial)
