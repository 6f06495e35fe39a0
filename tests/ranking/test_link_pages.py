"""Lists of links do not come before the pages that they point to."""

from __future__ import annotations

import math
from functools import partial

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmd.operations import freshness
from qmd.operations.freshness import links_reader
from qmd.operations.index import Index
from qmd.operations.search import search
from qmd.operations.semantic_search import query, vector_search
from qmd.ranking import bm25, link_pages
from qmd.ranking.link_pages import Links, Name, is_meant, points_to, read_links
from qmd.storage.cursor import Cursor
from tests.library import staying_attached

SUMMARY = """# Summary

- [Brewing green tea](tea/green.md)
- [Roasting coffee beans](coffee.md)
- [Drinking mate](mate.md)
"""
TEA = "# Leaves\n\nBrewing green tea: water of eighty degrees, for two minutes. " + "More. " * 60
COFFEE = "# Beans\n\nRoasting coffee beans takes ten minutes. " + "Much is said of it. " * 40


@pytest.fixture
def book(library):
    library.write("SUMMARY.md", SUMMARY)
    library.write("tea/green.md", TEA)
    library.write("coffee.md", COFFEE)
    library.write(
        "mate.md", "# Gourds\n\nA gourd, hot water and leaves. " + "It is passed on. " * 30
    )
    library.update()
    library.embed()
    return library


WAYS = [
    search,
    partial(vector_search, min_score=-1.0),
    lambda *asked, **options: anyio.run(partial(query, *asked, **options)),
    lambda *asked, **options: anyio.run(partial(query, *asked, mode="fast", **options)),
    lambda *asked, **options: anyio.run(partial(query, *asked, fusion="rrf", **options)),
]


def ways(library, question, **options):
    return [way(library.engine, question, **options) for way in WAYS]


def files(found):
    return [each.file.removeprefix("notes/") for each in found]


@pytest.mark.parametrize(
    ("question", "page"),
    [("brewing green tea", "tea/green.md"), ("roasting coffee beans", "coffee.md")],
)
@pytest.mark.parametrize("limit", [1, 2, 10])
def test_a_page_comes_before_the_list_that_points_to_it(book, question, page, limit):
    for found in ways(book, question, limit=limit):
        names = files(found)
        assert page in names
        assert "SUMMARY.md" not in names[: names.index(page)]
        scores = [each.score for each in found]
        assert scores == sorted(scores, reverse=True)


def test_without_the_rule_the_list_would_be_first(book):
    book.write("SUMMARY.md", SUMMARY.replace("green.md", "black.md").replace("Brewing g", "G"))
    book.update()
    assert files(search(book.engine, "green tea"))[0] == "SUMMARY.md"


def test_a_list_is_found_and_first_by_its_name(book):
    for found in ways(book, "summary"):
        assert files(found)[0] == "SUMMARY.md"
    for found in ways(book, "brewing green tea"):
        assert "SUMMARY.md" in files(found)


def test_postings_in_memory_give_the_same(book):
    warm = Index(book.engine.place, book.engine.models.machine, warm=True, stays=True)
    try:
        asked = ["brewing green tea", "coffee beans mate", "summary", "leaves water"]
        before = [[(each.file, each.score) for each in search(book.engine, one)] for one in asked]
        warm.read(lambda cursor: None)
        warm.holder.prepare()
        warm.holder.settle()
        assert warm.database.read(bm25.held) is not None
        after = [[(each.file, each.score) for each in search(warm, one)] for one in asked]
    finally:
        warm.close()
    assert before == after
    assert files(search(book.engine, asked[0]))[:2] == ["tea/green.md", "SUMMARY.md"]


def lists(library, number):
    """Write lists of links of several subjects, each with the page that it points to."""
    for each in range(number):
        subject = "abcdefghijklmnopqrstuvwxyz"[each] * 4
        library.write(f"{each:02}.md", f"# L\n\n- [Brewing {subject}](on/{each}.md)\n" * 3)
        library.write(f"on/{each}.md", f"# On it\n\nBrewing {subject} in water. " + "Very. " * 60)
    library.update()


