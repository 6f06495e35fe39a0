"""Links as programs for notes and sites write them."""

from __future__ import annotations

import pytest

from qmd.ingest.verify import FACTS, prove
from qmd.operations.sql import sql


def asked(library, text):
    """Rows of a query."""
    return [tuple(row.values()) for row in sql(library.engine, text).arrow().to_pylist()]


def filled(library):
    """Write documents to link to."""
    settings = library.folder / "index.yml"
    settings.write_text(f"{settings.read_text()}    pattern: all\n")
    library.write("b.mdx", "# B\n")
    library.write("pages/A___B.md", "Text\n")
    library.write("pages/C%2FD.md", "Text\n")
    library.write("tea.md", "---\ntitle: The Tea Book\naliases: [Chai, /old/tea/]\n---\nText\n")
    library.write("content/en/guide/_index.md", "# Guide\n")
    library.write("content/en/guide/start.mdx", "# Start\n")
    library.write("content/en/Format.md", "# Format\n")
    library.write("content/en/two.md", "# Two\n")
    library.write("content/fr/two.md", "# Deux\n")
    library.write("content/en/long-name.md", "---\nslug: short\n---\nText\n")
    library.write("content/en/moved.md", "---\nurl: /elsewhere/page/\n---\nText\n")
    library.write("202405171031 Pots.md", "Pots\n")
    library.write("note.md", "---\nid: 20240517\n---\nText\n")
    library.write("user.guide.md", "## Start here\n\nText\n")
    library.write("roam.org", "* Pots\n:PROPERTIES:\n:ID: F4-7a\n:END:\nText\n")
    return library


@pytest.fixture
def vault(library):
    return filled(library)


LINKS = [
    ("[x](./b)", "b.mdx"),
    ("[x](b#part)", "b.mdx"),
    ("[[b]]", "b.mdx"),
    ("[[A/B]]", "pages/A___B.md"),
    ("[[c/d]]", "pages/C%2FD.md"),
    ("[[chai]]", "tea.md"),
    ("[[The tea book|x]]", "tea.md"),
    ("[x](/old/tea)", "tea.md"),
    ("[x](/guide/)", "content/en/guide/_index.md"),
    ("[x](/en/guide/start/#part)", "content/en/guide/start.mdx"),
    ("[x](/uide/)", None),
    ('<a class="x" href="./b">B</a>', "b.mdx"),
    ("<img alt='x' src='tea.md'>", "tea.md"),
    ("<Card\n  title='x'\n  href='/guide/'\n/>", "content/en/guide/_index.md"),
    ("---\nup: '[[Chai]]'\n---\nText", "tea.md"),
    ('---\nlist:\n  - "[[b|B]]"\n---\nText', "b.mdx"),
    ("---\nup: '[x](tea.md)' # [[no]]\n---\nText", "tea.md"),
    ("up:: [[Chai]]\n\nText", "tea.md"),
    ("- item\n\n    [x](b)", "b.mdx"),
    ("<Steps>\n\n    [x](b)\n", "b.mdx"),
]
SITES = [
    ("content/en/x.md", "[x](/format/)", "content/en/Format.md"),
    ("x.md", "[x](B.md)", None),
    ("content/fr/x.md", "[x](/two/)", "content/fr/two.md"),
    ("content/en/x.md", "[x](/two/)", "content/en/two.md"),
    ("content/fr/x.md", "[x](/fr/format/)", "content/en/Format.md"),
    ("content/fr/x.md", "[x](/fr/two/)", "content/fr/two.md"),
    ("content/en/x.md", "[x](/fr/format/)", None),
    ("content/en/guide/x.md", "[x](../start/)", "content/en/guide/start.mdx"),
    ("content/en/x.md", "[x](/short/)", "content/en/long-name.md"),
    ("x.md", "[x](/elsewhere/page)", "content/en/moved.md"),
    ("x.md", "[[20240517]]", "note.md"),
    ("x.md", "[x](id:20240517)", "note.md"),
    ("x.md", "[[202405171031]]", "202405171031 Pots.md"),
    ("x.md", "[[2024051710]]", None),
    ("x.md", "[[en/guide]]", "content/en/guide/_index.md"),
    ("x.md", "[[the guide|user.guide]]", "user.guide.md"),
    ("x.md", "![[dendron://my.vault/user.guide]]", "user.guide.md"),
    ("x.md", "[[Guide|dendron://my.vault/user.guide#gone]]", "user.guide.md"),
    ("x.md", "[[gone|tea]]", None),
    ("x.md", "[[tea|user.guide]]", "tea.md"),
    ("x.md", "[x](id:f4-7A)", "roam.org"),
    ("x.org", "[[id:F4-7a][pots]]", "roam.org"),
    ("x.org", "[[file:roam.html][pots]]", "roam.org"),
    ("content/en/x.md", "[x](two.html#part)", "content/en/two.md"),
]
ANCHORS = [
    ("tools.md#--mode-string", True),
    ("tools.md#Aside:-Big-O", True),
    ("tools.md#image-", True),
    ("tools.md#big-p", False),
    ("filled.md#anything", True),
    ("tools.html#sec-1", True),
]
NO_LINKS = [
    "<!-- [x](b) [[b]] #tag -->",
    "<!--\n\n[x](b)\n\n# Heading\n-->",
    "%% [[b]] %%",
    "%%\n\n[[b]]\n\n%%",
    "$$\na[b](c) #d\n$$",
    "text\n\n    [x](b)\n    [[b]] #tag\n",
    "text\r\n\r\n\t[x](b)\r\n",
    "`<a href='b'>`",
    "```html\n<a href='b'>\n```",
    "<a href='data:text/plain,x'>",
    "---\n# [[b]]\na: 1 # [[b]]\n---\nText",
]
SHOWN = ["`<!--` [x](b) `-->`", "50%% [x](b)", "```\n%%\n```\n[x](b) %%"]


