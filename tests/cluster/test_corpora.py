"""Equality of shards and one index on the Markdown of a real project, with queries of all kinds."""

from __future__ import annotations

import os
import random
import re
import tarfile
from collections.abc import Callable, Hashable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from qmd.operations.index import Index
from qmd.operations.links import links
from qmd.operations.search import search
from qmd.operations.semantic_search import query, vector_search
from qmd.operations.similar import similar
from qmd.settings.environment import Machine
from tests.cluster.test_equal_answers import Pair
from tests.library import FakeEmbedder, Library

ARCHIVE = Path(__file__).parents[3] / "shared" / "corpora" / "small.tar.xz"
WORD = re.compile(r"[A-Za-z]{4,}")
EACH = 8
"""Queries of each kind."""

CJK = (
    "# 茶\n\n绿茶和红茶在山上生长。水的温度很重要。\n",
    "# お茶\n\n日本のお茶は美味しいです。京都で飲みました。\n",
    "# 녹차\n\n한국의 녹차는 보성에서 자랍니다. 물이 중요합니다.\n",
)

Work = Callable[[Index], Any]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    if not ARCHIVE.exists():
        pytest.skip(f"there is no corpus at {ARCHIVE}")
    folder = tmp_path_factory.mktemp("corpus")
    model = folder / "fake.gguf"
    model.write_bytes(b"GGUF")
    made = Library(folder, Machine({"embed": str(model)}, hub=folder / "hub"))
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(made.root, filter="data")
    for number, text in enumerate(CJK * 4):
        made.write(f"cjk/{number}.md", f"---\nkind: tea\nrank: {number}\n---\n{text}{number}\n")
    for number, file in enumerate(sorted(made.root.rglob("*.md"))):
        os.utime(file, (1_600_000_000 + 86_400 * number, 1_600_000_000 + 86_400 * number))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "qmd.models.selection.embedder", lambda model, machine, *, limit: FakeEmbedder()
        )
        made.update()
        made.embed()
        yield made
    made.engine.close()


@pytest.fixture(scope="module")
def works(library: Library) -> dict[str, list[Work]]:
    """Queries of each kind, made of the documents; the same ones each time."""
    chance = random.Random(7)
    files = sorted(library.root.rglob("*.md"))
    texts = [file.read_text("utf-8", "replace") for file in files]
    names = [file.relative_to(library.root).as_posix() for file in files]
    most = sorted(zip(texts, names, strict=True), key=lambda pair: -pair[0].count("]("))
    linked = [name for _, name in most[:2]]

    def words(count: int) -> list[str]:
        while True:
            found = WORD.findall(chance.choice(texts))
            if len(found) > count:
                at = chance.randrange(len(found) - count)
                return found[at : at + count]

    def of(make: Callable[[], str]) -> list[Work]:
        return [partial(search, query=make(), limit=20) for _ in range(EACH)]

    def plain() -> str:
        return " ".join(words(2))

    def dated() -> dict[str, Any]:
        since = f"{chance.choice((2020, 2021))}-{chance.randint(1, 12):02}"
        return {chance.choice(("since", "before")): since}

    folders = sorted({file.parent.relative_to(library.root).as_posix() for file in files})
    common = ("the", "code", "type", "function", "value", "example")
    cjk = (
        "绿茶",
        "茶",
        "水 温度",
        "日本",
        "お茶 京都",
        "녹차",
        "보성",
        "山",
        "重要",
        "물",
        "美味しい",
        "红茶 水",
    )
    return {
        "words": of(plain),
        "long": of(lambda: " ".join(words(6))),
        "phrases": of(lambda: f'"{" ".join(words(2))}"'),
        "exclusions": of(lambda: f"{words(1)[0]} -{words(1)[0]}"),
        "prefixes": of(lambda: f"{words(1)[0][:3]}*"),
        "misspelt": of(lambda: words(1)[0] + "q"),
        "cjk": [partial(search, query=text, limit=20) for text in cjk],
        "filters": [
            partial(search, query="茶 水", filter=f"rank {sign} {number}")
            for number in range(EACH // 3)
            for sign in (">", "=", "<")
        ],
        "dates": [partial(search, query=plain(), limit=20, **dated()) for _ in range(EACH)],
        "paths": [
            partial(search, query=plain(), limit=20, path=f"{chance.choice(folders)}/**")
            for _ in range(EACH)
        ],
        "vectors": [
            partial(vector_search, question=plain(), limit=20, min_score=-1) for _ in range(EACH)
        ],
        "hybrid": [
            partial(_hybrid, plain(), fusion=("scores", "rrf")[number % 2], limit=20)
            for number in range(EACH)
        ],
        "ties": [
            partial(search, query=text, limit=limit, all_copies=True)
            for text in common
            for limit in (3, 50)
        ],
        "similar": [partial(similar, name=f"notes/{chance.choice(names)}") for _ in range(EACH)],
        "links": [partial(links, name=f"notes/{name}", steps=2) for name in linked],
        "empty": of(lambda: f"zz{words(1)[0]}xqj qqzx"),
    }


@pytest.fixture(scope="module")
def known() -> dict[Hashable, Any]:
    """Answers of one index."""
    return {}


def _hybrid(question: str, index: Index, **options: Any) -> Any:
    return anyio.run(partial(query, index, question, mode="hybrid", explain=True, **options))


@pytest.mark.parametrize("count", [4, 8])
def test_shards_of_a_real_corpus_find_what_one_index_finds(
    count: int, library: Library, works: dict[str, list[Work]], known: dict[Hashable, Any]
) -> None:
    assert sum(map(len, works.values())) >= 100
    pair = Pair(library, count, embeds=True, in_memory=count == 8, known=known)
    try:
        for kind, each in works.items():
            found = 0
            for number, work in enumerate(each):
                results, _ = pair.check(work, key=(kind, number))
                found += isinstance(results, list) and bool(results)
            assert (found > 0) is (kind != "empty"), kind
    finally:
        pair.many.close()