@pytest.fixture
def server(library):
    """A process that stays, which holds the postings, and notes the statements that it runs."""
    lists(library, 6)
    library.embed()
    made = Index(library.engine.place, library.engine.models.machine, warm=True, stays=True)
    made.read(lambda cursor: None)
    made.holder.prepare()
    made.holder.settle()
    yield made
    made.close()


@pytest.fixture
def reads(monkeypatch):
    """Names of the statements that have read links."""
    made = []
    run = Cursor.run

    def noted(self, name, /, **parameters):
        if name in ("search/links_of", "search/links_of_text"):
            made.append(name)
        return run(self, name, **parameters)

    monkeypatch.setattr(Cursor, "run", noted)
    return made


ASKED = [f"brewing {letter * 4}" for letter in "abcdef"]


@pytest.mark.parametrize("way", range(5))
def test_a_server_reads_links_from_files(library, server, reads, way):
    expected = [files(WAYS[way](library.engine, each)) for each in ASKED]
    assert reads
    reads.clear()
    assert [files(WAYS[way](server, each)) for each in ASKED] == expected
    assert not reads
    assert links_reader(library.engine) is None  # of a command


def test_links_of_a_file_are_read_once(server):
    asked = []
    row = ["Brewing"], ["on/0.md"]

    def from_file(cursor, number, place, hashed):
        asked.append(place)
        return row

    for _ in range(2):
        found = server.read(
            lambda cursor: link_pages._links(cursor, bm25.statistics(cursor).link_pages, from_file)
        )
        assert set(found.values()) == {read_links(*row)}
    assert len(asked) == len(set(asked)) == 6


def test_links_of_files_that_have_changed_are_those_of_the_index(library, server, reads):
    expected = [files(search(library.engine, each)) for each in ASKED]
    reads.clear()
    for each in range(4):
        library.write(f"{each:02}.md", "# L\n\nNo links any more.\n")
    (library.root / "04.md").unlink()
    assert [files(search(server, each)) for each in ASKED] == expected
    assert reads == ["search/links_of"]


def test_a_statement_reads_the_links_of_a_long_text(library, server, reads, monkeypatch):
    expected = [files(search(library.engine, each)) for each in ASKED]
    reads.clear()
    monkeypatch.setattr(freshness, "MAX_LINKED", 10)
    assert [files(search(server, each)) for each in ASKED] == expected
    assert reads == ["search/links_of"]


def test_links_of_several_lists_are_read_together_without_files(server, reads):
    found = server.read(
        lambda cursor: link_pages._links(
            cursor, bm25.statistics(cursor).link_pages, lambda *_: None
        )
    )
    assert len(found) == 6
    assert reads == ["search/links_of"]


@pytest.mark.parametrize("name", ["page.md", "page.txt", "page.log"])
@pytest.mark.parametrize(
    "text",
    [
        "---\nup: '[[of the front]]'\n# [c](commented.md)\n---\n- [one](one.md)\n",
        "<a href='in/html.md'>HTML</a> <!-- [not](this.md) -->\n",
        "[[wiki|Shown]] #tag [[#heading]] [[with #tag]]\n# Heading [link](x%20y.md)\n",
        "key:: [[property]]\n\nSome ü: <https://example.org/a.html>\n",
        "no link at all\n",
    ],
)
def test_links_of_a_file_are_those_of_the_index(library, name, text):
    index_yml = library.folder / "index.yml"
    index_yml.write_text(index_yml.read_text() + '    pattern: "**/*"\n')
    library.write(name, text)
    library.update()

    def both(cursor):
        sql = "select document_id, path, hash from documents"
        [(number, path, hashed)] = cursor.connection.execute(sql).fetchall()
        found = links_reader(library.engine)(cursor, number, ("notes", path), hashed)
        return found, cursor.run("search/links_of_text", hash=hashed)

    with staying_attached(library.engine.database):
        found, [row] = library.engine.database.read(both)
    assert found is not None
    assert read_links(*found) == read_links(*row)


