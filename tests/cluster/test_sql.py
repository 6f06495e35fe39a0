"""Queries in SQL over shards, which give the rows of one index."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qmd.analytics.sandbox import Limits
from qmd.analytics.views import views
from qmd.cluster.open_index import ShardedIndex
from qmd.cluster.shard_sql import ShardSql
from qmd.cluster.sql_across import ACROSS
from qmd.cluster.sql_plan import IDS, IN_SHARDS, plan
from qmd.errors import SqlError, SqlTimeout
from qmd.operations.index import Index
from qmd.operations.links import links
from qmd.operations.sql import run_sql
from qmd.storage.database import Database
from qmd.workers.channel import unpacked_error
from tests.cluster import corpus
from tests.library import Library

Qmd = Callable[..., tuple[int, str, str]]

AGGREGATES = [
    "select count(*) from documents",
    "select collection, count(*), sum(size) as bytes from documents group by collection",
    "select lang, count(*) as n, avg(words) from documents group by 1 having n > 1 order by n, 1",
    "select min(title), max(size), min(date), max(modified) from documents",
    "select count(lang), count(*) from documents where path like 'plain/%'",
    "select upper(lang) as l, sum(size) filter (where size > 900), avg(size) from documents "
    "group by l order by l",
    "select bool_and(size > 20), bool_or(size > 9000), bit_or(size), bit_xor(words) from documents",
    "select size // 500 as step, sum(size) / count(*) as mean from documents group by all "
    "order by 1",
    "select sum(size) from documents where title = 'none'",
    "select lang, sum(size) from documents where false group by lang",
    "select tag, count(*) from tags group by tag order by count(*) desc, tag limit 2 offset 1",
    "select key, value, count(*) from frontmatter group by key, value order by key, value",
    "select term, sum(body_frequency) from postings group by term order by 2 desc, 1 limit 8",
    "select kind, max(line) from marks group by kind order by kind",
    "select any_value(collection) from documents",
    "select d.collection as part, sum(d.size) from documents as d group by d.collection",
    "select count(*) * 2 + sum(words) as figure, 'x' as mark from documents",
    "select case when size > 900 then 'long' else 'short' end as length, count(*) from documents "
    "group by length order by length",
]
"""Statements of which the shards give aggregates."""

ROWS = [
    "from documents",
    "select file, size from documents order by size desc, file limit 10",
    "select file from documents where size > 400 order by 1 limit 5 offset 3",
    "select distinct lang from documents order by lang",
    "select count(distinct lang), count(distinct collection), max(size) from documents",
    "select count(distinct lang), sum(size) from documents",
    "select median(size), list(file order by file), string_agg(title, ',' order by file) "
    "from documents",
    "select d.file, f.value from documents d join frontmatter f using (file) where key = 'status' "
    "order by 1",
    "select file, row_number() over (order by size, file) as nth from documents order by file",
    "select title from documents where size > (select avg(size) from documents) order by title",
    "with long as (select * from documents where size > 900) select count(*) from long",
    "select unnest(tags) as tag from documents order by 1 limit 5",
    "select x.a from (select size as a from documents) as x order by 1",
    "select size * 2 as size from documents where size > 900 order by size limit 3",
    "select lang, collection, count(*) from documents group by rollup (lang, collection) "
    "order by all",
    "select file, len(body) from documents where contains(body, 'quartz') order by file",
    "select a.file, b.file from documents a, documents b where a.hash = b.hash and a.file < b.file "
    "order by all",
    "select text, slug from headings where level = 2 order by file, line",
    "select file, similarity from near_duplicates order by file",
    "select documents from documents order by file limit 1",
    "select columns('da.*') from documents order by file limit 3",
    "select geomean(size) > 0, count_if(size > 900) from documents",
    "select file, score, line, snippet from bm25('tea') order by rank",
    "select documents.title, score from bm25('green tea', n := 5) join documents using (file) "
    "order by rank",
    "select count(*) from documents where document_id is not null and random() >= 0",
    "select d.file from documents d anti join tags t on d.file = t.file order by 1",
    "select 1 + 1 as two",
    "select file from documents union select file from tags order by 1",
    "select lang, first(title order by file) from documents group by lang order by lang",
]
"""Statements of which the shards give rows."""


def _rows(index: Index, text: str, parameters: Any = (), **limits: Any) -> tuple[Any, Any]:
    """Run a statement; return its columns and its rows, without the numbers of documents."""
    with closing(run_sql(index, text, parameters, Limits(**limits))) as answer:
        names = [each.name for each in answer.headings]
        rows = [
            tuple(value for name, value in zip(names, row, strict=True) if name not in IDS)
            for row in answer.texts()
        ]
        kinds = [each for each in answer.headings if each.name not in IDS]
    if text.startswith("select documents from"):  # a document as a value has its number in it
        kinds = [each._replace(kind="") for each in kinds]
        rows = [(str(value).partition("'document_id'")[0],) for (value,) in rows]
    return kinds, rows if "order by" in text else sorted(rows, key=str)


@pytest.fixture(scope="module")
def expected(written: Library) -> dict[str, tuple[Any, Any]]:
    """Rows of one index."""
    return {text: _rows(written.engine, text) for text in (*AGGREGATES, *ROWS)}


@pytest.fixture(scope="module")
def many(written: Library) -> Iterator[ShardedIndex]:
    index = corpus.opened(written, corpus.build_shards(written, 2))
    yield index
    index.close()


@pytest.mark.parametrize(("count", "step"), [(1, 3), (4, 1), (8, 3)])
def test_statements_give_the_rows_of_one_index(
    count: int, step: int, written: Library, expected: dict[str, tuple[Any, Any]]
) -> None:
    """Each statement is asked of four shards, and a third of them of one and of eight."""
    index = corpus.opened(written, corpus.build_shards(written, count))
    with closing(index):
        chosen = [*AGGREGATES, *ROWS][::step]
        for text in chosen:
            assert _rows(index, text) == expected[text], text
    assert sum(bool(expected[text][1]) for text in chosen) >= len(chosen) - 2


def _asked(index: ShardedIndex, text: str) -> dict[str, str]:
    """Plan a statement; return what the shards are asked."""
    worker = index.workers.take()
    try:
        request = worker.read(index.place.database, Limits(), text, ())
    finally:
        index.workers.give_back(worker)
    made = index.database.aside(lambda cursor: plan(request, cursor))
    return {name: each.text for name, each in made.tables.items()}


def test_shards_give_aggregates_where_these_can_be_merged(many: ShardedIndex) -> None:
    for text in AGGREGATES:
        [asked] = _asked(many, text).values()
        assert "qmd_part_0" in asked, text
    for text in ROWS:
        assert not any("qmd_part" in asked for asked in _asked(many, text).values()), text


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("select file from documents where contains(body, 'tea')",
         "SELECT file FROM documents WHERE contains(body, 'tea')"),
        ("select title, size from documents order by size desc limit 2 offset 1",
         "SELECT title, size FROM documents ORDER BY size DESC LIMIT 3"),
        ("select count(distinct lang) from documents", "SELECT DISTINCT lang FROM documents"),
        # The order is that of another expression than the column of the shards.
        ("select -size as size from documents order by size limit 2", "SELECT size FROM documents"),
        ("select file from documents limit 4", "SELECT file FROM documents LIMIT 4"),
        ("select random() from documents limit 4", "SELECT docid FROM documents"),
        ("select unnest(tags) from documents limit 4", "SELECT tags FROM documents"),
        ("select geomean(size) from documents limit 4", "SELECT size FROM documents"),
    ],
)  # fmt: skip
def test_shards_do_what_leaves_the_result_as_it_is(
    text: str, asked: str, many: ShardedIndex
) -> None:
    assert list(_asked(many, text).values()) == [asked]


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("select file from documents where size > $least order by 1", {"least": 900}),
        ("select count(*), sum(size) + ? from documents where size > ? and lang = ?",
         [5, 900, "en"]),
        ("select lang, count(*) from documents where size > $a group by 1 having count(*) > $B "
         "order by 1", {"A": 10, "b": 1}),
        ("select file from bm25($words) where score > $least order by rank",
         {"words": "tea", "least": 0.1}),
    ],
)  # fmt: skip
def test_parameters_go_to_the_part_that_has_them(
    text: str, given: Any, written: Library, many: ShardedIndex
) -> None:
    found = _rows(many, text, given)
    assert found == _rows(written.engine, text, given)
    assert found[1]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("from terms", "terms cannot be merged from shards"),
        ("select count(*) from links, collections", "collections cannot be merged"),
        ("select count(*) from qmd_index.documents", "no tables in qmd_index"),
        ("describe documents", "need one index, and this one is in shards"),
        ("explain select count(*) from documents", "need one index, and this one is in shards"),
        ("select nosuch from documents", '"nosuch" not found'),
        ("select collection, nosuch, count(*) from documents group by all", '"nosuch" not found'),
        ("select sum(title) from documents", "sum"),
        ("from nosuch", "Table with name nosuch does not exist"),
        ("delete from documents", "only reads"),
        ("from read_csv('/etc/passwd')", "reads files"),
        (
            "select count(*) from documents where exists (from read_text('/etc/passwd'))",
            "reads files",
        ),
    ],
)
def test_what_cannot_be_answered_is_refused_in_words(
    text: str, problem: str, many: ShardedIndex
) -> None:
    with pytest.raises(SqlError) as caught:
        _rows(many, text)
    assert problem in str(caught.value)


def test_every_view_is_merged_or_refused(many: ShardedIndex) -> None:
    known = {view.name for view in views() if not view.is_macro}
    assert known >= IN_SHARDS | ACROSS.keys()
    for name in sorted(known - IN_SHARDS - ACROSS.keys()):
        with pytest.raises(SqlError, match=f"{name} cannot be merged"):
            _rows(many, f"from {name}")


LINKED = {
    "a/index.md": "---\nurl: /start\n---\n# Start\n\n[[Tea]] [t](tea.md#Brewing) [[no such]]\n",
    "a/tea.md": "---\naliases: [Chai, /old/tea]\n---\n## Brewing\n\n[[a/index]] [x](../b/)\n",
    "b/README.md": "# Bees\n\n[[Chai]] [[chai|again]], [up](../a/tea.md), [site](/old/tea)\n",
    "b/Tea.md": "---\nid: t9\n---\n# Tea\n\n[[Tea]] [i](id:t9) ![[tea#Brewing]] [u](/start)\n",
    "b/202405171030 Moment.md": "# Moment\n\n[[202405171030]] https://example.org [[Bees]]\n",
    "c/A___B.md": "# A and B\n\n[[A/B]] [[Moment]] [html](../a/tea.html) [[tea#Nothing]]\n",
    "c/lone.md": "# Lone\n\n[[lone]] [gone](gone.md) [[A/B]]\n",
    "c/silent.md": "# Silent\n\nno link\n",
}

OF_LINKS = [
    "from links",
    "from backlinks",
    "from broken_links",
    "from orphans",
    "select to_file, count(*) from links group by to_file order by all",
    "select d.title, l.target from links l join documents d using (file) order by all",
    "with links as (select 1 as x) select x from links",
    "select o.file, b.target from orphans o left join broken_links b using (file) order by all",
]


def test_views_that_compare_documents_are_those_of_one_index(library: Library) -> None:
    for name, text in LINKED.items():
        library.write(name, text)
    library.update()
    for count, step in ((2, 1), (8, 4)):
        index = corpus.opened(library, corpus.build_shards(library, count))
        with closing(index):
            for text in OF_LINKS[::step]:
                found = _rows(index, text)
                assert found == _rows(library.engine, text), text
                assert found[1], text
            for name in (*LINKED, "a/tea.md#Brewing")[:: 2 * step]:
                assert links(index, name, steps=2) == links(library.engine, name, steps=2)


def test_passages_and_vectors_are_those_of_one_index(written: Library) -> None:
    index = corpus.opened(written, corpus.build_shards(written, 4, embeds=True))
    with closing(index):
        for text in (
            "from chunks",
            "select model, count(*), sum(tokens) from chunks group by model",
            "select file, seq, vector from embeddings order by file, seq",
            "select count(*) from chunks join embeddings using (chunk_id)",
            "select file, score from vsearch('green tea') order by rank",
        ):
            found = _rows(index, text)
            assert found == _rows(written.engine, text), text
            assert found[1]


def test_limits_hold_over_shards(written: Library, many: ShardedIndex) -> None:
    with pytest.raises(SqlTimeout, match=r"stopped after 0\.5 seconds"):
        _rows(many, "select count(*) from documents, range(1000000000000) where size > range",
              timeout=0.5)  # fmt: skip
    built = corpus.build_shards(written, 2)
    shard = corpus.folder_of(written, 2) / built.manifest.shards[0].file
    asked = ShardSql(shard, Database(shard), None)
    found = asked.rows("from documents", {}, Limits(memory="50MB"), 100)
    with pytest.raises(SqlError, match="more rows for this query than 50MB of memory take"):
        raise unpacked_error(found.error)
    assert asked.rows("select count(*) from documents", {}, Limits(), 10_000).error is None


def test_the_command_answers_over_shards(written: Library, qmd: Qmd) -> None:
    corpus.build_shards(written, 4)
    engine = f"shards:{corpus.folder_of(written, 4)}"
    text = "select lang, count(*) as n from documents group by lang order by n desc, lang"
    code, out, err = qmd("--engine", engine, "sql", text, "--json")
    assert (code, err) == (0, "")
    expected = _rows(written.engine, text)[1]
    assert [(row["lang"], str(row["n"])) for row in json.loads(out)] == expected
    code, out, err = qmd("--engine", engine, "sql", "from terms")
    assert (code, out) == (1, "")
    assert "terms cannot be merged from shards" in err


WORDS = st.sampled_from(["tea", "water", "kettle", "茶", ""])
NOTES = st.lists(st.tuples(WORDS, WORDS, st.integers(0, 40)), min_size=1, max_size=10)
KEYS = st.lists(st.sampled_from(["lang", "title", "size // 7", "tags", "path[1]"]), max_size=2)
FIGURES = st.lists(
    st.sampled_from(
        "count(*) sum(size) avg(words) min(title) max(size) count(lang) bool_or(size>60)"
        " avg(size) sum(words) count(distinct(title))".split()
    ),
    min_size=1,
    max_size=4,
    unique=True,
)


@settings(max_examples=3, deadline=None)
@given(notes=NOTES, keys=KEYS, figures=FIGURES, count=st.sampled_from([2, 4]))
def test_groups_of_any_documents_are_those_of_one_index(
    notes: list[tuple[str, str, int]],
    keys: list[str],
    figures: list[str],
    count: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    library = Library(tmp_path_factory.mktemp("library"))
    for number, (title, tag, length) in enumerate(notes):
        library.write(f"{number}.md", f"---\ntags: [{tag}]\n---\n# {title}\n\n{'x' * length}\n")
    library.update()
    index = corpus.opened(library, corpus.build_shards(library, count))
    with closing(index), closing(library.engine):
        for where in ("", " where size > 40"):
            groups = f" group by {', '.join(keys)} order by all" if keys else ""
            text = f"select {', '.join([*keys, *figures])} from documents{where}{groups}"
            assert _rows(index, text) == _rows(library.engine, text), text
