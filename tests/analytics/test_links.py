"""Where links lead: the views of links, headings and tags."""

from __future__ import annotations

from unicodedata import normalize

import pytest

from qmd.operations.sql import sql
from qmd.text.markdown import is_markdown


def noted(library):
    """Give a library a few notes, and a function that gives the rows of a query."""

    def ask(text: str) -> list[tuple[object, ...]]:
        return [tuple(row.values()) for row in sql(library.engine, text).arrow().to_pylist()]

    library.write("README.md", "# Notes\n\n[Tea](drinks/tea.md) [all drinks](drinks/)")
    library.write("drinks/README.md", "# Drinks")
    library.write("drinks/tea.md", "# Tea\n\n## How to brew it?\n\n## How to brew it\n\n#hot")
    library.write("drinks/green tea.md", "---\ntags: [green]\n---\nGreen")
    library.write("food/Toast.md", "Toast")
    library.write("food/old/toast.md", "Toast of old")
    library.update()
    library.ask = ask
    return library


@pytest.fixture
def asked(library):
    return noted(library)


ITSELF = "the document with the link"

LEADS = [
    ("[a](tea.md)", "notes/drinks/tea.md"),
    ("[a](./tea.md)", "notes/drinks/tea.md"),
    ("[a](tea)", "notes/drinks/tea.md"),
    ("[a](../drinks/./tea.md)", "notes/drinks/tea.md"),
    ("[a](../../drinks/tea.md)", None),
    ("[a](/drinks/tea.md)", "notes/drinks/tea.md"),
    ("[a](/tea.md)", None),
    ("[a](green%20tea.md)", "notes/drinks/green tea.md"),
    ("[a](<green tea.md>)", "notes/drinks/green tea.md"),
    ("[a](tea.md?plain=1#how-to-brew-it)", "notes/drinks/tea.md"),
    ("[a](#here)", ITSELF),
    ("[a](../drinks)", "notes/drinks/README.md"),
    ("[a](/)", "notes/README.md"),
    ("[a](..)", "notes/README.md"),
    ("[a][b]\n\n[b]: tea.md", "notes/drinks/tea.md"),
    ("[[Tea]]", "notes/drinks/tea.md"),
    ("[[tea.md|a cup]]", "notes/drinks/tea.md"),
    ("[[drinks/tea#How to brew it?]]", "notes/drinks/tea.md"),
    ("[[rinks/tea]]", None),
    ("[[#here]]", ITSELF),
    ("[[toast]]", "notes/food/Toast.md"),
    ("[[old/toast]]", "notes/food/old/toast.md"),
    ("[[coffee]]", None),
    ("![[Toast]]", "notes/food/Toast.md"),
    ("[[./tea]]", "notes/drinks/tea.md"),
    ("[[../food/old/toast#x|y]]", "notes/food/old/toast.md"),
    ("[[../tea]]", None),
    ("[a](https://example.org/tea.md)", None),
    ("[a](mailto:tea@example.org)", None),
]


@pytest.fixture(scope="module")
def led(libraries):
    """Targets of links in documents of one folder, by file."""
    library = noted(libraries())
    for number, (link, _) in enumerate(LEADS):
        library.write(f"drinks/link-{number}.md", f"First line.\n\n{link}\n")
    library.update()
    rows = library.ask("select file, line, to_file from links where file like '%/link-%'")
    found = {}
    for file, line, to_file in rows:
        found.setdefault(file, []).append((line, ITSELF if to_file == file else to_file))
    return found


@pytest.mark.parametrize("number", range(len(LEADS)), ids=[link for link, _ in LEADS])
def test_a_link_leads_to_a_document(led, number):
    assert led[f"notes/drinks/link-{number}.md"] == [(3, LEADS[number][1])]


def test_what_leads_out_is_told_from_what_is_missing(asked):
    asked.write(
        "a.md", "[x](https://example.org) <https://example.com> [y](gone.md) //z [q](//q.org)"
    )
    asked.update()
    found = asked.ask("select target, external from links where file = 'notes/a.md' order by all")
    assert found == [
        ("//q.org", True),
        ("gone.md", False),
        ("https://example.com", True),
        ("https://example.org", True),
    ]


def test_an_address_that_cannot_be_decoded_is_taken_as_it_is(asked):
    asked.write("100%.md", "# All")
    asked.write("a.md", "[a](100%.md) [b](%ff.md) [c](100%.md#all) [d](100%.md#%E3%81)")
    asked.update()
    found = asked.ask("select text, to_file from links where file = 'notes/a.md' order by all")
    whole = "notes/100%.md"
    assert found == [("a", whole), ("b", None), ("c", whole), ("d", whole)]
    found = asked.ask("select text, missing from broken_links order by all")
    assert found == [("b", "document"), ("d", "heading")]


@pytest.mark.parametrize("of_file", ["NFC", "NFD"])
@pytest.mark.parametrize("of_link", ["NFC", "NFD"])
def test_letters_are_the_same_whether_in_one_sign_or_in_several(asked, of_file, of_link):
    name = normalize(of_file, "ガイド é")
    said = normalize(of_link, "ガイド é")
    asked.write(f"{name}.md", "Guide")
    asked.write("a.md", f"[[{said}]] [a](<{said}.md>) [b](<{said}>)")
    asked.update()
    found = asked.ask("select to_file from links where file = 'notes/a.md'")
    assert found == [(f"notes/{name}.md",)] * 3