def test_links_below_what_is_shown_are_not_read(book, monkeypatch):
    read = []
    links = link_pages._links
    monkeypatch.setattr(
        link_pages, "_links", lambda *given: read.append(list(given[1])) or links(*given)
    )
    alone = search(book.engine, "brewing water eighty degrees minutes", limit=1)
    assert files(alone) == ["tea/green.md"]
    assert not read
    both = search(book.engine, "brewing green tea", limit=1)
    assert files(both) == ["tea/green.md"]
    assert len(read) == 1


def test_the_explanation_adds_up(book):
    async def explained():
        return await query(book.engine, "brewing green tea", explain=True)

    found = anyio.run(explained)
    by_file = {each.file: each for each in found}
    assert by_file["notes/SUMMARY.md"].explain["link_page"] < 0
    assert by_file["notes/tea/green.md"].explain["link_page"] == 0
    for each in found:
        given = sum(part["contribution"] for part in each.explain["lists"])
        extra = sum(each.explain[name] for name in ("bonus", "recency", "link_page"))
        assert math.isclose(given + extra, each.explain["fused"], abs_tol=1e-9)
        assert math.isclose(each.score, each.explain["fused"], abs_tol=0.01)


def test_a_list_of_links_to_elsewhere_stays(library):
    library.write("marks.md", SUMMARY.replace("](", "](https://elsewhere.example/"))
    library.write("notes.md", TEA.replace("green ", ""))
    library.update()
    assert files(search(library.engine, "brewing green tea"))[0] == "marks.md"


def test_an_index_from_before_learns_it_by_an_update(library):
    library.write("SUMMARY.md", SUMMARY)
    library.update()

    def forget(cursor):
        cursor.connection.execute("update documents set link_percent = null")
        cursor.connection.execute("update counters set value = 1000 where name = 'stale_postings'")

    library.engine.database.write(forget)
    library.update()
    told = library.engine.read(
        lambda cursor: cursor.connection.execute("select link_percent from documents").fetchall()
    )
    assert told == [(100,)]


LINKS = read_links(
    ["Tea", "", "Cold Brew", "heading", "x"],
    ["../a/Tea%20Leaves.md#top", "[[x", "https://e.example/b/brew.html", "", "guide/"],
)


@pytest.mark.parametrize(
    ("path", "title", "is_target"),
    [
        ("a/tea leaves.md", "Other", True),
        ("x/a/Tea Leaves.md", "Other", True),
        ("c/brew.md", "Other", False),
        ("b/brew.md", "Other", True),
        ("c/other.md", "cold brew", True),
        ("guide/README.md", "Other", True),
        ("guide/more.md", "Other", False),
        ("heading.md", "heading", False),
    ],
)
def test_links_lead_to_documents(path, title, is_target):
    assert points_to(LINKS, Name(path, title)) == is_target


@given(st.lists(st.sampled_from(["a", "/", ".", "readme", "Index", "tea.md", ".."]), max_size=7))
def test_each_way_to_name_a_path_has_an_end_that_is_known(parts):
    whole = "".join(parts).casefold()
    ends = link_pages._ends(whole)
    assert {way.rpartition("/")[2] for way in link_pages._ways(whole)} <= {*ends}


def test_a_tag_is_no_link():
    assert read_links(["tea", "Green"], ["", ""]) == Links(frozenset(), frozenset(), frozenset())


@pytest.mark.parametrize(
    ("question", "page", "other", "meant"),
    [
        ("brewing", Name("moc.md", "Brewing"), Name("tea.md", "Tea"), True),
        ("how to brew", Name("moc.md", "Brewing"), Name("tea.md", "Tea"), True),
        ("brewing", Name("moc.md", "Brewing"), Name("b.md", "Brewing tea"), False),
        ("brewing coffee", Name("moc.md", "Brewing"), Name("tea.md", "Tea"), False),
        ("summary", Name("book/SUMMARY.md", "Contents"), Name("tea.md", "Tea"), True),
        ("?", Name("moc.md", "Brewing"), Name("tea.md", "Tea"), False),
    ],
)
def test_a_list_is_meant_by_its_name(question, page, other, meant):
    assert is_meant(question, page, rather_than=other) == meant