def test_links_lead_to_their_documents_and_what_is_not_shown_is_none(vault):
    texts = [*LINKS, *((text, "b.mdx") for text in SHOWN), *((text, ...) for text in NO_LINKS)]
    for number, (text, _) in enumerate(texts):
        vault.write(f"x{number}.md", text)
    vault.update()
    rows = asked(vault, "select file, to_file from links where file like 'notes/x%'")
    found = {number: [] for number in range(len(texts))}
    for file, to_file in rows:
        number = int(file.removeprefix("notes/x").removesuffix(".md"))
        found[number].append(to_file and to_file.removeprefix("notes/"))
    expected = {n: [] if to_file is ... else [to_file] for n, (_, to_file) in enumerate(texts)}
    assert {texts[n][0]: found[n] for n in found} == {texts[n][0]: expected[n] for n in expected}
    assert prove(vault.engine.database) == dict.fromkeys(FACTS, 0)


def test_links_have_their_lines_and_templates_are_not_broken(vault):
    vault.write(
        "a.md", "---\nup: '[[Chai]]'\n---\n\n[x](b)\n\n<a href='gone'>G</a> [y]({{url}}/x) #t\n"
    )
    vault.update()
    rows = asked(vault, "select line, kind, text from links order by line, text")
    assert rows[:2] == [(2, "wiki", "Chai"), (5, "inline", "x")]
    assert asked(vault, "select target from broken_links") == [("gone",)]
    assert prove(vault.engine.database) == dict.fromkeys(FACTS, 0)


def test_links_of_a_page_survive_an_export(vault, tmp_path):
    from qmd.operations.exchange import run_export, run_import
    from qmd.operations.index import Index
    from qmd.settings.environment import Machine, Place

    vault.write("page.html", "<h1>P</h1><p>Text</p><img src='tea.md'><a href='b.mdx'>b</a>")
    vault.update()
    before = vault.ask("select outline from content order by hash")
    run_export(vault.engine, tmp_path / "out")
    other = tmp_path / "other"
    other.mkdir()
    place = Place("index", other / "index.yml", other / "index.duckdb", None, other / "t.json")
    engine = Index(place, Machine(hub=tmp_path / "hub"))
    try:
        run_import(engine, tmp_path / "out")
        found = engine.read(
            lambda cursor: cursor.connection.execute(
                "select outline from content order by hash"
            ).fetchall()
        )
        assert found == before
    finally:
        engine.close()


@pytest.fixture(scope="module")
def led(libraries):
    """Targets of links of web pages, by file."""
    library = filled(libraries())
    for number, (path, text, _) in enumerate(SITES):
        library.write(path.replace("x.", f"x{number}."), text)
    library.update()
    found = {}
    for file, to_file in asked(library, "select file, to_file from links"):
        found.setdefault(file, []).append(to_file and to_file.removeprefix("notes/"))
    return found


@pytest.mark.parametrize("number", range(len(SITES)))
def test_addresses_of_sites_lead_to_the_pages_that_they_show(led, number):
    path, _, to_file = SITES[number]
    assert led[f"notes/{path.replace('x.', f'x{number}.')}"] == [to_file]


def test_an_anchor_is_found_by_the_letters_of_its_heading(vault):
    vault.write("tools.md", "# `--mode <string>`\n\n## Aside: Big O\n\n## `<Image />`\n")
    vault.write("filled.md", "# Filled\n\n{{% include more.md %}}\n")
    for number, (target, _) in enumerate(ANCHORS):
        vault.write(f"x{number}.md", f"[x]({target})")
    vault.update()
    broken = asked(vault, "select target from broken_links where file like 'notes/x%'")
    assert broken == [(target,) for target, is_found in ANCHORS if not is_found]


def test_embeds_and_labels_of_dendron_have_their_headings(vault):
    told = [
        ("![[user.guide#start-here,1:#*]]", "start-here,1:#*", True),
        ("![[user.guide#gone:#start-here]]", "gone:#start-here", False),
        ("[[x|user.guide#start-here]]", "start-here", True),
        ("[[x|user.guide#gone]]", "gone", False),
    ]
    for number, (text, *_) in enumerate(told):
        vault.write(f"x{number}.md", text)
    vault.update()
    rows = asked(vault, "select anchor from links where file like 'notes/x%' order by file")
    assert rows == [(anchor,) for _, anchor, _ in told]
    broken = asked(vault, "select file from broken_links where file like 'notes/x%' order by file")
    assert broken == [(f"notes/x{n}.md",) for n, (*_, is_found) in enumerate(told) if not is_found]