def test_of_two_texts_of_a_folder_one_is_always_meant(asked):
    asked.write("drinks/index.md", "# Index")
    asked.update()
    found = asked.ask("select to_file from links where target = 'drinks/'")
    assert found == [("notes/drinks/README.md",)]


def test_a_name_is_looked_for_nearby_first(asked):
    asked.write("food/old/a.md", "[[toast]]")
    asked.write("food/b.md", "[[toast]]")
    asked.update()
    found = asked.ask("select file, to_file from links where kind = 'wiki' order by file")
    assert found == [
        ("notes/food/b.md", "notes/food/Toast.md"),
        ("notes/food/old/a.md", "notes/food/old/toast.md"),
    ]


def test_backlinks_and_orphans(asked):
    found = asked.ask("select file, from_file, line, text from backlinks order by all")
    assert found == [
        ("notes/drinks/README.md", "notes/README.md", 3, "all drinks"),
        ("notes/drinks/tea.md", "notes/README.md", 3, "Tea"),
    ]
    found = asked.ask("select file, links from orphans order by all")
    assert found == [
        ("notes/README.md", 2),
        ("notes/drinks/green tea.md", 0),
        ("notes/food/Toast.md", 0),
        ("notes/food/old/toast.md", 0),
    ]


def test_broken_links(asked):
    asked.write(
        "a.md",
        "[ok](drinks/tea.md#how-to-brew-it-1) [top](drinks/tea.md#top) [photo](gone.png)\n"
        "[heading](drinks/tea.md#nope) [[tea#Nope]] [[Tea#How to brew it?]]\n"
        "[file](gone.md) [[Gone]] [plain](food/Toast.md#anything) [page](gone)\n"
        '<a name="here"></a> [here](#here)\n',
    )
    asked.update()
    found = asked.ask("select line, target, missing from broken_links order by all")
    assert found == [
        (2, "drinks/tea.md#nope", "heading"),
        (2, "tea#Nope", "heading"),
        (3, "Gone", "document"),
        (3, "gone", "document"),
        (3, "gone.md", "document"),
    ]


def test_a_wiki_link_may_name_headings_above_and_leaves_signs_out(asked):
    asked.write("a.md", "# Top\n\n## Why: a *pot*?\n\nText ^here\n")
    asked.write(
        "b.md",
        "[[a#Top#Why a pot]] ![[a#Why: a *pot*?]] [[a#Why a pot#^here]]\n"
        "[[a#Top#Why a cup]] [x](a.md#Top#Why-a-pot) [[2024.01.05]]\n",
    )
    asked.update()
    found = asked.ask("select line, target, missing from broken_links order by all")
    assert found == [
        (2, "2024.01.05", "document"),
        (2, "a#Top#Why a cup", "heading"),
        (2, "a.md#Top#Why-a-pot", "heading"),
    ]


def test_headings_have_slugs_as_on_the_web(asked):
    asked.write(
        "a.md",
        "# A *bold* `code` & more\n\nSub\n---\n\n# 標題\n\n## Named {#own}\n"
        "## \N{ROCKET} Go\n## Name [![Build](b.svg)](https://example.org) [now](a.md)\n"
        "## Of MDX {/*mine*/}\n",
    )
    asked.update()
    found = asked.ask(
        "select line, level, slug from headings where file = 'notes/a.md' order by line"
    )
    assert found == [
        (1, 1, "a-bold-code--more"),
        (3, 2, "sub"),
        (6, 1, "標題"),
        (8, 2, "own"),
        (9, 2, "-go"),
        (10, 2, "name--now"),
        (11, 2, "mine"),
    ]
    found = asked.ask("select slug from headings where file = 'notes/drinks/tea.md' order by line")
    assert found == [("tea",), ("how-to-brew-it",), ("how-to-brew-it-1",)]


def test_tags_of_the_text_and_of_the_frontmatter(asked):
    asked.write(
        "a.md", "---\ntags: 'one, #two three'\ntag: four\n---\n\n#five/six no#seven `#eight`"
    )
    asked.update()
    found = asked.ask("select tag, line from tags order by file, tag")
    assert found == [
        ("five/six", 6),
        ("four", None),
        ("one", None),
        ("three", None),
        ("two", None),
        ("green", None),
        ("hot", 7),
    ]


@pytest.mark.parametrize("name", ["a.md", "A.MD", "a.txt", "a.qmd", "a.py", "md"])
def test_only_what_is_read_as_markdown_has_headings_and_links(asked, name):
    asked.configure(more="")
    config = asked.folder / "index.yml"
    config.write_text(config.read_text() + "    pattern: '**/*'\n")
    asked.write(name, "# Heading\n[link](tea.md) #tag\n")
    asked.update()
    found = asked.ask(f"select kind from marks where file = 'notes/{name}'")
    assert found == ([("1",), ("inline",), ("tag",)] if is_markdown(name) else [])


def test_texts_of_an_older_index_get_their_outlines_with_the_next_update(asked):
    before = asked.ask("from links order by all")
    assert before

    def forget(cursor):
        cursor.connection.execute("update content set outline = null")

    asked.engine.database.write(forget)
    assert asked.ask("from links") == []
    asked.update()
    assert asked.ask("from links order by all") == before
